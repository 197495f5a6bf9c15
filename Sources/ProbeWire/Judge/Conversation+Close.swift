import ProbeBase

extension Conversation {
    /// Times of the two directions may be out of order by this much (measured: 436 us).
    private static let clockDoubt: Int64 = 500_000

    /// The first FIN or RST of each side is compared. One that acknowledges the other came second whatever the clock says;
    /// where neither had seen the other, times decide; where the times are too close to be trusted, the statement is inconclusive.
    func judgeClosedFirst(by side: ConversationSide, _ names: SideNames) -> WireVerdict {
        let own = firstClose(of: side)
        let other = firstClose(of: side.opposite)
        let failure = WireFailure(
            "\(names[side.opposite]) closed first, not \(names[side])", details: closeDetails(names))
        switch (own, other) {
        case (nil, nil):
            return .waiting(WireFailure("\(names[side]) has not closed", details: closeDetails(names)))
        case (.some, nil): return .passed
        case (nil, .some): return .failed(failure)
        case (let own?, let other?):
            if acknowledges(other, peer: side) { return .passed }
            if acknowledges(own, peer: side.opposite) { return .failed(failure) }
            let lead = DurationText.difference(from: own.time, to: other.time)
            if lead.magnitude <= Self.clockDoubt.magnitude {
                let text = DurationText.text(nanoseconds: Int64(clamping: lead.magnitude))
                return .inconclusive(
                    "both sides closed within \(text) and neither had seen the other's close: "
                        + "the capture's clock cannot tell which was first")
            }
            return lead > 0 ? .passed : .failed(failure)
        }
    }

    private func firstClose(of side: ConversationSide) -> CloseMark? {
        let flow = halfConnection(from: side)
        guard let fin = flow.fin, let rst = flow.rst else { return flow.fin ?? flow.rst }
        return fin.packetIndex <= rst.packetIndex ? fin : rst
    }

    /// `mark` acknowledges the FIN of `peer`.
    private func acknowledges(_ mark: CloseMark, peer: ConversationSide) -> Bool {
        guard let fin = halfConnection(from: peer).fin, let acknowledged = mark.acknowledged else { return false }
        return acknowledged > fin.offset
    }

    /// When the receive window of `side` was shut at or after `since`; nil if it never was.
    package func shutWindow(of side: ConversationSide, since: UInt64) -> UInt64? {
        let shuts = halfConnection(from: side).window.shuts
        return shuts.first { ($0.openedAt ?? UInt64.max) >= since }?.time
    }
}
