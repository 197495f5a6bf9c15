import ArgumentParser
import Glibc
import ProbeBase
import ProbeEngine
import ProbeExplore
import ProbeScenario
import ProbeSystem
import ProbeTransport

/// The options of `explore` and `shrink` that specify a known-good program.
struct GoodOptions: ParsableArguments {
    @Option(
        name: .customLong("good"), parsing: .unconditional,
        help: ArgumentHelp(
            "Command of a correct program that replaces the process under test (NAME=COMMAND if there are several processes) or the adapter. The result must pass with that program.",
            valueName: "command"))
    var command: String?

    @Option(
        name: .customLong("good-set"), parsing: .unconditionalSingleValue,
        help: ArgumentHelp(
            "Like --good, but select the correct program by setting a `let` in the header; `--good --set` means the same. May be repeated.",
            valueName: "name=value"))
    var assignments: [String] = []

    func validate() throws {
        for assignment in assignments where !assignment.dropFirst().contains("=") {
            throw ValidationError("--good-set \(assignment): expected name=value")
        }
        if let command,
            command.utf8.contains(where: { $0 == 10 || $0 == 13 || $0 == 0 }) || command.allSatisfy(\.isWhitespace)
        {
            throw ValidationError("--good: expected a command on one line")
        }
    }

    /// Whether a known-good program is specified.
    var isGiven: Bool { command != nil || !assignments.isEmpty }

    /// The options, as words of the command line that explores a case again.
    var words: [String] {
        (command.map { ["--good", $0] } ?? []) + assignments.flatMap { ["--good-set", $0] }
    }

    /// Returns the arguments with `--good --set x=1` replaced with the single option `--good-set x=1`, which has the
    /// same meaning.
    static func joined(_ arguments: [String]) -> [String] {
        var result: [String] = []
        for argument in arguments {
            let isSet = argument == "--set" || argument.hasPrefix("--set=")
            if isSet, result.last == "--good", ["explore", "shrink"].contains(result.first) {
                result[result.count - 1] = "--good-set" + argument.dropFirst("--set".count)
            } else {
                result.append(argument)
            }
        }
        return result
    }

    /// Returns the adapter that the command of `--good` starts; `nil` if the command is not an adapter. The command is
    /// an adapter if a scenario has a subject, but no process that the command could replace.
    func adapter(for jobs: [RunJob]) throws -> AdapterSource? {
        guard let command, jobs.contains(where: { $0.plan.scenario.processes.isEmpty && $0.plan.scenario.needsSubject })
        else { return nil }
        do throws(SubjectFailure) {
            return try AdapterSource(command: command, names: SubjectNames())
        } catch {
            throw Failure.invalidUsage("--good: \(error.summary)")
        }
    }

    /// Returns the case in which the known-good program replaces the case's own program.
    ///
    /// - Parameters:
    ///   - adapter: the result of ``adapter(for:)``.
    ///   - settings: the values of `--set`.
    ///   - exploresCommand: whether a command that connects to a server is explored. If so, `{port}` in the known-good
    ///     command stands for the same port as in the command that it replaces.
    func knownGoodScenario(
        of job: RunJob, adapter: AdapterSource?, settings: [String: [UInt8]], allowing targets: AllowedTargets?,
        exploresCommand: Bool
    ) throws -> KnownGoodScenario? {
        guard isGiven else { return nil }
        var good = job
        var text = job.plan.sources.files[0].bytes
        let processes = job.plan.scenario.processes
        if command != nil, processes.isEmpty, job.plan.scenario.needsSubject {
            good.subject = adapter
        } else if let command {
            var (name, own) = try chosen(command, of: processes, job)
            if exploresCommand { own = own.replacing("{port}", with: name == "S" ? "${S.port}" : "${X.port}") }
            guard let words = processes[name]?.words, let first = words.first, let last = words.last else { return nil }
            text.replaceSubrange(first.span.start..<last.span.end, with: Self.fromHere(own).utf8)
        }
        var settings = settings
        for assignment in assignments {
            guard let sign = assignment.firstIndex(of: "=") else { continue }
            settings[String(assignment[..<sign])] = Array(assignment[assignment.index(after: sign)...].utf8)
        }
        let compiled = ScenarioCompiler.compile(
            path: job.path, bytes: text, settings: settings, allowing: targets, loader: FileAccess.load)
        guard let plan = compiled.plan, let casePlan = plan.cases.first(where: { $0.label == job.casePlan.label })
        else {
            let errors = compiled.diagnostics.filter { $0.severity == .error }
            Console.standardError.write(
                diagnostics: DiagnosticRenderer(sources: compiled.sources).render(errors))
            throw Failure.invalidUsage("\(Escaped.text(job.path)): with --good, the script no longer has the case")
        }
        (good.plan, good.casePlan) = (plan, casePlan)
        return KnownGoodScenario(good)
    }

    /// Returns the name of the process that a command replaces, and the command without that name.
    private func chosen(
        _ command: String, of processes: [String: ProcessCommand], _ job: RunJob
    ) throws -> (name: String, command: String) {
        if let sign = command.firstIndex(of: "="), processes[String(command[..<sign])] != nil {
            return (String(command[..<sign]), String(command[command.index(after: sign)...]))
        }
        if processes.count == 1, let name = processes.keys.first { return (name, command) }
        let path = Escaped.text(job.path)
        throw Failure.invalidUsage(
            processes.isEmpty
                ? "--good: \(path) has no process and no subject, so there is no program to replace"
                : "--good: \(path) has \(processes.count) processes; name the process to replace, as in --good "
                    + "\(processes.keys.sorted()[0])=COMMAND"
        )
    }

    /// Returns the command with paths relative to the current folder made absolute, because processes run in private
    /// folders. Words that contain a quotation mark, a backslash or a variable are not changed.
    static func fromHere(_ command: String) -> String {
        let folder = SmallFile.linkTarget("/proc/self/cwd") ?? "."
        let words = command.split(separator: " ", omittingEmptySubsequences: false)
        let first = words.firstIndex { !$0.isEmpty }
        let isPlainFolder = folder.utf8.allSatisfy { byte in
            (48...57).contains(byte) || (65...90).contains(byte) || (97...122).contains(byte) || byte >= 0x80
                || "/._-+@".utf8.contains(byte)
        }
        return words.enumerated().map { index, word in
            let isPath = word.contains("/") || index != first
            guard isPath, isPlainFolder, !word.isEmpty, !word.hasPrefix("/"), !word.hasPrefix("-"),
                !word.contains(where: { "'\"\\$".contains($0) }), SmallFile.exists(String(word)),
                !SmallFile.isFolder(String(word))
            else { return String(word) }
            return "\(folder)/\(word)"
        }.joined(separator: " ")
    }
}

extension Scenario {
    /// The commands of the scenario's processes, keyed by the processes' names.
    fileprivate var processes: [String: ProcessCommand] {
        actors.reduce(into: [:]) { found, actor in
            if case .process(let command) = actor.kind { found[actor.name.value] = command }
        }
    }
}
