import CShims
import Glibc
import ProbeBase
import ProbeEvents
import ProbeScenario
import ProbeSystem

/// Runs the actions of a program.
struct ProcessExecutor {
    let context: CaseContext

    func act(
        _ process: ProcessActor, _ action: ProcessAction, _ timing: Timing, _ step: Step, from time: MonotonicTime
    ) async throws(Finding) {
        switch action {
        case .start: try start(process, step)
        case .stop: try await stop(process)
        case .send(let statement):
            let child = try running(process)
            let bytes = try context.evaluator(.lf).sentPieces(of: statement).whole
            guard child.pendingInputCount + bytes.count <= Self.largestInput else {
                throw Finding(
                    .error,
                    "\(process.name) has not read \(ByteText.count(child.pendingInputCount, "byte")) of its stdin: "
                        + "the harness buffers at most 256 MiB"
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

    /// The maximum number of bytes that are buffered until a program reads its stdin.
    private static let largestInput = 256 << 20

    private func running(_ process: ProcessActor) throws(Finding) -> ChildProcess {
        guard let child = process.child else {
            throw Finding(
                .error, "\(process.name) has not been started", hints: ["add `\(process.name) start` before this step"])
        }
        if let exit = child.exit {
            throw Finding(.error, "\(process.name) is not running: it \(ExitText.describe(exit, of: process))")
        }
        return child
    }

    // MARK: start and stop

    private func start(_ process: ProcessActor, _ step: Step) throws(Finding) {
        if let child = process.child, child.exit == nil {
            throw Finding(
                .error, "\(process.name) is already running", hints: ["add `\(process.name) stop` before this step"])
        }
        var words: [String] = []
        for word in process.command.words {
            let bytes = try context.bytes(of: word.value, at: word.span)
            if bytes.contains(0) { throw Finding(.error, at: word.span, "a command can't contain a NUL") }
            words.append(String(decoding: bytes, as: UTF8.self))
        }
        guard let command = words.first else { throw Finding(.error, "\(process.name) has no command") }
        let folder: String
        if let kept = process.folder { folder = kept } else { folder = try TemporaryFolder.make() }
        process.folder = folder
        guard let path = ExecutableSearch.find(command, from: folder) else {
            throw Finding(
                .error, at: process.command.words.first?.span, "the command \(command) was not found",
                hints: [
                    command.contains("/")
                        ? "write \"${dir}/…\" for a path relative to the script: the program runs in a private folder"
                        : "add `require command \(command)` to skip the case if it is not installed"
                ])
        }
        let keyLog = context.offersKeyLog ? try context.secrets.fileForProgram() : nil
        let began = WallClock.now
        let child: ChildProcess
        do throws(SystemError) {
            child = try ChildProcess(
                path: path, words: words,
                environment: ProcessEnvironment.words(marker: context.environmentMarker, keyLog: keyLog),
                directory: folder, in: context.links.programPlace(of: process.name), reactor: context.reactor)
        } catch {
            throw Finding(
                .error, at: process.command.words.first?.span, "\(command) can't be started: \(error.reason)",
                details: error.resourcesLeft, hints: error.advice)
        }
        if let earlier = process.child {
            process.earlier.append(earlier)
            process.lives[process.lives.count - 1].ended = earlier.exitedAt
        }
        process.lives.append((began, nil))
        process.meter = .forStarting(child.processes)
        context.starts.noteProgram()
        (process.child, process.isStopping, process.exitIsConsumed, process.exitIsReported) = (
            child, false, false, false
        )
        (process.output, process.consumed, process.reportedLines) = (OutputCursor(), [], 0)
        watchOutput(of: process, child)
        child.onChange = { [weak context, weak process] in
            guard let context else { return }
            if let process { ProcessExecutor(context: context).noteChange(of: process) }
            context.changes.notifyAll()
        }
    }

    private func stop(_ process: ProcessActor) async throws(Finding) {
        process.isStopping = true
        guard let child = process.child else {
            throw Finding(.error, "\(process.name) has not been started")
        }
        context.actors.waits[process.name] = "its exit"
        defer { context.actors.waits[process.name] = nil }
        await ProgramEnd(context: context).end(child)
        process.exitIsConsumed = true
    }

    /// Adds new output to the timeline, and ends the case after an exit that no step expects.
    private func noteChange(of process: ProcessActor) {
        guard let child = process.child else { return }
        if let error = child.inputError {
            context.raise(Finding(.error, "\(process.name)'s stdin can't be written to: \(error)"))
        }
        let log = child.outputLog
        process.reportedLines = max(process.reportedLines, log.dropped)
        while process.reportedLines < log.end {
            let line = log.lines[process.reportedLines - log.dropped]
            if !line.isComplete && child.exit == nil { break }
            if process.reportedLines < 2000 {
                context.record(
                    .output(actor: process.name, isError: line.stream == .error, Array(line.bytes.prefix(4096))),
                    at: line.time)
            }
            process.reportedLines += 1
        }
        guard let exit = child.exit, !process.exitIsReported else { return }
        process.exitIsReported = true
        if child.exitIsUnknown {
            context.raise(
                Finding(
                    .error, "\(process.name)'s guardian process was killed, and \(process.name) with it",
                    hints: [
                        "check whether \(process.name) sends signals to its parent; if it doesn't, something else "
                            + "killed the guardian process"
                    ])
            )
        }
        context.record(.event(actor: process.name, ExitText.describe(exit, of: process)))
        if !context.index.expectsExit(of: process.name, from: context.progress.position),
            let finding = unexpectedExit(of: process)
        {
            context.raise(finding)
        }
    }

    /// Returns a finding if the program has exited and no step has expected or caused the exit.
    func unexpectedExit(of process: ProcessActor) -> Finding? {
        guard let child = process.child, let exit = child.exit, !process.isStopping, !process.exitIsConsumed else {
            return nil
        }
        var finding = Finding(
            .failed, "\(process.name) \(ExitText.describe(exit)), but no later step expects it to exit",
            details: child.outputLog.lastLinesText,
            hints: ["add `\(process.name) expect exit` if the exit is intended"])
        finding.unexpectedEnd =
            switch exit {
            case .status(let code): .status(code)
            case .signal(let number): .signal(number)
            }
        return finding
    }
}

extension CaseContext {
    /// Whether each program is given a file to which it can write the secrets of its TLS connections.
    fileprivate var offersKeyLog: Bool { settings.keepsSecrets && scenario.usesTLS }
}

/// The environment with which programs are started: the harness's own environment, the variable that marks the case's
/// processes, and `SSLKEYLOGFILE`. Many TLS libraries write their secrets to the file that `SSLKEYLOGFILE` names.
package enum ProcessEnvironment {
    package static func words(marker: String? = nil, keyLog: String? = nil) -> [String] {
        var added = marker.map { [$0] } ?? []
        if let keyLog { added.append("SSLKEYLOGFILE=\(keyLog)") }
        var words: [String] = []
        var entry = probe_environment()
        while let pointer = entry?.pointee {
            let word = String(cString: pointer)
            let isReplaced = word.hasPrefix("TCPPROBE_CASE=") || keyLog != nil && word.hasPrefix("SSLKEYLOGFILE=")
            if !isReplaced { words.append(word) }
            entry = entry?.advanced(by: 1)
        }
        return words + added
    }
}

extension ProcessExecutor {
    func expect(
        _ expectation: ProcessExpectation, _ process: ProcessActor, _ timing: Timing, from time: MonotonicTime
    ) async throws(Finding) {
        guard let child = process.child else {
            throw Finding(
                .error, "\(process.name) has not been started", hints: ["add `\(process.name) start` before this step"])
        }
        let resolved = try resolve(expectation, process)
        let deadline = deadline(of: resolved, timing, from: time)
        var pending = PendingProcessExpectation(
            resolved, process, child, after: timing.after, watch: watch(of: process))
        defer { context.actors.waits[process.name] = nil }
        switch try await context.conclude(&pending, of: process.name, from: time, until: deadline) {
        case .satisfied(let found, let moment):
            if case .exit = resolved { process.exitIsConsumed = true }
            if let moment {
                try context.requireTiming(
                    moment, resolved.eventName(of: process.name), deadline, timing, time, own: pending.ownTime,
                    isExact: resolved.isExit)
            }
            switch found {
            case .output(let found):
                take(found, process, child)
                if case .output(let literal) = expectation { note(found, consumedBy: literal, process) }
            case .bindings(let bindings): for (name, value) in bindings { context.bind(name, value) }
            case .nothing: break
            }
            if case .resource = resolved { process.meter?.take() }
        case .impossible(let why):
            if resolved.isExit, child.exit != nil { process.exitIsConsumed = true }
            var finding = why.finding
            if why.isMissed, case .listening = resolved {
                let others = try ProcessObserver.listeningPorts(process, child, isLast: true).sorted()
                if !others.isEmpty {
                    finding.details.append(
                        "it listens on a different port: \(others.map(String.init).joined(separator: ", "))")
                }
            }
            if case .resource(let resource) = resolved {
                process.meter?.take()
                finding.details += process.meter?.details(of: resource.resource) ?? []
            }
            throw finding
        }
    }

    /// Computes the values of the expressions in an expectation.
    func resolve(
        _ expectation: ProcessExpectation, _ process: ProcessActor
    ) throws(Finding) -> ResolvedProcessExpectation {
        switch expectation {
        case .listening: return .listening(port: process.command.portCount > 0 ? process.ports.first : nil)
        case .output(let literal): return .output(try context.regex(literal))
        case .noOutput(let literal, let duration):
            return .noOutput(try context.regex(literal), for: duration ?? .zero)
        case .exit(.any): return .exit(.any)
        case .exit(.status(let expression)): return .exit(.status(try context.integer(of: expression)))
        case .exit(.signal(let signal)): return .exit(.signal(signal))
        case .resource(let resolved): return .resource(try context.resolve(resolved))
        }
    }

    /// Returns the deadline of an expectation; for an expected silence, the end of its period.
    func deadline(
        of resolved: ResolvedProcessExpectation, _ timing: Timing, from time: MonotonicTime
    ) -> MonotonicTime {
        if case .noOutput(_, let duration) = resolved { return time + duration }
        return context.deadline(timing, from: time)
    }

    private func take(_ found: OutputSearch.Match, _ process: ProcessActor, _ child: ChildProcess) {
        process.output = OutputSearch.cursor(after: found, in: child.outputLog, was: process.output)
        child.releaseOutput(before: process.output.unfinished.keys.min() ?? process.output.line)
        for (name, value) in found.groups { context.bind(name, .bytes(value)) }
    }

    /// Records, for reports, which step consumed a line.
    private func note(_ found: OutputSearch.Match, consumedBy literal: RegexLiteral, _ process: ProcessActor) {
        let line = context.sources.location(of: literal.span).line
        process.consumed = process.consumed.suffix(255)
        process.consumed.append(
            ProcessActor.Consumed(
                line: found.line, step: "`expect output \(context.text(of: literal.span))` at line \(line)"))
    }

    // MARK: Output that is no longer kept

    /// Searches old output for the script's patterns before the output is dropped.
    func watchOutput(of process: ProcessActor, _ child: ChildProcess) {
        process.watch = nil
        child.keepsLines = { [weak context, weak process] lines, first in
            guard let context, let process else { return [] }
            return ProcessExecutor(context: context).searchDropped(process, lines, first)
        }
    }

    private func searchDropped(_ process: ProcessActor, _ lines: ArraySlice<OutputLog.Line>, _ first: Int) -> [Bool] {
        watch(of: process).search(lines, first, process.output) { literal in
            // A variable in the pattern is not bound yet, so no step can have used the pattern.
            do throws(Finding) { return try context.regex(literal) } catch { return nil }
        }
    }

    func watch(of process: ProcessActor) -> OutputWatch {
        if let watch = process.watch { return watch }
        let watch = OutputWatch(OutputWatch.literals(of: context.scenario, for: process.name))
        process.watch = watch
        return watch
    }
}
