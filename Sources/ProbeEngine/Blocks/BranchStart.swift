import ProbeBase
import ProbeEvents
import ProbeScenario
import ProbeSystem

/// The first step of an `either`'s branch while it is waited for.
struct BranchStart {
    /// The step's expectation; absent until its actor is there.
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

    /// What one look comes to.
    enum Look {
        case fits
        case waits(until: MonotonicTime)
        case fitsNot
    }

    var expected = Expected.absent
    var deadline: MonotonicTime
    /// Why it does not fit, as of the last look; nil where nothing came.
    private(set) var reason: String?
    /// What came so far, if it is the start of what is wanted, as of the last look.
    private(set) var received: [UInt8] = []
    /// Whether it fits can't be told, as of the last look.
    private(set) var doubt: Finding?
    private(set) var isOver = false

    init(deadline: MonotonicTime) { self.deadline = deadline }

    /// How far it came, in few words.
    var progress: String {
        if let reason { return reason }
        if case .absent = expected { return "its actor is not there" }
        return received.isEmpty ? "nothing came" : "only \(Escaped.phrase(received)) came"
    }

    var measuresProgress: Bool {
        if case .connection(let pending) = expected { pending.measuresProgress } else { false }
    }

    var connectionActor: ConnectionActor? {
        if case .connection(let pending) = expected { pending.actor } else { nil }
    }

    /// Looks at what has come; takes nothing.
    ///
    /// - Throws: an error of the script, or what keeps the harness from looking.
    mutating func look(_ window: TimeWindow) throws(Finding) -> Look {
        (reason, doubt, isOver) = (nil, nil, window.isOver)
        switch try evaluate(window) {
        case .pending(let next):
            isOver = false
            return .waits(until: next)
        case .satisfied(_, let moment):
            // Each branch has its own deadline; what fits one that is over has come too late. What can't be told is judged by the step.
            let moment = moment ?? window.now
            if moment <= deadline || moment <= window.standstills.extended(deadline, from: window.start) {
                return .fits
            }
            reason = "it came \(DurationText.script(moment - deadline)) after the branch's deadline"
        case .impossible(let why):
            if why.finding.verdict == .error { throw why.finding }
            if why.finding.verdict == .inconclusive { doubt = why.finding }
            reason = why.shortReason
            received = why.finding.actual ?? []
        }
        // What came may be taken away by another step: the branch has its time until then.
        return isOver ? .fitsNot : .waits(until: window.limit)
    }

    private mutating func evaluate(_ window: TimeWindow) throws(Finding) -> Outcome<Void> {
        switch expected {
        case .absent: return window.wait(orMissed: Finding(.failed, "its actor is not there"))
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
            // Its output's search is remembered, whatever keeps the harness from looking.
            expected = .absent
            defer { expected = .process(pending) }
            return try pending.evaluate(window).map { _ in }
        }
    }
}
