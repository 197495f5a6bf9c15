import ProbeBase
import ArgumentParser
import ProbeEngine
import ProbeEvents
import ProbeScenario

/// The options that select cases, shared by `run` and `list`.
struct SelectionOptions: ParsableArguments {
    @Argument(
        help: ArgumentHelp("Scenario files or folders.", valueName: "path"),
        completion: .file(extensions: ["scn"]))
    var paths: [String]

    @Option(
        help: ArgumentHelp(
            "Select cases whose id (see `tcpprobe list`) matches: `*` stands for any text, `?` for any character. May be repeated.",
            valueName: "glob"))
    var filter: [String] = []

    @Option(
        help: ArgumentHelp(
            "Select cases with this tag. May be repeated to select cases with any of the tags.", valueName: "tag"))
    var tag: [String] = []

    @Option(
        name: .customLong("set"),
        help: ArgumentHelp(
            "Set the value of a `let` in the header, overriding the value in the script. May be repeated.",
            valueName: "name=value"))
    var assignments: [String] = []

    func validate() throws {
        for assignment in assignments where !assignment.dropFirst().contains("=") {
            throw ValidationError("--set \(assignment): expected name=value")
        }
    }

    /// The values given by `--set`, in the form that the compiler expects.
    var settings: [String: [UInt8]] {
        var settings: [String: [UInt8]] = [:]
        for assignment in assignments {
            guard let sign = assignment.firstIndex(of: "=") else { continue }
            settings[String(assignment[..<sign])] = Array(assignment[assignment.index(after: sign)...].utf8)
        }
        return settings
    }

    /// The selected cases, and the ids of the cases that `--filter` and `--tag` excluded.
    struct Selection {
        var jobs: [RunJob] = []
        var filteredAway: Set<String> = []
        /// The paths of all scripts that were read, and of the files that the scripts include.
        fileprivate(set) var scripts: Set<String> = []
        /// The ids that have already been assigned to cases.
        fileprivate var taken: Set<String> = []
    }

    /// Compiles all scripts and selects cases. If any script has errors, prints the errors of all scripts and selects
    /// nothing.
    ///
    /// - Parameter targets: the addresses that scripts may use; `nil` if any address is allowed, for commands that open
    ///   no connections.
    /// - Throws: the exit code for invalid usage, after printing the errors.
    func select(allowing targets: AllowedTargets?) throws -> Selection {
        let files = try ScenarioFiles.named(paths)
        var selection = Selection()
        var hasErrors = false
        var caseCount = 0
        for file in files.files {
            do throws(ScenarioFiles.PathError) {
                let result = try ScenarioFiles.compile(file, settings: settings, allowing: targets).result
                Console.standardError.write(
                    diagnostics: DiagnosticRenderer(sources: result.sources).render(result.diagnostics))
                selection.scripts.formUnion(result.sources.files.map(\.path))
                guard let plan = result.plan else {
                    hasErrors = true
                    continue
                }
                caseCount += plan.cases.count
                add(plan, file, to: &selection)
            } catch {
                Console.standardError.write("error: \(error.text)\n")
                hasErrors = true
            }
        }
        if hasErrors { throw ExitCode(2) }
        if selection.jobs.isEmpty {
            throw Failure.invalidUsage(
                "none of the \(caseCount) cases matches "
                    + Escaped.text(
                        (filter.map { "--filter \($0)" } + tag.map { "--tag \($0)" }).joined(separator: " "))
                    + "; `tcpprobe list` shows their ids and tags")
        }
        return selection
    }

    private func add(_ plan: Plan, _ file: ScenarioFiles.File, to selection: inout Selection) {
        let hasTag = tag.isEmpty || plan.scenario.tags.contains(where: tag.contains)
        let index = StepIndex(plan.scenario)
        let folder = ScenarioFiles.folder(of: file.path)
        for casePlan in plan.cases {
            // The id of a case may equal the id of a case in another file.
            let plain = file.id + casePlan.label
            var (id, number) = (plain, 1)
            while !selection.taken.insert(id).inserted {
                number += 1
                id = "\(plain)#\(number)"
            }
            guard hasTag, filter.isEmpty || filter.contains(where: { $0 == id || Glob.matches($0, id) }) else {
                selection.filteredAway.insert(id)
                continue
            }
            selection.jobs.append(
                RunJob(plan: plan, casePlan: casePlan, index: index, id: id, path: file.path, folder: folder))
        }
    }
}

/// Matches ids with patterns: `*` matches any text (including `/`), and `?` matches one character. All other
/// characters, including `[`, match themselves, because ids may contain `[`.
enum Glob {
    /// Returns whether a text matches a pattern. The running time is at most proportional to the product of the lengths
    /// of the text and the pattern, because only the last `*` is retried.
    static func matches(_ pattern: String, _ text: String) -> Bool {
        let pattern = Array(pattern.unicodeScalars)
        let text = Array(text.unicodeScalars)
        var (p, t) = (0, 0)
        var star: (pattern: Int, text: Int)?
        while t < text.count {
            if p < pattern.count && pattern[p] == "*" {
                star = (p, t)
                p += 1
            } else if p < pattern.count && (pattern[p] == "?" || pattern[p] == text[t]) {
                p += 1
                t += 1
            } else if let last = star {
                star = (last.pattern, last.text + 1)
                (p, t) = (last.pattern + 1, last.text + 1)
            } else {
                return false
            }
        }
        return pattern[p...].allSatisfy { $0 == "*" }
    }
}
