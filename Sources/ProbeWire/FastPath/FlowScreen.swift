import ProbeBase

/// Screens the flows of a capture: finds those that may have a problem, so that only these need to be diagnosed.
///
/// Most flows of a large capture are healthy, and diagnosing a flow takes many times as long as following it. A flow that
/// the screen passes must not have any finding that is more than a note. Each rule is therefore a necessary condition of
/// some findings, with a margin, and needs only a few numbers per flow. A flow that is suspected without reason costs
/// time, and nothing else.
package struct FlowScreen: Sendable {
    /// The reasons to examine a flow.
    package struct Suspicion: OptionSet, Sendable {
        package let rawValue: UInt16
        package init(rawValue: UInt16) { self.rawValue = rawValue }

        /// A packet was lost, sent again, late, a late copy or a reset, or closed the window.
        static let unusual = Suspicion(rawValue: 1)
        /// The handshake was slow or is missing, or its options are odd.
        static let handshake = Suspicion(rawValue: 2)
        /// Neither side sent data for a while.
        static let pause = Suspicion(rawValue: 4)
        /// A queue may have delayed data before or after the capture point.
        static let queue = Suspicion(rawValue: 8)
        /// The receiver's window may have held back data.
        static let window = Suspicion(rawValue: 16)
        /// Small segments may have been held back until an acknowledgment arrived.
        static let heldBack = Suspicion(rawValue: 32)
        /// A stream begins like TLS, whose records must be read.
        static let records = Suspicion(rawValue: 64)
        /// The client may have sent a request very slowly, or a message may be incomplete.
        static let message = Suspicion(rawValue: 128)
        /// The times of the packets go backward, or the flow lasts too long to be screened.
        static let clock = Suspicion(rawValue: 256)
        /// The flow was not closed, or not everything was acknowledged.
        static let end = Suspicion(rawValue: 512)
        /// Another flow has the same endpoints, or an ICMP error quotes the flow.
        static let others = Suspicion(rawValue: 1024)
    }

    /// What is known about one side of a flow. Times are in ticks since the flow's first packet, plus 1, so that 0 means
    /// that there is none. Positions are the low 32 bits of offsets.
    struct Side {
        /// The time at which the current round began: with a segment, or with the end of the previous round if data was
        /// outstanding then. A round ends when everything is acknowledged that had been sent when it began, so no
        /// segment waits for its acknowledgment longer than two successive rounds.
        var roundStart: UInt32 = 0
        var roundEnd: UInt32 = 0
        /// The shortest time from a packet of the peer to this side's acknowledgment.
        var delay = UInt32.max
        /// The edge of the window that the peer advertised at `edgeTime`, an edge that it advertised at least `delay`
        /// earlier, and that this side therefore knew, and the edge that the side knew when it last sent data.
        var edgeTime: UInt32 = 0
        var edge: UInt32 = 0
        var knownEdge: UInt32 = 0
        var olderEdge: UInt32 = 0
        /// The side's first and last timestamps after its SYN, and their times.
        var firstStamp: UInt32 = 0
        var firstStampTime: UInt32 = 0
        var lastStamp: UInt32 = 0
        var lastStampTime: UInt32 = 0
        /// The timestamp that the side's last data echoed.
        var echo: UInt32 = 0
        /// The time of the side's last data.
        var lastData: UInt32 = 0
        /// The time of the side's last segment if it was small, or the time at which it was acknowledged late.
        var small: UInt32 = 0
        /// The time that the acknowledgment of the small segment took, in ticks; 0 while it is awaited.
        var late: UInt32 = 0
        /// Whether the round began with a segment, so that it measures a round trip.
        var isSample = false
        /// Whether enough data was outstanding during the round to fill a queue.
        var isLoaded = false
        /// Whether the stream may be HTTP, in which a message can be incomplete.
        var mayBeHTTP = false
    }

    /// What concerns both sides.
    struct Common {
        var suspicion: Suspicion = []
        /// The larger of the two maximum segment sizes.
        var segmentSize: UInt16 = 0
        /// The number of segments that may have been held back, and the time that this cost.
        var heldCount: UInt16 = 0
        /// The number of segments of the client that a request sent in drips may consist of.
        var tinyCount: UInt16 = 0
        /// The number of answers of the server, and how many of them were late.
        var answerCount: UInt16 = 0
        var lateAnswerCount: UInt16 = 0
        var origin: UInt64 = 0
        var last: UInt32 = 0
        /// The time of the last data or FIN, or of the end of the handshake.
        var lastData: UInt32 = 0
        var heldTime: UInt32 = 0
    }

    struct State {
        var common = Common()
        var client = Side()
        var server = Side()
    }

    /// A packet that has been added to its conversation. The offsets are those of its sender's stream and of the peer's
    /// stream after the packet.
    struct Packet {
        var time: UInt64
        /// The length of the payload.
        var length: Int
        var sentEnd: Int64
        var acknowledged: Int64
        var peerEnd: Int64
        var peerAcknowledged: Int64
        /// The window that the packet advertises, in bytes.
        var window: Int
        var stamp: UInt32?
        var echo: UInt32?

        var outstanding: Int64 { sentEnd &- acknowledged }

        @inline(__always)
        init(
            _ segment: FastPathSegment, time: UInt64, from own: borrowing HalfConnection,
            to peer: borrowing HalfConnection
        ) {
            self.time = time
            length = segment.payload.count
            sentEnd = own.sentEnd
            acknowledged = own.acknowledged
            peerEnd = peer.sentEnd
            peerAcknowledged = peer.acknowledged
            window = own.window.last ?? 0
            stamp = segment.stamp
            echo = segment.echo
        }

        init(_ summary: PacketSummary, _ tcp: DecodedTCP, _ conversation: borrowing Conversation) {
            time = summary.time
            length = summary.payloadLength
            let isClient = summary.side == .client
            sentEnd = isClient ? conversation.fromClient.sentEnd : conversation.fromServer.sentEnd
            acknowledged =
                (isClient ? conversation.fromClient.acknowledgedEnd : conversation.fromServer.acknowledgedEnd) ?? 0
            peerEnd = isClient ? conversation.fromServer.sentEnd : conversation.fromClient.sentEnd
            peerAcknowledged =
                (isClient ? conversation.fromServer.acknowledgedEnd : conversation.fromClient.acknowledgedEnd) ?? 0
            window = summary.window
            stamp = tcp.options.timestamp?.value
            echo = tcp.options.timestamp?.echo
        }
    }

    private(set) var states: [State] = []
    /// The periods without any packets.
    private(set) var silences = SilentPeriods()

    package init() {}

    // A tick is 1.024 µs, so that 32 bits suffice for 73 minutes.
    static let tickBits: UInt64 = 10
    // Each limit is below the threshold of every finding that depends on it.
    private static let longestHandshake = ticks(190)
    private static let longestPause = ticks(490)
    private static let lateAnswer = ticks(190)
    private static let longestRound = ticks(49)
    static let longestMessagePause = ticks(1_900)
    private static let longestEcho = ticks(95)
    private static let shortGap = ticks(3.1)
    private static let lateAcknowledgment = ticks(29)
    private static let promptly = ticks(2.1)
    private static let heldTime = ticks(95)
    static let dripTime = ticks(9_900)
    private static let immediate: UInt64 = 1_000_000
    static let silence: UInt64 = 500_000_000
    /// The number of bytes in flight that can fill a queue, as in the diagnosis: three full segments.
    private static let queueingFlight: Int64 = 3 * 1_460
    private static let smallestSegmentSize: UInt16 = 1_220
    /// The maximum segment size that is assumed if a SYN does not announce one, as in the diagnosis.
    private static let usualSegmentSize: UInt16 = 1_460
    private static let tinyLength = 500
    static let tinyCount = 5
    static let leastKeptAnswers = 32
    static let mostKeptAnswers = 64
    private static let heldCount = 3

    private static func ticks(_ milliseconds: Double) -> UInt32 { UInt32(milliseconds * 1e6 / 1024) }

    // MARK: Packets

    /// Adds an ordinary packet: it carries data in order, or acknowledges data.
    ///
    /// - Parameter firstByte: the first byte of the stream, if the packet carries it.
    @inline(__always)
    mutating func note(_ packet: Packet, of number: Int, from side: ConversationSide, firstByte: UInt8?) {
        silences.note(packet.time)
        guard number < states.count, states[number].common.suspicion.isEmpty else { return }
        Self.note(packet, &states[number], from: side, firstByte: firstByte)
    }

    @inline(__always)
    private static func note(_ packet: Packet, _ state: inout State, from side: ConversationSide, firstByte: UInt8?) {
        guard let now = advance(&state.common, to: packet.time) else { return }
        if let firstByte { noteStart(firstByte, &state, from: side) }
        switch side {
        case .client: note(packet, at: now, &state.client, &state.server, &state.common, isClient: true)
        case .server: note(packet, at: now, &state.server, &state.client, &state.common, isClient: false)
        }
    }

    private static func noteStart(_ byte: UInt8, _ state: inout State, from side: ConversationSide) {
        if 20...24 ~= byte { state.common.suspicion.insert(.records) }
        if 65...90 ~= byte {
            if side == .client { state.client.mayBeHTTP = true } else { state.server.mayBeHTTP = true }
        }
    }

    /// Returns a time in ticks since the flow's first packet, plus 1.
    @inline(__always)
    private static func advance(_ common: inout Common, to time: UInt64) -> UInt32? {
        guard time >= common.origin, let now = UInt32(exactly: (time &- common.origin) >> tickBits &+ 1),
            now >= common.last
        else {
            common.suspicion.insert(.clock)
            return nil
        }
        common.last = now
        return now
    }

    @inline(__always)
    private static func note(
        _ packet: Packet, at now: UInt32, _ own: inout Side, _ peer: inout Side, _ common: inout Common, isClient: Bool
    ) {
        endRound(packet, at: now, own: &own, peer: &peer, &common)
        if packet.length > 0 {
            sendData(packet, at: now, own: &own, peer: &peer, &common, isClient: isClient)
        }
        if let stamp = packet.stamp {
            if own.firstStampTime == 0 { (own.firstStamp, own.firstStampTime) = (stamp, now) }
            (own.lastStamp, own.lastStampTime) = (stamp, now)
        }
        let edge = UInt32(truncatingIfNeeded: packet.peerAcknowledged &+ Int64(packet.window))
        if peer.delay != .max, Int32(bitPattern: edge &- peer.edge) < 0 { common.suspicion.insert(.window) }
        if now - peer.edgeTime >= peer.delay {
            peer.knownEdge = peer.edge
            peer.edge = edge
            peer.edgeTime = now
        }
    }

    /// Examines what a packet acknowledges.
    @inline(__always)
    private static func endRound(
        _ packet: Packet, at now: UInt32, own: inout Side, peer: inout Side, _ common: inout Common
    ) {
        let acknowledged = UInt32(truncatingIfNeeded: packet.peerAcknowledged)
        if peer.roundStart != 0, Int32(bitPattern: acknowledged &- peer.roundEnd) >= 0 {
            let time = now - peer.roundStart
            if peer.isSample { own.delay = min(own.delay, time) }
            if peer.isLoaded, time >= longestRound { common.suspicion.insert(.queue) }
            let outstanding = packet.peerEnd &- packet.peerAcknowledged
            peer.isSample = false
            // A segment that was sent in this round may be acknowledged in the next one.
            peer.isLoaded = outstanding >= queueingFlight || (outstanding > 0 && peer.isLoaded)
            peer.roundStart = outstanding > 0 ? now : 0
            peer.roundEnd = UInt32(truncatingIfNeeded: packet.peerEnd)
        }
        if peer.small != 0, peer.late == 0, packet.peerAcknowledged >= packet.peerEnd {
            let time = now - peer.small
            peer.late = time >= lateAcknowledgment ? time : 0
            peer.small = time >= lateAcknowledgment ? now : 0
        }
    }

    /// Examines the data of a packet.
    @inline(__always)
    private static func sendData(
        _ packet: Packet, at now: UInt32, own: inout Side, peer: inout Side, _ common: inout Common, isClient: Bool
    ) {
        if now - common.lastData >= longestPause { common.suspicion.insert(.pause) }
        if own.mayBeHTTP, own.lastData != 0, now - own.lastData >= longestMessagePause {
            common.suspicion.insert(.message)
        }
        if !isClient, peer.lastData >= own.lastData { noteAnswer(packet, at: now, own, peer, &common) }
        common.lastData = now
        let isSmall = packet.length < Int(common.segmentSize)
        if own.late != 0, now - own.small <= promptly + min(own.delay, .max - promptly) {
            common.heldCount += 1
            common.heldTime += own.late + (now - own.small)
            if common.heldCount >= heldCount || common.heldTime >= heldTime { common.suspicion.insert(.heldBack) }
        }
        own.small = isSmall ? now : 0
        own.late = 0
        peer.small = 0
        peer.late = 0
        if isClient, packet.length <= tinyLength { common.tinyCount = min(common.tinyCount, .max - 1) + 1 }
        if own.roundStart == 0 {
            own.roundStart = now
            own.roundEnd = UInt32(truncatingIfNeeded: packet.sentEnd)
            own.isSample = true
            own.isLoaded = false
        }
        if packet.outstanding >= queueingFlight { own.isLoaded = true }
        let next = UInt32(truncatingIfNeeded: packet.sentEnd) &+ UInt32(common.segmentSize)
        if Int32(bitPattern: next &- own.knownEdge) > 0
            || Int32(bitPattern: UInt32(truncatingIfNeeded: packet.sentEnd) &- own.olderEdge) > 0
        {
            common.suspicion.insert(.window)
        }
        if let echo = packet.echo { noteEcho(echo, at: now, &own, peer, &common) }
        own.olderEdge = own.knownEdge
        own.lastData = now
    }

    /// Examines the timestamp of the peer that data echoes. If a queue before the capture point delays the data, the
    /// timestamp is old.
    @inline(__always)
    private static func noteEcho(
        _ echo: UInt32, at now: UInt32, _ own: inout Side, _ peer: Side, _ common: inout Common
    ) {
        defer { own.echo = echo }
        // The following segments of an answer echo the same timestamp as its first segment.
        guard echo != own.echo, peer.firstStampTime != 0 else { return }
        // The peer's clock may be coarse, so the timestamp may be older by one unit.
        let units = UInt64(max(1, Int32(bitPattern: peer.lastStamp &- peer.firstStamp)))
        let lag = UInt64(max(0, Int32(bitPattern: peer.lastStamp &- echo))) + 1
        let elapsed = UInt64(peer.lastStampTime - peer.firstStampTime)
        let age = min(
            UInt64(now - peer.lastStampTime) + lag * elapsed / units, UInt64(now - peer.firstStampTime))
        // After a pause, the data was not sent in response to the acknowledgment.
        guard age >= UInt64(longestEcho), UInt64(now - own.lastData) <= max(age / 4, UInt64(shortGap)) else { return }
        common.suspicion.insert(.queue)
    }

    /// Counts an answer of the server.
    @inline(__always)
    private static func noteAnswer(_ packet: Packet, at now: UInt32, _ own: Side, _ peer: Side, _ common: inout Common)
    {
        let wait = now - (peer.lastData == 0 ? common.lastData : peer.lastData)
        if wait >= lateAnswer { common.lateAnswerCount = min(common.lateAnswerCount, .max - 1) + 1 }
        // Data that crosses the request is no answer, and what follows an upgrade of HTTP may not be one.
        if packet.peerAcknowledged >= packet.peerEnd, !own.mayBeHTTP {
            common.answerCount = min(common.answerCount, .max - 1) + 1
        }
    }

    /// Adds any other packet, which `ConversationTable.add` has added to a conversation.
    ///
    /// - Parameter tcp: the packet itself; `nil` if it was reassembled from fragments.
    mutating func note(
        _ summary: PacketSummary, _ tcp: DecodedTCP?, payload: Span<UInt8>, of conversation: borrowing Conversation
    ) {
        silences.note(summary.time)
        let number = summary.conversation
        while number >= states.count { states.append(State()) }
        let isFirst = conversation.packetCount == 1
        if isFirst { states[number].common.origin = summary.time }
        guard states[number].common.suspicion.isEmpty else { return }
        if summary.kind == .copy, Self.isImmediate(summary, conversation) { return }
        guard let tcp, !Self.isUnusual(summary, conversation) else { return suspect(number, .unusual) }
        if tcp.isSYN {
            Self.noteSYN(summary, tcp, conversation, &states[number].common)
            _ = Self.advance(&states[number].common, to: summary.time)
            return
        }
        if isFirst { return suspect(number, .handshake) }
        let isStart = summary.relativeSequence == 1 && payload.count > 0
        Self.note(
            Packet(summary, tcp, conversation), &states[number], from: summary.side,
            firstByte: isStart ? payload[0] : nil)
        if summary.flags.contains(.fin) { Self.noteFIN(&states[number].common) }
        if conversation.handshakeTime != nil, states[number].common.lastData == 0 {
            Self.noteHandshake(conversation, &states[number])
        }
    }

    private static func isUnusual(_ summary: PacketSummary, _ conversation: borrowing Conversation) -> Bool {
        let isOrdinary = summary.kind == .new || summary.kind == .control
        return !isOrdinary || summary.flags.contains(.rst) || summary.isDuplicateAck || summary.isZeroWindow
            || summary.hasConflict || summary.hasReachedLimit || isIncomplete(conversation.fromClient)
            || isIncomplete(conversation.fromServer)
    }

    /// Returns whether a copy was captured within a millisecond of the original, which means nothing: the original is
    /// the packet with the side's last data, or the packet that first acknowledged what the copy acknowledges.
    private static func isImmediate(_ copy: PacketSummary, _ conversation: borrowing Conversation) -> Bool {
        guard copy.flags.isDisjoint(with: [.syn, .fin, .rst]) else { return false }
        let isClient = copy.side == .client
        let position: Int64
        let original: (position: Int64, time: UInt64)
        if copy.payloadLength > 0 {
            position = copy.relativeSequence - 1 + Int64(copy.payloadLength)
            original =
                isClient
                ? (conversation.fromClient.sentEnd, conversation.fromClient.tailTime)
                : (conversation.fromServer.sentEnd, conversation.fromServer.tailTime)
        } else {
            position = (copy.relativeAcknowledgment ?? 0) - 1
            original =
                isClient
                ? (conversation.fromServer.acknowledged, conversation.fromServer.acknowledgedTime)
                : (conversation.fromClient.acknowledged, conversation.fromClient.acknowledgedTime)
        }
        return position == original.position && copy.time >= original.time && copy.time - original.time <= immediate
    }

    /// Returns whether a part of a stream is missing so far, or the peer has acknowledged more than the capture contains.
    private static func isIncomplete(_ half: borrowing HalfConnection) -> Bool {
        half.missing != nil || half.stream.hasWaiting || (half.acknowledgedEnd ?? 0) > half.sentEnd
    }

    private static func noteSYN(
        _ summary: PacketSummary, _ tcp: DecodedTCP, _ conversation: borrowing Conversation, _ common: inout Common
    ) {
        let size = tcp.options.maximumSegmentSize ?? usualSegmentSize
        common.segmentSize = max(common.segmentSize, size)
        if size < smallestSegmentSize || summary.payloadLength > 0 || conversation.packetCount > 2 {
            common.suspicion.insert(.handshake)
        }
    }

    private static func noteFIN(_ common: inout Common) {
        if common.last - common.lastData >= longestPause { common.suspicion.insert(.pause) }
        common.lastData = common.last
    }

    /// Measures the handshake when it is complete.
    private static func noteHandshake(_ conversation: borrowing Conversation, _ state: inout State) {
        guard let syn = conversation.fromClient.synTime, let answer = conversation.fromServer.synTime, answer >= syn
        else {
            state.common.suspicion.insert(.handshake)
            return
        }
        let (start, end) = (UInt32(clamping: (answer - syn) >> tickBits), state.common.last)
        if end >= longestHandshake { state.common.suspicion.insert(.handshake) }
        state.server.delay = max(start, 1)
        state.client.delay = max(end - min(end, start), 1)
        state.common.lastData = end
        for side in [\State.client, \State.server] {
            let advertised = side == \State.client ? conversation.fromServer.window : conversation.fromClient.window
            let edge = UInt32(truncatingIfNeeded: advertised.last ?? 0)
            state[keyPath: side].olderEdge = edge
            state[keyPath: side].knownEdge = edge
            state[keyPath: side].edge = edge
            state[keyPath: side].edgeTime = end
        }
    }

    /// Adds an ICMP error about a packet of the flow.
    mutating func noteICMPError(_ number: Int, at time: UInt64) {
        silences.note(time)
        suspect(number, .others)
    }

    mutating func suspect(_ number: Int, _ reason: Suspicion) {
        while number >= states.count { states.append(State()) }
        states[number].common.suspicion.insert(reason)
    }

    mutating func merge(_ other: consuming FlowScreen, _ numbers: (own: [Int], other: [Int])) {
        var merged = [State](repeating: State(), count: numbers.own.count + numbers.other.count)
        for (old, state) in states.enumerated() { merged[numbers.own[old]] = state }
        for (old, state) in other.states.enumerated() { merged[numbers.other[old]] = state }
        states = merged
        silences.merge(other.silences)
    }
}
