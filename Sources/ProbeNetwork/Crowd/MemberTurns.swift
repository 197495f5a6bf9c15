/// Whose turn it is to begin, and to connect: in the order in which members asked, and not too many at once.
struct MemberTurns {
    /// When member `n` is to begin, from the beginning of the crowd; nil: as soon as it can.
    private let schedule: ((Int) -> Int64)?
    /// How many members begin by themselves.
    private let starting: Int
    private var nextStart = 0
    private var begun: Int64?
    /// Members that wait for their turn to connect; taken from `queueStart`.
    private var queue: [Int] = []
    private var queueStart = 0
    /// How many connect at this moment.
    var connecting = 0
    private var isTaking = false

    /// More than that at once only fills the queue of who listens.
    private static let mostConnecting = 256

    init(starting: Int, schedule: ((Int) -> Int64)?) {
        (self.starting, self.schedule) = (starting, schedule)
    }

    mutating func begin(at moment: Int64) { begun = moment }

    /// No member begins any more.
    mutating func stop() {
        nextStart = starting
        queue = []
        queueStart = 0
    }

    private var isFull: Bool { connecting >= Self.mostConnecting }
    private var hasQueue: Bool { queueStart < queue.count }

    /// - Parameter isFirst: it has not been connected before; others are behind those that wait, and behind those that have not begun.
    func mayConnect(isFirst: Bool) -> Bool {
        if isFull { return false }
        return isFirst || isTaking || !(hasQueue || (schedule == nil && begun != nil && nextStart < starting))
    }

    mutating func wait(_ member: Int) { queue.append(member) }

    /// The next member that begins now, and when it was due.
    mutating func nextToStart(at now: Int64) -> (member: Int, due: Int64)? {
        guard let begun, begun <= now, nextStart < starting else { return nil }
        let due = schedule.map { begun + $0(nextStart) } ?? now
        guard due <= now, schedule != nil || !isFull else { return nil }
        defer { nextStart += 1 }
        return (nextStart, due)
    }

    /// Gives each member its turn that waits for one, as long as there is room.
    ///
    /// - Parameter connect: tells whether the member still wants it.
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

    /// When a turn comes; 0: at once; nil: only behind an event.
    var nextMoment: Int64? {
        if hasQueue, !isFull { return 0 }
        guard let begun, nextStart < starting else { return nil }
        if let schedule { return begun + schedule(nextStart) }
        return isFull ? nil : begun
    }
}
