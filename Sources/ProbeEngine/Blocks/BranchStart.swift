import ProbeBase
import ProbeEvents
import ProbeScenario
import ProbeSystem

/// The first step of a branch of an `either`, while the `either` is waiting.
struct BranchStart {
    /// The step's expectation; `nil` until the step's actor exists.
    enum Expected {
        case absent
        case server(PendingServerExpectation)
        case connection(PendingConnectionExpectation)
        case subject(PendingSubjectExpectation)
        case process(PendingProcessExpectation)
        case proxy(PendingProxyAccept)
        case watch(PendingWatch)
        case crowd(PendingCrowdExpectation)
    }

    /// The result of checking a branch once.
    enum Look {
        case fits
        case waits(until: MonotonicTime)
        case fitsNot
    }

    var expected = Expected.absent
    var deadline: MonotonicTime
    /// The reason why the branch could not be taken at the last check; `nil` if nothing was received.
    private(set) var reason: String?
    /// The bytes received by the last check, if they are a prefix of the expected bytes.
    private(set) var received: [UInt8] = []
    /// The reason why the last check could not determine whether the branch can be taken; `nil` if the check determined
    /// it.
    private(set) var doubt: Finding?
    private(set) var isOver = false

    init(deadline: MonotonicTime) { self.deadline = deadline }

    /// The progress of the branch in a few words, for messages.
    var progress: String {
        if let reason { return reason }
        if case .absent = expected { return "its actor does not exist yet" }
        return received.isEmpty ? "received nothing" : "received only \(Escaped.phrase(received))"
    }

    var measuresProgress: Bool {
        if case .connection(let pending) = expected { pending.measuresProgress } else { false }
    }

    var connectionActor: ConnectionActor? {
        if case .connection(let pending) = expected { pending.actor } else { nil }
    }

    /// Evaluates the step's expectation without consuming any input.
    ///
    /// - Throws: an error in the script, or the error that prevents the evaluation.
    mutating func look(_ window: TimeWindow) throws(Finding) -> Look {
        (reason, doubt, isOver) = (nil, nil, window.isOver)
        switch try evaluate(window) {
        case .pending(let next):
            isOver = false
            return .waits(until: next)
        case .satisfied(_, let moment):
            // Each branch has its own deadline, and an event after that deadline is too late. If a stall hides whether
            // the event was in time, the branch is taken and its first step judges the event.
            let moment = moment ?? window.now
            if moment <= deadline || moment <= window.standstills.extended(deadline, from: window.start) {
                return .fits
            }
            reason = "it missed the branch's deadline by \(DurationText.script(moment - deadline))"
        case .impossible(let why):
            if why.finding.verdict == .error { throw why.finding }
            if why.finding.verdict == .inconclusive { doubt = why.finding }
            reason = why.shortReason
            received = why.finding.actual ?? []
        }
        // Another step may still consume the received bytes, so the branch can be taken until its deadline.
        return isOver ? .fitsNot : .waits(until: window.limit)
    }

    private mutating func evaluate(_ window: TimeWindow) throws(Finding) -> Outcome<Void> {
        switch expected {
        case .absent: return window.wait(orMissed: Finding(.failed, "its actor does not exist yet"))
        case .server(let pending):
            var pending = pending
            return try pending.evaluate(window)
        case .proxy(var pending): return try pending.evaluate(window).map { _ in }
        case .watch(var pending):
            expected = .absent
            defer { expected = .watch(pending) }
            return try pending.evaluate(window).map { _ in }
        case .crowd(var pending):
            expected = .absent
            defer { expected = .crowd(pending) }
            return try pending.evaluate(window).map { _ in }
        case .connection(var pending):
            expected = .absent
            defer { expected = .connection(pending) }
            return pending.evaluate(window).map { _ in }
        case .subject(var pending):
            expected = .absent
            defer { expected = .subject(pending) }
            return try pending.evaluate(window).map { _ in }
        case .process(var pending):
            // Keep the progress of the output search even if the evaluation throws an error.
            expected = .absent
            defer { expected = .process(pending) }
            return try pending.evaluate(window).map { _ in }
        }
    }
}
