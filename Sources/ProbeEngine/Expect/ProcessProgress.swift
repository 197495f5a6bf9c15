import ProbeBase
import ProbeEvents
import ProbeScenario
import ProbeSystem

/// How far a wait for something of a program is.
struct ProcessProgress {
    var output = OutputProgress()
    var polling = PollingProgress()
}

/// How far a wait has searched a program's output: each line is searched once, when it has ended.
struct OutputProgress {
    /// nil until the first search, which begins where the last `expect output` ended.
    private var cursor: OutputCursor?

    /// - Parameter includesOpen: whether unfinished lines are searched as well, because the wait ends or the rest can't follow.
    mutating func search(
        _ regex: ByteRegex, in log: OutputLog, from start: OutputCursor, includesOpen: Bool
    ) -> OutputSearch.Match? {
        let cursor = cursor ?? start
        if let match = OutputSearch.next(regex, in: log, from: cursor, includesOpen: includesOpen) { return match }
        self.cursor = .behindCompleteLines(of: log, log.openLines, from: cursor)
        return nil
    }
}

/// When the kernel's tables are looked at next for something of a program: the kernel tells nobody of a change.
struct PollingProgress {
    private var interval: Int64 = 1_000_000
    private var planned: MonotonicTime?
    /// How long the looks themselves kept the harness busy. They take long where many processes run, but that is no time in which the step
    /// did not look.
    var own = Duration.zero

    /// The moment as of which a look at `now` counts. What began between two looks had begun by the second one's planned moment, however
    /// late that look was.
    func momentOfLook(_ now: MonotonicTime) -> MonotonicTime {
        guard let planned, now < planned + .milliseconds(2) else { return now }
        return planned
    }

    /// A look that takes longer than its own work by more than this was interrupted: the harness was stopped in it.
    static let longestPause = Duration.milliseconds(100)

    /// When something was found by a look that counts as of `begin`: at its end where it was interrupted, because then
    /// nobody knows on which side of the interruption the kernel's table was read.
    static func moment(of begin: MonotonicTime, _ end: MonotonicTime, own: Duration) -> MonotonicTime {
        end - begin - own > longestPause ? end : begin
    }

    /// Looks once.
    ///
    /// - Parameter isFound: whether an answer is what is waited for.
    /// - Returns: the answer, and the moment as of which it counts.
    mutating func look<Answer>(
        at now: MonotonicTime, isFound: (Answer) -> Bool, _ ask: () throws(Finding) -> Answer
    ) throws(Finding) -> (answer: Answer, moment: MonotonicTime) {
        let moment = momentOfLook(now)
        let used = ThreadTime.used
        let answer = try ask()
        let end = MonotonicTime.now
        let own = ThreadTime.used - used
        if isFound(answer) { return (answer, Self.moment(of: moment, end, own: own)) }
        // Not the time in which the harness was stopped.
        self.own += min(end - now, own + Self.longestPause)
        return (answer, moment)
    }

    /// Whether the deadline has passed, also for the time that the looks took.
    func isOver(_ window: TimeWindow) -> Bool {
        window.now >= window.deadline
            && window.now + own >= window.standstills.extended(window.deadline, from: window.start)
    }

    /// - Parameter earliest: the step's lower bound: a look just before it tells whether it was broken.
    mutating func planNext(_ now: MonotonicTime, deadline: MonotonicTime, earliest: MonotonicTime?) -> MonotonicTime {
        var next = now + .nanoseconds(interval)
        if now < deadline { next = min(next, deadline) }
        if let earliest, earliest > now, earliest <= next { next = earliest + .nanoseconds(-1) }
        interval = min(interval * 3 / 2, 20_000_000)
        planned = next
        return next
    }
}
