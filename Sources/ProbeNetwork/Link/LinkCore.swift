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
        case reset(LinkStreamKey, id: Int, member: Int)
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
    var swapped: [LinkSide: (passing: Passing, member: Int, until: MonotonicTime)] = [:]
    private(set) var waiting: [Waiting] = []
    private(set) var firstWaiting = 0
    /// What each command has done.
    private(set) var effects: [Int: LinkEffect] = [:]
    private var tallies = LinkPair(LinkTally(), LinkTally())

    package init() {}

    // MARK: Results

    /// The frames that go out now.
    package mutating func takeOutgoing() -> [Outgoing] {
        defer { outgoing.removeAll(keepingCapacity: true) }
        return outgoing
    }

    package var hasOutgoing: Bool { !outgoing.isEmpty }

    /// The commands that did not do what they say, and what passed instead.
    package var shortfalls: [LinkShortfall] {
        effects.filter { !$0.value.isMet }.sorted { $0.key < $1.key }
            .map { LinkShortfall($0.key, $0.value, tallies) }
    }

    package var unmet: [Int] { shortfalls.map(\.id) }

    /// How many packets a fault has met; nil for one that was never put on.
    package func met(_ id: Int) -> Int? { effects[id]?.count }

    /// When something that waits is due.
    package var nextDeadline: MonotonicTime? {
        let first = firstWaiting < waiting.count ? waiting[firstWaiting].due : nil
        return ([first] + swapped.values.map { Optional($0.until) }).compactMap(\.self).min()
    }

    /// A command is in force from here on.
    mutating func begin(_ id: Int, _ command: LinkCommand<Resolved>, from side: LinkSide?) {
        effects[id] = LinkEffect(command, from: side, tallies)
    }

    /// A command was replaced or healed in a direction.
    mutating func end(_ id: Int?, on side: LinkSide) {
        guard let id, effects[id]?.until[side] == .some(nil) else { return }
        effects[id]?.until[side] = tallies[side]
    }

    /// - Parameter member: which one of the packets that are meant it is; 0: there are no numbers.
    mutating func note(_ id: Int, _ count: Int = 1, member: Int = 0) {
        effects[id]?.count += count
        if member > 0 { effects[id]?.add(member: member) }
    }

    /// A packet that waited to be swapped went on as it came.
    mutating func noteUnswapped(_ passing: Passing, _ member: Int) {
        guard let id = passing.faults.last else { return }
        effects[id]?.count -= 1
        if member > 0 { effects[id]?.remove(member: member) }
        effects[id]?.obstacle = .notFollowed
    }

    mutating func note(_ obstacle: LinkEffect.Obstacle, of id: Int) { effects[id]?.obstacle = obstacle }

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
        // What the kernel sends for itself is none of the case's packets: it is not counted, and meets no fault.
        if view.isTraffic {
            for kind in PacketKind.allCases where LinkRule.isNew(view.tcp, standing, kind) == true {
                tallies[side][kind] += 1
            }
        }
        if let id = shapes[side].down {
            if view.isTraffic { note(id) }
            return log(frame, side, .left, wall, [id])
        }
        var passing = Passing(bytes: frame, faults: [])
        shapeHeader(&passing, view, from: side)
        guard view.isTraffic, let (rule, member) = choose(view, standing, key, from: side) else {
            return send(passing, view, from: side, now: now, wall: wall)
        }
        passing.faults.append(rule.id)
        perform(rule.action, passing, view, key, member, from: side, now: now, wall: wall)
    }

    /// The fault that a packet meets. Each rule counts each packet, and the first one that can act on it does.
    private mutating func choose(
        _ view: LinkFrame, _ standing: LinkStream.Standing, _ key: LinkStreamKey?, from side: LinkSide
    ) -> (LinkRule, member: Int)? {
        var chosen: (LinkRule, member: Int)?
        for index in rules.indices {
            guard let member = rules[index].counts(view.tcp, standing, key, from: side) else { continue }
            guard isPossible(rules[index].action, view) else {
                note(.impossible, of: rules[index].id)
                continue
            }
            guard chosen == nil else {
                note(.takenByAnother, of: rules[index].id)
                continue
            }
            chosen = (rules[index], member)
            rules[index].take(view.tcp, key)
        }
        return chosen
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
            case .reset(let key, let id, let member): reset(key, from: next.from, id, wall, member: member)
            }
        }
        if firstWaiting > 1024 || firstWaiting == waiting.count {
            waiting.removeFirst(firstWaiting)
            firstWaiting = 0
        }
        for (side, swap) in swapped where swap.until <= now {
            swapped[side] = nil
            noteUnswapped(swap.passing, swap.member)
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
            case .reset(let key, let id, let member): reset(key, from: next.from, id, wall, member: member)
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
