import ProbeBase
import ProbeWire

/// Follows one flow packet by packet, and takes the measurements on which the findings are based. The memory use is
/// constant.
///
/// Times are in nanoseconds since the flow's first packet. They never decrease: a packet with an earlier time than the
/// packet before it is treated as if both had the same time.
// @unchecked: a flow belongs to one pass over a capture. A pass is handed from thread to thread, but never shared.
package final class FlowObservation: @unchecked Sendable {
    package let origin: UInt64
    package internal(set) var budget = TimeBudget()
    let client = SideObservation()
    let server = SideObservation()
    /// The time of the last packet.
    private(set) var now: Int64 = 0
    var phase = Phase.setUp
    /// The time at which the handshake was complete; `nil` if the capture doesn't contain it.
    var handshakeEnd: Int64?
    /// The side and the time of the last data, and the time of the first packet from the other side after that data.
    private(set) var lastData: (side: ConversationSide, time: Int64, firstReply: Int64?)?
    /// The intervals since the last data or FIN. Their states are determined when the next data is known.
    private var waiting: [PendingInterval] = []
    /// The number of these intervals before the client's FIN, and what they were spent on if the server does not answer
    /// the data before the FIN; `nil` if there is no such FIN.
    private var heldWaits: (count: Int, plan: WaitPlan)?
    /// The time budget at the time of an RST. This budget is used if the RST turns out to have been accepted by its
    /// receiver.
    var beforeReset: TimeBudget?
    var reset: ResetObservation?
    var set = SetUpObservation()
    var icmp: ICMPObservation?
    /// The number of the packet with an encrypted alert that is the server's only answer to the client's data; `nil` if
    /// there is none.
    var answeringAlert: Int?
    /// The longest wait for the next record of an unfinished TLS handshake.
    var tlsStall: (side: ConversationSide, wait: Int64, request: Int, packet: Int)?
    /// The packets that the capture contains twice.
    var copies = CopyObservation()
    var dialogue = Dialogue()
    /// The steps of the capture's clock.
    var clock = ClockObservation()
    var packetCount = 0
    var cutCount = 0
    var firstPacket = 0
    /// The time between the last two packets. A long time before a reset suggests that a device dropped the idle
    /// connection.
    var lastSilence: Int64 = 0

    enum Phase: Sendable { case setUp, open, closing }

    init(origin: UInt64, firstPacket: Int) {
        self.origin = origin
        self.firstPacket = firstPacket
    }

    // A `switch` needs no call into the module that declares the type, unlike `==`.
    subscript(side: ConversationSide) -> SideObservation {
        @inline(__always) get {
            switch side {
            case .client: client
            case .server: server
            }
        }
    }

    /// The peer of a side.
    @inline(__always)
    func peer(of side: ConversationSide) -> SideObservation {
        switch side {
        case .client: server
        case .server: client
        }
    }

    /// Returns the time from the capture point to a side and back; 0 if it is unknown.
    func delay(to side: ConversationSide) -> Int64 { knownDelay(to: side) ?? 0 }

    /// Returns the time from the capture point to a side and back; `nil` if it is unknown.
    func knownDelay(to side: ConversationSide) -> Int64? {
        peer(of: side).shortestDelay ?? self[side].echo.shortest
    }

    /// The minimum round-trip time; `nil` if neither direction's delay is known.
    package var roundTrip: Int64? {
        switch (knownDelay(to: .server), knownDelay(to: .client)) {
        case (nil, nil): nil
        case (let one, let other): (one ?? 0) + (other ?? 0)
        }
    }

    /// Adds a packet of the flow.
    func note(_ summary: PacketSummary, _ tcp: DecodedTCP, payload: Span<UInt8>, isObeyedReset: Bool) {
        let raw = Time.relative(summary.time, to: origin)
        let (own, peer) = (self[summary.side], peer(of: summary.side))
        if packetCount > 0, summary.kind != .copy, raw < own.lastTime - 1_000_000, own.packetCount > 0 {
            clock.note(summary.packetIndex + 1, by: own.lastTime - raw, at: max(now, raw))
        }
        // A copy is not an additional packet of the flow, so it must not extend the flow's duration.
        if summary.kind == .copy { return noteCopy(summary, tcp, max(now, raw)) }
        let time = max(now, raw)
        // The timestamp in a SYN may come from a proxy that has another clock.
        if !tcp.isSYN, let value = tcp.options.timestamp?.value,
            let step = own.timestamps.note(
                value, at: time, packet: summary.packetIndex + 1, patience: max(20_000_000, roundTrip ?? 0)),
            !peer.timestamps.contradicts(step)
        {
            clock.note(step.packet, by: step.gap, at: time)
            clock.isProven = true
        }
        lastSilence = time - now
        pass(until: time)
        if summary.payloadIsCut { cutCount += 1 }
        if summary.kind.isRetransmission, own.isCopy(summary, tcp, at: time) {
            return noteCopy(summary, tcp, time)
        }
        packetCount += 1
        own.recent.note(tcp, at: time, packet: summary.packetIndex + 1)
        if summary.kind == .outOfWindow, !tcp.isSYN {
            if phase == .setUp { noteSetUp(summary, tcp, time) }
            if tcp.flags.contains(.rst) {
                reset?.noteStray(summary.packetIndex + 1, summary.side, summary.relativeSequence, own.sentEnd)
            }
            return
        }
        let packet = DiagnosedPacket(
            side: summary.side, time: time, number: summary.packetIndex + 1, kind: summary.kind, flags: tcp.flags,
            start: summary.relativeSequence, length: tcp.payloadLength,
            acknowledgment: summary.relativeAcknowledgment, window: summary.window,
            isDuplicateAck: summary.isDuplicateAck,
            stamp: tcp.options.timestamp?.value, echo: tcp.options.timestamp?.echo,
            identification: tcp.identification, isEarlier: raw < now)
        take(packet, tcp, own, peer, payload: payload, isObeyedReset: isObeyedReset)
    }

    // The two sides are parameters, because looking them up would retain and release them in each function.
    private func take(
        _ packet: DiagnosedPacket, _ tcp: DecodedTCP, _ own: SideObservation, _ peer: SideObservation,
        payload: Span<UInt8>, isObeyedReset: Bool
    ) {
        let side = packet.side
        own.packetCount += 1
        peer.answer()
        if let reset, reset.side == side, !packet.flags.contains(.rst), packet.kind != .outOfOrder {
            self.reset?.laterPackets.add(packet.number)
        }
        if phase == .setUp {
            // The sequence and acknowledgment numbers of an answer to another connection must not affect this
            // connection.
            if !noteSetUp(packet, tcp) { return }
        } else if tcp.isSYN {
            noteLateSYN(packet)
        }
        if packet.flags.contains(.rst) {
            if let acknowledgment = packet.acknowledgment, acknowledgment <= peer.sentEnd {
                peer.acknowledged = max(peer.acknowledged, acknowledgment)
            }
            noteReset(packet, tcp, isObeyed: isObeyedReset)
            own.lastTime = packet.time
            if isObeyedReset { releaseHistory() }
            return
        }
        own.hop.note(tcp)
        noteAcknowledgment(packet, tcp, of: peer)
        SideObservation.noteEcho(packet, own, peer)
        peer.noteWindow(packet, delay: delay(to: side.opposite))
        if let last = lastData, last.side != side, last.firstReply == nil { lastData?.firstReply = packet.time }
        switch packet.kind {
        case .keepAlive: own.noteUnansweredKeepAlive(packet)
        case .zeroWindowProbe: own.noteZeroWindowProbe(packet)
        case .control, .copy, .outOfWindow: break
        case .new, .outOfOrder, .retransmission, .fastRetransmission, .spuriousRetransmission, .tailLossProbe,
            .retransmissionOrProbe:
            if !packet.flags.contains(.syn) { noteData(packet, own, peer, payload: payload) }
        }
        own.lastTime = packet.time
        if phase == .closing, own.outstanding == 0, peer.outstanding == 0 { releaseHistory() }
    }

    /// Frees most of the flow's memory. A capture may contain many thousands of closed connections.
    func releaseHistory() {
        client.releaseHistory()
        server.releaseHistory()
        budget.settle()
        waiting = []
    }

    // MARK: Time

    /// Attributes the time until the next packet to a state, or records it as a pending interval if the state is not
    /// known yet.
    private func pass(until time: Int64) {
        defer { now = time }
        guard time > now else { return }
        switch phase {
        case .setUp: budget.add(.handshake, until: time)
        case .closing: budget.add(.closing, until: time)
        case .open:
            let middle = now + (time - now) / 2
            var facts: PendingFacts = []
            if client.recoveryEnd != nil || server.recoveryEnd != nil { facts.insert(.recovery) }
            if client.zero != nil, client.zero?.openedAt == nil { facts.insert(.clientBlocked) }
            if server.zero != nil, server.zero?.openedAt == nil { facts.insert(.serverBlocked) }
            if client.outstanding > 0 { facts.insert(.clientOutstanding) }
            if server.outstanding > 0 { facts.insert(.serverOutstanding) }
            if client.outstanding == 0, server.outstanding == 0 {
                if client.finAcknowledged != nil { facts.insert(.clientClosed) }
                if server.finAcknowledged != nil { facts.insert(.serverClosed) }
            }
            let interval = PendingInterval(
                end: time, facts: facts, clientRoom: client.room(at: middle, delay: delay(to: .client)),
                serverRoom: server.room(at: middle, delay: delay(to: .server)))
            // What follows a held wait must not be merged with it.
            if waiting.count < Self.keptWaits || waiting.count == heldWaits?.count {
                waiting.append(interval)
            } else {
                waiting[waiting.count - 1].end = time
            }
        }
    }

    private static let keptWaits = 32
    /// The minimum number of bytes in flight that can fill a queue: three full segments.
    static let queueingFlight: Int64 = 3 * 1_460
    static let longestPause: Int64 = 10_000_000_000

    /// Determines the states in which the time since the last data or FIN was spent.
    private func settle(_ end: WaitEnd, at time: Int64, by plan: WaitPlan? = nil) {
        if let held = heldWaits {
            heldWaits = nil
            if !end.isAnswer {
                let later = Array(waiting.dropFirst(held.count))
                waiting.removeLast(later.count)
                settle(.fin(.client), at: time, by: held.plan)
                waiting = later
            }
        }
        guard !waiting.isEmpty else { return }
        defer { waiting.removeAll(keepingCapacity: true) }
        let next: ConversationSide? =
            switch end {
            case .data(let side, _), .fin(let side): side
            case .none: nil
            }
        let plan = plan ?? WaitPlan(end, at: time, in: self)
        for index in waiting.indices {
            let interval = waiting[index]
            if let state = interval.state {
                budget.add(state, until: interval.end)
                continue
            }
            let facts = interval.facts
            if facts.contains(.clientBlocked), isBlocked(.client, next: next, at: time) {
                addZeroWindow(.client, until: interval.end)
                continue
            }
            if facts.contains(.serverBlocked), isBlocked(.server, next: next, at: time) {
                addZeroWindow(.server, until: interval.end)
                continue
            }
            if facts.contains(.recovery) {
                budget.add(.recovery, until: interval.end)
                continue
            }
            if facts.isHalfClosed(end) {
                budget.add(.halfClosed, until: interval.end)
                continue
            }
            if let boundary = plan.roundTripEnd, budget.end < boundary {
                budget.add(.roundTrip, until: min(boundary, interval.end))
            }
            guard let state = plan.state else {
                guard let next, case .data(_, let length) = end else {
                    budget.add(.unknown, until: interval.end)
                    continue
                }
                let begin = budget.end
                let limit = interval.limit(of: next, length: length, isPaused: plan.isPaused, in: self)
                budget.add(limit, until: interval.end)
                let spent = budget.end - begin
                let sender = self[next]
                sender.transferTime += spent
                if limit == .transferReceiveWindow { sender.receiveWindowTime += spent }
                if limit == .transferApplication { sender.applicationTime += spent }
                continue
            }
            budget.add(state, until: interval.end)
        }
    }

    /// Returns the largest payload that a side may send in one segment.
    func segmentSize(of side: ConversationSide) -> Int64 {
        if let size = self[side.opposite].syn?.maximumSegmentSize {
            // The MSS does not take into account the space that TCP options, such as the timestamp, occupy in each
            // segment (RFC 6691).
            let hasTimestamps = client.syn?.hasTimestamp == true && server.syn?.hasTimestamp == true
            return Int64(hasTimestamps ? size - 12 : size)
        }
        return Int64(min(max(self[side].largestPayload, 536), 1460))
    }

    private func isBlocked(_ side: ConversationSide, next: ConversationSide?, at time: Int64) -> Bool {
        guard let zero = self[side].zero else { return false }
        if zero.isProbed || zero.wasFilled { return true }
        guard next == side, let opened = zero.openedAt else { return false }
        return time - opened <= max(roundTrip ?? 0, 10_000_000)
    }

    private func addZeroWindow(_ side: ConversationSide, until end: Int64) {
        let sender = self[side]
        let before = budget.end
        budget.add(.closedWindow, until: end)
        if sender.zeroWait.first == nil { sender.zeroWait.first = before }
        sender.zeroWait.time += budget.end - before
        if let zero = sender.zero { sender.zeroWait.evidence.add(zero.packet) }
    }

    // MARK: Data

    private func noteData(
        _ packet: DiagnosedPacket, _ own: SideObservation, _ peer: SideObservation, payload: Span<UInt8>
    ) {
        let side = packet.side
        let isFIN = packet.flags.contains(.fin)
        let end = packet.start + Int64(packet.length) + (isFIN ? 1 : 0)
        let isRepeat =
            (packet.kind.isRetransmission || packet.kind == .tailLossProbe || packet.kind == .retransmissionOrProbe)
            && !(side == .client && client.isRejectedWithSYN(packet, isAccepted: set.isSYNDataAcknowledged))
        if packet.length > 0 {
            settle(.data(side, length: packet.length), at: packet.time)
        } else if isFIN {
            if side == .client, lastData?.side == .client, own.fin == nil, peer.fin == nil {
                // The server may still answer.
                heldWaits = (waiting.count, WaitPlan(.fin(side), at: packet.time, in: self))
            } else {
                settle(.fin(side), at: packet.time)
            }
        }
        if packet.length > 0 {
            if !isRepeat { noteAnswer(packet) }
            own.dataPacketCount += 1
            own.payloadLength += Int64(packet.length)
            own.sizes.append(UInt32(clamping: packet.length))
            if packet.length < 100, let last = own.lastDataTime, lastData?.side == side,
                packet.time - last < 10_000_000
            {
                own.rapidSmallCount += 1
            }
            if Int64(packet.length) > segmentSize(of: side), peer.syn?.maximumSegmentSize != nil {
                own.hasOffload = true
            }
        }
        if isRepeat {
            noteRepeat(packet, end: end)
        } else {
            noteNew(packet, own, end: end, payload: payload)
        }
        own.trigger.noteSegment(at: packet.time)
        if packet.kind == .new || isRepeat { own.noteUnanswered(packet, isRepeat: isRepeat) }
        own.smallestUnanswered = min(own.smallestUnanswered, packet.length)
        own.largestPayload = max(own.largestPayload, packet.length)
        if packet.length > 0 {
            noteAlert(packet)
            own.lastDataTime = packet.time
            own.lastDataPacket = packet.number
            if packet.kind != .spuriousRetransmission { lastData = (side, packet.time, nil) }
        }
        if isFIN, own.fin == nil {
            if side == .client, packet.length == 0, lastData?.side == .server {
                dialogue.cutAnswer = dialogue.lastAnswer
            }
            own.fin = .init(time: packet.time, packet: packet.number, position: end - 1)
            if peer.fin != nil { phase = .closing }
        }
    }

    /// Records the data in a SYN, which the server has accepted (TCP Fast Open, RFC 7413).
    func noteSYNData(_ syn: SentSYN) {
        client.sentEnd = max(client.sentEnd, 1 + Int64(syn.payloadLength))
        client.payloadLength += Int64(syn.payloadLength)
        client.lastDataTime = syn.time
        client.lastDataPacket = syn.packet
        lastData = (.client, syn.time, nil)
    }

    /// Records a packet that consists of an encrypted alert, if the alert is the server's only answer to data. An alert
    /// that ends a connection in an orderly way usually follows other data from the same sender.
    private func noteAlert(_ packet: DiagnosedPacket) {
        guard packet.side == .server, lastData?.side == .client, server.progress.kind == .tls,
            client.progress.kind == .tls, server.progress.tls.lastType == 21,
            server.progress.tls.lastLength + 5 == packet.length, server.progress.tls.alert?.content == nil,
            client.progress.tls.lastType == 23, client.fin == nil
        else { return }
        answeringAlert = packet.number
    }

    private func noteNew(_ packet: DiagnosedPacket, _ own: SideObservation, end: Int64, payload: Span<UInt8>) {
        let side = packet.side
        let sentEnd = own.sentEnd
        if packet.kind == .outOfOrder || end <= sentEnd {
            if packet.kind == .outOfOrder { own.noteLate(packet) }
            own.fillHole(packet.start..<end)
            own.loseMessages()
            return
        }
        if packet.start > sentEnd, own.packetCount > 1 || sentEnd > 0 {
            if sentEnd > 0 || own.syn != nil {
                own.addHole(max(sentEnd, 1)..<packet.start, packet.number, at: packet.time)
            }
            own.loseMessages()
        } else if packet.length > 0 {
            if own.syn == nil, own.dataPacketCount == 1 { own.loseMessages() }
            if payload.count < packet.length {
                own.loseMessages()
            } else {
                own.readMessage(packet, payload)
                if side == .server, client.progress.http.isHead { server.progress.skipBody() }
            }
        }
        if own.small != nil { noteNagle(packet) }
        own.log.append(
            SentSegment(
                start: packet.start, end: end, time: packet.time, lastTime: packet.time, packet: packet.number,
                flight: end - own.acknowledged, lastLength: packet.length))
        own.sentEnd = end
        own.lastIdentification = packet.identification
        own.lastStamp = packet.stamp
        if packet.length > 0 { own.noteSmall(packet, end: end, segment: HeldSegment.fullSize(of: side, in: self)) }
    }

    /// Detects a segment that was held back until the small segment before it had been acknowledged.
    private func noteNagle(_ packet: DiagnosedPacket) {
        guard let held = HeldSegment(packet, in: self) else { return }
        let reassigned = budget.reassign(.nagle, from: held.small.time, until: packet.time)
        if reassigned > 0 { held.count(in: self[packet.side], time: reassigned) }
    }

    /// The time after which neither side can be expected to send more data: the time of the first FIN or of an RST that
    /// was accepted; `nil` if there is none.
    var endOfData: Int64? {
        [client.fin?.time, server.fin?.time, reset?.isObeyed == true ? reset?.time : nil].compactMap(\.self).min()
    }

    // MARK: The end

    /// Whether the capture contains packets twice with different sequence numbers, so that the positions in the streams
    /// are not known.
    var isTranslated: Bool { client.recent.translated.total + server.recent.translated.total >= 2 }

    /// Returns what `body` returns, and undoes what `finish` changes. More packets of the flow may follow.
    func previewing<Result>(_ body: () -> Result) -> Result {
        let before = (budget, waiting, heldWaits, reset, client.rare, server.rare)
        defer { (budget, waiting, heldWaits, reset, client.rare, server.rare) = before }
        return body()
    }

    /// Ends the observation after the flow's last packet.
    func finish(duration: Int64, isResetObeyed: Bool) {
        settle(.none, at: now)
        if let before = beforeReset, isResetObeyed {
            budget = before
            budget.add(.closing, until: now)
        }
        for side in [client, server] where side.isNagleRefuted {
            budget.move(side.nagleTime, from: .nagle, to: .transferApplication)
        }
        // If times in the capture go backwards, the flow may be longer or shorter than the sum of its intervals.
        budget.correct(by: duration - budget.total)
    }

    /// Determines the states of the pending intervals at an RST, before it is known whether the receiver accepts the
    /// RST.
    func settleBeforeReset(at time: Int64) {
        settle(.none, at: time)
        beforeReset = beforeReset ?? budget
    }

    /// Marks the pending intervals that end after the given time as spent in `state`.
    func markWaiting(_ state: FlowState, since time: Int64) {
        for index in waiting.indices where waiting[index].end > time { waiting[index].state = state }
    }

    func open(at time: Int64) { (phase, handshakeEnd) = (.open, time) }
}

/// A packet of a flow. Its positions in the two streams are relative to the SYN of the stream's sender.
struct DiagnosedPacket {
    var side: ConversationSide
    var time: Int64
    /// The number of the packet in the capture, counting from 1.
    var number: Int
    var kind: SegmentKind
    var flags: TCPFlags
    /// The position of the packet's first byte; the SYN is at position 0.
    var start: Int64
    var length: Int
    var acknowledgment: Int64?
    var window: Int
    var isDuplicateAck: Bool
    var stamp: UInt32?
    var echo: UInt32?
    var identification: UInt16
    /// Whether the packet was captured before the previous packet of the capture, according to its time.
    var isEarlier: Bool
}
