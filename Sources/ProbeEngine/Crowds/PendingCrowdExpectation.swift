import ProbeBase
import ProbeEvents
import ProbeCrowd
import ProbeScenario
import ProbeSystem

/// An `expect` of a crowd with its values computed.
enum ResolvedCrowdExpectation: Sendable {
    case count(CrowdCount, Comparison, Int)
    case latency(Percentile, Comparison, Duration, of: MemberWait)

    /// The expectation as written in the script.
    var description: String {
        switch self {
        case .count(let what, let comparison, let number): "\(what.rawValue) \(comparison.rawValue) \(number)"
        case .latency(let percentile, let comparison, let time, let wait):
            "latency \(percentile.text) \(comparison.rawValue) \(DurationText.script(time)) of \(wait.rawValue)"
        }
    }

    /// The kind of wait; `nil` if the expectation counts members.
    var wait: MemberWait? { if case .latency(_, _, _, let wait) = self { wait } else { nil } }

    var isAboutLatencies: Bool { wait != nil }

    func holds(for snapshot: CrowdSnapshot) -> Bool {
        switch self {
        case .count(let what, let comparison, let number): comparison.holds(snapshot.number(of: what), number)
        case .latency(let percentile, let comparison, let time, let wait):
            // Unfinished waits may still take a long time, and future waits may be short, so the result must depend on
            // neither.
            snapshot.latencies[wait]?.bounds(at: percentile.value).map { bounds in
                switch comparison {
                case .less, .lessOrEqual: comparison.holds(bounds.upperBound, time)
                case .greater, .greaterOrEqual: comparison.holds(bounds.lowerBound, time)
                case .equal, .notEqual:
                    bounds.lowerBound == bounds.upperBound && comparison.holds(bounds.lowerBound, time)
                }
            } ?? false
        }
    }

    /// Returns whether the expectation can no longer be satisfied, because a number that never decreases has exceeded
    /// its upper bound or because too few members are left.
    ///
    /// - Parameter isMeasuredAgain: whether there may be more waits than the members' script contains.
    func isImpossible(after snapshot: CrowdSnapshot, of count: Int, isMeasuredAgain: Bool) -> Bool {
        switch self {
        case .latency(let percentile, let comparison, let time, let wait):
            guard !isMeasuredAgain, let bounds = snapshot.latencies[wait]?.bounds(at: percentile.value) else {
                return false
            }
            return switch comparison {
            case .less, .lessOrEqual: !comparison.holds(bounds.lowerBound, time)
            case .greater, .greaterOrEqual: !comparison.holds(bounds.upperBound, time)
            case .equal, .notEqual: false
            }
        case .count(let what, let comparison, let number):
            let least = what.onlyGrows ? snapshot.number(of: what) : 0
            let most = what.most(after: snapshot, of: count)
            return switch comparison {
            case .equal: least > number || most < number
            case .lessOrEqual: least > number
            case .less: least >= number
            case .greaterOrEqual: most < number
            case .greater: most <= number
            case .notEqual: least == number && most == number
            }
        }
    }

    /// Returns the limit and the measured time if a latency exceeds its limit; otherwise `nil`.
    func excess(in snapshot: CrowdSnapshot) -> (limit: Duration, time: Duration)? {
        guard case .latency(let percentile, _, let limit, let wait) = self,
            let shortest = snapshot.latencies[wait]?.bounds(at: percentile.value)?.lowerBound, shortest > limit
        else { return nil }
        return (limit, shortest - limit)
    }

    /// Returns the actual value of the count or the latency, in words.
    func found(in snapshot: CrowdSnapshot, of count: Int) -> String {
        switch self {
        case .count(let what, _, _): "\(what.rawValue) \(snapshot.number(of: what)) of \(count)"
        case .latency(let percentile, _, _, let wait):
            snapshot.latencies[wait].flatMap { record in
                record.value(at: percentile.value).map {
                    "the \(percentile.text) of \(ByteText.count(record.count, "wait")) is \(LatencyText.time($0))"
                        + (record.unfinishedCount > 0 ? "; \(record.unfinishedCount) have not ended yet" : "")
                }
            } ?? "no waits were measured"
        }
    }
}

extension CrowdCount {
    /// Whether the count never decreases until the crowd is started again.
    var onlyGrows: Bool {
        switch self {
        case .connected, .failed, .done: true
        case .alive: false
        }
    }

    /// Returns the largest number of members that can still reach the counted state. A failed member does nothing more,
    /// and a member that is done can't fail.
    func most(after snapshot: CrowdSnapshot, of count: Int) -> Int {
        switch self {
        case .connected: max(count, snapshot.connected)
        case .alive, .done: count - snapshot.failed
        case .failed: max(snapshot.failed, count - snapshot.done)
        }
    }
}

extension CrowdSnapshot {
    func number(of what: CrowdCount) -> Int {
        switch what {
        case .connected: connected
        case .alive: alive
        case .failed: failed
        case .done: done
        }
    }
}

/// A crowd's `expect` whose step is waiting. The workers are asked periodically for the state of their members.
struct PendingCrowdExpectation: PendingExpectation {
    let expectation: ResolvedCrowdExpectation
    let actor: CrowdActor
    /// Returns the locations in the script at which members failed, with the reasons, in words.
    private let failures: (CrowdSnapshot) -> [String]
    /// Returns what prevented members from following their script, if the program that serves the members is not the
    /// cause.
    private let obstacle: (CrowdSnapshot) -> Finding?
    /// Whether the expectation limits the number of failed members.
    var limitsFailures = false
    /// A sentence about the expectation, which is added to the message of a failure.
    var note: String?
    private var question: CrowdActor.Question?
    private var nextQuestion: MonotonicTime?
    private(set) var seen: CrowdSnapshot?
    /// Whether the last question that was answered was asked at the deadline or later.
    private var isFinal = false

    /// The interval between questions. It is longer for latencies, because the answers to questions about latencies are
    /// large.
    private var interval: Duration { .milliseconds(expectation.isAboutLatencies ? 100 : 20) }
    /// How long a worker may take to answer before it is considered dead.
    private static let answerTimeout = Duration.seconds(20)

    init(
        _ expectation: ResolvedCrowdExpectation, _ actor: CrowdActor, failures: @escaping (CrowdSnapshot) -> [String],
        obstacle: @escaping (CrowdSnapshot) -> Finding?
    ) {
        (self.expectation, self.actor, self.failures, self.obstacle) = (expectation, actor, failures, obstacle)
    }

    var description: String { expectation.description }

    mutating func evaluate(_ window: TimeWindow) throws(Finding) -> Outcome<CrowdSnapshot> {
        guard actor.phase != .notStarted else {
            throw Finding(
                .error, "\(actor.name) has not been started",
                hints: ["add `\(actor.name) start { … }` before this step"])
        }
        if let problem = actor.problem { throw Finding(.error, "a worker of the crowd \(actor.name) \(problem)") }
        if let asked = question, actor.isStale(asked) { (question, nextQuestion) = (nil, nil) }
        if let asked = question, let answer = actor.take(asked) {
            (question, nextQuestion, seen) = (nil, asked.time + interval, answer)
            isFinal = asked.time >= window.deadline
            if let obstacle = obstacle(answer) { throw obstacle }
            if expectation.holds(for: answer) { return .satisfied(answer, at: nil) }
            let isImpossible = expectation.isImpossible(
                after: answer, of: actor.count, isMeasuredAgain: actor.isMeasuredAgain)
            if isImpossible {
                let found = expectation.found(in: answer, of: actor.count)
                return .mismatch(
                    unmet("\(actor.name) can no longer satisfy `\(expectation.description)`", answer), found)
            }
        }
        if let question {
            let end = question.time + Self.answerTimeout
            if window.isOver(end, from: question.time) {
                throw Finding(
                    .error, "a worker of the crowd \(actor.name) did not answer",
                    hints: ["reduce the number of members, or run fewer cases at a time: the machine is too busy"])
            }
            return .pending(until: window.limit(of: end, from: question.time))
        }
        if isFinal, window.isOver { return .impossible(missed(window), .missed) }
        // The last question is asked at the deadline or later. If the machine stalled, the time window of the
        // expectation is extended, and further questions are asked.
        let end = max(window.deadline, window.start)
        let next = nextQuestion ?? window.now
        let due = isFinal ? next : min(next, end)
        if window.now >= due {
            question = actor.ask(latencies: expectation.isAboutLatencies, at: window.now)
            return .pending(until: window.now + Self.answerTimeout)
        }
        return .pending(until: due)
    }

    private func missed(_ window: TimeWindow) -> Finding {
        unmet(
            "\(actor.name) did not satisfy `\(expectation.description)` within \(window.allowed)",
            seen ?? CrowdSnapshot())
    }

    private func unmet(_ what: String, _ snapshot: CrowdSnapshot) -> Finding {
        var finding = Finding(
            .failed, "\(what): \(expectation.found(in: snapshot, of: actor.count))",
            details: (note.map { [$0] } ?? []) + failures(snapshot)
                + LatencyText.plot(snapshot, of: expectation.wait.map { [$0] } ?? []))
        finding.excess = expectation.excess(in: snapshot).map {
            Finding.Excess(
                actor: actor.name, limit: $0.limit, time: $0.time, needsAnswer: expectation.wait != .connect)
        }
        return finding
    }
}
