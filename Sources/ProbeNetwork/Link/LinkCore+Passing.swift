import ProbeBase

/// What becomes of a packet between its sender and its receiver.
extension LinkCore {
    /// Whether a fault can befall a packet: one without payload has no byte to be altered.
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
        _ action: LinkRule.Action, _ passing: Passing, _ view: LinkFrame, _ key: LinkStreamKey?,
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
            // Of two in a row the first goes on before the second waits.
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
            // Behind the packet, wherever the state of the link lets it wait.
            let last = waiting[firstWaiting...].last { $0.from == side }?.due
            if let last {
                wait(.reset(key, id: id, member: member), from: side, until: last)
            } else {
                reset(key, from: side, id, wall, member: member)
            }
        }
    }

    /// What the state of the link does to the headers of every packet of a direction.
    mutating func shapeHeader(_ passing: inout Passing, _ view: LinkFrame, from side: LinkSide) {
        guard let tcp = view.tcp, shapes[side].changesHeaders else { return }
        let shape = shapes[side]
        func apply(_ id: Int, _ changed: [UInt8]?, _ core: inout LinkCore, _ passing: inout Passing) {
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
            // Met also by an end that needs no clamp: it copes with the path.
            let isUnder = tcp.payloadLength > 0 || LinkFrame.hasMSS(tcp, in: passing.bytes)
            if changed == nil, isUnder { note(id) }
            apply(id, changed, &self, &passing)
        }
        if let (id, size) = shape.window {
            let key = LinkStreamKey(passing.bytes, view, tcp)
            let isScaled = !tcp.hasSYN && isScaled(key, passing.bytes, view, tcp)
            let shift = isScaled ? streams[key]?.scale ?? 0 : 0
            // The smallest window that the scale can say is larger than 1 byte.
            let raw = size == 0 ? 0 : max(1, min(65_535, size >> Int(shift)))
            apply(id, FrameEdit.withWindow(passing.bytes, view, UInt16(raw)), &self, &passing)
        }
    }

    /// Windows are scaled where both sides have said so (RFC 7323, 2.2), and the option has arrived.
    private func isScaled(_ key: LinkStreamKey, _ frame: [UInt8], _ view: LinkFrame, _ tcp: LinkFrame.TCP) -> Bool {
        let other = LinkStreamKey(frame, view, tcp, isReversed: true)
        let isStripped = LinkSide.allCases.contains { shapes[$0].stripped.contains { $0.option == .wscale } }
        return streams[key]?.scale != nil && streams[other]?.scale != nil && !isStripped
    }

    /// Passes a packet on through the state of the link.
    ///
    /// - Parameter isLogged: the log has it as it left.
    mutating func send(
        _ passing: Passing, _ view: LinkFrame, from side: LinkSide, now: MonotonicTime, wall: UInt64,
        isLogged: Bool = false
    ) {
        var passing = passing
        // What a fault has cut short is no whole packet any more.
        let view = passing.isChanged ? LinkFrame(passing.bytes) : view
        func drop(_ id: Int, _ core: inout LinkCore) {
            core.note(id)
            if isLogged { return }
            core.log(passing.original, side, .left, wall, passing.faults + [id])
        }
        // Met also by packets that fit: their sender copes with the path.
        if let id = shapes[side].mtu?.id, (view.tcp?.payloadLength ?? 0) > 0 { note(id) }
        if let (id, size, isSilent) = shapes[side].mtu, view.version != 0, view.length > size {
            if view.mayFragment {
                note(id)
                if !isLogged { log(passing.original, side, .left, wall, passing.faults + [id]) }
                for piece in FrameEdit.fragments(passing.bytes, view, mtu: size) {
                    emit(Passing(bytes: piece, faults: [id], isChanged: true, isSound: false), from: side, wall: wall)
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
        // What has been waiting goes first.
        let isBehind = shapes[side].rate != nil && waiting[firstWaiting...].contains { $0.from == side }
        guard due > now || isBehind else {
            if passing.isChanged, !isLogged { log(passing.original, side, .left, wall, passing.faults) }
            return emit(passing, from: side, wall: wall)
        }
        if !isLogged { log(passing.original, side, .left, wall, passing.faults) }
        passing.isChanged = true
        wait(.frame(passing), from: side, until: due)
    }
}
