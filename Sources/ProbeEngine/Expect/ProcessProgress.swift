import ProbeBase
import ProbeEvents
import ProbeRegex
import ProbeScenario
import ProbeSystem

/// The progress of a step that waits for a program.
struct ProcessProgress {
    var output = OutputProgress()
    var polling = PollingProgress()
}

/// How far a step has searched a program's output. Each complete line is searched only once.
struct OutputProgress {
    /// The position at which the next search begins; `nil` until the first search, which begins after the match of the
    /// last `expect output`.
    private var cursor: OutputCursor?

    /// Searches the lines that have not been searched yet.
    ///
    /// - Parameter includesOpen: whether unfinished lines are also searched, because the wait is ending or because
    ///   nothing can be appended to these lines.
    mutating func search(
        _ regex: ByteRegex, in log: OutputLog, from start: OutputCursor, includesOpen: Bool
    ) -> OutputSearch.Match? {
        let cursor = cursor ?? start
        if let match = OutputSearch.next(regex, in: log, from: cursor, includesOpen: includesOpen) { return match }
        self.cursor = .afterCompleteLines(of: log, log.openLines, from: cursor)
        return nil
    }
}

/// The schedule for queries to the kernel's tables. The kernel doesn't notify the harness when these tables change, so
/// they are polled.
struct PollingProgress {
    private var interval: Int64 = 1_000_000
    private var planned: MonotonicTime?
    /// The total time for which the queries kept the harness busy. Queries are slow if many processes run; the deadline
    /// is extended by this time.
    var own = Duration.zero

    /// Returns the time to attribute to a query at `now`: the time for which the query was planned if the query is at
    /// most 2 ms late, otherwise `now`. A query at the planned time would also have found a change that happened before
    /// that time.
    func observationTime(_ now: MonotonicTime) -> MonotonicTime {
        guard let planned, now < planned + .milliseconds(2) else { return now }
        return planned
    }

    /// The maximum amount by which the duration of a query may exceed its processor time. A larger difference means
    /// that the harness was stalled during the query.
    static let longestPause = Duration.milliseconds(100)

    /// Returns the time at which a query found something. This is `begin` or, if the harness was stalled during the
    /// query, the query's end, because the table may have been read only after the stall.
    static func moment(of begin: MonotonicTime, _ end: MonotonicTime, own: Duration) -> MonotonicTime {
        end - begin - own > longestPause ? end : begin
    }

    /// Queries the kernel's tables once.
    ///
    /// - Parameter isFound: returns whether an answer is the expected one.
    /// - Returns: the answer, and the time to attribute to it.
    mutating func look<Answer>(
        at now: MonotonicTime, isFound: (Answer) -> Bool, _ ask: () throws(Finding) -> Answer
    ) throws(Finding) -> (answer: Answer, moment: MonotonicTime) {
        let moment = observationTime(now)
        let used = ThreadTime.used
        let answer = try ask()
        let end = MonotonicTime.now
        let own = ThreadTime.used - used
        if isFound(answer) { return (answer, Self.moment(of: moment, end, own: own)) }
        // The time for which the harness was stalled during the query is not counted.
        self.own += min(end - now, own + Self.longestPause)
        return (answer, moment)
    }

    /// Whether the deadline, extended by the time that the queries took, has passed.
    func isOver(_ window: TimeWindow) -> Bool {
        window.now >= window.deadline
            && window.now + own >= window.standstills.extended(window.deadline, from: window.start)
    }

    /// Plans the next query and returns its time.
    ///
    /// - Parameter earliest: the earliest time at which the step may be satisfied. A query just before that time shows
    ///   whether the event was too early.
    mutating func planNext(_ now: MonotonicTime, deadline: MonotonicTime, earliest: MonotonicTime?) -> MonotonicTime {
        var next = now + .nanoseconds(interval)
        if now < deadline { next = min(next, deadline) }
        if let earliest, earliest > now, earliest <= next { next = earliest + .nanoseconds(-1) }
        interval = min(interval * 3 / 2, 20_000_000)
        planned = next
        return next
    }
}
