package import ProbeBase

/// What a link is told.
extension LinkCore {
    /// Puts a fault or a state on the link; it is in force when this returns.
    ///
    /// - Parameters:
    ///   - id: a number that no other command of the link has.
    ///   - from: the side whose packets are meant; nil: those of both.
    package mutating func apply(
        _ command: LinkCommand<Resolved>, id: Int, from side: LinkSide?, now: MonotonicTime, wall: UInt64
    ) throws(LinkError) {
        let sides = side.map { [$0] } ?? LinkSide.allCases
        if case .burst = command, sides.contains(where: { shapes[$0].loss == nil }) {
            throw LinkError("there is no loss whose packets could be lost in runs: `loss 5%` comes first")
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
        // Each direction loses and delays other packets than its counterpart.
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

    /// Ends every fault and state of a direction; what waits or is held goes on, in order.
    private mutating func heal(_ side: LinkSide, _ id: Int, _ wall: UInt64) {
        let isInForce = shapes[side].isInForce || rules.contains { $0.from == side || $0.from == nil }
        if isInForce || held.contains(where: { $0.from == side }) { note(id) }
        for known in effects.keys where known != id && effects[known]?.from != side.opposite { end(known, on: side) }
        shapes[side] = LinkShape()
        // A fault of both directions stays in force for the other one.
        rules = rules.compactMap { rule in
            if rule.from == side { return nil }
            guard rule.from == nil else { return rule }
            return LinkRule(id: rule.id, from: side.opposite, rule.selection, rule.action)
        }
        passOnWaiting(from: side, wall: wall)
        if let swap = swapped.removeValue(forKey: side) {
            noteUnswapped(swap.passing, swap.member)
            emit(swap.passing, from: side, wall: wall)
        }
        _ = passOnHeld([side], wall)
    }

    private mutating func endLoss(on side: LinkSide) {
        end(shapes[side].loss?.id, on: side)
        end(shapes[side].loss?.burstID, on: side)
    }

    private mutating func release(_ sides: [LinkSide], _ id: Int, _ wall: UInt64) {
        note(id, passOnHeld(sides, wall))
    }

    private mutating func passOnHeld(_ sides: [LinkSide], _ wall: UInt64) -> Int {
        let freed = held.filter { sides.contains($0.from) }
        held.removeAll { sides.contains($0.from) }
        for packet in freed { emit(packet.passing, from: packet.from, wall: wall) }
        return freed.count
    }

    // MARK: Segments of the link

    /// The connections of a direction that are there: neither side has reset them.
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

    /// An RST towards the receiver of a direction, with exactly the number that it expects (RFC 5961, 3.2).
    mutating func reset(
        _ key: LinkStreamKey, from side: LinkSide, _ id: Int, _ wall: UInt64, isOutside: Bool = false, member: Int = 0
    ) {
        guard let stream = streams[key] else { return }
        let receiver = streams[stream.peer]
        let expected = stream.expected(acknowledged: receiver?.acknowledged)
        // Half of the sequence space away: no window reaches there.
        let sequence = isOutside ? expected &+ 0x8000_0000 : expected
        let frame = FrameEdit.segment(
            like: stream.model, stream.modelView, flags: LinkFrame.rst | LinkFrame.ack, sequence: sequence,
            acknowledgment: receiver?.next ?? stream.acknowledged ?? 0, window: 0)
        guard let frame else { return }
        note(id, member: member)
        emit(Passing(bytes: frame, faults: [id], isMadeByLink: true), from: side, wall: wall)
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
            emit(Passing(bytes: frame, faults: [id], isMadeByLink: true), from: side, wall: wall)
        }
    }
}
