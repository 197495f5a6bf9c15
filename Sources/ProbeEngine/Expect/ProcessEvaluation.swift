import ProbeBase
import ProbeEvents
import ProbeRegex
import ProbeScenario
import ProbeSystem

/// What a satisfied expectation consumes from a program's output.
enum ProcessMatch {
    case nothing
    case output(OutputSearch.Match)
    case bindings([(String, Value)])
}

/// Compares the state of a program with an expectation. Has no side effects: it consumes nothing.
struct ProcessEvaluation {
    var view: ProcessView
    var window: TimeWindow
    /// The minimum time after which the step may be satisfied (`after`).
    var after: Duration?

    typealias Result = Outcome<ProcessMatch>

    func evaluate(_ expectation: ResolvedProcessExpectation, _ progress: inout ProcessProgress) -> Result {
        switch expectation {
        case .listening(let port): return listening(port, &progress.polling)
        case .output(let regex): return output(regex, &progress.output)
        case .noOutput(let regex, _): return noOutput(regex, &progress.output)
        case .exit(let expected): return exit(expected)
        case .resource(let expectation): return resource(expectation, &progress.polling)
        }
    }

    private var endedReason: String { ExitText.describe(view.exit) }

    // MARK: listening, exit, resources

    private func listening(_ port: UInt16?, _ progress: inout PollingProgress) -> Result {
        if view.exit != nil {
            return .mismatch(
                Finding(
                    .failed, "\(view.name) \(ExitText.describe(view.exit)) before it listened",
                    details: view.lastLines), endedReason)
        }
        if case .listening(true, let moment) = view.observation { return .satisfied(.nothing, at: moment) }
        if progress.isOver(window) {
            return .impossible(
                Finding(
                    .failed,
                    "\(view.name) did not listen" + (port.map { " on port \($0)" } ?? "")
                        + " within \(window.allowed)", details: view.lastLines), .missed)
        }
        return .pending(
            until: progress.planNext(
                window.now, deadline: window.deadline, earliest: after.map { window.start + $0 }))
    }

    private func exit(_ expected: ResolvedProcessExpectation.Exit) -> Result {
        guard let exit = view.exit else {
            return window.wait(
                orMissed: Finding(
                    .failed, "\(view.name) did not exit within \(window.allowed)", details: view.lastLines))
        }
        let isMet =
            switch expected {
            case .any: true
            case .status(let code): exit == .status(Int32(clamping: code))
            case .signal(let signal): exit == .signal(signal.number)
            }
        if isMet { return .satisfied(.nothing, at: view.exitedAt) }
        return .mismatch(
            Finding(
                .failed, "\(view.name) \(ExitText.describe(exit)), expected \(expected.description)",
                details: view.lastLines), endedReason)
    }

    private func resource(_ expectation: ResolvedResourceExpectation, _ progress: inout PollingProgress) -> Result {
        guard case .measured(let measure) = view.observation else { return .pending(until: window.now) }
        return ResourceEvaluation(name: view.name, measure: measure, window: window).evaluate(expectation, &progress)
            .map { .bindings($0) }
    }

    // MARK: Output

    /// Whether the program has ended and no other process can add to its output. If so, an unfinished line remains
    /// unfinished.
    private var hasPrintedAll: Bool { view.exit != nil && !view.isOutputOpen }

    private func output(_ regex: ByteRegex, _ progress: inout OutputProgress) -> Result {
        let found = progress.search(
            regex, in: view.outputLog, from: view.cursor, includesOpen: window.isOver || hasPrintedAll)
        guard view.watch.hasSearched(regex, from: view.cursor.line, in: view.outputLog),
            view.outputLog.lostBefore <= view.cursor.line
        else { return notSearched(regex) }
        if let found {
            // At the deadline, unfinished lines are also searched, so a match is in time even if its line ends after
            // the deadline.
            let end = found.ended.flatMap { $0 <= window.deadline ? $0 : nil }
            return .satisfied(.output(found), at: end ?? found.time)
        }
        if let exit = view.exit, hasPrintedAll || window.isOver {
            let failure = Finding(
                .failed, "\(view.name) \(ExitText.describe(exit)) without printing /\(regex.source)/",
                details: view.lastLines,
                hints: hasPrintedAll
                    ? []
                    : [
                        "check which process still holds the output open: \(view.name) has exited, and the step "
                            + "waited \(window.allowed) for more output"
                    ])
            return notPrinted(regex, failure, .mismatch(endedReason))
        }
        if window.isOver {
            let failure = Finding(
                .failed, "\(view.name) did not print /\(regex.source)/ within \(window.allowed)",
                details: view.lastLines)
            return notPrinted(regex, failure, .missed)
        }
        return .pending(until: window.limit)
    }

    /// Returns `failure` if the output was searched completely; otherwise a result stating that it is unknown whether
    /// the text was printed.
    private func notPrinted(_ regex: ByteRegex, _ failure: Finding, _ reason: Impossibility.Reason) -> Result {
        let seesAll = OutputSearch.seesAll(regex, in: view.outputLog, from: view.cursor.line)
        return seesAll ? .impossible(failure, reason) : searchedInParts(regex)
    }

    private func noOutput(_ regex: ByteRegex, _ progress: inout OutputProgress) -> Result {
        let what = "\(view.name) printed a line that matches /\(regex.source)/"
        if let found = found(regex, &progress) {
            switch window.silence(what, at: found.time) {
            case .lasted: break
            case .isUndetermined(let finding): return .mismatch(finding, what)
            case .isBroken:
                return .mismatch(Finding(.failed, what, actual: found.line, details: earlier(found)), what)
            }
        }
        guard window.isOver else { return .pending(until: window.limit) }
        guard view.watch.hasSearched(regex, from: 0, in: view.outputLog), !view.outputLog.hasLostOpen else {
            return notSearched(regex)
        }
        if !OutputSearch.seesAll(regex, in: view.outputLog, from: 0) { return searchedInParts(regex) }
        return .satisfied(.nothing, at: window.deadline)
    }

    /// Returns a note about a matching line that was printed before the step: when it was printed, and which step
    /// consumed it.
    private func earlier(_ found: OutputWatch.Found) -> [String] {
        guard found.time < window.start else { return [] }
        let age = DurationText.rounded(nanoseconds: (window.start - found.time).nanoseconds)
        let consumer = found.number.flatMap { number in view.consumed.last { $0.line == number } }
        return [
            "\(view.name) printed the line \(age) before this step began"
                + (consumer.map { ", and \($0.step) consumed it" } ?? "")
                + ": `expect no output` applies to all output since the last `start`"
        ]
    }

    /// Returns the first match in all output since the program's start.
    private func found(_ regex: ByteRegex, _ progress: inout OutputProgress) -> OutputWatch.Found? {
        if let found = view.watch.found(regex) { return found }
        let match = progress.search(
            regex, in: view.outputLog, from: OutputCursor(), includesOpen: window.isOver || hasPrintedAll)
        return match.map {
            OutputWatch.Found(line: view.outputLog[$0.line]?.bytes ?? [], time: $0.time, number: $0.line)
        }
    }

    private func notSearched(_ regex: ByteRegex) -> Result {
        unsearchable(regex, "output that the harness no longer keeps was not searched")
    }

    private func searchedInParts(_ regex: ByteRegex) -> Result {
        unsearchable(regex, "a line of more than 1 MiB was searched in parts")
    }

    private func unsearchable(_ regex: ByteRegex, _ why: String) -> Result {
        let what = "it is unknown whether \(view.name) printed /\(regex.source)/: \(why)"
        return .mismatch(
            Finding(
                .inconclusive, what,
                hints: [
                    "make the program print less: the harness keeps at most 16 MiB of its output, and at most 1 MiB of each line"
                ]
            ), what)
    }
}
