package import ProbeBase
package import ProbeWire

/// A flow and the values that the table of flows shows.
package struct ConnectionReport: Sendable {
    package enum Handshake: String, Sendable {
        case complete
        /// The SYN was answered with an RST.
        case refused
        case unanswered
        /// Both SYNs were captured, but not the acknowledgments of both.
        case unfinished
        /// The capture began during the handshake, or contains only one of the SYNs.
        case partlyCaptured = "partly captured"
        case notCaptured = "not captured"
    }

    package struct Close: Sendable, Hashable {
        package var side: ConversationSide
        package var isReset: Bool
        package var packetIndex: Int
        package var time: UInt64
        /// The reason why an RST had no effect; `nil` if the RST had an effect, or if the packet is a FIN.
        package var refusal: CloseMark.Refusal?

        package var text: String {
            "\(side.word) \(isReset ? "RST" : "FIN")" + (refusal.map { " (\($0.text))" } ?? "")
        }
    }

    /// A kind of unusual event, and the number of times it occurred.
    package struct Anomaly: Sendable, Hashable {
        /// A stable identifier for use by programs, such as `out-of-order`.
        package var id: String
        package var count: Int
        package var text: String
    }

    package let conversation: Conversation
    package let anomalies: [Anomaly]

    package init(_ conversation: Conversation, _ counts: ConnectionAnomalies) {
        self.conversation = conversation
        anomalies = conversation.anomalies(counts)
    }

    package var number: Int { conversation.number }
    package var duration: Int64 { conversation.duration }
    package var handshake: Handshake { conversation.handshake }
    package var closes: [Close] { conversation.closes }
    package var closeText: String { conversation.closeText }

    /// Returns the number of captured bytes in the stream from `side`, excluding retransmissions.
    package func bytes(from side: ConversationSide) -> Int64 {
        side == .client
            ? conversation.fromClient.stream.deliveredLength : conversation.fromServer.stream.deliveredLength
    }
}

// Members are read in place, because copying a flow would take longer than the whole computation.
extension Conversation {
    /// The time from the first packet to the last packet, in nanoseconds.
    var duration: Int64 { Int64(clamping: (lastTime ?? 0) - (firstTime ?? 0)) }

    var handshake: ConnectionReport.Handshake {
        if handshakeTime != nil { return .complete }
        switch (fromClient.initialSequence != nil, fromServer.initialSequence != nil) {
        case (true, true): return .unfinished
        case (true, false):
            if let rst = fromServer.rst, fromServer.segmentCount == 0, rst.offset <= 0 { return .refused }
            return fromServer.packetCount > 0 || isUnseen(.server) ? .partlyCaptured : .unanswered
        case (false, true): return .partlyCaptured
        case (false, false): return .notCaptured
        }
    }

    /// The FINs and RSTs, in the order in which they were captured.
    var closes: [ConnectionReport.Close] {
        var closes: [ConnectionReport.Close] = []
        func add(_ mark: CloseMark?, _ side: ConversationSide, isReset: Bool) {
            guard let mark else { return }
            let close = ConnectionReport.Close(
                side: side, isReset: isReset, packetIndex: mark.packetIndex, time: mark.time, refusal: mark.refusal)
            closes.insert(close, at: closes.firstIndex { $0.packetIndex > close.packetIndex } ?? closes.count)
        }
        add(fromClient.fin, .client, isReset: false)
        add(fromClient.rst, .client, isReset: true)
        add(fromServer.fin, .server, isReset: false)
        add(fromServer.rst, .server, isReset: true)
        add(fromClient.refusedRST, .client, isReset: true)
        add(fromServer.refusedRST, .server, isReset: true)
        return closes
    }

    var closeText: String {
        let closes = closes
        return closes.isEmpty ? "open" : closes.map(\.text).joined(separator: ", ")
    }

    func anomalies(_ counts: ConnectionAnomalies) -> [ConnectionReport.Anomaly] {
        var found: [ConnectionReport.Anomaly] = []
        func add(_ id: String, _ count: Int, _ noun: String) {
            if count > 0 {
                found.append(ConnectionReport.Anomaly(id: id, count: count, text: ByteText.count(count, noun)))
            }
        }
        func note(_ id: String, _ count: Int, _ text: @autoclosure () -> String) {
            if count > 0 { found.append(ConnectionReport.Anomaly(id: id, count: count, text: text())) }
        }
        func sum(_ count: (borrowing HalfConnection) -> Int) -> Int {
            count(fromClient) + count(fromServer)
        }
        add("retransmissions", sum { $0.retransmissionCount }, "retransmission")
        note("fast-retransmissions", counts.fastRetransmissions, "\(counts.fastRetransmissions) of them fast")
        note(
            "spurious-retransmissions", counts.spuriousRetransmissions,
            "\(counts.spuriousRetransmissions) of them spurious")
        note("out-of-order", counts.outOfOrder, "\(counts.outOfOrder) out of order")
        add("duplicate-acks", counts.duplicateAcks, "duplicate ACK")
        add("tail-loss-probes", sum { $0.probeCount }, "tail-loss probe")
        let undecided = sum { $0.undecidedCount }
        note(
            "retransmissions-or-probes", undecided,
            undecided == 1 ? "1 retransmission or probe" : "\(undecided) retransmissions or probes")
        let ignored = sum { $0.refusedRST == nil ? 0 : 1 }
        note("ignored-resets", ignored, ignored == 1 ? "an RST without effect" : "RSTs of both sides without effect")
        let copies = sum { $0.copyCount }
        note("captured-twice", copies, "\(ByteText.count(copies, "packet")) captured twice")
        add("keep-alives", counts.keepAlives, "keep-alive")
        let shut = sum { $0.window.shutCount }
        note("zero-windows", shut, shut == 1 ? "window closed once" : "window closed \(shut) times")
        add("zero-window-probes", counts.zeroWindowProbes, "zero-window probe")
        note("out-of-window", counts.outOfWindow, "\(counts.outOfWindow) out of window")
        add("icmp-errors", counts.icmpErrors, "ICMP error")
        note("urgent", sum { $0.urgentOffsets.count }, "urgent data")
        add("conflicts", sum { $0.stream.conflictCount }, "conflicting overlap")
        guard sum({ $0.stream.gaps.count }) > 0 else { return found }
        for (cause, id, noun) in [
            (StreamGap.Cause.notCaptured, "missing-bytes", "missing byte"),
            (.cutShort, "cut-bytes", "byte"),
            (.limitReached, "given-up-bytes", "given-up byte"),
        ] {
            let bytes = [fromClient.stream.gaps, fromServer.stream.gaps].joined()
                .reduce(Int64(0)) { $0 + ($1.cause == cause ? $1.length : 0) }
            guard bytes > 0 else { continue }
            let count = Int(clamping: bytes)
            let isUnseen = isUnseen(.client) || isUnseen(.server)
            let text =
                cause == .notCaptured && isUnseen
                ? "\(ByteText.count(count, "byte")) acknowledged but not in the capture"
                : cause == .cutShort
                    ? "\(ByteText.count(count, "byte")) cut off by the snap length" : ByteText.count(count, noun)
            found.append(ConnectionReport.Anomaly(id: id, count: count, text: text))
        }
        return found
    }
}
