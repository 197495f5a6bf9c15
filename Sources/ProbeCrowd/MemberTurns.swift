/// Decides when members may begin and when they may connect. Members connect in the order of their requests, and only a
/// limited number of members connect at the same time.
struct MemberTurns {
    /// Returns the start time of member `n`, in nanoseconds since the start of the crowd; `nil` if members start as
    /// soon as possible.
    private let schedule: ((Int) -> Int64)?
    /// The number of members that start on the schedule.
    private let starting: Int
    private var nextStart = 0
    private var begun: Int64?
    /// The members that wait for their turn to connect; the next one is at index `queueStart`.
    private var queue: [Int] = []
    private var queueStart = 0
    /// The number of members that are currently connecting.
    var connecting = 0
    private var isTaking = false

    /// The maximum number of simultaneous connection attempts. More attempts would only fill the listener's backlog.
    private static let maxConnecting = 256

    init(starting: Int, schedule: ((Int) -> Int64)?) {
        (self.starting, self.schedule) = (starting, schedule)
    }

    mutating func begin(at moment: Int64) { begun = moment }

    /// Prevents further members from beginning their script.
    mutating func stop() {
        nextStart = starting
        queue = []
        queueStart = 0
    }

    private var isFull: Bool { connecting >= Self.maxConnecting }
    private var hasQueue: Bool { queueStart < queue.count }

    /// Returns whether a member may connect now.
    ///
    /// - Parameter isFirst: whether the member has never been connected. A member that reconnects must wait for the
    ///   members that are already waiting and for those that have not begun.
    func mayConnect(isFirst: Bool) -> Bool {
        if isFull { return false }
        return isFirst || isTaking || !(hasQueue || (schedule == nil && begun != nil && nextStart < starting))
    }

    mutating func wait(_ member: Int) { queue.append(member) }

    /// Returns the next member that should begin now, and the time at which it was due; `nil` if there is none.
    mutating func nextToStart(at now: Int64) -> (member: Int, due: Int64)? {
        guard let begun, begun <= now, nextStart < starting else { return nil }
        let due = schedule.map { begun + $0(nextStart) } ?? now
        guard due <= now, schedule != nil || !isFull else { return nil }
        defer { nextStart += 1 }
        return (nextStart, due)
    }

    /// Returns the next member whose turn it is to connect; `nil` if no member is waiting, or if the limit on
    /// simultaneous connection attempts is reached.
    mutating func nextToConnect() -> Int? {
        guard hasQueue, !isFull else {
            isTaking = false
            if !hasQueue { (queue, queueStart) = ([], 0) }
            return nil
        }
        isTaking = true
        defer { queueStart += 1 }
        return queue[queueStart]
    }

    /// The time of the next turn; 0 for immediately, `nil` if no turn is due before the next event.
    var nextMoment: Int64? {
        if hasQueue, !isFull { return 0 }
        guard let begun, nextStart < starting else { return nil }
        if let schedule { return begun + schedule(nextStart) }
        return isFull ? nil : begun
    }
}
