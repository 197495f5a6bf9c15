import ProbeBase
package import ProbeSystem

/// What the steps of a script do to a proxied connection.
extension ProxiedConnection {
    package func forward(_ style: ForwardStyle, count: Int?, to side: Side) {
        takeBack(side)
        update(side) { $0.forward(style, count: count) }
    }

    package func hold(to side: Side) {
        takeBack(side)
        update(side) { $0.hold() }
    }

    package func release(to side: Side) { update(side) { $0.release() } }

    package func discard(to side: Side) {
        takeBack(side)
        update(side) { $0.discard() }
    }

    /// - Parameter wanted: not empty.
    package func replace(_ wanted: [UInt8], with replacement: [UInt8], to side: Side) {
        update(side) { $0.replace(wanted, with: replacement, at: .now) }
    }

    package func insert(_ bytes: [UInt8], to side: Side) {
        update(side) { $0.insert(bytes) }
    }

    /// A FIN towards a side, behind what is on its way there and without what is held.
    package func end(_ end: ForwardEnd, to side: Side) {
        if end == .close, queues[side]?.hasEnded ?? false {
            // Its FIN has been sent: it is only closed.
            if self[side].isOpen { carryOut(.close, to: side) }
            changed()
            return
        }
        update(side) { $0.finish(end, at: .now) }
    }

    /// Whether a step can still do something to what goes to a side: its connection is open, and its FIN has not been sent.
    package func canSend(to side: Side) -> Bool { isThere(side) && !(queues[side]?.hasEnded ?? true) }

    /// Whether a side's connection is open, or is being opened.
    package func isThere(_ side: Side) -> Bool {
        switch self[side].phase {
        case .open, .connecting: !(self[side].raw < 0)
        case .closed, .connectFailed: false
        }
    }

    /// An RST towards a side, as soon as it is connected; what waits is dropped.
    package func reset(_ side: Side) {
        if self[side].phase == .connecting {
            faultsToCome[side] = .reset
            return
        }
        queues[side]?.abandon()
        self[side].abort()
        changed()
    }

    /// A side's connection is gone without a word.
    package func vanish(_ side: Side) throws(SystemError) {
        if self[side].phase == .connecting { faultsToCome[side] = .vanish }
        guard self[side].isOpen else { return }
        try Vanishing(of: self[side]).end()
        queues[side]?.abandon()
        changed()
    }

    // MARK: States

    /// Bytes that came from the other side and have not gone on to this one.
    package func waiting(to side: Side) -> Int { (queues[side]?.waiting ?? 0) + self[side].untaken }

    package func gate(to side: Side) -> ForwardQueue.Gate { queues[side]?.gate ?? .open }
}
