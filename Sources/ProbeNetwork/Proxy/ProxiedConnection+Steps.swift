package import ProbeBase
package import ProbeSystem

/// What the steps of a script do to a proxied connection.
extension ProxiedConnection {
    package func forward(_ style: ForwardStyle<Resolved>, count: Int?, to side: ConversationSide, by id: Int = 0) {
        takeBack(side)
        update(side) { $0.forward(style, count: count, by: id) }
    }

    package func hold(to side: ConversationSide, by id: Int) {
        takeBack(side)
        update(side) { $0.hold(by: id) }
    }

    package func release(to side: ConversationSide, by id: Int) { update(side) { $0.release(by: id) } }

    package func discard(to side: ConversationSide, by id: Int) {
        takeBack(side)
        update(side) { $0.discard(by: id) }
    }

    /// - Parameter wanted: not empty.
    package func replace(_ wanted: [UInt8], with replacement: [UInt8], to side: ConversationSide, by id: Int) {
        update(side) { $0.replace(wanted, with: replacement, at: .now, by: id) }
    }

    package func insert(_ bytes: [UInt8], to side: ConversationSide, by id: Int) {
        update(side) { $0.insert(bytes, by: id) }
    }

    /// A FIN towards a side, behind what is on its way there and without what is held.
    package func end(_ end: ForwardEnd, to side: ConversationSide, by id: Int) {
        if end == .close, queues[side]?.hasEnded ?? false {
            // Its FIN has been sent: it is only closed.
            if self[side].isOpen {
                queues[side]?.noteActed(id)
                carryOut(.close, to: side)
            }
            changed()
            return
        }
        update(side) { $0.finish(end, at: .now, by: id) }
    }

    /// What a step has done to what goes to a side.
    package func effect(of id: Int, to side: ConversationSide) -> ForwardEffect {
        queues[side]?.effect(of: id) ?? ForwardEffect()
    }

    /// An RST towards a side, as soon as it is connected; what waits is dropped.
    package func reset(_ side: ConversationSide, by id: Int) {
        if self[side].phase == .connecting {
            faultsToCome[side] = (.reset, id)
            return
        }
        if self[side].isOpen { queues[side]?.noteActed(id) }
        queues[side]?.abandon()
        self[side].abort()
        changed()
    }

    /// A side's connection is gone without a word.
    package func vanish(_ side: ConversationSide, by id: Int) throws(SystemError) {
        if self[side].phase == .connecting { faultsToCome[side] = (.vanish, id) }
        guard self[side].isOpen else { return }
        try Vanishing(of: self[side]).end()
        queues[side]?.noteActed(id)
        queues[side]?.abandon()
        changed()
    }

    // MARK: States

    /// Bytes that came from the other side and have not gone on to this one.
    package func waiting(to side: ConversationSide) -> Int { (queues[side]?.waiting ?? 0) + self[side].untaken }

    /// Whether bytes or an end are on their way, in a kernel or here, and no step holds them.
    package var isForwarding: Bool {
        ConversationSide.allCases.contains { side in
            let leg = self[side]
            if leg.raw < 0 { return false }
            let mayArrive = leg.phase == .connecting || leg.reading == .atOnce && leg.hasUnread
            return mayArrive || !leg.isIdle || queues[side]?.isMoving ?? false
        }
    }

    package func gate(to side: ConversationSide) -> ForwardQueue.Gate { queues[side]?.gate ?? .open }
}
