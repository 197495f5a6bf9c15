import ProbeBase
import ProbeWire

/// Follows one flow packet by packet, and measures what the findings are based on. Memory is constant.
///
/// Times are nanoseconds since the flow's first packet. They never decrease: a packet whose time is earlier than that
/// of its predecessor counts as simultaneous.
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
    /// The last data, and the first packet from the other side after it.
    private var lastData: (side: ConversationSide, time: Int64, firstReply: Int64?)?
    /// The intervals since the last data or FIN. What they were spent on is decided when the next data is known.
    private var waiting: [Waiting] = []
    /// The budget at the time of an RST. It counts if the RST turns out to have been obeyed.
    var beforeReset: TimeBudget?
    var reset: ResetObservation?
    var set = SetUpObservation()
    var icmp: ICMPObservation?
    var clockSteps = Evidence()
    var copyCount = 0
    var copyEvidence = Evidence()
    var lateCopyCount = 0
    var lateCopyEvidence = Evidence()
    var isLateCopyProven = false
    /// The sender of the packets that arrived twice.
    var lateCopySide: ConversationSide?
    /// The longest wait for the next record of an unfinished TLS handshake.
    var tlsStall: (side: ConversationSide, wait: Int64, request: Int, packet: Int)?
    /// Whether it has been recorded if the scales of the windows are known.
    var isScaleNoted = false
    /// Whether timestamp options show that the capture's clock was changed.
    var isClockStepProven = false
    var packetCount = 0
    var cutCount = 0
    var firstPacket = 0
    /// The longest time without any packet, for resets by devices that forget idle connections.
    var lastSilence: Int64 = 0

    enum Phase: Sendable { case setUp, open, closing }

    /// An interval whose state is not decided yet, with what is known about it.
    private struct Waiting: Sendable {
        var end: Int64
        var facts: Facts
        /// How much each side may send, in bytes; `nil` if unknown.
        var clientRoom: Int64?
        var serverRoom: Int64?
        /// The state, if an event has already shown it.
        var state: FlowState?
    }

    private struct Facts: OptionSet, Sendable {
        let rawValue: UInt8
        static let recovery = Facts(rawValue: 1)
        static let clientBlocked = Facts(rawValue: 2)
        static let serverBlocked = Facts(rawValue: 4)
        static let clientOutstanding = Facts(rawValue: 8)
        static let serverOutstanding = Facts(rawValue: 16)
        /// One side has closed, and nothing is outstanding.
        static let clientClosed = Facts(rawValue: 32)
        static let serverClosed = Facts(rawValue: 64)
    }

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

    /// The time from the capture point to a side and back: `d(X)` of the definitions. 0 if it is unknown.
    func delay(to side: ConversationSide) -> Int64 { self[side.opposite].shortestDelay ?? 0 }

    /// The minimum round-trip time; `nil` if neither direction's delay is known.
    package var roundTrip: Int64? {
        switch (client.shortestDelay, server.shortestDelay) {
        case (nil, nil): nil
        case (let one, let other): (one ?? 0) + (other ?? 0)
        }
    }

    /// Adds a packet of the flow.
    mutating func note(_ summary: PacketSummary, _ tcp: DecodedTCP, payload: Span<UInt8>, isObeyedReset: Bool) {
        let raw = Int64(clamping: Int128(summary.time) - Int128(origin))
        let side = summary.side
        if packetCount > 0, summary.kind != .copy, raw < self[side].lastTime - 1_000_000, self[side].packetCount > 0 {
            clockSteps.add(summary.packetIndex + 1)
        }
        // A copy is the same packet, so the flow doesn't last longer because of it.
        if summary.kind == .copy { return noteCopy(summary, tcp, max(now, raw)) }
        let time = max(now, raw)
        if let value = tcp.options.timestamp?.value, self[side].timestamps.note(value, at: time) != nil {
            clockSteps.add(summary.packetIndex + 1)
            isClockStepProven = true
        }
        lastSilence = time - now
        pass(until: time)
        packetCount += 1
        if summary.payloadIsCut { cutCount += 1 }
        self[side].recent.note(tcp, at: time, packet: summary.packetIndex + 1)
        if summary.kind == .outOfWindow, !tcp.isSYN {
            if phase == .setUp { noteSetUp(summary, tcp, time) }
            return
        }
        let packet = DiagnosedPacket(
            side: side, time: time, number: summary.packetIndex + 1, kind: summary.kind, flags: tcp.flags,
            start: summary.relativeSequence, length: tcp.payloadLength,
            acknowledgment: summary.relativeAcknowledgment, window: summary.window,
            isDuplicateAck: summary.isDuplicateAck, isZeroWindow: summary.isZeroWindow,
            stamp: tcp.options.timestamp?.value, echo: tcp.options.timestamp?.echo,
            identification: tcp.identification)
        take(packet, tcp, payload: payload, isObeyedReset: isObeyedReset)
    }

    private mutating func take(
        _ packet: DiagnosedPacket, _ tcp: DecodedTCP, payload: Span<UInt8>, isObeyedReset: Bool
    ) {
        let side = packet.side
        self[side].packetCount += 1
        self[side.opposite].unanswered = .init()
        self[side.opposite].unansweredKeepAlives = .init()
        if let reset, reset.side == side, !packet.flags.contains(.rst), packet.kind != .outOfOrder {
            self.reset?.laterPackets.add(packet.number)
        }
        if phase == .setUp { noteSetUp(packet, tcp) } else if tcp.isSYN { noteLateSYN(packet) }
        if packet.flags.contains(.rst) {
            noteReset(packet, tcp, isObeyed: isObeyedReset)
            self[side].lastTime = packet.time
            return
        }
        self[side].hop.note(tcp)
        noteAcknowledgment(packet, tcp)
        noteWindow(packet)
        if let last = lastData, last.side != side, last.firstReply == nil { lastData?.firstReply = packet.time }
        switch packet.kind {
        case .keepAlive:
            self[side].keepAliveCount += 1
            noteUnanswered(packet, isKeepAlive: true)
        case .zeroWindowProbe: noteZeroWindowProbe(packet)
        case .control, .copy, .outOfWindow: break
        case .new, .outOfOrder, .retransmission, .fastRetransmission, .spuriousRetransmission, .tailLossProbe,
            .retransmissionOrProbe:
            if !packet.flags.contains(.syn) || packet.length > 0 { noteData(packet, payload: payload) }
        }
        self[side].lastTime = packet.time
    }

    // MARK: Time

    /// Assigns the time until the next packet, as far as it is already known what it was spent on.
    private mutating func pass(until time: Int64) {
        defer { now = time }
        guard time > now else { return }
        switch phase {
        case .setUp: budget.add(.handshake, until: time)
        case .closing: budget.add(.closing, until: time)
        case .open:
            let middle = now + (time - now) / 2
            var facts: Facts = []
            if client.recoveryEnd != nil || server.recoveryEnd != nil { facts.insert(.recovery) }
            if client.zero != nil, client.zero?.openedAt == nil { facts.insert(.clientBlocked) }
            if server.zero != nil, server.zero?.openedAt == nil { facts.insert(.serverBlocked) }
            if client.outstanding > 0 { facts.insert(.clientOutstanding) }
            if server.outstanding > 0 { facts.insert(.serverOutstanding) }
            if client.outstanding == 0, server.outstanding == 0 {
                if client.finAcknowledged != nil { facts.insert(.clientClosed) }
                if server.finAcknowledged != nil { facts.insert(.serverClosed) }
            }
            let interval = Waiting(
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
    private static let longestPause: Int64 = 10_000_000_000

    /// What ends a wait.
    private enum WaitEnd {
        case data(ConversationSide, length: Int)
        case fin(ConversationSide)
        /// No data follows.
        case none
    }

    /// Decides what the time since the last data or FIN was spent on.
    private mutating func settle(_ end: WaitEnd, at time: Int64) {
        guard !waiting.isEmpty else { return }
        let intervals = waiting
        waiting.removeAll(keepingCapacity: true)
        let next: ConversationSide? =
            switch end {
            case .data(let side, _), .fin(let side): side
            case .none: nil
            }
        let plan = plan(end, at: time)
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
                let limit = limit(interval, of: next, length: length, isPaused: plan.isPaused)
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

    private func isHalfClosed(_ facts: Facts, _ end: WaitEnd) -> Bool {
        guard facts.contains(.clientClosed) || facts.contains(.serverClosed) else { return false }
        if case .data(let side, _) = end { return facts.contains(side == .client ? .clientClosed : .serverClosed) }
        return true
    }

    /// What a wait was spent on, where no fact about an interval takes precedence.
    private struct WaitPlan {
        /// The time until which the network was delivering data.
        var roundTripEnd: Int64?
        /// The state after that; `nil` for a transfer, whose limit depends on the interval.
        var state: FlowState?
        /// Whether the sender paused although an acknowledgment had arrived.
        var isPaused = false
    }

    private func plan(_ end: WaitEnd, at time: Int64) -> WaitPlan {
        guard let last = lastData else {
            switch end {
            case .data(let side, _):
                let begin = handshakeEnd ?? 0
                return WaitPlan(
                    state: side == .client && time - begin > Self.longestPause ? .silent : .thinking(side))
            case .fin, .none: return WaitPlan(state: .silent)
            }
        }
        let reply = min(last.firstReply ?? Int64.max, last.time + delay(to: last.side.opposite))
        let answered = max(last.time, self[last.side].acknowledgedTime)
        let isAcknowledged = self[last.side].outstanding == 0
        switch end {
        case .data(let side, _) where side == last.side:
            if time - last.time > Self.longestPause { return WaitPlan(state: .silent) }
            let patience = max(2_000_000, (roundTrip ?? 0) / 4) + delay(to: side)
            let acknowledged = self[side].acknowledgedTime
            return WaitPlan(isPaused: acknowledged >= last.time && time - acknowledged > patience)
        case .data(let side, _):
            let isLong = side == .client && time - last.time > Self.longestPause
            return WaitPlan(roundTripEnd: reply, state: isLong ? .silent : .thinking(side))
        case .fin(let side) where side != last.side:
            let isLong = side == .client && time - last.time > Self.longestPause
            return WaitPlan(roundTripEnd: reply, state: isLong ? .silent : .thinking(side))
        case .fin: return WaitPlan(roundTripEnd: isAcknowledged ? answered : reply, state: .silent)
        case .none:
            let waitsForServer = last.side == .client && server.dataPacketCount > 0
            return WaitPlan(
                roundTripEnd: isAcknowledged ? answered : reply, state: waitsForServer ? .serverThinks : .silent)
        }
    }

    private func limit(_ interval: Waiting, of side: ConversationSide, length: Int, isPaused: Bool) -> FlowState {
        let sender = self[side]
        let room = side == .client ? interval.clientRoom : interval.serverRoom
        let segment = Int64(max(sender.largestPayload, 1))
        let isOutstanding = interval.facts.contains(side == .client ? .clientOutstanding : .serverOutstanding)
        if let room, !sender.isRoomUnknown, room < min(segment, segmentSize(of: side)) || room < Int64(length) {
            return .transferReceiveWindow
        }
        if !isOutstanding || isPaused { return .transferApplication }
        if room == nil || (sender.isRoomUnknown && (room ?? 0) < segment) { return .transferUnknown }
        if sender.shortestDelay == nil { return .transferUnknown }
        return sender.rate.isSteady ? .transferPath : .transferCongestionWindow
    }

    /// The largest payload of a segment that a side may send.
    func segmentSize(of side: ConversationSide) -> Int64 {
        if let size = self[side.opposite].syn?.maximumSegmentSize { return Int64(size) }
        return Int64(min(max(self[side].largestPayload, 536), 1460))
    }

    // MARK: Zero windows

    private func isBlocked(_ side: ConversationSide, next: ConversationSide?, at time: Int64) -> Bool {
        guard let zero = self[side].zero else { return false }
        if zero.isProbed || zero.wasFilled { return true }
        guard next == side, let opened = zero.openedAt else { return false }
        return time - opened <= max(roundTrip ?? 0, 10_000_000)
    }

    private mutating func addZeroWindow(_ side: ConversationSide, until end: Int64) {
        let before = budget.end
        budget.add(.zeroWindow, until: end)
        if self[side].zeroFirst == nil { self[side].zeroFirst = before }
        self[side].zeroTime += budget.end - before
        if let zero = self[side].zero { self[side].zeroEvidence.add(zero.packet) }
    }

    private mutating func noteZeroWindowProbe(_ packet: DiagnosedPacket) {
        self[packet.side].zero?.isProbed = true
        self[packet.side].zeroProbeCount += 1
        self[packet.side].zeroEvidence.add(packet.number)
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

    private mutating func noteData(_ packet: DiagnosedPacket, payload: Span<UInt8>) {
        let side = packet.side
        let isFIN = packet.flags.contains(.fin)
        let end = packet.start + Int64(packet.length) + (isFIN ? 1 : 0)
        let isRepeat =
            packet.kind.isRetransmission || packet.kind == .tailLossProbe || packet.kind == .retransmissionOrProbe
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
        if packet.kind == .new || isRepeat { noteUnanswered(packet, isKeepAlive: false) }
        self[side].largestPayload = max(self[side].largestPayload, packet.length)
        if packet.length > 0 {
            if self[side].firstDataTime == nil { self[side].firstDataTime = packet.time }
            self[side].lastDataTime = packet.time
            self[side].lastDataPacket = packet.number
            if packet.kind != .spuriousRetransmission { lastData = (side, packet.time, nil) }
        }
        if isFIN, self[side].fin == nil {
            self[side].fin = .init(time: packet.time, packet: packet.number, position: end - 1)
            if self[side.opposite].fin != nil { phase = .closing }
        }
    }

    private mutating func noteNew(_ packet: DiagnosedPacket, end: Int64, payload: Span<UInt8>) {
        let side = packet.side
        let sentEnd = self[side].sentEnd
        if packet.kind == .outOfOrder || end <= sentEnd {
            if packet.kind == .outOfOrder {
                self[side].reorderedCount += 1
                self[side].reorderedEvidence.add(packet.number)
                let last = self[side].lastIdentification
                let isNumberedEarlier =
                    packet.identification != 0 && last != 0
                    && Int16(truncatingIfNeeded: Int(packet.identification) - Int(last)) < 0
                let isStampedEarlier =
                    if let stamp = packet.stamp, let last = self[side].lastStamp {
                        Int32(bitPattern: stamp &- last) < 0
                    } else { false }
                if isNumberedEarlier || isStampedEarlier { self[side].isReorderingProven = true }
            }
            fillHole(side, packet.start..<end, isLate: false, packet: packet.number)
            self[side].progress.lose()
            return
        }
        if packet.start > sentEnd, self[side].packetCount > 1 || sentEnd > 0 {
            if sentEnd > 0 || self[side].syn != nil {
                addHole(side, max(sentEnd, 1)..<packet.start, packet.number)
            }
            self[side].progress.lose()
        } else if packet.length > 0 {
            if self[side].syn == nil, self[side].dataPacketCount == 1 { self[side].progress.lose() }
            if payload.count < packet.length {
                self[side].progress.lose()
            } else {
                readMessage(packet, payload)
            }
        }
        noteNagle(packet)
        let flight = end - self[side].acknowledged
        self[side].log.append(
            SentSegment(
                start: packet.start, end: end, time: packet.time, lastTime: packet.time, packet: packet.number,
                lastPacket: packet.number, stamp: packet.stamp, flight: flight))
        self[side].sentEnd = end
        self[side].lastIdentification = packet.identification
        self[side].lastStamp = packet.stamp
        if packet.length > 0 { noteSmall(packet, end: end) }
    }

    private mutating func readMessage(_ packet: DiagnosedPacket, _ payload: Span<UInt8>) {
        let side = packet.side
        self[side].progress.read(payload, from: side, packet: packet.number, time: packet.time)
        if side == .server, self[.client].progress.http.isHead { self[side].progress.skipBody() }
        guard side == .client else { return }
        let isIncomplete = self[side].progress.isIncomplete || self[side].progress.kind == .undecided
        if self[side].drip != nil {
            self[side].drip?.segments += 1
            self[side].drip?.bytes += packet.length
            self[side].drip?.last = packet.time
            self[side].drip?.lastPacket = packet.number
        } else if isIncomplete {
            self[side].drip = .init(
                since: packet.time, last: packet.time, firstPacket: packet.number, lastPacket: packet.number,
                bytes: packet.length)
        }
        if !isIncomplete, let drip = self[side].drip {
            if drip.isSlow, self[side].worstDrip == nil { self[side].worstDrip = drip }
            self[side].drip = nil
        }
    }

    private mutating func noteSmall(_ packet: DiagnosedPacket, end: Int64) {
        let side = packet.side
        let size = segmentSize(of: side)
        self[side].small = Int64(packet.length) < size ? (packet.time, end, packet.number) : nil
        self[side].smallAcknowledged = nil
        let fills = self[side].edges.last.map { $0.edge == end } ?? false
        if fills, Int64(packet.length) < size / 4, !self[side].isRoomUnknown {
            self[side].sillyCount += 1
            self[side].sillyEvidence.add(packet.number)
        }
    }

    /// Recognizes a segment that was held back until the small segment before it was acknowledged.
    private mutating func noteNagle(_ packet: DiagnosedPacket) {
        let side = packet.side
        guard packet.length > 0, let small = self[side].small, let acknowledged = self[side].smallAcknowledged,
            lastData?.side == side
        else { return }
        let late = acknowledged.time - small.time - delay(to: side.opposite)
        let held = packet.time - acknowledged.time
        guard late >= 30_000_000, held <= delay(to: side) + 2_000_000 else { return }
        let claimed = budget.claim(.nagle, from: small.time, until: packet.time)
        guard claimed > 0 else { return }
        self[side].nagleCount += 1
        self[side].nagleTime += claimed
        self[side].nagleEvidence.add(small.packet)
        self[side].nagleEvidence.add(acknowledged.packet)
        self[side].nagleEvidence.add(packet.number)
        if held > 2_000_000 { self[side].isNagleProven = false }
    }

    /// Measures how long a side took to send data after data of its peer.
    private mutating func noteAnswer(_ packet: DiagnosedPacket) {
        let side = packet.side
        guard let last = lastData else {
            // The first data after the handshake, such as a greeting.
            guard side == .server, let end = handshakeEnd else { return }
            let wait = packet.time - end - delay(to: .server)
            guard wait >= 0, !client.progress.isIncomplete else { return }
            server.answers.append(wait)
            server.slowestAnswer = (wait, set.completion?.packet ?? packet.number, packet.number)
            return
        }
        guard last.side != side else { return }
        let wait = packet.time - last.time - delay(to: side)
        guard wait >= 0 else { return }
        if wait >= 2_000_000_000, client.progress.kind == .tls,
            !(client.progress.tls.hasApplicationData && server.progress.tls.hasApplicationData),
            wait > tlsStall?.wait ?? 0
        {
            tlsStall = (side, wait, self[side.opposite].lastDataPacket, packet.number)
        }
        self[side].answers.append(wait)
        if wait > self[side].slowestAnswer?.wait ?? -1 {
            self[side].slowestAnswer = (wait, self[side.opposite].lastDataPacket, packet.number)
        }
        let isAcknowledged = self[side.opposite].acknowledgedTime >= last.time || wait < 500_000_000
        if !isAcknowledged { self[side].isAnswerAcknowledged = false }
        if 500_000_000...10_000_000_000 ~= wait {
            self[side].pauseCount += 1
            self[side].pauseTime += wait
            self[side].pauseEvidence.add(packet.number)
        }
    }

    private mutating func noteUnanswered(_ packet: DiagnosedPacket, isKeepAlive: Bool) {
        let side = packet.side
        if isKeepAlive {
            if self[side].unansweredKeepAlives.count == 0 { self[side].unansweredKeepAlives.since = packet.time }
            self[side].unansweredKeepAlives.count += 1
            self[side].unansweredKeepAlives.evidence.add(packet.number)
            return
        }
        if self[side].unanswered.count == 0 { self[side].unanswered.since = packet.time }
        // New data does not count: a sender may send many segments before the first acknowledgment arrives.
        if self[side].unanswered.count == 0 || packet.kind != .new { self[side].unanswered.count += 1 }
        self[side].unanswered.evidence.add(packet.number)
    }

    /// The round trip of the data, without the handshake; `nil` if it was not measured.
    var laterRoundTrip: Int64? {
        switch (client.shortestDataDelay, server.shortestDataDelay) {
        case (nil, nil): nil
        case (let one, let other): (one ?? 0) + (other ?? 0)
        }
    }

    /// The time after which a side can't be expected to send more: that of the first FIN or obeyed RST; `nil` if there
    /// is none.
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
        // Times that go backwards may make a flow longer or shorter than the sum of its intervals.
        budget.correct(by: duration - budget.total)
    }

    /// Called at an RST, before it is known whether its receiver obeys it.
    mutating func settleBeforeReset(at time: Int64) {
        settle(.none, at: time)
        if beforeReset == nil { beforeReset = budget }
    }

    /// Marks the time since the last data or FIN as spent in `state`.
    mutating func markWaiting(_ state: FlowState, since time: Int64) {
        for index in waiting.indices where waiting[index].end > time { waiting[index].state = state }
    }

    mutating func open(at time: Int64) {
        phase = .open
        handshakeEnd = time
    }
}

/// A packet of a flow, with positions relative to the SYNs of the two sides.
struct DiagnosedPacket {
    var side: ConversationSide
    var time: Int64
    /// The number of the packet in the capture, counting from 1.
    var number: Int
    var kind: SegmentKind
    var flags: TCPFlags
    /// The position of the first byte; the SYN is at 0.
    var start: Int64
    var length: Int
    var acknowledgment: Int64?
    var window: Int
    var isDuplicateAck: Bool
    var isZeroWindow: Bool
    var stamp: UInt32?
    var echo: UInt32?
    var identification: UInt16
}
