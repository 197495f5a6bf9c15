import ProbeBase
import ProbeWire

/// Follows one flow packet by packet, and takes the measurements on which the findings are based. The memory use is
/// constant.
///
/// Times are in nanoseconds since the flow's first packet. They never decrease: a packet with an earlier time than the
/// packet before it is treated as if both had the same time.
package struct FlowObservation: Sendable {
    package let origin: UInt64
    package internal(set) var budget = TimeBudget()
    var client = SideObservation()
    var server = SideObservation()
    /// The time of the last packet.
    private(set) var now: Int64 = 0
    var phase = Phase.setUp
    /// The time at which the handshake was complete; `nil` if the capture doesn't contain it.
    var handshakeEnd: Int64?
    /// The side and the time of the last data, and the time of the first packet from the other side after that data.
    private(set) var lastData: (side: ConversationSide, time: Int64, firstReply: Int64?)?
    /// The intervals since the last data or FIN. Their states are determined when the next data is known.
    private var waiting: [PendingInterval] = []
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

    subscript(side: ConversationSide) -> SideObservation {
        @inline(__always) _read {
            if side == .client { yield client } else { yield server }
        }
        @inline(__always) _modify {
            if side == .client { yield &client } else { yield &server }
        }
    }

    /// Returns the time from the capture point to a side and back; 0 if it is unknown.
    func delay(to side: ConversationSide) -> Int64 { knownDelay(to: side) ?? 0 }

    /// Returns the time from the capture point to a side and back; `nil` if it is unknown.
    func knownDelay(to side: ConversationSide) -> Int64? {
        self[side.opposite].shortestDelay ?? self[side].echo.shortest
    }

    /// The minimum round-trip time; `nil` if neither direction's delay is known.
    package var roundTrip: Int64? {
        switch (knownDelay(to: .server), knownDelay(to: .client)) {
        case (nil, nil): nil
        case (let one, let other): (one ?? 0) + (other ?? 0)
        }
    }

    /// Adds a packet of the flow.
    mutating func note(_ summary: PacketSummary, _ tcp: DecodedTCP, payload: Span<UInt8>, isObeyedReset: Bool) {
        let raw = Time.relative(summary.time, to: origin)
        let side = summary.side
        if packetCount > 0, summary.kind != .copy, raw < self[side].lastTime - 1_000_000, self[side].packetCount > 0 {
            clock.note(summary.packetIndex + 1, by: self[side].lastTime - raw, at: max(now, raw))
        }
        // A copy is not an additional packet of the flow, so it must not extend the flow's duration.
        if summary.kind == .copy { return noteCopy(summary, tcp, max(now, raw)) }
        let time = max(now, raw)
        // The timestamp in a SYN may come from a proxy that has another clock.
        if !tcp.isSYN, let value = tcp.options.timestamp?.value,
            let step = self[side].timestamps.note(
                value, at: time, packet: summary.packetIndex + 1, patience: max(20_000_000, roundTrip ?? 0)),
            !self[side.opposite].timestamps.contradicts(step)
        {
            clock.note(step.packet, by: step.gap, at: time)
            clock.isProven = true
        }
        lastSilence = time - now
        pass(until: time)
        packetCount += 1
        if summary.payloadIsCut { cutCount += 1 }
        if summary.kind.isRetransmission, self[side].isCopy(summary, tcp, at: time) {
            return noteCopy(summary, tcp, time)
        }
        self[side].recent.note(tcp, at: time, packet: summary.packetIndex + 1)
        if summary.kind == .outOfWindow, !tcp.isSYN {
            if phase == .setUp { noteSetUp(summary, tcp, time) }
            return
        }
        let packet = DiagnosedPacket(
            side: side, time: time, number: summary.packetIndex + 1, kind: summary.kind, flags: tcp.flags,
            start: summary.relativeSequence, length: tcp.payloadLength,
            acknowledgment: summary.relativeAcknowledgment, window: summary.window,
            isDuplicateAck: summary.isDuplicateAck,
            stamp: tcp.options.timestamp?.value, echo: tcp.options.timestamp?.echo,
            identification: tcp.identification, isEarlier: raw < now)
        take(packet, tcp, payload: payload, isObeyedReset: isObeyedReset)
    }

    private mutating func take(
        _ packet: DiagnosedPacket, _ tcp: DecodedTCP, payload: Span<UInt8>, isObeyedReset: Bool
    ) {
        let side = packet.side
        self[side].packetCount += 1
        self[side.opposite].unanswered = .init()
        self[side.opposite].smallestUnanswered = Int.max
        self[side.opposite].unansweredKeepAlives = .init()
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
            if let acknowledgment = packet.acknowledgment, acknowledgment <= self[side.opposite].sentEnd {
                self[side.opposite].acknowledged = max(self[side.opposite].acknowledged, acknowledgment)
            }
            noteReset(packet, tcp, isObeyed: isObeyedReset)
            self[side].lastTime = packet.time
            return
        }
        self[side].hop.note(tcp)
        noteAcknowledgment(packet, tcp)
        noteEcho(packet)
        noteWindow(packet)
        if let last = lastData, last.side != side, last.firstReply == nil { lastData?.firstReply = packet.time }
        switch packet.kind {
        case .keepAlive:
            self[side].noteUnanswered(packet, isKeepAlive: true)
        case .zeroWindowProbe: self[side].noteZeroWindowProbe(packet)
        case .control, .copy, .outOfWindow: break
        case .new, .outOfOrder, .retransmission, .fastRetransmission, .spuriousRetransmission, .tailLossProbe,
            .retransmissionOrProbe:
            if !packet.flags.contains(.syn) { noteData(packet, payload: payload) }
        }
        self[side].lastTime = packet.time
    }

    // MARK: Time

    /// Attributes the time until the next packet to a state, or records it as a pending interval if the state is not
    /// known yet.
    private mutating func pass(until time: Int64) {
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
            if waiting.count < Self.keptWaits {
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
    private mutating func settle(_ end: WaitEnd, at time: Int64) {
        guard !waiting.isEmpty else { return }
        let intervals = waiting
        waiting.removeAll(keepingCapacity: true)
        let next: ConversationSide? =
            switch end {
            case .data(let side, _), .fin(let side): side
            case .none: nil
            }
        let plan = WaitPlan(end, at: time, in: self)
        for interval in intervals {
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
            if isHalfClosed(facts, end) {
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
                self[next].transferTime += spent
                if limit == .transferReceiveWindow { self[next].receiveWindowTime += spent }
                if limit == .transferApplication { self[next].applicationTime += spent }
                continue
            }
            budget.add(state, until: interval.end)
        }
    }

    private func isHalfClosed(_ facts: PendingFacts, _ end: WaitEnd) -> Bool {
        guard facts.contains(.clientClosed) || facts.contains(.serverClosed) else { return false }
        if case .data(let side, _) = end { return facts.contains(side == .client ? .clientClosed : .serverClosed) }
        return true
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

    private mutating func addZeroWindow(_ side: ConversationSide, until end: Int64) {
        let before = budget.end
        budget.add(.closedWindow, until: end)
        if self[side].zeroFirst == nil { self[side].zeroFirst = before }
        self[side].zeroTime += budget.end - before
        if let zero = self[side].zero { self[side].zeroEvidence.add(zero.packet) }
    }

    private mutating func noteWindow(_ packet: DiagnosedPacket) {
        guard let acknowledgment = packet.acknowledgment, !packet.flags.contains(.syn) else { return }
        let side = packet.side
        let peer = side.opposite
        let edge = WindowEdges.Edge(
            time: packet.time, edge: acknowledgment + Int64(packet.window), isZero: packet.window == 0)
        let wasFilled = self[peer].edges.furthest <= self[peer].sentEnd
        self[peer].edges.add(edge, delay: delay(to: peer))
        if packet.window > self[peer].largestWindow { self[peer].largestWindow = packet.window }
        self[peer].windows.append((packet.time, packet.window))
        if packet.window == 0 {
            if self[peer].zero == nil || self[peer].zero?.openedAt != nil {
                self[peer].zero = .init(time: packet.time, packet: packet.number, wasFilled: wasFilled)
            } else if self[peer].zero?.isProbed == true {
                self[peer].isZeroProbeAnswered = true
                self[peer].zeroEvidence.add(packet.number)
            }
        } else if self[peer].zero != nil, self[peer].zero?.openedAt == nil {
            self[peer].zero?.openedAt = packet.time
        }
    }

    // MARK: Data

    /// Measures how long a side took to send data after it received data from its peer.
    private mutating func noteAnswer(_ packet: DiagnosedPacket) {
        let side = packet.side
        guard let last = lastData else {
            // This is the first data after the handshake, such as a greeting.
            guard side == .server, let end = handshakeEnd, !client.progress.isIncomplete else { return }
            let wait = max(0, packet.time - end - delay(to: .server))
            server.noteAnswer(
                packet, after: wait, to: set.completion?.packet ?? packet.number, isAcknowledged: true)
            return
        }
        let wait = packet.time - last.time - delay(to: side)
        // After an upgrade, for example to WebSocket, what the server sends is not necessarily an answer.
        guard last.side != side, wait >= 0, !server.progress.http.isTunnel else { return }
        let request = self[side.opposite].lastDataPacket
        let isSetUp = client.progress.tls.hasApplicationData && server.progress.tls.hasApplicationData
        if wait >= 2_000_000_000, client.progress.kind == .tls, !isSetUp, wait > tlsStall?.wait ?? 0 {
            tlsStall = (side, wait, request, packet.number)
        }
        let isAcknowledged = self[side.opposite].acknowledgedTime >= last.time
        self[side].noteAnswer(packet, after: wait, to: request, isAcknowledged: isAcknowledged)
    }

    private mutating func noteData(_ packet: DiagnosedPacket, payload: Span<UInt8>) {
        let side = packet.side
        let isFIN = packet.flags.contains(.fin)
        let end = packet.start + Int64(packet.length) + (isFIN ? 1 : 0)
        let isRepeat =
            (packet.kind.isRetransmission || packet.kind == .tailLossProbe || packet.kind == .retransmissionOrProbe)
            && !(side == .client && client.isRejectedWithSYN(packet, isAccepted: set.isSYNDataAcknowledged))
        if packet.length > 0 {
            settle(.data(side, length: packet.length), at: packet.time)
        } else if isFIN {
            settle(.fin(side), at: packet.time)
        }
        if packet.length > 0 {
            if !isRepeat { noteAnswer(packet) }
            self[side].dataPacketCount += 1
            self[side].payloadLength += Int64(packet.length)
            self[side].sizes.append(packet.length)
            if packet.length < 100, let last = self[side].lastDataTime, lastData?.side == side,
                packet.time - last < 10_000_000
            {
                self[side].rapidSmallCount += 1
            }
            if Int64(packet.length) > segmentSize(of: side), self[side.opposite].syn?.maximumSegmentSize != nil {
                self[side].hasOffload = true
            }
        }
        if isRepeat {
            noteRepeat(packet, end: end)
        } else {
            noteNew(packet, end: end, payload: payload)
        }
        if packet.kind == .new || isRepeat { self[side].noteUnanswered(packet, isKeepAlive: false) }
        self[side].smallestUnanswered = min(self[side].smallestUnanswered, packet.length)
        self[side].largestPayload = max(self[side].largestPayload, packet.length)
        if packet.length > 0 {
            noteAlert(packet)
            self[side].lastDataTime = packet.time
            self[side].lastDataPacket = packet.number
            if packet.kind != .spuriousRetransmission { lastData = (side, packet.time, nil) }
        }
        if isFIN, self[side].fin == nil {
            self[side].fin = .init(time: packet.time, packet: packet.number, position: end - 1)
            if self[side.opposite].fin != nil { phase = .closing }
        }
    }

    /// Records the data in a SYN, which the server has accepted (TCP Fast Open, RFC 7413).
    mutating func noteSYNData(_ syn: SideObservation.SYN) {
        client.sentEnd = max(client.sentEnd, 1 + Int64(syn.payloadLength))
        client.payloadLength += Int64(syn.payloadLength)
        client.lastDataTime = syn.time
        client.lastDataPacket = syn.packet
        lastData = (.client, syn.time, nil)
    }

    /// Records a packet that consists of an encrypted alert, if the alert is the server's only answer to data. An alert
    /// that ends a connection in an orderly way usually follows other data from the same sender.
    private mutating func noteAlert(_ packet: DiagnosedPacket) {
        guard packet.side == .server, lastData?.side == .client, server.progress.kind == .tls,
            client.progress.kind == .tls, server.progress.tls.lastType == 21,
            server.progress.tls.lastLength + 5 == packet.length, server.progress.tls.alert?.content == nil,
            client.progress.tls.lastType == 23, client.fin == nil
        else { return }
        answeringAlert = packet.number
    }

    private mutating func noteNew(_ packet: DiagnosedPacket, end: Int64, payload: Span<UInt8>) {
        let side = packet.side
        let sentEnd = self[side].sentEnd
        if packet.kind == .outOfOrder || end <= sentEnd {
            if packet.kind == .outOfOrder { self[side].noteLate(packet) }
            self[side].fillHole(packet.start..<end)
            self[side].loseMessages()
            return
        }
        if packet.start > sentEnd, self[side].packetCount > 1 || sentEnd > 0 {
            if sentEnd > 0 || self[side].syn != nil {
                self[side].addHole(max(sentEnd, 1)..<packet.start, packet.number, at: packet.time)
            }
            self[side].loseMessages()
        } else if packet.length > 0 {
            if self[side].syn == nil, self[side].dataPacketCount == 1 { self[side].loseMessages() }
            if payload.count < packet.length {
                self[side].loseMessages()
            } else {
                self[side].readMessage(packet, payload)
                if side == .server, client.progress.http.isHead { server.progress.skipBody() }
            }
        }
        noteNagle(packet)
        let flight = end - self[side].acknowledged
        self[side].log.append(
            SentSegment(
                start: packet.start, end: end, time: packet.time, lastTime: packet.time, packet: packet.number,
                flight: flight, lastLength: packet.length))
        self[side].sentEnd = end
        self[side].lastIdentification = packet.identification
        self[side].lastStamp = packet.stamp
        if packet.length > 0 { self[side].noteSmall(packet, end: end, segment: segmentSize(of: side)) }
    }

    /// Detects a segment that was held back until the small segment before it had been acknowledged.
    private mutating func noteNagle(_ packet: DiagnosedPacket) {
        let side = packet.side
        guard packet.length > 0, let small = self[side].small, let acknowledged = self[side].smallAcknowledged,
            lastData?.side == side,
            // A small segment may be followed late because the window was full.
            self[side].room(at: packet.time, delay: delay(to: side)).map({ $0 > segmentSize(of: side) }) ?? true
        else { return }
        let late = acknowledged.time - small.time - delay(to: side.opposite)
        let held = packet.time - acknowledged.time
        // The segment was sent in response to the acknowledgment, so it can't be captured before the acknowledgment has
        // reached the sender.
        let least = delay(to: side) * 9 / 10
        guard late >= 30_000_000, least...delay(to: side) + 2_000_000 ~= held else { return }
        let reassigned = budget.reassign(.nagle, from: small.time, until: packet.time)
        guard reassigned > 0 else { return }
        self[side].nagleCount += 1
        self[side].nagleTime += reassigned
        self[side].nagleEvidence.add(small.packet)
        self[side].nagleEvidence.add(acknowledged.packet)
        self[side].nagleEvidence.add(packet.number)
        if held > 2_000_000 { self[side].isNagleProven = false }
    }

    /// The minimum round-trip time of data, excluding the handshake; `nil` if it was not measured.
    var laterRoundTrip: Int64? {
        switch (client.shortestDataDelay, server.shortestDataDelay) {
        case (nil, nil): nil
        case (let one, let other): (one ?? 0) + (other ?? 0)
        }
    }

    /// The time after which neither side can be expected to send more data: the time of the first FIN or of an RST that
    /// was accepted; `nil` if there is none.
    var endOfData: Int64? {
        [client.fin?.time, server.fin?.time, reset?.isObeyed == true ? reset?.time : nil].compactMap(\.self).min()
    }

    // MARK: The end

    /// Ends the observation after the flow's last packet.
    mutating func finish(duration: Int64, isResetObeyed: Bool) {
        settle(.none, at: now)
        if let before = beforeReset, isResetObeyed {
            budget = before
            budget.add(.closing, until: now)
        }
        // If times in the capture go backwards, the flow may be longer or shorter than the sum of its intervals.
        budget.correct(by: duration - budget.total)
    }

    /// Determines the states of the pending intervals at an RST, before it is known whether the receiver accepts the
    /// RST.
    mutating func settleBeforeReset(at time: Int64) {
        settle(.none, at: time)
        beforeReset = beforeReset ?? budget
    }

    /// Marks the pending intervals that end after the given time as spent in `state`.
    mutating func markWaiting(_ state: FlowState, since time: Int64) {
        for index in waiting.indices where waiting[index].end > time { waiting[index].state = state }
    }

    mutating func open(at time: Int64) { (phase, handshakeEnd) = (.open, time) }
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
