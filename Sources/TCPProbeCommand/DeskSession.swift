import CShims
import Glibc
import ProbeBase
import ProbeDesk
import ProbeEngine
import ProbeEvents
import ProbeReport
import ProbeScenario
import ProbeSystem

/// A connection at the desk: reads steps, runs them, and shows what comes.
///
/// It lives on its reactor's thread, as the case does whose steps it runs.
actor DeskSession {
    nonisolated let reactor: Reactor
    nonisolated var unownedExecutor: UnownedSerialExecutor { reactor.asUnownedSerialExecutor() }

    private let caseRun: CaseRun
    /// Of the script without a step.
    private let beginning: Plan
    private let configuration: RunConfiguration
    private var script: SessionScript
    private var reader: LineReader
    private let input: LineInput
    private let paint: Paint
    private let linger: Duration
    private let arrivals: DeskArrivals

    /// A step is running, or a connection is waited for.
    private var isBusy = false
    private var signal: Int32 = 0
    private var hasFailed = false
    private var savedPaths: Set<String> = []
    private var lastSaved: (file: DeskFile, bytes: [UInt8], count: Int)?
    private var hasToldWaiting = false

    /// - Parameters:
    ///   - caseRun: of the script without a step.
    ///   - linger: behind the end of a piped input, how long it may be silent before the session ends.
    init(
        _ caseRun: CaseRun, of plan: Plan, _ configuration: RunConfiguration, _ script: SessionScript,
        reader: LineReader,
        input: LineInput, linger: Duration
    ) {
        reactor = caseRun.reactor
        (self.caseRun, beginning, self.configuration) = (caseRun, plan, configuration)
        (self.script, self.reader, self.input) = (script, reader, input)
        self.linger = linger
        paint = Paint(isOn: Console.standardOutput.usesColor)
        arrivals = DeskArrivals(caseRun, paint: paint, actor: script.actor, show: Self.output(to: input))
    }

    // MARK: The session

    /// - Returns: the exit code.
    func run() async -> Int32 {
        let arrivals = arrivals
        if let finding = await caseRun.begin(telling: { arrivals.take($0) }) { return await end(tell(finding)) }
        guard await open() else { return await end(signal > 0 ? 128 + signal : hasFailed ? 1 : 0) }
        if case .server = script.end { lookForConnections() }
        while signal == 0 {
            switch await nextLine() {
            case .end:
                if isPiped, signal == 0 { await waitForSilence() }
                if let fault = await caseRun.fault { _ = tell(fault) }
                return await end(code)
            case .line(let bytes):
                guard let typed = reader.read(bytes) else { continue }
                if case .quit = typed { return await end(code) }
                await obey(typed)
                if isPiped, hasFailed { return await end(code) }
            }
        }
        return await end(code)
    }

    /// A signal has come.
    func interrupt(by signal: Int32) {
        if signal == SIGINT, !isPiped, !isBusy {
            reader.dropBlock()
            input.discard(hint: "quit or Ctrl-D ends the session")
            return
        }
        // A step at a terminal is given up; else the session is.
        if signal != SIGINT || isPiped || !isOpen { self.signal = signal }
        if isBusy {
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

    /// - Returns: whether there is a connection.
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

    /// However long it takes until somebody connects.
    private func accept(_ step: String) async -> Bool {
        isBusy = true
        let came = await caseRun.waitForConnection(at: "S")
        isBusy = false
        hasToldWaiting = false
        guard came, await perform(step) else { return false }
        show(paint(.faint, "a client has connected") + "\n")
        return true
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

    private func obey(_ typed: TypedLine) async {
        switch typed {
        case .nothing, .quit: break
        case .help: show(DeskHelp.text(isServer: script.actor == "S"))
        case .ladder: await showLadder()
        case .save(let name): await save(name)
        case .text(let line):
            echo(Escaped.text(line))
            _ = await act(script.statement(sending: line), typed: line)
        case .step(let text):
            echo(text)
            if text == "S accept" || (text.hasPrefix("S accept") && !text.contains(" within ")) {
                _ = await accept(text)
            } else {
                _ = await act(text, typed: nil)
            }
        }
    }

    /// Runs a step of somebody who has seen what was shown by now.
    private func act(_ text: String, typed line: [UInt8]?) async -> Bool {
        let seen = arrivals.shown
        let extended: SessionScript.Extension
        do throws(SessionScript.Problem) {
            extended = try extend(text)
        } catch {
            tell(error, typed: text)
            return false
        }
        if !isPiped, extended.acts {
            await takeWhatWasSeen(seen)
        }
        return await perform(text)
    }

    /// At a terminal who acts has read what was shown: the scenario expects it, and the next `expect` looks behind it.
    private func takeWhatWasSeen(_ seen: DeskArrivals.Shown) async {
        let actor = script.actor
        if let unread = await caseRun.unread(of: actor) {
            let count = min(unread.count, seen.count - (seen.count > 0 ? arrivals.total - unread.count : 0))
            if count > 0, !(await perform(script.statements(taking: Array(unread.prefix(count))))) { return }
        }
        guard seen.hasEnded, let ending = await ending(of: actor) else { return }
        _ = await perform("\(actor) expect \(ending)")
    }

    private func ending(of actor: String) async -> String? {
        switch await caseRun.untakenEnd(of: actor) {
        case .eof?: "eof"
        case .reset?: "reset"
        case .failed?, nil: nil
        }
    }

    private func extend(_ text: String) throws(SessionScript.Problem) -> SessionScript.Extension {
        try script.extended(by: text, allowing: configuration.allowedTargets, loader: FileAccess.load)
    }

    /// - Returns: whether the step passed.
    private func perform(_ text: String) async -> Bool {
        let extended: SessionScript.Extension
        do throws(SessionScript.Problem) {
            extended = try extend(text)
        } catch {
            tell(error, typed: text)
            return false
        }
        isBusy = true
        let finding = await caseRun.run(extended.plan, from: extended.first)
        isBusy = false
        await arrivals.flush()
        guard let finding else {
            script.add(extended)
            for name in extended.acceptedNames { reader.add(actor: name) }
            return true
        }
        script.note(failureOf: extended, finding.summary)
        _ = tell(finding, in: extended.plan)
        return false
    }

    // MARK: What is shown

    private static func output(to input: LineInput) -> @Sendable (String) -> Void {
        if case .edited = input.mode { return { input.show($0) } }
        return { Console.standardOutput.write($0) }
    }

    private func show(_ text: String) { Self.output(to: input)(text) }

    /// At a terminal the line stands there already.
    private func echo(_ text: String) {
        if isPiped { show("> \(text)\n") }
    }

    private func tell(_ problem: SessionScript.Problem, typed text: String) {
        hasFailed = true
        failureCode = 2
        var message = problem.text
        let words = text.hasPrefix("\(script.actor) ") ? String(text.dropFirst(2)) : text
        if !words.contains("\n") {
            message += "  hint: `send line \(Escaped.literal(Array(words.utf8)))` sends these words as a line\n"
        }
        show(paint(.cause, message))
    }

    private func tell(_ finding: Finding, in plan: Plan? = nil) -> Int32 {
        hasFailed = true
        failureCode = finding.verdict == .failed ? 1 : 3
        var finding = finding
        finding.actors = []
        var result = CaseResult(
            id: "session", path: "session", sources: (plan ?? beginning).sources, title: "", about: nil, because: [],
            level: .must,
            tags: [], subject: nil, verdict: finding.verdict, findings: [finding], timeline: [], duration: 0,
            capturePath: nil, rerun: "")
        result.isInterrupted = false
        // Without the place: it is the line that was just typed.
        var text = FindingText.text(finding, result).drop { $0 == " " }
        if text.hasPrefix("session"), let place = text.firstRange(of: ": ") { text = text[place.upperBound...] }
        show(paint(.verdict(finding.verdict), "\(finding.verdict.rawValue):") + " \(text)")
        return failureCode
    }

    private func showLadder() async {
        if let (link, packets) = await caseRun.packets() {
            return show(DeskLadder.text(of: packets, link, paint: paint))
        }
        (hasFailed, failureCode) = (true, 3)
        show("error: nothing is seen on the wire: \(await caseRun.captureProblem)\n")
    }

    // MARK: Files

    private func save(_ words: String) async {
        do throws(DeskFile.Problem) {
            let file = try DeskFile(words, mayReplace: savedPaths)
            let bytes = await saved()
            try file.write(bytes)
            savedPaths.insert(file.path)
            lastSaved = (file, bytes, script.count)
            show("\(Escaped.text(file.path)): \(bytes.count { $0 == 10 }) lines\n")
        } catch {
            tell(error)
        }
    }

    private func saved() async -> [UInt8] {
        script.saved(unread: await caseRun.unread(of: script.actor) ?? [], ending: await ending(of: script.actor))
    }

    /// What came behind the last step belongs to a scenario that was saved before it came.
    private func completeSaved() async {
        guard let (file, bytes, count) = lastSaved, count == script.count else { return }
        let present = await saved()
        if present == bytes { return }
        do throws(DeskFile.Problem) { try file.write(present) } catch { tell(error) }
    }

    private func tell(_ problem: DeskFile.Problem) {
        (hasFailed, failureCode) = (true, 2)
        show("error: \(problem.text)\n")
    }

    // MARK: The end

    /// Behind the end of a piped input the peer may still answer: until it ends, or says nothing for so long.
    private func waitForSilence() async {
        isBusy = true
        defer { isBusy = false }
        while signal == 0, await caseRun.isOpen(script.actor), !arrivals.shown.hasEnded {
            let before = arrivals.total
            let deadline = MonotonicTime.now + linger
            await withCheckedContinuation { continuation in
                _ = reactor.schedule(at: deadline) { continuation.resume() }
            }
            await arrivals.flush()
            if arrivals.total == before { return }
        }
    }

    /// Tells of a connection that nobody has accepted.
    private func lookForConnections() {
        reactor.schedule(at: .now + .milliseconds(250)) { [weak self] in
            Task { [weak self] in await self?.tellOfConnection() }
        }
    }

    private func tellOfConnection() async {
        if !isBusy, !hasToldWaiting, await caseRun.hasWaiting("S") {
            hasToldWaiting = true
            show(paint(.faint, "another connection waits: `accept` takes it, `accept as D` gives it a name") + "\n")
        }
        lookForConnections()
    }
}
