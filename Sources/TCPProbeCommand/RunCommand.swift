import ArgumentParser
import CShims
import Glibc
import ProbeBase
import ProbeCapture
import ProbeEngine
import ProbeEvents
import ProbeReport
import ProbeScenario
import ProbeSystem
import ProbeTransport

struct RunCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "run",
        abstract: "Run scenarios and judge them.",
        discussion: """
            EXAMPLES:
              tcpprobe run Scenarios/crlf.scn
              tcpprobe run Scenarios -j 2 --out captures --keep failed
              tcpprobe run Scenarios --filter 'redis*' --repeat 20 --until-fail
              tcpprobe run Scenarios --tag framing --time-scale 4
              tcpprobe run Scenarios --transport bsd --adapter "python3 mine.py" --matrix results.html
              tcpprobe run Scenarios --adapter "python3 mine.py" --expect known.txt
            """)

    @OptionGroup var selection: SelectionOptions
    @OptionGroup var shards: ShardOptions
    @OptionGroup var files: ReportFiles
    @OptionGroup var reportArguments: ReportArguments

    @OptionGroup var subjects: SubjectArguments

    @Option(
        name: [.customShort("j", allowingJoined: true), .long], parsing: .unconditional,
        help: ArgumentHelp("Number of cases to run in parallel.", valueName: "n"))
    var jobs = 1

    // A value that begins with a minus sign must be rejected with a reason, rather than be parsed as an option.
    @Option(
        name: .customLong("repeat"), parsing: .unconditional,
        help: ArgumentHelp("Run all cases this many times.", valueName: "n"))
    var repetitions: Int?

    @Flag(help: "Stop at the first case that fails or ends in an error; without --repeat, repeat until a case does.")
    var untilFail = false

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp(
            "Multiply deadlines and the subject's timeouts by this factor, for slow machines; lower bounds and the timing of faults don't change.",
            valueName: "factor"))
    var timeScale = 1.0

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp(
            "Number added to each seed in the scripts, to get other random bytes and cuts.", valueName: "n"))
    var seed = 0

    @Option(help: ArgumentHelp("Folder for captures.", valueName: "dir"), completion: .directory)
    var out = "tcpprobe-out"

    @Option(help: "Captures to keep; `failed` keeps those of all cases that did not pass.")
    var keep = RunConfiguration.Keep.all

    @Flag(
        name: .customLong("no-secrets"),
        help: "Omit the secrets of TLS connections from captures, which then can't be decrypted.")
    var omitsSecrets = false

    @Flag(help: "Also fail the run on failures of level `should`, and on passes that contradict --expect.")
    var strict = false

    @OptionGroup var emptiness: EmptyRunOptions

    @Flag(
        name: .customLong("over-tls"),
        help:
            "Add `tls` to each server, its clients and the subject; wire statements about bytes and segments are left out."
    )
    var isOverTLS = false

    @OptionGroup var targets: TargetOptions
    @OptionGroup var crowds: CrowdShareOptions

    @Flag(name: .customLong("no-process"), help: "Don't let scripts start programs. Useful for untrusted scripts.")
    var forbidsProcesses = false

    @Flag(
        inversion: .prefixedNo,
        help: ArgumentHelp(
            "Run in a private network namespace, which requires no privileges (MTU 1500). This is the default if capture is not permitted and the scripts need no outside address."
        ))
    var isolate: Bool?

    @Flag(help: "List the cases with their requirements and maximum durations, without running them.")
    var dryRun = false

    private var reports: RunReports { RunReports(files, reportArguments) }

    func validate() throws {
        try reports.validate()
        if shards.shard != nil, crowds.text != nil {
            throw ValidationError(
                "--shard and --crowd-share are mutually exclusive: each share of a crowd runs every case")
        }
        if out.isEmpty { throw ValidationError("--out: the folder's name is empty") }
        if !(1...256).contains(jobs) { throw ValidationError("-j \(jobs): expected a number from 1 to 256") }
        if let repetitions, !(1...1_000_000_000).contains(repetitions) {
            throw ValidationError("--repeat \(repetitions): expected a number from 1 to 1000000000")
        }
        if !(timeScale >= 0.01 && timeScale <= 1000) {
            let what = timeScale > 0 ? "a number from 0.01 to 1000" : "a positive number, from 0.01 to 1000"
            throw ValidationError("--time-scale \(DurationText.fixed(timeScale, digits: 2)): expected \(what)")
        }
    }

    func run() throws {
        // CI commands must be disabled before the first output that contains text from a script.
        if reports.files.github { Console.standardOutput.stopCommands() }
        let sources = try subjects.sources()
        let expected = try reports.readExpectations()
        let crowdShare = try crowds.choice()
        let shard = try shards.choice(dividesCrowds: crowdShare != nil)
        if !dryRun { try reports.removeEarlierResults(apartFrom: shards.timings) }
        if let crowdShare { console.write(CrowdShareOptions.firstLine(crowdShare)) }
        let notes = HeldNotes(console, waits: shard != nil)
        defer { notes.release() }
        if dryRun {
            try showCases(chosen(notes).jobs, shard, of: sources, notes)
            return
        }
        let session = try RunSession()
        // A namespace must be entered while the process has a single thread, which is before the capture is opened. The
        // scripts must be read even earlier, because they determine whether the run may enter a namespace without
        // `--isolate`.
        var read: SelectionOptions.Selection?
        var obstacle: IsolationObstacle?
        let mayDoAll = Isolation.mayCapture && NetworkNamespace.missingPrivilege == nil
        if isolate == true || (isolate == nil && !mayDoAll) {
            let selection = try readScripts(notes)
            read = selection
            let needsLinks = selection.jobs.contains { !$0.plan.scenario.links.isEmpty }
            if isolate == true || !Isolation.mayCapture || needsLinks {
                obstacle = try enterNamespace(session, selection.jobs, notes)
            }
        }
        try session.requireThreads(2 + 2 * jobs)
        let ports = PortAllocator(seed: getpid())
        // Opening the capture takes a few milliseconds, during which the scripts are read.
        let isLong = jobs > 1 || selection.paths.count > 1 || selection.paths.contains(where: SmallFile.isFolder)
        let opening = CaptureOpening(
            ports: ports.range, bufferSize: isLong ? Capture.largeBufferSize : Capture.defaultBufferSize)
        let picked = try read ?? readScripts(notes)
        let selected = subjects.multiply(picked.jobs, by: sources)
        let (parallel, note) = session.descriptors.jobs(jobs, for: selected, subjectCount: sources.count)
        if let note { notes.write("note: \(note)\n") }
        let openedFolder = try makeOutputFolder(isShared: shard != nil)
        defer { session.endAndReport() }
        if let failure = session.begin(introducing: sources) { throw Failure.invalidUsage(failure) }
        try crowds.waitForMoment(orUntilReadable: session.signals)
        let division = try division(selected, shard)
        notes.release(after: division.firstLine)
        if let remark = shards.remark(shard, writesResults: reports.results != nil) { notes.write("note: \(remark)\n") }
        var options = ReportOptions()
        options.rules = RunRules(strict: strict, expectations: expected.expectations)
        options.rules.allowsEmpty = emptiness.allowsEmpty
        options.hasSeveralSubjects = sources.count > 1
        options.version = TCPProbe.version
        options.startedAt = probe_realtime_ns() / 1_000_000_000
        let output = RunOutput(
            try reports.recorders(
                division, filteredAway: picked.filteredAway, expected: expected, options: options,
                head: resultsHead(division, options), rerun: rerun))

        let (reactor, control) = (try session.makeReactor(), RunControl())
        var configuration = try configuration(ports: ports, subjects: sources, parallel: parallel, rules: options.rules)
        configuration.openedFolder = openedFolder
        (configuration.capture, configuration.captureProblem) = opening.wait(executable: executablePath())
        configuration.isolationObstacle = obstacle?.text
        if console.progressWidth != nil { output.tick(on: reactor) }
        let (jobs, runner) = (
            division.jobs, Runner(configuration: configuration, control: control) { output.record($0) }
        )
        try session.run(control, abort: { abort($0, output, session) }) { await runner.run(jobs, on: reactor) }
        session.endAndReport()
        configuration.capture?.leaveClosingToKernel()
        // Without a summary, the run has not ended properly, so its results are unreliable.
        throw ExitCode(output.summary?.exitCode ?? 3)
    }

    /// Returns the configuration for the run that the arguments specify.
    private func configuration(
        ports: PortAllocator, subjects: [any SubjectSource], parallel: Int, rules: RunRules
    ) throws -> RunConfiguration {
        var configuration = RunConfiguration.forCommands(ports)
        configuration.keep = keep
        configuration.keepsSecrets = !omitsSecrets
        configuration.keepsTimelines = reports.drawsPassedCases
        configuration.outputFolder = out
        configuration.allowedTargets = try targets.targets()
        configuration.timeScale = timeScale
        configuration.seed = seed
        configuration.crowdShare = (try crowds.choice()?.share).map(CrowdShare.init)
        configuration.allowsProcesses = !forbidsProcesses
        configuration.rerun = rerun
        configuration.subjects = subjects
        configuration.parallel = parallel
        configuration.repetitions = repetitions ?? (untilFail ? Int.max : 1)
        configuration.stopsAtFailure = untilFail
        configuration.rules = rules
        return configuration
    }

    // MARK: Preparation

    /// The console for the human-readable report.
    var console: Console { reports.console }

    /// Reads the scripts. There is nothing to clean up before the first case runs, so Ctrl-C may end the process
    /// immediately.
    private func readScripts(_ notes: HeldNotes) throws -> SelectionOptions.Selection {
        probe_interrupts_end_process(1)
        defer { probe_interrupts_end_process(0) }
        return try chosen(notes)
    }

    /// Returns the selected cases. With `--over-tls`, the cases run over TLS.
    private func chosen(_ notes: HeldNotes) throws -> SelectionOptions.Selection {
        var selection = try selection.select(allowing: targets.targets())
        var read = FilesRead(selection.scripts, are: "a script of the run")
        read.add(shards.timings, are: "a file of --timings")
        try reports.requireApart(from: read)
        try crowds.check(selection.jobs)
        guard isOverTLS else { return selection }
        let changed = try OverTLSCases(selection.jobs)
        selection.jobs = changed.jobs
        notes.write("note: \(changed.note)\n")
        return selection
    }

    /// Creates the folder for captures. The folder is opened only once, so that all captures are written to the same
    /// folder even if its path changes during the run.
    ///
    /// - Parameter isShared: whether other shards also write to the folder. If so, existing captures may belong to
    ///   other shards and are not moved.
    private func makeOutputFolder(isShared: Bool) throws -> Folder? {
        if keep == .none { return nil }
        do throws(SystemError) {
            let folder = try Folder(making: out)
            try folder.requireWritable()
            let moved = isShared ? 0 : EarlierCaptures(folder).moveAside()
            if moved > 0 {
                let place = Escaped.text("\(out)/\(EarlierCaptures.folderName)".utf8)
                Console.standardError.write(
                    "note: moved \(ByteText.count(moved, "capture")) of earlier runs to \(place)\n")
            }
            return folder
        } catch {
            Console.standardError.write(
                "error: the folder \(Escaped.text(out.utf8)) for captures can't be written to: \(error.reason); "
                    + "choose another one with `--out DIR`, or keep no captures with `--keep none`\n")
            throw ExitCode(3)
        }
    }

    // MARK: The run

    /// Prints the cases for `--dry-run`. The subjects are introduced first, because the assignment of cases to shards
    /// depends on the subjects' names.
    private func showCases(
        _ jobs: [RunJob], _ shard: ShardOptions.Choice?, of sources: [any SubjectSource], _ notes: HeldNotes
    ) throws {
        guard let shard else { return CaseList.write(jobs, timeScale: timeScale) }
        let session = try RunSession()
        defer { session.endAndReport() }
        let failure = session.begin(introducing: sources)
        if let signal = session.arrivedSignal() { throw ExitCode(128 + signal) }
        if let failure { throw Failure.invalidUsage(failure) }
        let division = try division(subjects.multiply(jobs, by: sources), shard)
        notes.release(after: division.firstLine)
        var shown: Set<String> = []
        CaseList.write(division.jobs.filter { shown.insert($0.id).inserted }, timeScale: timeScale)
    }

    /// Completes the reports of a run that is ended by a second signal.
    private func abort(_ signal: Int32, _ output: RunOutput, _ session: RunSession) {
        output.abort(by: signal)
        session.endAndReport()
        Console.standardOutput.resumeCommands()
    }
}

extension RunConfiguration.Keep: ExpressibleByArgument {}

extension RunCommand {
    /// Enters a private network namespace if a namespace is requested or needed.
    ///
    /// - Returns: the reason why the run must not enter a namespace; `nil` if there is none.
    func enterNamespace(
        _ session: RunSession, _ jobs: [RunJob], _ notes: HeldNotes
    ) throws -> IsolationObstacle? {
        let isAsked = isolate == true
        if isAsked && !targets.allowed.isEmpty {
            throw Failure.invalidUsage(
                "--isolate and --allow-target are mutually exclusive: an isolated run can't reach outside hosts")
        }
        // A server that was started before the run is outside the namespace, even if it listens on 127.0.0.1.
        if !isAsked, let obstacle = IsolationObstacle(jobs, allowedTargets: targets.allowed) { return obstacle }
        let lacking = Isolation.mayCapture ? "links are" : "capture is"  // The namespace permits captures and links.
        do {
            try session.enterNamespace()
            notes.write(
                isAsked
                    ? "isolated: this run uses a private network namespace (MTU 1500)\n"
                    : "isolated: \(lacking) not permitted, so this run uses a private network namespace (MTU 1500)\n"
            )
        } catch {
            let text = "can't create a network namespace (\(error.step): \(error.reason))"
            if isAsked || error.isAfterUnshare {
                Console.standardError.write(
                    "error: \(text); run without --isolate, as root or with `setcap cap_net_raw+ep \(executablePath())`\n"
                )
                throw ExitCode(3)
            }
            Console.standardOutput.write("note: \(text)\n")
        }
        return nil
    }
}

extension RunCommand {
    /// Returns the command line that runs a single case again, with every option on which the case depends.
    func rerun(_ job: RunJob) -> String {
        var words = ["tcpprobe", "run"]
        // With `--expect`, the case must have the same id, which depends on the path of the given folder. Without
        // `--expect`, the case is run by the path of its script.
        let ownID = ScenarioFiles.ownID(of: job.path) + job.casePlan.label
        if job.id != ownID, !reports.expect.isEmpty {
            words += selection.paths + ["--filter", job.id]
        } else {
            words.append(job.path)
            if !job.casePlan.label.isEmpty { words += ["--filter", ownID] }
        }
        if let subject = job.subject, subject.option != SubjectArguments.standard { words += subject.option }
        for assignment in selection.assignments { words += ["--set", assignment] }
        if seed != 0 { words += ["--seed", "\(seed)"] }
        if timeScale != 1 { words += ["--time-scale", "\(timeScale)"] }
        for target in targets.allowed { words += ["--allow-target", target] }
        if let isolate { words.append(isolate ? "--isolate" : "--no-isolate") }
        if forbidsProcesses { words.append("--no-process") }
        // `--no-secrets` also affects the environment of programs.
        if omitsSecrets { words.append("--no-secrets") }
        for path in reports.expect { words += ["--expect", path] }
        if strict { words.append("--strict") }
        if isOverTLS { words.append("--over-tls") }
        // The share was already parsed at the start of the run, where an error would have ended the run.
        if let share = try? crowds.choice()?.share { words += ["--crowd-share", "\(share)"] }
        if out != "tcpprobe-out" { words += ["--out", out] }
        return words.map(ShellWord.quoted).joined(separator: " ")
    }
}

extension RunCommand {
    /// Returns the division of the plan's cases. The division determines the cases that this run executes.
    ///
    /// - Throws: the exit code for invalid usage, after printing the message, if a file of `--timings` can't be used.
    func division(_ whole: [RunJob], _ shard: ShardOptions.Choice?) throws -> RunDivision {
        if shards.timings.isEmpty { return RunDivision(whole, shard) }
        var times = CaseTimes()
        for path in shards.timings {
            for (key, time) in try ResultsFile.read(path, for: "--timings: ").caseTimes { times.add(key, time: time) }
        }
        return RunDivision(whole, shard, times: times)
    }

    /// Returns the head of the results file; `nil` if `--results` was not given.
    ///
    /// - Throws: the exit code for invalid usage, after printing the message, if an environment variable contains an
    ///   invalid attempt number.
    func resultsHead(_ division: RunDivision, _ options: ReportOptions) throws -> ResultsHead? {
        guard reports.results != nil else { return nil }
        var head = ResultsHead(
            planHash: digest(division, options.rules), planCases: division.whole.count, places: division.places)
        head.version = options.version
        head.division = division.division
        head.share = division.share
        head.crowdShare = try crowds.choice()?.share
        do throws(ShardProblem) {
            head.attempt = try ShardEngine.attempt(ShardOptions.variable)
        } catch {
            throw Failure.invalidUsage("--results: \(error)")
        }
        head.isStrict = strict
        head.hasSeveralSubjects = options.hasSeveralSubjects
        head.startedAt = options.startedAt
        return head
    }

    /// Returns a digest of all inputs that are known to affect verdicts.
    private func digest(_ division: RunDivision, _ rules: RunRules) -> String {
        var digest = PlanDigest()
        for assignment in selection.assignments { digest.add(option: "set", assignment) }
        digest.add(option: "seed", "\(seed)")
        digest.add(option: "time-scale", "\(timeScale)")
        digest.add(option: "repeat", "\(repetitions ?? 1) \(untilFail)")
        digest.add(option: "rules", "\(strict) \(isOverTLS) \(forbidsProcesses) \(omitsSecrets)")
        for target in targets.allowed { digest.add(option: "allow-target", target) }
        var named = NamedFiles()
        var lastPath: String?
        for job in division.whole {
            digest.add(job.key, path: job.path, sources: job.plan.sources)
            if job.path != lastPath {
                let hash = named.hash(of: job.plan.sources, script: job.path, load: FileAccess.load)
                digest.add(option: "files", "\(hash)")
                lastPath = job.path
            }
            if let expected = rules.expectations[job.key] { digest.add(option: "expect", expected.word) }
        }
        return digest.text
    }
}
