import Glibc
import ProbeBase
package import ProbeEngine
import ProbeEvents
import ProbeReport
package import ProbeScenario
import ProbeSystem

/// An interactive session on a connection. It reads steps, runs them, and shows the bytes that arrive.
///
/// The session runs on its reactor's thread, as does the case whose steps it runs.
package actor DeskSession {
    private nonisolated let reactor: Reactor
    package nonisolated var unownedExecutor: UnownedSerialExecutor { reactor.asUnownedSerialExecutor() }

    private let caseRun: CaseRun
    /// The plan of the script before any step has been performed.
    private let beginning: Plan
    private let configuration: RunConfiguration
    private var script: SessionScript
    private var reader: LineReader
    private let input: LineInput
    private let output: any DeskOutput
    private let paint: Paint
    private let linger: Duration
    private let arrivals: DeskArrivals
    private let show: @Sendable (String) -> Void

    /// Whether a step is running or the session is waiting for a connection.
    private var isBusy = false
    private var signal: Int32 = 0
    private var hasFailed = false
    private var files = DeskFiles()
    private var hasReportedWaiting = false
    /// The connections named by `accept as`.
    private var named: [String] = []

    /// Creates a session.
    ///
    /// - Parameters:
    ///   - caseRun: the run of the script before any step.
    ///   - output: shows text, unless `input` shows it above the line that is being typed.
    ///   - linger: once piped input has ended, the time without data after which the session ends.
    package init(
        _ caseRun: CaseRun, of plan: Plan, _ configuration: RunConfiguration, _ script: SessionScript,
        reader: LineReader, input: LineInput, output: any DeskOutput, linger: Duration
    ) {
        reactor = caseRun.reactor
        (self.caseRun, beginning, self.configuration) = (caseRun, plan, configuration)
        (self.script, self.reader) = (script, reader)
        (self.input, self.output, self.linger) = (input, output, linger)
        paint = Paint(isOn: output.usesColor)
        show = DeskText.output(to: input, output)
        arrivals = DeskArrivals(caseRun, paint: paint, actor: script.actor, show: show)
    }

    // MARK: The session

    /// Runs the session until it ends.
    ///
    /// - Returns: the exit code.
    package func run() async -> Int32 {
        let arrivals = arrivals
        if let finding = await caseRun.begin(reporting: { arrivals.take($0) }) {
            showProblem(finding)
            return await end(failureCode)
        }
        guard await open() else { return await end(signal > 0 ? 128 + signal : hasFailed ? 1 : 0) }
        if case .server = script.end { lookForConnections() }
        while signal == 0 {
            switch await nextLine() {
            case .end:
                if reader.isInBlock, signal == 0 {
                    showProblem(
                        DeskFile.Problem(
                            text: "the input ended inside a block: its `}` is missing, and none of its steps was run"))
                }
                if isPiped, signal == 0, !hasFailed { await waitForSilence() }
                if arrivals.hasFailed { (hasFailed, failureCode) = (true, 3) }
                return await end(code)
            case .discarded: continue
            case .line(let bytes):
                guard let typed = reader.read(bytes) else { continue }
                if case .quit = typed { return await end(code) }
                await handleLine(typed)
                if isPiped, hasFailed { return await end(code) }
                // No process reads the output any longer, so the result of a further step could not be shown.
                if output.isReaderGone { return await end(code) }
            }
        }
        return await end(code)
    }

    /// Handles a signal.
    package func interrupt(by signal: Int32) {
        if signal == SIGINT, !isPiped, files.isSaving {
            giveUpSaving()
            return
        }
        if signal == SIGINT, !isPiped, !isBusy {
            reader.dropBlock()
            input.discard(hint: "type `quit` or press Ctrl-D to end the session")
            return
        }
        // SIGINT at a terminal cancels only the running step; any other signal ends the session.
        if signal != SIGINT || isPiped || !isOpen { self.signal = signal }
        if files.isSaving {
            giveUpSaving()
        } else if isBusy {
            Task { await caseRun.cancelStep() }
        } else {
            input.end()
            waiting?.resume(returning: .end)
            waiting = nil
        }
    }

    private var isOpen = false
    private var waiting: CheckedContinuation<LineInput.Event, Never>?

    private var code: Int32 { signal > 0 ? 128 + signal : hasFailed && isPiped ? failureCode : 0 }
    private var failureCode: Int32 = 1
    private var isPiped: Bool { if case .piped = input.mode { true } else { false } }

    /// Connects, or waits for the first client.
    ///
    /// - Returns: whether a connection was established.
    private func open() async -> Bool {
        defer { isOpen = true }
        switch script.end {
        case .client(let target, _):
            guard await perform(script.firstStep) else { return false }
            show(paint(.faint, "connected to \(target)") + "\n")
            return true
        case .server:
            let address = await caseRun.address(of: "S").map { "\($0)" } ?? "?"
            show(paint(.faint, "listening on \(address)") + "\n")
            return await accept(script.firstStep)
        }
    }

    /// Waits indefinitely for a client to connect, then runs the given step.
    private func accept(_ step: String) async -> Bool {
        isBusy = true
        let hasConnected = await caseRun.waitForConnection(at: "S")
        isBusy = false
        hasReportedWaiting = false
        return hasConnected ? await perform(step, reporting: paint(.faint, "a client connected") + "\n") : false
    }

    private func end(_ code: Int32) async -> Int32 {
        await arrivals.flush()
        await completeSaved()
        let findings = await caseRun.finish()
        for finding in findings { show("error: \(Escaped.text(finding.summary))\n") }
        input.end()
        return findings.isEmpty ? code : 3
    }

    private func nextLine() async -> LineInput.Event {
        let prompt = isPiped ? "" : reader.isInBlock ? "... " : "\(script.actor)> "
        return await withCheckedContinuation { continuation in
            waiting = continuation
            input.ask(prompt) { event in
                self.reactor.post { self.assumeIsolated { $0.deliver(event) } }
            }
        }
    }

    private func deliver(_ event: LineInput.Event) {
        waiting?.resume(returning: event)
        waiting = nil
    }

    // MARK: Lines

    private func handleLine(_ typed: TypedLine) async {
        switch typed {
        case .nothing, .quit: break
        case .help: show(DeskText.help(isServer: script.actor == "S"))
        case .ladder:
            let (text, isSeen) = await DeskLadder.text(of: caseRun, width: output.width, paint: paint)
            if !isSeen { (hasFailed, failureCode) = (true, 3) }
            show(text)
        case .save(let name): await save(name)
        case .text(let line):
            echo(Escaped.text(line))
            _ = await act(script.statement(sending: line), isText: true)
        case .step(let text):
            echo(text)
            if text == "S accept" || (text.hasPrefix("S accept") && !text.contains(" within ")) {
                _ = await accept(text)
            } else {
                _ = await act(text, isText: false)
            }
        }
    }

    /// Runs a step for a user who has seen all output so far.
    ///
    /// - Parameter isText: whether the step sends typed text as a line. If so, no hint suggests sending the text as a
    ///   line.
    private func act(_ text: String, isText: Bool) async {
        let seen = arrivals.shown
        do throws(SessionScript.Problem) {
            var extended = try extend(text)
            if !isPiped, extended.acts, await expectShownInput(seen) { extended = try extend(text) }
            _ = await perform(extended)
        } catch {
            showProblem(error, typed: isText ? nil : text)
        }
    }

    /// Expects the bytes that the user had seen before entering a step.
    ///
    /// A user who enters a step at a terminal is assumed to have read the output. The scenario therefore expects the
    /// bytes that were shown, and the next `expect` starts after them.
    ///
    /// - Returns: whether there were any bytes to expect.
    private func expectShownInput(_ seen: DeskArrivals.Shown) async -> Bool {
        let actor = script.actor
        let before = script.count
        if let unread = await caseRun.unread(of: actor) {
            let count = min(unread.count, seen.count - (arrivals.total - unread.count))
            if count > 0 {
                let statements = script.statements(taking: Array(unread.prefix(count)))
                _ = await perform(statements)
            }
        }
        if seen.hasEnded, let ending = await ending(of: actor) { _ = await perform("\(actor) expect \(ending)") }
        return script.count > before
    }

    private func ending(of actor: String) async -> String? {
        switch await caseRun.unconsumedEnd(of: actor) {
        case .eof?: "eof"
        case .reset?: "reset"
        case .failed?, nil: nil
        }
    }

    private func extend(_ text: String) throws(SessionScript.Problem) -> SessionScript.Extension {
        try script.extended(by: text, allowing: configuration.allowedTargets, loader: FileAccess.load)
    }

    /// Checks and runs the steps in the text.
    ///
    /// - Returns: whether the steps passed.
    private func perform(_ text: String, reporting message: String = "") async -> Bool {
        do throws(SessionScript.Problem) {
            return await perform(try extend(text), reporting: message)
        } catch {
            showProblem(error, typed: nil)
            return false
        }
    }

    /// Runs the steps that were added to the session's script.
    ///
    /// - Parameter message: a message that is shown if the steps pass, before the received bytes.
    private func perform(_ extended: SessionScript.Extension, reporting message: String = "") async -> Bool {
        isBusy = true
        let finding = await caseRun.run(extended.plan, from: extended.first)
        isBusy = false
        if finding == nil, !message.isEmpty { show(message) }
        await arrivals.flush()
        guard let finding else {
            script.add(extended)
            for name in extended.acceptedNames {
                reader.add(actor: name)
                if !named.contains(name) { named.append(name) }
            }
            return true
        }
        script.note(failureOf: extended, finding.summary)
        showProblem(finding, in: extended.plan)
        return false
    }

    // MARK: Displayed text

    /// Shows a line of piped input. At a terminal, the line is already visible.
    private func echo(_ text: String) {
        if isPiped { show("> \(text)\n") }
    }

    /// Reports a problem with a typed line.
    ///
    /// - Parameter text: the step; `nil` if the line was not typed as a step.
    private func showProblem(_ problem: SessionScript.Problem, typed text: String?) {
        (hasFailed, failureCode) = (true, 2)
        show(paint(.cause, DeskText.problem(problem, typed: text, actor: script.actor)))
    }

    private func showProblem(_ problem: DeskFile.Problem) {
        (hasFailed, failureCode) = (true, 2)
        show("error: \(problem.text)\n")
    }

    private func showProblem(_ finding: Finding, in plan: Plan? = nil) {
        (hasFailed, failureCode) = (true, finding.verdict == .failed ? 1 : 3)
        show(DeskText.finding(finding, in: plan ?? beginning, paint: paint))
    }

    // MARK: The end

    /// Waits after the end of piped input, because the peer may still answer. Returns when the peer has ended the
    /// connection or has been silent for `linger`.
    private func waitForSilence() async {
        var (total, since) = (arrivals.total, MonotonicTime.now)
        while signal == 0, !arrivals.shown.hasEnded, await caseRun.isOpen(script.actor) {
            if arrivals.total != total { (total, since) = (arrivals.total, .now) }
            if MonotonicTime.now - since >= linger { return }
            let next = min(.now + .milliseconds(20), since + linger)
            await withCheckedContinuation { continuation in
                _ = reactor.schedule(at: next) { continuation.resume() }
            }
        }
    }

    /// Periodically checks for connections that no step has accepted, and reports them.
    private func lookForConnections() {
        reactor.schedule(at: .now + .milliseconds(250)) { [weak self] in
            Task { [weak self] in await self?.reportConnection() }
        }
    }

    private func reportConnection() async {
        if !isBusy, !hasReportedWaiting, await caseRun.hasWaiting("S") {
            hasReportedWaiting = true
            show(
                paint(
                    .faint,
                    "another connection is waiting: `accept as D` accepts it and names it D; `accept` accepts it "
                        + "after the current connection is closed"
                ) + "\n")
        }
        lookForConnections()
    }
}

/// The files that `save` has written, and the file that it is writing.
struct DeskFiles {
    /// The paths that this session has written, which it may overwrite.
    fileprivate var paths: Set<String> = []
    /// The file that was last saved, its contents, and the number of steps in the script at that time.
    fileprivate var last: (file: DeskFile, saved: SessionScript.Saved, count: Int)?
    /// The continuation of the `save` that is waiting for the scenario's text.
    fileprivate var waiting: CheckedContinuation<SessionScript.Saved?, Never>?
    /// The number of the scenario text that was requested most recently; texts with lower numbers are discarded.
    fileprivate var number = 0

    var isSaving: Bool { waiting != nil }
}

/// Implements `save`. The scenario's text is created on another thread, so that the session can handle signals.
extension DeskSession {
    private func save(_ words: String) async {
        do throws(DeskFile.Problem) {
            let file = try DeskFile(words, mayReplace: files.paths)
            guard let saved = await scenario() else {
                throw DeskFile.Problem(text: "\(Escaped.text(file.path)) was not written: `save` was interrupted")
            }
            try file.write(saved.bytes)
            files.paths.insert(file.path)
            files.last = (file, saved, script.count)
            show("\(Escaped.text(file.path)): \(saved.bytes.count { $0 == 10 }) lines\n")
            reportLimit(saved)
        } catch {
            showProblem(error)
        }
    }

    /// Writes the last saved scenario again if the session received more bytes after its last step.
    private func completeSaved() async {
        guard let (file, before, count) = files.last, count == script.count else { return }
        guard let present = await scenario(), present != before else { return }
        do throws(DeskFile.Problem) {
            try file.write(present.bytes)
            if present.unwritten != before.unwritten { reportLimit(present) }
        } catch {
            showProblem(error)
        }
    }

    private func reportLimit(_ saved: SessionScript.Saved) {
        guard saved.unwritten > 0 else { return }
        show(
            "note: the scenario has reached its size limit, so it expects "
                + "\(ByteText.count(saved.unwritten, "further byte")) by count only; raise --limit to write out all "
                + "bytes\n"
        )
    }

    /// Creates the text of the scenario so far.
    ///
    /// - Returns: the scenario; `nil` if a signal arrived before it was complete.
    private func scenario() async -> SessionScript.Saved? {
        var rests: [SessionScript.Rest] = []
        for name in [script.actor] + named {
            var rest = SessionScript.Rest(actor: name)
            rest.unread = await caseRun.unread(of: name) ?? []
            rest.ending = await ending(of: name)
            rest.mayHaveFrames = await caseRun.speaksFrames(name)
            rests.append(rest)
        }
        files.number += 1
        let (script, number, whole) = (script, files.number, rests)
        return await withCheckedContinuation { continuation in
            files.waiting = continuation
            do throws(SystemError) {
                // The formatter parses the script on this thread, which therefore needs a stack as large as the main
                // thread's.
                let thread = try WorkerThread("save", signals: .blocked, stack: 8 << 20) { [self] in
                    let saved = script.saved(whole)
                    reactor.post { self.assumeIsolated { $0.deliver(saved, number) } }
                }
                thread.detach()
            } catch {
                deliver(script.saved(whole), number)
            }
        }
    }

    private func deliver(_ saved: SessionScript.Saved?, _ number: Int) {
        guard number == files.number else { return }
        files.waiting?.resume(returning: saved)
        files.waiting = nil
    }

    /// Makes the session continue without the scenario's text. The thread that creates the text runs to completion, or
    /// ends with the process.
    private func giveUpSaving() {
        deliver(nil, files.number)
        files.number += 1
    }
}
