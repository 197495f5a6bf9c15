package import ProbeBase

extension Conversation {
    /// The maximum time difference, in nanoseconds, between packets of the two directions whose order is uncertain
    /// (measured: 436 us).
    private static let clockDoubt: Int64 = 500_000

    /// Judges whether `side` closed first by comparing the first FIN or RST of each side.
    ///
    /// A side whose FIN or RST acknowledges the other side's FIN closed second, whatever the timestamps are. If neither
    /// side's FIN or RST acknowledges the other side's FIN, the timestamps decide; if the timestamps are too close to
    /// be reliable, the statement is inconclusive.
    ///
    /// An RST outside the window is considered only if packets before the RST are missing from the capture.
    func judgeClosedFirst(by side: ConversationSide, _ names: SideNames) -> WireVerdict {
        let verdict = judgeClosedFirst(by: side, names, countsOutside: false)
        guard let refused = ConversationSide.allCases.first(where: { sentOutside($0) != nil }),
            (verdict == .passed) != (judgeClosedFirst(by: side, names, countsOutside: true) == .passed)
        else { return verdict }
        return .inconclusive(refusal(of: refused, names) ?? "")
    }

    private func judgeClosedFirst(
        by side: ConversationSide, _ names: SideNames, countsOutside: Bool
    ) -> WireVerdict {
        let own = firstClose(of: side, countsOutside: countsOutside)
        let other = firstClose(of: side.opposite, countsOutside: countsOutside)
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
                    "both sides closed within \(text), before either saw the other close; "
                        + "the capture's clock is not precise enough to determine which closed first")
            }
            return lead > 0 ? .passed : .failed(failure)
        }
    }

    private func firstClose(of side: ConversationSide, countsOutside: Bool) -> CloseMark? {
        let flow = halfConnection(from: side)
        return [flow.fin, flow.rst, countsOutside ? sentOutside(side) : nil].compactMap(\.self)
            .min { $0.packetIndex < $1.packetIndex }
    }

    private func sentOutside(_ side: ConversationSide) -> CloseMark? {
        let rst = halfConnection(from: side).refusedRST
        return rst?.refusal == .outsideWindow ? rst : nil
    }

    /// Returns whether the FIN or RST `mark` acknowledges the FIN of `peer`.
    private func acknowledges(_ mark: CloseMark, peer: ConversationSide) -> Bool {
        guard let fin = halfConnection(from: peer).fin, let acknowledged = mark.acknowledged else { return false }
        return acknowledged > fin.offset
    }

    /// Returns the time of the first closure of the receive window of `side` that did not end before `since`; `nil` if
    /// there is no such closure.
    package func shutWindow(of side: ConversationSide, since: UInt64) -> UInt64? {
        let shuts = halfConnection(from: side).window.shuts
        return shuts.first { ($0.openedAt ?? UInt64.max) >= since }?.time
    }
}
