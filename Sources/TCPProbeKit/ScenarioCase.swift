import ProbeEngine
import ProbeEvents
import ProbeReport
import ProbeScenario
import ProbeSystem

/// One case of a scenario file, ready to be run against a transport: a file without `each` is one case, one with it as many as
/// it has values.
public struct ScenarioCase: Sendable, Identifiable, CustomStringConvertible {
    /// Path below the folder that was read, without `.scn`, with the values of its `each` behind it: `close/eof-mid-line`,
    /// `framing/cut[n=3]`. Those of the conformance suite are stable.
    public let id: String
    /// The file.
    public let path: String
    /// The scenario's own sentence.
    public let title: String
    /// What must happen and why it matters; nil where the scenario does not say.
    public let about: String?
    /// The bugs behind it: `owner/repository#number`.
    public let because: [String]
    /// What a failure means.
    public let level: ScenarioLevel
    /// As the scenario gives them.
    public let tags: [String]

    let job: RunJob

    /// Its id: the name of a parameterised test's case.
    public var description: String { id }

    /// All cases of the conformance suite that comes with this package, in the order of their ids.
    ///
    /// - Throws: ``ScenarioProblem`` where the package's sources are not where they were when it was built.
    public static func conformance() throws(ScenarioProblem) -> [ScenarioCase] {
        // …/Sources/TCPProbeKit/ScenarioCase.swift: a package is built where its sources are, and stays there.
        let package = #filePath.split(separator: "/").dropLast(3).joined(separator: "/")
        return try cases(in: "/\(package)/Scenarios/conformance")
    }

    /// All cases of a scenario file, or of the files `*.scn` in a folder and below, in the order of their names.
    ///
    /// - Parameter values: for a `let` of a header, instead of the script's.
    /// - Throws: ``ScenarioProblem``: no such path, no scenario there, or what does not parse or check, with its place.
    public static func cases(
        in path: String, setting values: [String: String] = [:]
    ) throws(ScenarioProblem) -> [ScenarioCase] {
        var cases: [ScenarioCase] = []
        var problems = ""
        do throws(ScenarioFiles.PathError) {
            for file in try ScenarioFiles([path]).files {
                let result = try ScenarioFiles.compile(file, settings: values.mapValues { Array($0.utf8) }).result
                guard let plan = result.plan else {
                    problems += DiagnosticRenderer(sources: result.sources).render(result.diagnostics)
                    continue
                }
                let index = StepIndex(plan.scenario)
                cases += plan.cases.map { ScenarioCase(file, plan, $0, index) }
            }
        } catch {
            throw ScenarioProblem(description: error.text)
        }
        if !problems.isEmpty { throw ScenarioProblem(description: problems) }
        return cases
    }

    private init(_ file: ScenarioFiles.File, _ plan: Plan, _ casePlan: CasePlan, _ index: StepIndex) {
        id = file.id + casePlan.label
        path = file.path
        title = plan.scenario.title.value
        about = plan.scenario.about
        because = plan.scenario.because
        level = ScenarioLevel(plan.scenario.level)
        tags = plan.scenario.tags
        job = RunJob(
            plan: plan, casePlan: casePlan, index: index, id: id, path: path,
            folder: ScenarioFiles.folder(of: file.path))
    }
}

/// Why scenarios could not be read: one or more lines, with file, line and column where there are any.
public struct ScenarioProblem: Error, Sendable, CustomStringConvertible {
    /// The lines, fit to be shown.
    public let description: String
}

/// What a failure of a scenario means; the words are RFC 2119's.
public enum ScenarioLevel: String, Sendable, CaseIterable {
    /// The transport is wrong.
    case must
    /// Users would expect otherwise, but there may be reasons.
    case should
    /// For information: both ways are right.
    case may

    init(_ level: Scenario.Level) {
        self =
            switch level {
            case .must: .must
            case .should: .should
            case .may: .may
            }
    }
}
