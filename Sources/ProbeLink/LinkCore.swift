package import ProbeBase

/// The decision logic of a link.
///
/// Frames are passed in with a time, and are forwarded either immediately or when ``nextDeadline`` has passed. The core
/// makes no system calls. Its log records the packets as their sender sent them and as they arrived.
package struct LinkCore: Sendable {
    /// A frame to be sent to one end of the link.
    package struct Outgoing: Sendable, Equatable {
        package var to: LinkSide
        package var bytes: [UInt8]
    }

    /// A frame or an RST that is waiting until it is due.
    struct Waiting {
        var due: MonotonicTime
        var from: LinkSide
        var content: Content
    }

    enum Content {
        case frame(FrameInTransit)
        /// An RST that is sent after the packet that was queued before it.
        case reset(LinkStreamKey, id: Int, member: Int)
    }

    /// A frame in transit.
    struct FrameInTransit {
        var bytes: [UInt8]
        var faults: [Int]
        /// The frame as its sender sent it.
        let original: [UInt8]
        /// Whether the frame arrives modified or delayed.
        var isChanged = false
        var isSound = true
        var isDuplicate = false
        var isMadeByLink = false

        init(bytes: [UInt8], faults: [Int], isChanged: Bool = false, isSound: Bool = true, isMadeByLink: Bool = false) {
            (self.bytes, original, self.faults) = (bytes, bytes, faults)
            (self.isChanged, self.isSound, self.isMadeByLink) = (isChanged, isSound, isMadeByLink)
        }
    }

    /// The time for which a packet to be swapped waits for the next packet.
    static let swapPatience = Duration.milliseconds(200)
    private static let keptBytes = 64 << 20

    /// The frames to send now; ``takeOutgoing()`` removes them.
    private var outgoing: [Outgoing] = []
    package private(set) var records: [LinkRecord] = []
    private var kept = 0
    /// Whether the log was too small for all records.
    package private(set) var overflowed = false
    var streams: [LinkStreamKey: LinkStream] = [:]
    var rules: [LinkRule] = []
    var shapes = LinkPair(LinkShape(), LinkShape())
    /// The packets that are held, in order of arrival.
    var held: [(from: LinkSide, passing: FrameInTransit)] = []
    var swapped: [LinkSide: (passing: FrameInTransit, member: Int, until: MonotonicTime)] = [:]
    private(set) var waiting: [Waiting] = []
    private(set) var firstWaiting = 0
    /// The effects of the commands, by command number.
    private(set) var effects: [Int: LinkEffect] = [:]
    private var tallies = LinkPair(LinkTally(), LinkTally())

    package init() {}

    // MARK: Results

    /// Removes and returns the frames that must be sent now.
    package mutating func takeOutgoing() -> [Outgoing] {
        defer { outgoing.removeAll(keepingCapacity: true) }
        return outgoing
    }

    package var hasOutgoing: Bool { !outgoing.isEmpty }

    /// The commands that did not have the requested effect, each with the packets that passed instead.
    package var shortfalls: [LinkShortfall] {
        effects.filter { !$0.value.isMet }.sorted { $0.key < $1.key }
            .map { LinkShortfall($0.key, $0.value, tallies) }
    }

    package var unmet: [Int] { shortfalls.map(\.id) }

    /// Returns the number of packets that a fault has affected, or `nil` if the fault was never applied.
    package func met(_ id: Int) -> Int? { effects[id]?.count }

    /// The earliest time at which a waiting packet is due; `nil` if none is waiting.
    package var nextDeadline: MonotonicTime? {
        let first = firstWaiting < waiting.count ? waiting[firstWaiting].due : nil
        return ([first] + swapped.values.map { Optional($0.until) }).compactMap(\.self).min()
    }

    /// Records that a command is in effect from now on.
    mutating func begin(_ id: Int, _ command: LinkCommand<Resolved>, from side: LinkSide?) {
        effects[id] = LinkEffect(command, from: side, tallies)
    }

    /// Records that a command was replaced, or ended by `heal`, in one direction.
    mutating func end(_ id: Int?, on side: LinkSide) {
        guard let id, effects[id]?.until[side] == .some(nil) else { return }
        effects[id]?.until[side] = tallies[side]
    }

    /// Counts packets that a command affected.
    ///
    /// - Parameter member: the ordinal of the packet within the command's selection; 0 if the selection has no
    ///   ordinals.
    mutating func note(_ id: Int, _ count: Int = 1, member: Int = 0) {
        effects[id]?.count += count
        if member > 0 { effects[id]?.add(member: member) }
    }

    /// Subtracts one from the number of affected packets, because a packet that was waiting to be swapped was forwarded
    /// in its original position.
    mutating func noteUnswapped(_ passing: FrameInTransit, _ member: Int) {
        guard let id = passing.faults.last else { return }
        effects[id]?.count -= 1
        if member > 0 { effects[id]?.remove(member: member) }
        effects[id]?.obstacle = .notFollowed
    }

    mutating func note(_ obstacle: LinkEffect.Obstacle, of id: Int) { effects[id]?.obstacle = obstacle }

    // MARK: Packets

    /// Handles a frame that one end of the link has sent.
    ///
    /// - Parameter wall: the wall-clock time at `now`, in nanoseconds.
    package mutating func receive(_ frame: [UInt8], from side: LinkSide, now: MonotonicTime, wall: UInt64) {
        let view = LinkFrame(frame)
        var key: LinkStreamKey?
        var novelty = LinkStream.SegmentNovelty()
        if let tcp = view.tcp {
            let (own, other) = (LinkStreamKey(frame, view, tcp), LinkStreamKey(frame, view, tcp, isReversed: true))
            key = own
            let peer = streams[other]?.acknowledged
            let order = streams.count
            novelty = streams[own, default: LinkStream(frame, view, tcp, from: side, peer: other, order: order)]
                .send(frame, tcp, acknowledgedByPeer: peer)
            if tcp.hasRST { noteReset(own, other) }
        }
        // Packets that the kernel sends independently of programs don't belong to the case: they are neither counted
        // nor subject to faults.
        if view.isTraffic {
            for kind in PacketKind.allCases where LinkRule.isNew(view.tcp, novelty, kind) == true {
                tallies[side][kind] += 1
            }
        }
        if let id = shapes[side].down {
            if view.isTraffic { note(id) }
            return log(frame, side, .left, wall, [id])
        }
        var passing = FrameInTransit(bytes: frame, faults: [])
        shapeHeader(&passing, view, from: side)
        guard view.isTraffic, let (rule, member) = choose(view, novelty, key, from: side) else {
            return send(passing, view, from: side, now: now, wall: wall)
        }
        passing.faults.append(rule.id)
        perform(rule.action, passing, view, key, member, from: side, now: now, wall: wall)
    }

    /// Returns the rule that acts on a packet. Every rule counts the packet, and the first rule that can act on the
    /// packet is returned.
    private mutating func choose(
        _ view: LinkFrame, _ novelty: LinkStream.SegmentNovelty, _ key: LinkStreamKey?, from side: LinkSide
    ) -> (LinkRule, member: Int)? {
        var chosen: (LinkRule, member: Int)?
        for index in rules.indices {
            guard let member = rules[index].counts(view.tcp, novelty, key, from: side) else { continue }
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
        // The new entry is inserted after all entries that are due at the same time.
        while low < high {
            let middle = (low + high) / 2
            if waiting[middle].due <= due { low = middle + 1 } else { high = middle }
        }
        waiting.insert(Waiting(due: due, from: side, content: content), at: low)
    }

    /// Forwards the packets that are due.
    package mutating func tick(now: MonotonicTime, wall: UInt64) {
        while firstWaiting < waiting.count, waiting[firstWaiting].due <= now {
            let next = waiting[firstWaiting]
            waiting[firstWaiting].content = .frame(FrameInTransit(bytes: [], faults: []))
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

    /// Immediately forwards all packets that are waiting in a direction.
    mutating func forwardWaiting(from side: LinkSide, wall: UInt64) {
        let all = waiting[firstWaiting...]
        (waiting, firstWaiting) = (all.filter { $0.from != side }, 0)
        for next in all where next.from == side {
            switch next.content {
            case .frame(let passing): emit(passing, from: next.from, wall: wall)
            case .reset(let key, let id, let member): reset(key, from: next.from, id, wall, member: member)
            }
        }
    }

    // MARK: Output

    /// Delivers a packet to its receiver.
    mutating func emit(_ passing: FrameInTransit, from side: LinkSide, wall: UInt64) {
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

    /// Marks both directions of a connection as reset.
    mutating func noteReset(_ one: LinkStreamKey, _ other: LinkStreamKey) {
        streams[one]?.isReset = true
        streams[other]?.isReset = true
    }

    /// Sends a frame that the link created to the sender of a packet; does nothing if `frame` is `nil`.
    mutating func answer(_ frame: [UInt8]?, to side: LinkSide, _ faults: [Int], _ wall: UInt64) {
        guard let frame else { return }
        emit(FrameInTransit(bytes: frame, faults: faults, isMadeByLink: true), from: side.opposite, wall: wall)
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

/// The commands that a link executes.
extension LinkCore {
    /// Applies a fault or a state to the link. The fault or the state has taken effect when this method returns.
    ///
    /// - Parameters:
    ///   - id: a number that is unique among the link's commands.
    ///   - from: the side whose packets are affected; `nil` for both sides.
    package mutating func apply(
        _ command: LinkCommand<Resolved>, id: Int, from side: LinkSide?, now: MonotonicTime, wall: UInt64
    ) throws(LinkError) {
        let sides = side.map { [$0] } ?? LinkSide.allCases
        if case .burst = command, sides.contains(where: { shapes[$0].loss == nil }) {
            throw LinkError("no loss is in force; add `loss 5%` before this step")
        }
        begin(id, command, from: side)
        switch command {
        case .packets(let fault, let selection):
            rules.append(LinkRule(id: id, from: side, selection, .fault(fault)))
        case .truncate(let selection, let size):
            rules.append(LinkRule(id: id, from: side, selection, .truncate(to: size)))
        case .unreachable(let selection):
            let all = PacketSelection<Resolved>(kind: .any, ordinals: nil)
            rules.append(LinkRule(id: id, from: side, selection ?? all, .unreachable))
        case .resetBehind(let selection):
            rules.append(LinkRule(id: id, from: side, selection, .resetBehind))
        case .reset(let place): for side in sides { resetAll(from: side, id, isOutside: place == .outsideWindow, wall) }
        case .inject(let bytes): for side in sides { inject(bytes, from: side, id, wall) }
        case .release: release(sides, id, wall)
        default: for side in sides { shape(command, id, from: side, wall) }
        }
    }

    private mutating func shape(_ command: LinkCommand<Resolved>, _ id: Int, from side: LinkSide, _ wall: UInt64) {
        // The two directions have different seeds, so that they lose and delay different packets.
        func generator(_ seed: UInt64) -> SplitMix64 { SplitMix64(seed: seed &* 2 &+ (side == .left ? 0 : 1)) }
        switch command {
        case .shutWindow: shape(.window(0), id, from: side, wall)
        case .window(let size):
            end(shapes[side].window?.id, on: side)
            shapes[side].window = (id, size)
        case .strip(let option): shapes[side].stripped.append((id, option))
        case .clampMSS(let size):
            end(shapes[side].clamp?.id, on: side)
            shapes[side].clamp = (id, size)
        case .mtu(let size, let isSilent):
            end(shapes[side].mtu?.id, on: side)
            shapes[side].mtu = (id, size, isSilent)
        case .delay(let base, let jitter, let seed, let mayReorder):
            end(shapes[side].delay?.id, on: side)
            shapes[side].delay = LinkShape.Delay(
                id: id, base: base, jitter: jitter, mayReorder: mayReorder, generator: generator(seed))
        case .rate(let rate, let queue):
            end(shapes[side].rate?.id, on: side)
            shapes[side].rate = LinkShape.Rate(
                id: id, bytesPerSecond: rate, queue: queue ?? LinkShape.Rate.defaultQueue)
        case .loss(let percent, let seed, let run):
            let burst = run ?? 1
            endLoss(on: side)
            shapes[side].loss = LinkShape.Loss(
                id: id, fraction: percent / 100, burst: burst, burstID: burst > 1 ? id : nil, generator: generator(seed)
            )
        case .burst(let count):
            if let earlier = shapes[side].loss?.burstID, earlier != shapes[side].loss?.id { end(earlier, on: side) }
            shapes[side].loss?.burst = count
            shapes[side].loss?.burstID = id
        case .down:
            end(shapes[side].down, on: side)
            shapes[side].down = id
        case .up:
            if shapes[side].down != nil { note(id) }
            end(shapes[side].down, on: side)
            shapes[side].down = nil
        case .heal: heal(side, id, wall)
        case .packets, .truncate, .release, .reset, .resetBehind, .inject, .unreachable: break
        }
    }

    /// Ends every fault and state of a direction, and forwards its waiting and held packets in order.
    private mutating func heal(_ side: LinkSide, _ id: Int, _ wall: UInt64) {
        let isInForce = shapes[side].isInForce || rules.contains { $0.from == side || $0.from == nil }
        if isInForce || held.contains(where: { $0.from == side }) { note(id) }
        for known in effects.keys where known != id && effects[known]?.from != side.opposite { end(known, on: side) }
        shapes[side] = LinkShape()
        // A fault that applies to both directions remains in effect for the other direction.
        rules = rules.compactMap { rule in
            if rule.from == side { return nil }
            guard rule.from == nil else { return rule }
            return LinkRule(id: rule.id, from: side.opposite, rule.selection, rule.action)
        }
        forwardWaiting(from: side, wall: wall)
        if let swap = swapped.removeValue(forKey: side) {
            noteUnswapped(swap.passing, swap.member)
            emit(swap.passing, from: side, wall: wall)
        }
        _ = forwardHeld([side], wall)
    }

    private mutating func endLoss(on side: LinkSide) {
        end(shapes[side].loss?.id, on: side)
        end(shapes[side].loss?.burstID, on: side)
    }

    private mutating func release(_ sides: [LinkSide], _ id: Int, _ wall: UInt64) {
        note(id, forwardHeld(sides, wall))
    }

    private mutating func forwardHeld(_ sides: [LinkSide], _ wall: UInt64) -> Int {
        let freed = held.filter { sides.contains($0.from) }
        held.removeAll { sides.contains($0.from) }
        for packet in freed { emit(packet.passing, from: packet.from, wall: wall) }
        return freed.count
    }

    // MARK: Segments created by the link

    /// Returns the open connections of a direction, in the order in which they were first seen.
    private func live(from side: LinkSide) -> [LinkStreamKey] {
        streams.filter { $0.value.side == side && $0.value.initial != nil && !hasEnded($0.value) }.map(\.key).sorted {
            (streams[$0]?.order ?? 0) < (streams[$1]?.order ?? 0)
        }
    }

    private func hasEnded(_ stream: LinkStream) -> Bool {
        stream.isReset || stream.hasFIN && (streams[stream.peer]?.hasFIN ?? false)
    }

    private mutating func resetAll(from side: LinkSide, _ id: Int, isOutside: Bool, _ wall: UInt64) {
        for key in live(from: side) { reset(key, from: side, id, wall, isOutside: isOutside) }
    }

    /// Sends an RST to the receiver of a direction, with exactly the sequence number that the receiver expects (RFC
    /// 5961, section 3.2).
    ///
    /// - Parameter isOutside: whether to use a sequence number outside the receiver's window instead.
    mutating func reset(
        _ key: LinkStreamKey, from side: LinkSide, _ id: Int, _ wall: UInt64, isOutside: Bool = false, member: Int = 0
    ) {
        guard let stream = streams[key] else { return }
        let receiver = streams[stream.peer]
        let expected = stream.expected(acknowledged: receiver?.acknowledged)
        // The sequence number is half of the sequence space away from the expected number, and therefore outside any
        // window.
        let sequence = isOutside ? expected &+ 0x8000_0000 : expected
        let frame = FrameEdit.segment(
            like: stream.model, stream.modelView, flags: LinkFrame.rst | LinkFrame.ack, sequence: sequence,
            acknowledgment: receiver?.next ?? stream.acknowledged ?? 0, window: 0)
        guard let frame else { return }
        note(id, member: member)
        emit(FrameInTransit(bytes: frame, faults: [id], isMadeByLink: true), from: side, wall: wall)
        if !isOutside { noteReset(key, stream.peer) }
    }

    private mutating func inject(_ bytes: [UInt8], from side: LinkSide, _ id: Int, _ wall: UInt64) {
        for key in live(from: side) {
            guard let stream = streams[key], let receiver = streams[stream.peer], let acknowledged = stream.acknowledged
            else { continue }
            var options: [UInt8] = []
            if let (value, echo) = stream.timestamps {
                func bytes(_ value: UInt32) -> [UInt8] {
                    (0..<4).map { UInt8(truncatingIfNeeded: value >> (24 - 8 * $0)) }
                }
                options = [1, 1, StrippedOption.timestamps.number, 10] + bytes(value) + bytes(echo)
            }
            let frame = FrameEdit.segment(
                like: stream.model, stream.modelView, flags: LinkFrame.ack | LinkFrame.push,
                sequence: stream.expected(acknowledged: receiver.acknowledged), acknowledgment: acknowledged,
                window: max(stream.window, 1), options: options, payload: bytes)
            guard let frame else { continue }
            note(id)
            emit(FrameInTransit(bytes: frame, faults: [id], isMadeByLink: true), from: side, wall: wall)
        }
    }
}

/// The processing of a packet on its way from its sender to its receiver.
extension LinkCore {
    /// Returns whether an action can be applied to a packet. For example, a packet without payload has no byte to
    /// alter.
    func isPossible(_ action: LinkRule.Action, _ view: LinkFrame) -> Bool {
        switch action {
        case .fault(.alter): (view.tcp?.payloadLength ?? 0) > 0
        case .fault(.breakChecksum): view.tcp != nil
        case .truncate(let size): view.version != 0 && size < view.length
        case .unreachable: view.version != 0
        case .resetBehind: view.tcp != nil
        case .fault: true
        }
    }

    mutating func perform(
        _ action: LinkRule.Action, _ passing: FrameInTransit, _ view: LinkFrame, _ key: LinkStreamKey?,
        _ member: Int, from side: LinkSide, now: MonotonicTime, wall: UInt64
    ) {
        var passing = passing
        if action != .resetBehind, let id = passing.faults.last { note(id, member: member) }
        switch action {
        case .fault(.drop): log(passing.original, side, .left, wall, passing.faults)
        case .fault(.duplicate):
            var plain = passing
            plain.faults.removeLast()
            send(plain, view, from: side, now: now, wall: wall)
            passing.isDuplicate = true
            passing.isChanged = true
            send(passing, view, from: side, now: now, wall: wall, isLogged: true)
        case .fault(.delay(let duration)):
            log(passing.original, side, .left, wall, passing.faults)
            passing.isChanged = true
            wait(.frame(passing), from: side, until: now + duration)
        case .fault(.swap):
            log(passing.original, side, .left, wall, passing.faults)
            passing.isChanged = true
            // If two consecutive packets must be swapped, the first one is sent before the second one starts to wait.
            if let earlier = swapped.removeValue(forKey: side) {
                noteUnswapped(earlier.passing, earlier.member)
                emit(earlier.passing, from: side, wall: wall)
            }
            swapped[side] = (passing, member, now + Self.swapPatience)
        case .fault(.hold):
            log(passing.original, side, .left, wall, passing.faults)
            passing.isChanged = true
            held.append((side, passing))
        case .fault(.breakChecksum), .fault(.alter), .truncate:
            let changed: [UInt8]? =
                switch action {
                case .fault(.breakChecksum): FrameEdit.withBrokenChecksum(passing.bytes, view)
                case .fault(.alter): FrameEdit.altered(passing.bytes, view)
                case .truncate(let size): FrameEdit.truncated(passing.bytes, view, to: size)
                default: nil
                }
            log(passing.original, side, .left, wall, passing.faults)
            if let changed { passing.bytes = changed }
            passing.isChanged = true
            if action != .fault(.alter) { passing.isSound = false }
            send(passing, view, from: side, now: now, wall: wall, isLogged: true)
        case .unreachable:
            log(passing.original, side, .left, wall, passing.faults)
            answer(FrameEdit.unreachable(passing.bytes, view), to: side, passing.faults, wall)
        case .resetBehind:
            let id = passing.faults.removeLast()
            send(passing, view, from: side, now: now, wall: wall)
            guard let key else { return }
            // The RST is sent after the packet, even if the state of the link makes the packet wait.
            let last = waiting[firstWaiting...].last { $0.from == side }?.due
            if let last {
                wait(.reset(key, id: id, member: member), from: side, until: last)
            } else {
                reset(key, from: side, id, wall, member: member)
            }
        }
    }

    /// Applies the state of the link to the TCP header of a packet.
    mutating func shapeHeader(_ passing: inout FrameInTransit, _ view: LinkFrame, from side: LinkSide) {
        guard let tcp = view.tcp, shapes[side].changesHeaders else { return }
        let shape = shapes[side]
        func apply(_ id: Int, _ changed: [UInt8]?, _ core: inout LinkCore, _ passing: inout FrameInTransit) {
            guard let changed else { return }
            passing.bytes = changed
            passing.faults.append(id)
            passing.isChanged = true
            core.note(id)
        }
        for (id, option) in shape.stripped {
            apply(id, FrameEdit.without(option, passing.bytes, view), &self, &passing)
        }
        if let (id, size) = shape.clamp {
            let changed = FrameEdit.withMSS(atMost: size, passing.bytes, view)
            // An end whose MSS is already within the limit also counts as affected, because it complies with the path's
            // limit.
            let isUnder = tcp.payloadLength > 0 || LinkFrame.hasMSS(tcp, in: passing.bytes)
            if changed == nil, isUnder { note(id) }
            apply(id, changed, &self, &passing)
        }
        if let (id, size) = shape.window {
            let key = LinkStreamKey(passing.bytes, view, tcp)
            let isScaled = !tcp.hasSYN && isScaled(key, passing.bytes, view, tcp)
            let shift = isScaled ? streams[key]?.scale ?? 0 : 0
            // The smallest nonzero window that a scaled field can express may be larger than `size`.
            let raw = size == 0 ? 0 : max(1, min(65_535, size >> Int(shift)))
            apply(id, FrameEdit.withWindow(passing.bytes, view, UInt16(raw)), &self, &passing)
        }
    }

    /// Returns whether the windows of a connection are scaled: both sides sent the window scale option (RFC 7323,
    /// section 2.2), and the option was not stripped.
    private func isScaled(_ key: LinkStreamKey, _ frame: [UInt8], _ view: LinkFrame, _ tcp: LinkFrame.TCP) -> Bool {
        let other = LinkStreamKey(frame, view, tcp, isReversed: true)
        let isStripped = LinkSide.allCases.contains { shapes[$0].stripped.contains { $0.option == .wscale } }
        return streams[key]?.scale != nil && streams[other]?.scale != nil && !isStripped
    }

    /// Forwards a packet according to the state of the link.
    ///
    /// - Parameter isLogged: whether the packet, as its sender sent it, has already been logged.
    mutating func send(
        _ passing: FrameInTransit, _ view: LinkFrame, from side: LinkSide, now: MonotonicTime, wall: UInt64,
        isLogged: Bool = false
    ) {
        var passing = passing
        // If a fault has changed the packet, the changed bytes are parsed again: a truncated packet, for example, is no
        // longer complete.
        let view = passing.isChanged ? LinkFrame(passing.bytes) : view
        func drop(_ id: Int, _ core: inout LinkCore) {
            core.note(id)
            if isLogged { return }
            core.log(passing.original, side, .left, wall, passing.faults + [id])
        }
        // Data packets that fit into the MTU also count as affected, because their sender complies with the path's MTU.
        if let id = shapes[side].mtu?.id, (view.tcp?.payloadLength ?? 0) > 0 { note(id) }
        if let (id, size, isSilent) = shapes[side].mtu, view.version != 0, view.length > size {
            if view.mayFragment {
                note(id)
                if !isLogged { log(passing.original, side, .left, wall, passing.faults + [id]) }
                for piece in FrameEdit.fragments(passing.bytes, view, mtu: size) {
                    emit(
                        FrameInTransit(bytes: piece, faults: [id], isChanged: true, isSound: false), from: side,
                        wall: wall)
                }
                if let tcp = view.tcp { streams[LinkStreamKey(passing.bytes, view, tcp)]?.deliver(tcp) }
                return
            }
            drop(id, &self)
            if !isSilent { answer(FrameEdit.unreachable(passing.bytes, view, mtu: size), to: side, [id], wall) }
            return
        }
        if let id = shapes[side].loss?.id, let next = shapes[side].loss?.next(), next.isLost {
            if view.isTraffic { for met in next.met { note(met) } }
            if !isLogged { log(passing.original, side, .left, wall, passing.faults + [id]) }
            return
        }
        var due = now
        if let id = shapes[side].rate?.id {
            guard let left = shapes[side].rate?.leave(max(view.length, 1), at: now) else { return drop(id, &self) }
            if left - now >= LinkShape.Rate.shortestWait, view.isTraffic { note(id) }
            due = left
            if due > now { passing.faults.append(id) }
        }
        if let delay = shapes[side].delay {
            if view.isTraffic { note(delay.id) }
            passing.faults.append(delay.id)
            due = due + (shapes[side].delay?.next() ?? .zero)
            if !delay.mayReorder, let last = shapes[side].lastDue { due = max(due, last) }
            shapes[side].lastDue = due
        }
        // Packets that are already waiting must be sent first.
        let mustQueue = shapes[side].rate != nil && waiting[firstWaiting...].contains { $0.from == side }
        guard due > now || mustQueue else {
            if passing.isChanged, !isLogged { log(passing.original, side, .left, wall, passing.faults) }
            return emit(passing, from: side, wall: wall)
        }
        if !isLogged { log(passing.original, side, .left, wall, passing.faults) }
        passing.isChanged = true
        wait(.frame(passing), from: side, until: due)
    }
}
