import ProbeBase
import ProbeWire

/// What happened while the connection was being set up.
struct SetUpObservation: Sendable {
    /// The packet with which the server refused the connection; `nil` if it did not refuse it.
    var refusal: EarlyReset?
    /// A refusal after which the client sent another SYN, which the server accepted.
    var overcome: EarlyReset?
    /// All packets with which the server refused a SYN, and the longest time from a SYN to its refusal.
    var refusals = Evidence()
    var longestRefusal: Int64 = 0
    /// The packets that acknowledged something other than the client's SYN.
    var wrongAnswers = Evidence()
    var wrongAnswer: String?
    /// The first reset that answered the SYN, but acknowledged another number, and the number of such resets with the
    /// same hop limit.
    var foreignReset: EarlyReset?
    var foreignResetCount = 0
    /// The time and the number of the client's ACK that completed the handshake. `repeatedAfterCompletion` contains the
    /// SYN-ACKs that the server retransmitted after this ACK.
    var completion: (time: Int64, packet: Int)?
    var repeatedAfterCompletion = Evidence()
    /// The time from the SYN-ACK to the first of them.
    var firstRepeat: Int64 = 0
    var ignoredDataCount = 0
    /// Whether the server acknowledged the data in the SYN.
    var isSYNDataAcknowledged = false
}

extension SetUpObservation {
    /// Records a reset that refuses the SYN with the given time.
    mutating func noteRefusal(_ packet: DiagnosedPacket, _ tcp: DecodedTCP, ofSYNAt time: Int64) {
        // A reset that follows without another SYN is a copy.
        if refusal.map({ $0.time < time }) ?? true { refusal = EarlyReset(packet.time, packet.number, tcp) }
        refusals.add(packet.number)
        longestRefusal = max(longestRefusal, packet.time - time)
    }

    /// Records the answer to the SYN with the given time, which may have been sent after a refusal by the same machine.
    mutating func noteAcceptance(ofSYNAt time: Int64, hopLimit: UInt8) {
        guard let refusal, time > refusal.time, refusal.hopLimit == hopLimit else { return }
        (overcome, self.refusal) = (refusal, nil)
    }

    /// Records an answer that acknowledges another number than that of the SYN.
    mutating func noteWrongAnswer(_ packet: DiagnosedPacket, _ tcp: DecodedTCP) {
        wrongAnswers.add(packet.number)
        if packet.flags.contains(.rst) { noteForeignReset(EarlyReset(packet.time, packet.number, tcp)) }
        wrongAnswer =
            packet.flags.contains(.rst)
            ? "a reset that acknowledges another number"
            : packet.flags.contains(.syn)
                ? "a SYN-ACK that acknowledges another number" : "a challenge ACK of an older connection"
    }

    mutating func noteForeignReset(_ reset: EarlyReset) {
        let first = foreignReset ?? reset
        foreignReset = first
        if reset.hopLimit == first.hopLimit { foreignResetCount += 1 }
    }
}

/// A reset before the connection was set up. Its headers are compared with those of the server's later packets.
struct EarlyReset: Sendable {
    let time: Int64
    let packet: Int
    let hopLimit: UInt8
    private let hasIdentification: Bool

    init(_ time: Int64, _ packet: Int, _ tcp: DecodedTCP) {
        (self.time, self.packet) = (time, packet)
        (hopLimit, hasIdentification) = (tcp.hopLimit, tcp.identification != 0)
    }

    /// Returns whether the server's packets, at least two, all have the same hop limit, but the reset has another.
    func isForeign(_ pattern: HeaderPattern) -> Bool {
        pattern.count >= 2 && !pattern.hasVaried && pattern.hopLimit != hopLimit
    }

    /// Returns whether the reset has an IP identification although none of the server's packets has one, or has none
    /// although all have one.
    func isOddlyNumbered(_ pattern: HeaderPattern) -> Bool {
        hasIdentification
            ? pattern.zeroCount >= 3 && pattern.numberedCount == 0
            : pattern.numberedCount >= 3 && pattern.zeroCount == 0
    }
}

/// A reset, and the state of the connection at the time of the reset.
struct ResetObservation: Sendable {
    var side: ConversationSide
    var time: Int64
    var packet: Int
    /// The number of bytes that the sender of the reset had sent and that were not yet acknowledged. `peerOutstanding`
    /// is the same number for the peer.
    var ownOutstanding: Int64
    var peerOutstanding: Int64
    var hasOwnFIN: Bool
    var hasPeerFIN: Bool
    /// The time between the reset and the packet before it.
    var silence: Int64
    /// Whether the peer sent data after the FIN of the side that later sent the reset.
    var isAfterClose: Bool
    var hasHandshake: Bool
    /// Whether the sender of the reset acknowledged the peer's last data, but neither answered it nor moved the edge of
    /// its window, which suggests that it had not read the data.
    var hasUnreadData: Bool
    var isInsideMessage: Bool
    var isForeign: Bool
    /// Whether the reset's hop limit differs from that of its sender's first packet, which suggests that another machine
    /// sent it.
    var mayBeForeign: Bool
    var isOddlyNumbered: Bool
    var laterPackets = Evidence()
    var isObeyed: Bool
    /// The number of the peer's last packet with data, which probably caused the reset.
    var cause: Int
    /// Whether nothing but TLS alerts was outstanding.
    var isOnlyAlertOutstanding: Bool
    /// The number of another reset of the same side, whose sequence number the side never reached; 0 if there is none.
    /// Devices that inject resets often send several, in case more data is on its way.
    var stray = 0
}

extension ResetObservation {
    init(_ packet: DiagnosedPacket, _ tcp: DecodedTCP, in flow: FlowObservation, isObeyed: Bool) {
        let own = flow[packet.side]
        let other = flow[packet.side.opposite]
        self.init(
            side: packet.side, time: packet.time, packet: packet.number,
            ownOutstanding: max(0, own.dataEnd - max(own.acknowledged, 1)),
            peerOutstanding: max(0, other.dataEnd - max(other.acknowledged, 1)), hasOwnFIN: own.fin != nil,
            hasPeerFIN: other.fin != nil, silence: flow.lastSilence, isAfterClose: false,
            hasHandshake: own.syn != nil || own.packetCount > 1,
            hasUnreadData: own.fin == nil && flow.lastData?.side == packet.side.opposite
                && other.acknowledged > max(1, other.movedAt),
            isInsideMessage: own.progress.isIncomplete || other.progress.isIncomplete,
            isForeign: own.hop.isForeign(tcp), mayBeForeign: own.hop.mayBeForeign(tcp),
            isOddlyNumbered: own.hop.isOddlyNumbered(tcp), isObeyed: isObeyed,
            cause: other.lastDataPacket,
            isOnlyAlertOutstanding: own.isOnlyAlertOutstanding && other.isOnlyAlertOutstanding)
    }

    /// Records a reset that follows this one, if it is beyond all that its sender has sent.
    mutating func noteStray(_ number: Int, _ sender: ConversationSide, _ position: Int64, _ sentEnd: Int64) {
        if sender == side, stray == 0, position > sentEnd + 1 { stray = number }
    }
}

/// The ICMP errors that quote packets of the flow.
struct ICMPObservation: Sendable {
    var count = 1
    var text: String
    var side: ConversationSide
    var isTooBig: Bool
    var isTimeExceeded: Bool
    var time: Int64
    var packet: Int

    /// - Parameter origin: the time of the flow's first packet.
    init(_ report: ICMPErrors.Report, origin: UInt64) {
        text = report.text
        side = report.side
        isTooBig = if case .tooBig = report.error.kind { true } else { false }
        isTimeExceeded = if case .timeExceeded(isReassembly: false) = report.error.kind { true } else { false }
        time = DurationText.difference(from: origin, to: report.time)
        packet = report.packetIndex + 1
    }
}

extension FlowObservation {
    /// Records a packet of the handshake. Returns `false` for an answer whose acknowledgment number does not belong to
    /// this connection.
    func noteSetUp(_ packet: DiagnosedPacket, _ tcp: DecodedTCP) -> Bool {
        let side = packet.side
        if side == .server, let syn = client.syn, server.syn == nil, tcp.flags.contains(.ack) {
            let own = tcp.acknowledgment - (syn.sequence + 1)
            if own != 0, own != syn.payloadLength {
                set.noteWrongAnswer(packet, tcp)
                return false
            }
            if packet.flags.contains(.rst) {
                set.noteRefusal(packet, tcp, ofSYNAt: client.lastSYNTime)
                return true
            }
        }
        if tcp.isSYN {
            noteSYN(packet, tcp)
            return true
        }
        // A reset alone shows nothing of the connection that it ends.
        if packet.flags.contains(.rst), side == .client || packetCount == 1 { return true }
        if side == .client, server.syn != nil, client.syn != nil, tcp.flags.contains(.ack) {
            let delay = packet.time - server.lastSYNTime
            // A FIN or data that completes the handshake may follow an ACK that was not captured.
            if server.synCount == 1, packet.length == 0, !packet.flags.contains(.fin) {
                server.shortestDelay = min(server.shortestDelay ?? delay, delay)
            }
            set.completion = (packet.time, packet.number)
            open(at: packet.time)
        } else if client.syn == nil || server.syn == nil, client.syn == nil || packet.length > 0 || side == .client {
            // The handshake, or a part of it, was not captured.
            open(at: packet.time)
        }
        return true
    }

    private func noteSYN(_ packet: DiagnosedPacket, _ tcp: DecodedTCP) {
        let side = packet.side
        if side == .server, let syn = client.syn, tcp.flags.contains(.ack), server.syn == nil {
            if client.synCount == 1 { client.shortestDelay = packet.time - syn.time }
            set.isSYNDataAcknowledged =
                syn.payloadLength > 0 && tcp.acknowledgment - (syn.sequence + 1) == syn.payloadLength
            if set.isSYNDataAcknowledged { noteSYNData(syn) }
            set.noteAcceptance(ofSYNAt: client.lastSYNTime, hopLimit: tcp.hopLimit)
        }
        self[side].noteSYN(packet, tcp)
    }

    /// Records a packet of the handshake that the analysis does not assign to either stream of the connection.
    func noteSetUp(_ summary: PacketSummary, _ tcp: DecodedTCP, _ time: Int64) {
        guard summary.side == .server, let syn = client.syn, server.syn == nil,
            tcp.acknowledgment - (syn.sequence + 1) != 0
        else { return }
        set.wrongAnswers.add(summary.packetIndex + 1)
        if tcp.flags.contains(.rst) { set.noteForeignReset(EarlyReset(time, summary.packetIndex + 1, tcp)) }
        set.wrongAnswer = "an answer that acknowledges another number"
    }

    /// Records a SYN-ACK that the server retransmits although the client has acknowledged it.
    func noteLateSYN(_ packet: DiagnosedPacket) {
        // A copy of the SYN-ACK is captured immediately after it, whereas a server retransmits it only after a timeout.
        guard packet.side == .server, let completion = set.completion, reset?.side != .client,
            packet.time - max(server.lastSYNTime, completion.time) > max(150_000_000, delay(to: .server))
        else { return }
        if set.repeatedAfterCompletion.isEmpty { set.firstRepeat = packet.time - server.lastSYNTime }
        server.lastSYNTime = packet.time
        set.repeatedAfterCompletion.add(packet.number)
        if client.outstanding > 0 { set.ignoredDataCount += 1 }
    }

    // MARK: Resets

    func noteReset(_ packet: DiagnosedPacket, _ tcp: DecodedTCP, isObeyed: Bool) {
        let side = packet.side
        let peer = side.opposite
        reset?.noteStray(packet.number, side, packet.start, self[side].sentEnd)
        if phase == .setUp {
            // A client responds to a wrong answer with a reset, and then continues its own attempt to connect.
            if isObeyed, set.refusal == nil, server.syn != nil || (side == .client && set.wrongAnswers.isEmpty) {
                reset = ResetObservation(packet, tcp, in: self, isObeyed: true)
            }
            return
        }
        if isObeyed { settleBeforeReset(at: packet.time) }
        guard reset == nil || (isObeyed && reset?.isObeyed == false) else { return }
        reset = ResetObservation(packet, tcp, in: self, isObeyed: isObeyed)
        if self[side].fin != nil, self[peer].lastDataTime ?? -1 >= self[side].fin?.time ?? Int64.max {
            reset?.isAfterClose = true
        }
    }
}
