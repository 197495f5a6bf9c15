import ProbeEngine
import ProbeEvents
import ProbeReport
import ProbeScenario
import ProbeSystem

/// One case of a scenario file, ready to be run against a transport. A file without `each` is one case; a file with
/// `each` has one case for each value.
public struct ScenarioCase: Sendable, Identifiable, CustomStringConvertible {
    /// The path below the folder that was read, without `.scn`, followed by the values of its `each`:
    /// `close/eof-mid-line`, `framing/cut[n=3]`. The ids of the conformance suite are stable.
    public let id: String
    /// The file's path.
    public let path: String
    /// The scenario's title.
    public let title: String
    /// What must happen and why it matters; nil if the scenario does not say it.
    public let about: String?
    /// The bugs that are the reason for the scenario: `owner/repository#number`.
    public let because: [String]
    /// What a failure means.
    public let level: ScenarioLevel
    /// The scenario's tags.
    public let tags: [String]

    let job: RunJob

    /// The id: it names the case of a parameterised test.
    public var description: String { id }

    /// All cases of the conformance suite that comes with this package, in the order of their ids.
    ///
    /// - Throws: ``ScenarioProblem`` if the package's sources are not where they were when it was built.
    public static func conformance() throws(ScenarioProblem) -> [ScenarioCase] {
        // …/Sources/TCPProbeKit/ScenarioCase.swift: a package is built in the folder of its sources and stays there.
        let package = #filePath.split(separator: "/").dropLast(3).joined(separator: "/")
        return try cases(in: "/\(package)/Scenarios/conformance")
    }

    /// All cases of a scenario file, or of the files `*.scn` in a folder and below, in the order of their names.
    ///
    /// - Parameter values: replace the values of `let` lines in the script's header.
    /// - Throws: ``ScenarioProblem`` if there is no such path, if it has no scenario, or if a script has errors.
    public static func cases(
        in path: String, setting values: [String: String] = [:]
    ) throws(ScenarioProblem) -> [ScenarioCase] {
        var cases: [ScenarioCase] = []
        var problems = ""
        do throws(ScenarioFiles.PathError) {
            for file in try ScenarioFiles([path]).files {
                // An address that may not be used is the error of its case: the others of the folder can be run.
                let result = try ScenarioFiles.compile(
                    file, settings: values.mapValues { Array($0.utf8) }, allowing: nil
                ).result
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

/// Why scenarios could not be read: one or more lines, with file, line and column if they are known.
public struct ScenarioProblem: Error, Sendable, CustomStringConvertible {
    /// The lines, escaped for a terminal.
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
