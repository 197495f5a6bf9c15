import ProbeBase
import ProbeEvents
import ProbeRegex
import ProbeScenario
import ProbeSystem

/// The progress of a wait for something about a program.
struct ProcessProgress {
    var output = OutputProgress()
    var polling = PollingProgress()
}

/// How far a wait has searched a program's output. Each line is searched once, when it has ended.
struct OutputProgress {
    /// `nil` until the first search, which begins where the last `expect output` ended.
    private var cursor: OutputCursor?

    /// Searches the lines that have not been searched yet.
    ///
    /// - Parameter includesOpen: whether unfinished lines are searched too, because the wait ends or nothing more can
    ///   follow.
    mutating func search(
        _ regex: ByteRegex, in log: OutputLog, from start: OutputCursor, includesOpen: Bool
    ) -> OutputSearch.Match? {
        let cursor = cursor ?? start
        if let match = OutputSearch.next(regex, in: log, from: cursor, includesOpen: includesOpen) { return match }
        self.cursor = .afterCompleteLines(of: log, log.openLines, from: cursor)
        return nil
    }
}

/// Schedules the looks at the kernel's tables, which don't report when something about a program changes.
struct PollingProgress {
    private var interval: Int64 = 1_000_000
    private var planned: MonotonicTime?
    /// The time that the looks themselves kept the harness busy. They take long if many processes run, but that is not
    /// time in which the step did not look.
    var own = Duration.zero

    /// Returns the moment as of which a look at `now` counts. What began between two looks had begun by the planned
    /// moment of the second, however late that look was.
    func observationTime(_ now: MonotonicTime) -> MonotonicTime {
        guard let planned, now < planned + .milliseconds(2) else { return now }
        return planned
    }

    /// The most that a look may exceed its own processor time. If it takes longer, the harness was stopped during the
    /// look.
    static let longestPause = Duration.milliseconds(100)

    /// Returns when a look that counts as of `begin` found something: its end if the look was interrupted, because it
    /// is then unknown whether the kernel's table was read before or after the interruption.
    static func moment(of begin: MonotonicTime, _ end: MonotonicTime, own: Duration) -> MonotonicTime {
        end - begin - own > longestPause ? end : begin
    }

    /// Looks once.
    ///
    /// - Parameter isFound: whether an answer is the awaited one.
    /// - Returns: the answer, and the moment as of which it counts.
    mutating func look<Answer>(
        at now: MonotonicTime, isFound: (Answer) -> Bool, _ ask: () throws(Finding) -> Answer
    ) throws(Finding) -> (answer: Answer, moment: MonotonicTime) {
        let moment = observationTime(now)
        let used = ThreadTime.used
        let answer = try ask()
        let end = MonotonicTime.now
        let own = ThreadTime.used - used
        if isFound(answer) { return (answer, Self.moment(of: moment, end, own: own)) }
        // Excludes the time in which the harness was stopped.
        self.own += min(end - now, own + Self.longestPause)
        return (answer, moment)
    }

    /// Whether the deadline has passed, extended by the time that the looks took.
    func isOver(_ window: TimeWindow) -> Bool {
        window.now >= window.deadline
            && window.now + own >= window.standstills.extended(window.deadline, from: window.start)
    }

    /// Plans the next look and returns its moment.
    ///
    /// - Parameter earliest: the step's lower bound: a look just before it shows whether it was violated.
    mutating func planNext(_ now: MonotonicTime, deadline: MonotonicTime, earliest: MonotonicTime?) -> MonotonicTime {
        var next = now + .nanoseconds(interval)
        if now < deadline { next = min(next, deadline) }
        if let earliest, earliest > now, earliest <= next { next = earliest + .nanoseconds(-1) }
        interval = min(interval * 3 / 2, 20_000_000)
        planned = next
        return next
    }
}
