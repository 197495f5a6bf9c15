import ProbeBase
import ProbeEvents
import ProbeScenario
import ProbeSystem

/// How far a wait for something of a program is.
struct ProcessProgress {
    var output = OutputProgress()
    var polling = PollingProgress()
}

/// How far a wait has searched a program's output: each line is searched once, however small the pieces are in which it comes.
struct OutputProgress {
    /// nil until the first look: it begins where the last `expect output` ended.
    private var cursor: OutputCursor?
    /// When a long line without its end was last searched.
    private var searchedLong: MonotonicTime?
    /// A long line has grown since it was last searched: it is searched again then.
    private(set) var nextSearch: MonotonicTime?

    /// A line without its end is searched whole each time that it grows; a longer one at intervals.
    private static let long = 1 << 16
    private static let interval = Duration.milliseconds(50)

    /// - Parameter isLast: no later look is to be waited for.
    mutating func search(
        _ regex: ByteRegex, in log: OutputLog, from start: OutputCursor, now: MonotonicTime, isLast: Bool
    ) -> OutputSearch.Match? {
        let cursor = cursor ?? start
        let open = log.openLines
        let isLong = open.contains { (log[$0]?.bytes.count ?? 0) > Self.long }
        nextSearch = nil
        if isLong, !isLast {
            if let searchedLong, now < searchedLong + Self.interval {
                nextSearch = now + Self.interval
                return nil
            }
            searchedLong = now
        }
        if let match = OutputSearch.next(regex, in: log, from: cursor) { return match }
        self.cursor = .behindCompleteLines(of: log, open, from: cursor)
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
