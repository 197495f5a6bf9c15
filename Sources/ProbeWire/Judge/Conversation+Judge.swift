import ProbeBase

extension Conversation {
    /// Judges a statement about this connection, based on the packets captured so far.
    ///
    /// A statement about segments, gaps or lines never passes if the capture contains no segment, gap or line: the
    /// verdict is `waiting` while more can still arrive, and `failed` afterwards. The verdict's texts refer to the two
    /// sides by `names`.
    package func judge(_ assertion: WireAssertion, names: SideNames = .plain) -> WireVerdict {
        let verdict = judgeCaptured(assertion, names)
        guard let doubt = MissingPackets.unknownPart(concerning: assertion, in: self, names),
            MissingPackets.mayChange(assertion, verdict, in: self, names)
        else { return verdict }
        return .inconclusive(doubt)
    }

    /// Judges the statement as if the capture contained all packets.
    func judgeCaptured(_ assertion: WireAssertion, _ names: SideNames) -> WireVerdict {
        switch assertion {
        case .halfConnection(.lines(.crlf), let side): judgeLines(from: side, names)
        case .halfConnection(let statement, let side):
            HalfConnectionJudge(conversation: self, side: side, names: names).judge(statement)
        case .fin(let side): judgeFIN(from: side, names)
        case .rst(let side): judgeRST(from: side, names)
        case .noReset: judgeNoReset(names)
        case .closedFirst(let side): judgeClosedFirst(by: side, names)
        case .handshakeComplete: judgeHandshake(names)
        case .noRetransmission: judgeNoRetransmission(names)
        case .packets(let comparison, let bound):
            MonotonicBound(packetCount, comparison, bound, canGrow: true).verdict(
                WireFailure(
                    "the connection has \(ByteText.count(packetCount, "packet")), expected \(comparison.phrase(bound))",
                    details: [
                        "\(names.client) sent \(fromClient.packetCount), \(names.server) \(fromServer.packetCount)"
                    ]))
        }
    }

    /// Judges whether all lines from `side` end with CRLF. `HalfConnectionJudge` is used only if necessary, because
    /// creating a judge copies the flow, and a capture may have thousands of flows.
    private func judgeLines(from side: ConversationSide, _ names: SideNames) -> WireVerdict {
        if side == .client ? fromClient.hasWholeLines : fromServer.hasWholeLines { return .passed }
        let failure =
            side == .client
            ? fromClient.stream.bareLineEnd(of: names.client) : fromServer.stream.bareLineEnd(of: names.server)
        if let failure { return .failed(failure) }
        return HalfConnectionJudge(conversation: self, side: side, names: names).judge(.lines(.crlf))
    }

    /// Returns a time as it appears in messages: in milliseconds on the run's timeline, or relative to the connection's
    /// first packet.
    func elapsed(_ time: UInt64, _ names: SideNames) -> String {
        guard let origin = names.origin else {
            return "at +" + DurationText.text(nanoseconds: DurationText.difference(from: firstTime ?? time, to: time))
        }
        return "at \(DurationText.milliseconds(DurationText.difference(from: origin, to: time), width: 0)) ms"
    }

    private func judgeFIN(from side: ConversationSide, _ names: SideNames) -> WireVerdict {
        if halfConnection(from: side).fin != nil { return .passed }
        if let rst = halfConnection(from: side).rst {
            let details = ["RST \(elapsed(rst.time, names))"]
            return .failed(WireFailure("\(names[side]) sent an RST, expected a FIN", details: details))
        }
        if let rst = halfConnection(from: side.opposite).rst {
            return .failed(
                WireFailure(
                    "\(names[side]) sent no FIN: \(names[side.opposite]) reset the connection first",
                    details: ["RST from \(names[side.opposite]) \(elapsed(rst.time, names))"]))
        }
        return .waiting(WireFailure("the capture contains no FIN from \(names[side])", details: closeDetails(names)))
    }

    private func judgeRST(from side: ConversationSide, _ names: SideNames) -> WireVerdict {
        if halfConnection(from: side).rst != nil { return .passed }
        if let refused = refusal(of: side, names) { return .inconclusive(refused) }
        return .waiting(WireFailure("the capture contains no RST from \(names[side])", details: closeDetails(names)))
    }

    /// Returns whether an RST from `side` aborted the connection.
    ///
    /// An RST without an ACK did not abort the connection if both sides had closed and each had acknowledged the
    /// other's FIN. A system sends such an RST (RFC 9293, section 3.10.7.1) in response to an acknowledgment that
    /// arrives after the connection has been deleted, for example when the last two acknowledgments cross.
    private func isReset(by side: ConversationSide) -> Bool {
        let flow = halfConnection(from: side)
        return [flow.rst, flow.refusedRST].compactMap(\.self).contains { rst in
            if rst.acknowledged != nil || !ConversationSide.allCases.allSatisfy({ knowsFIN(of: $0) }) { return true }
            // An RST that the receiver did not obey may have been sent long before both sides closed.
            let lastFIN = max(fromClient.fin?.packetIndex ?? -1, fromServer.fin?.packetIndex ?? -1)
            return rst.refusal != nil && rst.packetIndex < lastFIN
        }
    }

    /// Returns whether the side has sent a FIN and its peer has acknowledged it.
    private func knowsFIN(of side: ConversationSide) -> Bool {
        guard let fin = halfConnection(from: side).fin, let acknowledged = halfConnection(from: side).acknowledgedEnd
        else { return false }
        return acknowledged > fin.offset
    }

    private func judgeNoReset(_ names: SideNames) -> WireVerdict {
        let senders = ConversationSide.allCases.filter { isReset(by: $0) }
        guard let first = senders.first else { return .passed }
        let text =
            senders.count == 2
            ? "both sides sent an RST"
            : halfConnection(from: first).rst == nil
                ? refusal(of: first, names) ?? "" : "\(names[first]) sent an RST"
        return .failed(WireFailure(text, details: closeDetails(names)))
    }

    private func judgeNoRetransmission(_ names: SideNames) -> WireVerdict {
        let count = fromClient.retransmissionCount + fromServer.retransmissionCount
        if count == 0 {
            let doubts = ConversationSide.allCases.compactMap { repeatDoubt(of: $0, names) }
            return doubts.first.map { .inconclusive($0) } ?? .passed
        }
        let details = ConversationSide.allCases.flatMap { retransmissionDetails(from: $0, names) }
        return .failed(WireFailure("the capture contains \(ByteText.count(count, "retransmission"))", details: details))
    }

    /// Returns one line of details for each of the first retransmissions of one side.
    func retransmissionDetails(from side: ConversationSide, _ names: SideNames) -> [String] {
        let flow = halfConnection(from: side)
        let repeats = flow.repeats.filter { $0.kind.isRetransmission }.map { ($0.time, $0.offset, $0.length, $0.kind) }
        let late = flow.segments.filter { $0.kind.isRetransmission }.map { ($0.time, $0.offset, $0.length, $0.kind) }
        return (repeats + late).sorted { $0.0 < $1.0 }.prefix(10).map { time, offset, length, kind in
            let what =
                offset < 0 ? "SYN" : length == 0 ? "FIN" : "\(ByteText.count(length, "byte")) at offset \(offset)"
            return "\(names[side]) \(elapsed(time, names)): \(kind.label ?? "segment"), \(what)"
        }
    }

    /// Returns a sentence about the repeated segments of one side that may have replaced lost segments; `nil` if there
    /// are no such segments.
    func repeatDoubt(of side: ConversationSide, _ names: SideNames) -> String? {
        let count = halfConnection(from: side).doubtfulCount
        guard count > 0 else { return nil }
        return count == 1
            ? "\(names[side]) resent a segment, as a retransmission or a tail-loss probe: "
                + "the capture does not show whether the original was lost"
            : "\(names[side]) resent \(count) segments, as retransmissions or tail-loss probes: "
                + "the capture does not show whether the originals were lost"
    }

    /// Returns a sentence about an RST that had no effect on its receiver; `nil` if there is no such RST.
    func refusal(of side: ConversationSide, _ names: SideNames) -> String? {
        guard let rst = halfConnection(from: side).refusedRST, let refusal = rst.refusal else { return nil }
        return switch refusal {
        case .outsideWindow:
            "\(names[side]) sent an RST outside the window \(elapsed(rst.time, names)): \(names[side.opposite]) does not accept it"
        case .ignored:
            "\(names[side]) sent an RST \(elapsed(rst.time, names)) that \(names[side.opposite]) ignored: both sides continued"
        }
    }

    private func judgeHandshake(_ names: SideNames) -> WireVerdict {
        if handshakeTime != nil { return .passed }
        if fromClient.initialSequence == nil {
            return fromClient.packetCount + fromServer.packetCount == 0
                ? .waiting(WireFailure("the capture contains no SYN from \(names.client)"))
                : .inconclusive(
                    "the capture does not contain the SYN from \(names.client), because the capture started after "
                        + "the SYN was sent")
        }
        for side in [ConversationSide.server, .client] where halfConnection(from: side).rst != nil {
            return .failed(
                WireFailure(
                    "\(names[side]) sent an RST before the handshake was complete", details: closeDetails(names)))
        }
        guard fromServer.initialSequence != nil else {
            let attempts = 1 + fromClient.repeats.count { $0.offset < 0 && $0.kind.isRetransmission }
            return .waiting(
                WireFailure(
                    "the capture contains no SYN-ACK from \(names.server)",
                    details: ["\(names.client) sent \(ByteText.count(attempts, "SYN"))"]))
        }
        return .waiting(WireFailure("the capture contains no ACK from \(names.client) for the SYN-ACK"))
    }

    /// Returns one line of details for each FIN and RST, or a single line if neither side has closed.
    func closeDetails(_ names: SideNames) -> [String] {
        var marks: [(UInt64, String)] = []
        for side in ConversationSide.allCases {
            if let fin = halfConnection(from: side).fin {
                marks.append((fin.time, "FIN from \(names[side]) \(elapsed(fin.time, names))"))
            }
            if let rst = halfConnection(from: side).rst {
                marks.append((rst.time, "RST from \(names[side]) \(elapsed(rst.time, names))"))
            }
            if let rst = halfConnection(from: side).refusedRST, let refusal = rst.refusal {
                marks.append((rst.time, "RST from \(names[side]) \(elapsed(rst.time, names)), \(refusal.text)"))
            }
        }
        if marks.isEmpty { return ["neither side has closed; \(ByteText.count(packetCount, "packet")) so far"] }
        return marks.sorted { $0.0 < $1.0 }.map(\.1)
    }
}
