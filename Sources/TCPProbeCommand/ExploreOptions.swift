import ArgumentParser
import Glibc
import ProbeBase
import ProbeEngine
import ProbeExplore
import ProbeScenario
import ProbeSystem
import ProbeTransport

/// The options shared by `explore` and `shrink`.
struct ExploreOptions: ParsableArguments {
    @OptionGroup var selection: SelectionOptions
    @OptionGroup var subjects: SubjectArguments

    @Option(
        name: [.customShort("j", allowingJoined: true), .long], parsing: .unconditional,
        help: ArgumentHelp(
            "Number of variations to run in parallel; default: twice the number of processors, at most 16, because most variations spend their time waiting.",
            valueName: "n"))
    var jobs: Int?

    @Option(
        help: ArgumentHelp("Folder for the smallest scenarios and their captures.", valueName: "dir"),
        completion: .directory)
    var out = "tcpprobe-out"

    @OptionGroup var good: GoodOptions

    @OptionGroup var reports: ReportFiles

    @OptionGroup var targets: TargetOptions

    @Flag(name: .customLong("no-process"), help: "Don't let scripts start programs. Useful for untrusted scripts.")
    var forbidsProcesses = false

    func validate() throws {
        if out.isEmpty { throw ValidationError("--out: the folder's name is empty") }
        if let jobs, !(1...256).contains(jobs) { throw ValidationError("-j \(jobs): expected a number from 1 to 256") }
    }

    /// The options that affect a case, as words of the command line that explores the case again.
    var rerunWords: [String] {
        var words: [String] = []
        for assignment in selection.assignments { words += ["--set", assignment] }
        for target in targets.allowed { words += ["--allow-target", target] }
        if forbidsProcesses { words.append("--no-process") }
        words += good.words
        if let jobs { words += ["-j", "\(jobs)"] }
        if out != "tcpprobe-out" { words += ["--out", out] }
        return words
    }

    /// The maximum number of variations that run in parallel.
    var parallel: Int { jobs ?? max(1, min(16, 2 * sysconf(Int32(_SC_NPROCESSORS_ONLN)))) }

    /// Returns the selected cases. In the text of each script, the `include` statements are replaced with the contents
    /// of the included files.
    func chosenJobs() throws -> [RunJob] {
        let selected = try selection.select(allowing: targets.targets())
        try FilesRead(selected.scripts, are: "a script of the run").requireApart(reports.targets)
        return try selected.jobs.map { job in
            var job = job
            if job.plan.sources.files.count > 1 {
                job = try compiled(job, IncludedFiles(job.plan.sources).inlined(), "its included files")
            }
            if !selection.settings.isEmpty {
                let text = AssignedValues(job.plan).written(Set(selection.settings.keys))
                job = try compiled(job, text, "the values of --set")
            }
            if let text = ForwardSteps(job.plan).written() {
                job = try compiled(job, text, "the forwarding steps of its proxies")
            }
            return job
        }
    }

    /// Compiles the new text of a script, and returns the script's case.
    private func compiled(_ job: RunJob, _ text: [UInt8], _ what: String) throws -> RunJob {
        let compiled = ScenarioCompiler.compile(
            path: job.path, bytes: text, settings: selection.settings, allowing: try targets.targets(),
            loader: FileAccess.load)
        guard let plan = compiled.plan, let casePlan = plan.cases.first(where: { $0.label == job.casePlan.label })
        else {
            throw Failure.invalidUsage(
                "\(Escaped.text(job.path)): can't insert \(what) into the script; insert them yourself, then run this command again"
            )
        }
        var result = job
        result.plan = plan
        result.casePlan = casePlan
        result.index = StepIndex(plan.scenario)
        return result
    }

    /// Returns the words of a command that will run in another folder: existing paths that are relative to the current
    /// folder become absolute. The program's name is unchanged if it contains no slash, because it is looked up in
    /// PATH.
    static func absolute(_ words: [String]) -> [String] {
        let folder = SmallFile.linkTarget("/proc/self/cwd") ?? "."
        return words.enumerated().map { index, word in
            let isPath = word.contains("/") || index > 0
            guard isPath, !word.isEmpty, !word.hasPrefix("/"), !word.hasPrefix("-"), SmallFile.exists(word) else {
                return word
            }
            return "\(folder)/\(word)"
        }
    }

    /// Returns a case that runs a command. The command connects to a server through a proxy.
    ///
    /// - Parameter server: the server to which the proxy connects.
    func commandJob(_ server: CommandScenario.Server) throws -> RunJob {
        let words = Self.absolute(selection.paths)
        guard words.contains(where: { $0.contains("{port}") }) else {
            throw Failure.invalidUsage(
                "the command does not contain {port}, but must connect to the proxy's port\n  hint: use {port} in the command, as in `tcpprobe explore --to 127.0.0.1:6379 -- redis-cli -p {port} ping`"
            )
        }
        if case .address(let target) = server { _ = try ProxyAddress.target(target, try targets.targets()) }
        let name = words[0].split(separator: "/").last.map(String.init) ?? "command"
        let text = CommandScenario(server, words: words).text
        let compiled = ScenarioCompiler.compile(
            path: "\(name).scn", bytes: Array(text.utf8), allowing: try targets.targets(), loader: FileAccess.load)
        guard let plan = compiled.plan, let casePlan = plan.cases.first else {
            Console.standardError.write(
                diagnostics: DiagnosticRenderer(sources: compiled.sources).render(compiled.diagnostics))
            throw ExitCode(2)
        }
        return RunJob(
            plan: plan, casePlan: casePlan, index: StepIndex(plan.scenario), id: name, path: "\(name).scn",
            folder: ScenarioFiles.folder(of: "./\(name).scn"))
    }
}
