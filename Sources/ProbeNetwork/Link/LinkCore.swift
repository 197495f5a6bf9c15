package import ProbeBase

/// A link as it decides: frames go in, with a time, and frames come out, now or when ``nextDeadline`` has come. It makes no system call. The log
/// has what left and what arrived.
package struct LinkCore: Sendable {
    /// A frame that goes to an end.
    package struct Outgoing: Sendable, Equatable {
        package var to: LinkSide
        package var bytes: [UInt8]
    }

    /// What waits for its time.
    struct Waiting {
        var due: MonotonicTime
        var from: LinkSide
        var content: Content
    }

    enum Content {
        case frame(Passing)
        /// An RST behind the packet before it.
        case reset(LinkStreamKey, id: Int)
    }

    /// A frame on its way.
    struct Passing {
        var bytes: [UInt8]
        var faults: [Int]
        /// As it left its sender.
        let original: [UInt8]
        /// It is not what left, or comes later.
        var isChanged = false
        var isSound = true
        var isDuplicate = false
        var isMadeByLink = false

        init(bytes: [UInt8], faults: [Int], isChanged: Bool = false, isSound: Bool = true, isMadeByLink: Bool = false) {
            (self.bytes, original, self.faults) = (bytes, bytes, faults)
            (self.isChanged, self.isSound, self.isMadeByLink) = (isChanged, isSound, isMadeByLink)
        }
    }

    /// How long a swapped packet waits for the next one.
    static let swapPatience = Duration.milliseconds(200)
    private static let keptBytes = 64 << 20

    /// Frames that go to the ends now; taken by ``takeOutgoing()``.
    private var outgoing: [Outgoing] = []
    package private(set) var records: [LinkRecord] = []
    private var kept = 0
    /// The log had no room for all.
    package private(set) var overflowed = false
    var streams: [LinkStreamKey: LinkStream] = [:]
    var rules: [LinkRule] = []
    var shapes = LinkPair(LinkShape(), LinkShape())
    /// Packets that are held, in the order in which they came.
    var held: [(from: LinkSide, passing: Passing)] = []
    var swapped: [LinkSide: (passing: Passing, until: MonotonicTime)] = [:]
    private(set) var waiting: [Waiting] = []
    private(set) var firstWaiting = 0
    /// How many packets each fault has met.
    private(set) var met: [Int: Int] = [:]

    package init() {}

    // MARK: Results

    /// The frames that go out now.
    package mutating func takeOutgoing() -> [Outgoing] {
        defer { outgoing.removeAll(keepingCapacity: true) }
        return outgoing
    }

    package var hasOutgoing: Bool { !outgoing.isEmpty }

    /// Faults that met no packet.
    package var unmet: [Int] { met.filter { $0.value == 0 }.keys.sorted() }

    /// How many packets a fault has met; nil for one that was never put on.
    package func met(_ id: Int) -> Int? { met[id] }

    /// When something that waits is due.
    package var nextDeadline: MonotonicTime? {
        let first = firstWaiting < waiting.count ? waiting[firstWaiting].due : nil
        return ([first] + swapped.values.map { Optional($0.until) }).compactMap(\.self).min()
    }

    /// A fault is in force from here on.
    mutating func begin(_ id: Int) { met[id] = met[id] ?? 0 }
    mutating func note(_ id: Int, _ count: Int = 1) { met[id, default: 0] += count }

    // MARK: Packets

    /// Takes a frame that an end has sent.
    ///
    /// - Parameter wall: the wall clock at `now`, in nanoseconds.
    package mutating func receive(_ frame: [UInt8], from side: LinkSide, now: MonotonicTime, wall: UInt64) {
        let view = LinkFrame(frame)
        var key: LinkStreamKey?
        var standing = LinkStream.Standing()
        if let tcp = view.tcp {
            let (own, other) = (LinkStreamKey(frame, view, tcp), LinkStreamKey(frame, view, tcp, isReversed: true))
            key = own
            let peer = streams[other]?.acknowledged
            let order = streams.count
            standing = streams[own, default: LinkStream(frame, view, tcp, from: side, peer: other, order: order)]
                .send(frame, tcp, acknowledgedByPeer: peer)
            if tcp.hasRST { noteReset(own, other) }
        }
        if let id = shapes[side].down {
            note(id)
            return log(frame, side, .left, wall, [id])
        }
        var chosen: LinkRule?
        for index in rules.indices {
            let isMeant = rules[index].counts(view.tcp, standing, key, from: side)
            guard isMeant, chosen == nil, isPossible(rules[index].action, view) else { continue }
            chosen = rules[index]
            rules[index].take(view.tcp, key)
        }
        var passing = Passing(bytes: frame, faults: [])
        shapeHeader(&passing, view, from: side)
        guard let rule = chosen else { return send(passing, view, from: side, now: now, wall: wall) }
        note(rule.id)
        passing.faults.append(rule.id)
        perform(rule.action, passing, view, key, from: side, now: now, wall: wall)
    }

    // MARK: Time

    mutating func wait(_ content: Content, from side: LinkSide, until due: MonotonicTime) {
        var (low, high) = (firstWaiting, waiting.count)
        // Behind what is due at the same time.
        while low < high {
            let middle = (low + high) / 2
            if waiting[middle].due <= due { low = middle + 1 } else { high = middle }
        }
        waiting.insert(Waiting(due: due, from: side, content: content), at: low)
    }

    /// Passes on what is due.
    package mutating func tick(now: MonotonicTime, wall: UInt64) {
        while firstWaiting < waiting.count, waiting[firstWaiting].due <= now {
            let next = waiting[firstWaiting]
            waiting[firstWaiting].content = .frame(Passing(bytes: [], faults: []))
            firstWaiting += 1
            switch next.content {
            case .frame(let passing): emit(passing, from: next.from, wall: wall)
            case .reset(let key, let id): reset(key, from: next.from, id, wall)
            }
        }
        if firstWaiting > 1024 || firstWaiting == waiting.count {
            waiting.removeFirst(firstWaiting)
            firstWaiting = 0
        }
        for (side, swap) in swapped where swap.until <= now {
            swapped[side] = nil
            // Nothing came that it could be swapped with.
            if let id = swap.passing.faults.last { note(id, -1) }
            emit(swap.passing, from: side, wall: wall)
        }
    }

    /// What waits in a direction goes on at once.
    mutating func passOnWaiting(from side: LinkSide, wall: UInt64) {
        let all = waiting[firstWaiting...]
        (waiting, firstWaiting) = (all.filter { $0.from != side }, 0)
        for next in all where next.from == side {
            switch next.content {
            case .frame(let passing): emit(passing, from: next.from, wall: wall)
            case .reset(let key, let id): reset(key, from: next.from, id, wall)
            }
        }
    }

    // MARK: The way out

    /// A packet arrives.
    mutating func emit(_ passing: Passing, from side: LinkSide, wall: UInt64) {
        let view = LinkFrame(passing.bytes)
        if let tcp = view.tcp, passing.isSound, !passing.isDuplicate {
            streams[LinkStreamKey(passing.bytes, view, tcp)]?.deliver(tcp)
        }
        outgoing.append(Outgoing(to: side.opposite, bytes: passing.bytes))
        keep(
            LinkRecord(
                time: wall, from: side, view: passing.isChanged || passing.isMadeByLink ? .arrived : .both,
                bytes: passing.bytes, faults: passing.faults, isMadeByLink: passing.isMadeByLink,
                isDuplicate: passing.isDuplicate))
        if !swapped.isEmpty, let swap = swapped.removeValue(forKey: side) {
            emit(swap.passing, from: side, wall: wall)
        }
    }

    /// Neither side goes on.
    mutating func noteReset(_ one: LinkStreamKey, _ other: LinkStreamKey) {
        streams[one]?.isReset = true
        streams[other]?.isReset = true
    }

    /// A message of the link to the sender of a packet.
    mutating func answer(_ frame: [UInt8]?, to side: LinkSide, _ faults: [Int], _ wall: UInt64) {
        guard let frame else { return }
        emit(Passing(bytes: frame, faults: faults, isMadeByLink: true), from: side.opposite, wall: wall)
    }

    mutating func log(_ bytes: [UInt8], _ side: LinkSide, _ view: LinkRecord.View, _ wall: UInt64, _ faults: [Int]) {
        keep(LinkRecord(time: wall, from: side, view: view, bytes: bytes, faults: faults))
    }

    private mutating func keep(_ record: LinkRecord) {
        guard kept + record.bytes.count + 96 <= Self.keptBytes else {
            overflowed = true
            return
        }
        kept += record.bytes.count + 96
        records.append(record)
    }
}
