import ProbeBase
import CShims
import Glibc
import ProbeSystem
import Synchronization

/// The thread that serves one ``AdapterProcess``. The thread polls the program's pipes, and ends when the program ends.
final class AdapterLoop {
    private let process: AdapterProcess
    private var lines: LineBuffer
    private var chunk = [UInt8](repeating: 0, count: 65536)
    /// The bytes to be written to the program's stdin. The first `written` bytes have been written.
    private var writing: [UInt8] = []
    private var written = 0
    private let start = MonotonicTime.now
    /// The time at which the request to end the program was noticed; `nil` until then.
    private var quitting: MonotonicTime?
    /// The time at which the running program closed its stdout or stdin, and which of them it closed; `nil` if the
    /// program has closed neither.
    private var pipeEnd: (time: MonotonicTime, what: String)?
    /// The time since which a caller has been waiting for ops of an earlier case to be answered; `nil` if no caller is
    /// waiting.
    private var waiting: MonotonicTime?

    init(_ process: AdapterProcess) {
        self.process = process
        lines = LineBuffer(limit: process.limits.line)
    }

    func run() {
        probe_name_thread("adapter")
        // SIGPIPE is blocked, so that a write to a program that has ended fails with EPIPE instead of ending this
        // process.
        var signals = sigset_t()
        sigemptyset(&signals)
        sigaddset(&signals, SIGPIPE)
        pthread_sigmask(SIG_BLOCK, &signals, nil)
        let command = process.command
        let child: AdapterChild
        do throws(SystemError) {
            child = try AdapterChild(
                path: command.path, words: command.words,
                marker: "TCPPROBE_ADAPTER=\(getpid()).\(start.nanoseconds).\(UInt.random(in: .min ... .max))",
                in: process.place)
        } catch {
            process.fail(SubjectFailure("the adapter `\(command.shown)` can't be started: \(error.reason)"))
            process.hasEnded()
            return
        }
        process.hasStarted(child.processes)
        while serve(child) {}
        child.end()
        process.hasEnded()
    }

    /// Runs one iteration of the loop. Returns `false` if the program must be ended, or has ended.
    private func serve(_ child: AdapterChild) -> Bool {
        switch process.requested {
        case .serve: break
        case .kill: return false
        case .quit: if quitting == nil { quitting = .now }
        }
        if writing.isEmpty { (writing, written) = (process.takeQueue(), 0) }
        if quitting != nil && writing.isEmpty { child.closeInput() }
        if let quitting, .now >= quitting + process.limits.patience { return false }

        var entries = [
            Polling.entry(process.wake.descriptor, read: true, write: false),
            Polling.entry(child.descriptor, read: child.status == nil, write: false),
            Polling.entry(child.output ?? -1, read: child.output != nil, write: false),
            Polling.entry(child.errors ?? -1, read: child.errors != nil, write: false),
            Polling.entry(child.input ?? -1, read: false, write: child.input != nil && !writing.isEmpty),
        ]
        let now = MonotonicTime.now
        Polling.wait(&entries, until: deadline?.nanoseconds, now: now.nanoseconds)
        if entries[0].isReadable { process.wake.clear() }
        if entries[4].isWritable { write(child) }
        if entries[3].isReadable { readErrors(child, rounds: 4) }
        if entries[2].isReadable, !readOutput(child, rounds: 16) { return false }
        if entries[1].isReadable, child.reap() {
            // Output that the program wrote before it ended is already in the pipes. The loop doesn't wait for EOF on
            // the pipes, because another process may hold them open.
            readErrors(child, rounds: 64)
            if quitting == nil, !readOutput(child, rounds: 64) { return false }
            if quitting == nil {
                _ = fail("ended unexpectedly", child, line: lines.rest.isEmpty ? nil : lines.rest, nil)
            }
            return false
        }
        // The pipes are read before deadlines are checked: after this process was suspended, the pipes may contain
        // output that the program wrote in time.
        if let failure = overdue(child) { return fail(failure.0, child, line: nil, failure.1) }
        return true
    }

    // MARK: Deadlines

    private var deadline: MonotonicTime? {
        [
            quitting.map { $0 + process.limits.patience }, pipeEnd.map { $0.time + AdapterLoop.exitGrace },
            process.isWaitingForHello ? start + process.limits.hello : nil,
            waiting.map { $0 + process.limits.patience },
        ].compactMap(\.self).min()
    }

    /// The grace period in which a program may exit after it has closed one of its pipes. Most programs exit soon, and
    /// the exit status is more informative than the closed pipe.
    private static let exitGrace = Duration.milliseconds(300)

    private func overdue(_ child: AdapterChild) -> (String, String?)? {
        let now = MonotonicTime.now
        if quitting != nil { return nil }
        if let pipeEnd, now >= pipeEnd.time + AdapterLoop.exitGrace { return ("closed its \(pipeEnd.what)", nil) }
        if process.isWaitingForHello, now >= start + process.limits.hello {
            return (
                "sent no `hello` within \(DurationText.script(process.limits.hello))",
                (lines.rest.isEmpty ? "it wrote nothing to stdout; " : "")
                    + "send `hello` first, before reading anything"
            )
        }
        guard process.waitsForOlderOps else {
            waiting = nil
            return nil
        }
        guard let since = waiting else {
            waiting = now
            return nil
        }
        if now < since + process.limits.patience { return nil }
        return ("did not answer an op of the previous case", nil)
    }

    // MARK: Pipes

    private func write(_ child: AdapterChild) {
        guard let count = child.write(writing[written...]) else {
            // The program has closed its stdin. Its stdout may still contain the reason.
            if pipeEnd == nil { pipeEnd = (.now, "stdin") }
            child.closeInput()
            (writing, written) = ([], 0)
            return
        }
        written += count
        process.wrote(count)
        if written == writing.count { (writing, written) = ([], 0) }
    }

    private func readErrors(_ child: AdapterChild, rounds: Int) {
        for _ in 0..<rounds {
            guard let errors = child.errors else { return }
            switch child.read(errors, into: &chunk) {
            case .bytes(let bytes): process.printed(bytes)
            case .nothing: return
            case .end:
                child.closeErrors()
                process.printedLast()
            }
        }
    }

    /// Reads the program's stdout. Returns `false` if the program has failed.
    private func readOutput(_ child: AdapterChild, rounds: Int) -> Bool {
        for _ in 0..<rounds {
            guard let output = child.output else { return true }
            switch child.read(output, into: &chunk) {
            case .bytes(let bytes):
                if !take(bytes, child) { return false }
            case .nothing: return true
            case .end:
                child.closeOutput()
                if quitting == nil && pipeEnd == nil { pipeEnd = (.now, "stdout") }
            }
        }
        return true
    }

    private func take(_ bytes: ArraySlice<UInt8>, _ child: AdapterChild) -> Bool {
        var problem: (text: String, line: [UInt8])?
        do throws(LineBuffer.TooLong) {
            try lines.append(bytes) { line in
                do throws(AdapterMessageError) {
                    try process.receive(try AdapterMessage(line: line.span))
                    return true
                } catch {
                    problem = (error.text, line)
                    return false
                }
            }
        } catch {
            problem = ("a line of more than \(process.limits.line >> 20) MiB", error.beginning)
        }
        guard let problem else { return true }
        // The output of a program that is about to exit is not checked.
        if quitting != nil { return false }
        return fail("sent an invalid message: \(problem.text)", child, line: problem.line, nil)
    }

    /// Records a failure. Always returns `false`, because the program must be ended.
    private func fail(_ what: String, _ child: AdapterChild, line: [UInt8]?, _ more: String?) -> Bool {
        readErrors(child, rounds: 16)
        process.printedLast()
        var details: [String] = []
        if let line { details.append("the line: \(Escaped.foreignText(line, limit: 300))") }
        if let more { details.append(more) }
        if child.reap(), let status = child.status {
            details.append("it \(AdapterChild.describe(status: status))")
        } else {
            details.append("it was still running, and was terminated with all processes that it had started")
        }
        process.fail(
            SubjectFailure(
                "the adapter `\(process.command.shown)` \(what)",
                details: details + process.state.withLock { $0.tail.details }),
            isEnd: pipeEnd != nil || child.status != nil)
        return false
    }
}
