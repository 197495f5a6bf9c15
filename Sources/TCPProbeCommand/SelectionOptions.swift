import ProbeBase
import ArgumentParser
import ProbeEngine
import ProbeEvents
import ProbeScenario

/// The options that select cases, shared by `run`, `run --dry-run` and `list`.
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
            "Set the value of a `let` of the header, replacing the one in the script. May be repeated.",
            valueName: "name=value"))
    var assignments: [String] = []

    func validate() throws {
        for assignment in assignments where !assignment.dropFirst().contains("=") {
            throw ValidationError("--set \(assignment): expected name=value")
        }
    }

    /// The values of `--set` for the compiler.
    var settings: [String: [UInt8]] {
        var settings: [String: [UInt8]] = [:]
        for assignment in assignments {
            guard let sign = assignment.firstIndex(of: "=") else { continue }
            settings[String(assignment[..<sign])] = Array(assignment[assignment.index(after: sign)...].utf8)
        }
        return settings
    }

    /// The selected cases, and the ids of those that `--filter` and `--tag` excluded.
    struct Selection {
        var jobs: [RunJob] = []
        var filteredAway: Set<String> = []
        /// The paths of all scripts that were read, and of the files that they include.
        fileprivate(set) var scripts: Set<String> = []
        /// The ids of all cases so far.
        fileprivate var taken: Set<String> = []
    }

    /// Compiles all scripts and selects the cases. If a script has errors, all errors are printed and no case is
    /// selected.
    ///
    /// - Parameter targets: the addresses that scripts may use; `nil` allows any, for commands that open no connection.
    /// - Throws: the exit code of invalid usage, after printing the message.
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
            // The id of one file may be equal to the id of another file's case.
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

/// Patterns for ids: `*` matches any text (including `/`), and `?` matches one character. Every other character matches
/// itself, including `[`, because ids contain it.
enum Glob {
    /// Returns whether the text matches. Takes time proportional to the product of the lengths, because only the last `*`
    /// is retried.
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
