import ProbeBase
import CShims
import Glibc
import ProbeEvents
import ProbeScenario
import ProbeSystem

extension CaseRun {
    func act(
        _ process: ProcessActor, _ action: ProcessAction, _ timing: Timing, _ step: Step, from time: MonotonicTime
    ) async throws(Finding) {
        switch action {
        case .start: try start(process, step)
        case .stop: try await stop(process)
        case .send(let statement):
            let child = try running(process)
            let bytes = try pieces(of: statement, framing: .lf).whole
            guard child.pendingInputCount + bytes.count <= Self.largestInput else {
                throw Finding(
                    .error,
                    "\(process.name) has not read \(child.pendingInputCount) bytes of its stdin: no more than 256 MiB wait"
                )
            }
            child.write(bytes)
        case .signal(let signal):
            let child = try running(process)
            child.signal(signal.number)
        case .expect(let expectation):
            try await expect(expectation, process, timing, from: time)
        }
    }

    /// What may wait until a program reads its stdin.
    private static let largestInput = 256 << 20

    private func running(_ process: ProcessActor) throws(Finding) -> ChildProcess {
        guard let child = process.child else {
            throw Finding(
                .error, "\(process.name) has not been started", hints: ["`\(process.name) start` comes first"])
        }
        if child.exit != nil { throw Finding(.error, "\(process.name) has ended: \(ExitText.describe(child.exit))") }
        return child
    }

    // MARK: start and stop

    private func start(_ process: ProcessActor, _ step: Step) throws(Finding) {
        if let child = process.child, child.exit == nil {
            throw Finding(.error, "\(process.name) runs already", hints: ["`\(process.name) stop` comes first"])
        }
        var words: [String] = []
        for word in process.command.words {
            let bytes = try bytes(of: word.value, at: word.span)
            if bytes.contains(0) { throw Finding(.error, at: word.span, "a word of a command can't hold a NUL") }
            words.append(String(decoding: bytes, as: UTF8.self))
        }
        guard let command = words.first else { throw Finding(.error, "\(process.name) has no command") }
        let folder: String
        if let kept = process.folder { folder = kept } else { folder = try makeFolder() }
        process.folder = folder
        guard let path = ExecutableSearch.find(command, from: folder) else {
            throw Finding(
                .error, at: process.command.words.first?.span, "the command \(command) was not found",
                hints: [
                    command.contains("/")
                        ? "it runs in a folder of its own: \"${dir}/…\" is relative to the script"
                        : "`require command \(command)` skips the case where it is not installed"
                ])
        }
        let began = WallClock.now
        let child: ChildProcess
        do throws(SystemError) {
            child = try ChildProcess(
                path: path, words: words, environment: ProcessEnvironment.words(marker: environmentMarker),
                directory: folder, reactor: reactor)
        } catch {
            throw Finding(.error, at: process.command.words.first?.span, "\(command) can't be started: \(error.reason)")
        }
        if let earlier = process.child {
            process.earlier.append(earlier)
            process.lives[process.lives.count - 1].ended = earlier.exitedAt
        }
        process.lives.append((began, nil))
        openerRevision += 1
        (process.child, process.isStopping, process.exitIsTaken, process.exitIsReported) = (child, false, false, false)
        (process.output, process.reportedLines) = (OutputCursor(), 0)
        watchOutput(of: process, child)
        let changes = changes
        let name = process.name
        child.onChange = { [weak self] in
            self?.assumeIsolated { run in
                if case .process(let process)? = run.actors[name] { run.changed(process) }
            }
            changes.notifyAll()
        }
    }

    private func makeFolder() throws(Finding) -> String {
        let base = getenv("TMPDIR").map { String(cString: $0) }.flatMap { $0.isEmpty ? nil : $0 } ?? "/tmp"
        do throws(SystemError) {
            return try Leftovers.makeFolder(in: base)
        } catch {
            throw Finding(
                .error, "no temporary folder could be made in \(base): \(error.reason)",
                hints: ["TMPDIR names the folder for such folders"])
        }
    }

    /// Marks every process that the case starts, so that those which leave their group are found as well.
    var environmentMarker: String { "TCPPROBE_CASE=\(getpid()).\(start.nanoseconds)" }

    private func stop(_ process: ProcessActor) async throws(Finding) {
        process.isStopping = true
        guard let child = process.child else {
            throw Finding(.error, "\(process.name) has not been started")
        }
        waits[process.name] = "its exit"
        defer { waits[process.name] = nil }
        await end(child)
        process.exitIsTaken = true
    }

    /// TERM to its group, KILL when that does not help, and KILL to what it left behind.
    func end(_ child: ChildProcess) async {
        if child.exit == nil {
            child.killGroup(SIGTERM)
            await waitForExit(child, for: .milliseconds(500))
        }
        child.killGroup(SIGKILL)
        if child.exit == nil { await waitForExit(child, for: .seconds(5)) }
    }

    private func waitForExit(_ child: ChildProcess, for duration: Duration) async {
        let deadline = MonotonicTime.now + duration
        while child.exit == nil && MonotonicTime.now < deadline { await pause(until: deadline) }
    }

    /// New output goes to the timeline; an exit that nothing covers ends the case.
    private func changed(_ process: ProcessActor) {
        guard let child = process.child else { return }
        if let trouble = child.trouble {
            raise(Finding(.error, "\(process.name)'s stdin can't be written to: \(trouble)"))
        }
        let transcript = child.transcript
        process.reportedLines = max(process.reportedLines, transcript.dropped)
        while process.reportedLines < transcript.end {
            let line = transcript.lines[process.reportedLines - transcript.dropped]
            if !line.isComplete && child.exit == nil { break }
            if process.reportedLines < 2000 {
                record(
                    .output(actor: process.name, isError: line.stream == .error, Array(line.bytes.prefix(4096))),
                    at: line.time)
            }
            process.reportedLines += 1
        }
        guard let exit = child.exit, !process.exitIsReported else { return }
        process.exitIsReported = true
        if child.exitIsUnknown {
            raise(
                Finding(
                    .error, "\(process.name)'s guardian process was killed, and \(process.name) with it",
                    hints: ["its exit says nothing about \(process.name); a program that signals its parent does that"])
            )
        }
        record(.event(actor: process.name, ExitText.describe(exit)))
        if !index.expectsExit(of: process.name, from: position), let finding = unexpectedExit(of: process) {
            raise(finding)
        }
    }

    /// nil while it runs, and when a step has taken its exit.
    func unexpectedExit(of process: ProcessActor) -> Finding? {
        guard let child = process.child, let exit = child.exit, !process.isStopping, !process.exitIsTaken else {
            return nil
        }
        return Finding(
            .failed, "\(process.name) ended unexpectedly: \(ExitText.describe(exit))", details: lastLines(child),
            hints: ["where that is right, `\(process.name) expect exit` says so"])
    }

    func lastLines(_ child: ChildProcess) -> [String] {
        let lines = child.transcript.lines.suffix(8)
        if lines.isEmpty { return ["it printed nothing"] }
        return ["the last lines that it printed:"] + lines.map { "  \(EscapedBytes.safeText($0.bytes.prefix(300)))" }
    }

    // MARK: expect

    private func expect(
        _ expectation: ProcessExpectation, _ process: ProcessActor, _ timing: Timing, from time: MonotonicTime
    ) async throws(Finding) {
        guard let child = process.child else {
            throw Finding(
                .error, "\(process.name) has not been started", hints: ["`\(process.name) start` comes first"])
        }
        let deadline = deadline(timing, from: time)
        defer { waits[process.name] = nil }
        switch expectation {
        case .listening: try await expectListening(process, child, timing, deadline, time)
        case .output(let literal):
            try await expectOutput(try regex(literal), process, child, timing, deadline, time)
        case .noOutput(let literal, let duration):
            try await expectNoOutput(try regex(literal), process, child, for: duration)
        case .exit(let expected): try await expectExit(expected, process, child, timing, deadline, time)
        case .memory(let comparison, let expression):
            let bytes = try residentMemory(process, child)
            let limit = try integer(of: expression)
            if !comparison.holds(bytes, limit) {
                throw Finding(
                    .failed,
                    "\(process.name)'s group uses \(bytes) bytes of memory, not \(comparison.rawValue) \(limit)")
            }
        case .descriptors(let comparison, let expression):
            let count = try descriptorCount(process, child)
            let limit = try integer(of: expression)
            if !comparison.holds(count, limit) {
                throw Finding(
                    .failed,
                    "\(process.name)'s group has \(count) descriptors open, not \(comparison.rawValue) \(limit)")
            }
        }
    }

    private func expectListening(
        _ process: ProcessActor, _ child: ChildProcess, _ timing: Timing, _ deadline: MonotonicTime,
        _ start: MonotonicTime
    ) async throws(Finding) {
        let wanted = process.command.portCount > 0 ? process.ports.first : nil
        waits[process.name] = "it to listen" + (wanted.map { " on port \($0)" } ?? "")
        var interval: Int64 = 1_000_000
        let earliest = timing.after.map { start + $0 }
        var (planned, looked, own) = (MonotonicTime.now, MonotonicTime.now, Duration.zero)
        while true {
            try checkFault()
            if let exit = child.exit {
                throw Finding(
                    .failed, "\(process.name) ended before it listened: \(ExitText.describe(exit))",
                    details: lastLines(child))
            }
            let now = MonotonicTime.now
            // It listened when it was looked for, however long the look took. A look that was planned for a moment counts as of then:
            // what began between two looks had begun by the second one's moment.
            looked = now < planned + .milliseconds(2) ? planned : now
            let used = probe_thread_cpu_ns()
            if try isListening(process, child) { break }
            // Not the time in which it was stopped.
            own += min(.now - now, .nanoseconds(probe_thread_cpu_ns() - used) + .milliseconds(100))
            // A look takes long where many processes run. It keeps the harness busy, but is no time in which this step did not look.
            if now >= deadline, now + own >= reactor.extended(deadline, from: start) {
                let others = try listeningPorts(process, child, isLast: true).sorted()
                throw Finding(
                    .failed,
                    "\(process.name) did not listen" + (wanted.map { " on port \($0)" } ?? "") + " within "
                        + DurationText.script(deadline - start),
                    details: lastLines(child),
                    hints: others.isEmpty
                        ? [] : ["it listens on \(others.map(String.init).joined(separator: ", ")) instead"])
            }
            planned = now + .nanoseconds(interval)
            if now < deadline { planned = min(planned, deadline) }
            if let earliest, earliest > now, earliest <= planned { planned = earliest + .nanoseconds(-1) }
            await pause(until: planned)
            interval = min(interval * 3 / 2, 20_000_000)
        }
        try judgeTime(looked, "\(process.name)'s listening", deadline, timing, start, own: own)
    }

    private func expectExit(
        _ expected: ProcessExpectation.ExitExpectation, _ process: ProcessActor, _ child: ChildProcess,
        _ timing: Timing,
        _ deadline: MonotonicTime, _ start: MonotonicTime
    ) async throws(Finding) {
        waits[process.name] = "its exit"
        let exit = try await wait(until: deadline, from: start) { () throws(Finding) -> ChildProcess.Exit? in
            child.exit
        }
        guard let exit else {
            throw Finding(
                .failed, "\(process.name) did not exit within \(DurationText.script(deadline - start))",
                details: lastLines(child))
        }
        process.exitIsTaken = true
        if try !isMet(expected, by: exit) {
            let wanted: String =
                switch expected {
                case .any: "exit"
                case .status(let expression): "status \(try integer(of: expression))"
                case .signal(let signal): "signal \(signal.name)"
                }
            throw Finding(
                .failed, "\(process.name) ended with \(ExitText.describe(exit)), not with \(wanted)",
                details: lastLines(child))
        }
        if let exitedAt = child.exitedAt {
            try judgeTime(exitedAt, "\(process.name)'s exit", deadline, timing, start, isExact: true)
        }
    }

    func isMet(_ expected: ProcessExpectation.ExitExpectation, by exit: ChildProcess.Exit) throws(Finding) -> Bool {
        switch expected {
        case .any: true
        case .status(let expression): exit == .status(Int32(clamping: try integer(of: expression)))
        case .signal(let signal): exit == .signal(signal.number)
        }
    }
}
