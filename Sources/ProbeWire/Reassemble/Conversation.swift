package import ProbeBase

/// A captured TCP connection: both directions, reassembled, with each packet classified.
///
/// Packets are added in the order in which they were captured. No packet is decoded twice, and the cost of a packet is
/// linear in its length.
package struct Conversation: Sendable {
    // Every packet touches the first 64 bytes of the connection and the first 64 bytes of each of its two flows, so
    // each of these parts occupies one cache line.

    package let client: SocketEndpoint
    /// Whether both SYNs have been captured, but not the acknowledgment that completes the handshake.
    private(set) var isHandshakeOpen = false
    private var hasHandshake = false
    package let server: SocketEndpoint
    private(set) var negotiated = NegotiatedOptions()
    private var earliest = UInt64.max
    private var latest: UInt64 = 0
    package internal(set) var fromClient: HalfConnection
    private var storedNumber: Int32
    /// The index of the first packet in the capture, which determines the order of the connections in a table.
    private(set) var firstPacketIndex = -1
    private var handshakeEnd: UInt64 = 0
    package internal(set) var fromServer: HalfConnection

    /// The number of the connection in its table, counting from 0.
    package internal(set) var number: Int {
        get { Int(storedNumber) }
        set { storedNumber = Int32(newValue) }
    }

    /// The time at which both SYNs had been acknowledged.
    package var handshakeTime: UInt64? { hasHandshake ? handshakeEnd : nil }

    /// The time of the earliest packet, which need not be the first packet, because the timestamps of the two
    /// directions may be out of order.
    package var firstTime: UInt64? { packetCount == 0 ? nil : earliest }
    package var lastTime: UInt64? { packetCount == 0 ? nil : latest }

    package init(
        client: SocketEndpoint, server: SocketEndpoint, number: Int = 0, limits: ConversationLimits = .live
    ) {
        self.init(client: client, server: server, number: number, blank: HalfConnection(limits: limits))
    }

    /// Creates a connection without packets.
    ///
    /// - Parameter blank: the initial value of both flows.
    init(client: SocketEndpoint, server: SocketEndpoint, number: Int, blank: HalfConnection) {
        self.client = client
        self.server = server
        storedNumber = Int32(number)
        fromClient = blank
        fromServer = blank
    }

    package func halfConnection(from side: ConversationSide) -> HalfConnection {
        side == .client ? fromClient : fromServer
    }

    package var packetCount: Int { fromClient.packetCount + fromServer.packetCount }

    package func endpoint(of side: ConversationSide) -> SocketEndpoint {
        side == .client ? client : server
    }

    /// Whether both sides have sent a FIN, or one side has sent an RST.
    @inline(__always)
    package var isClosed: Bool {
        fromClient.rst != nil || fromServer.rst != nil || (fromClient.fin != nil && fromServer.fin != nil)
    }

    /// Updates the negotiated options after each SYN. All later packets are interpreted according to them.
    private mutating func negotiate() {
        let client = fromClient.synCapabilities
        let server = fromServer.synCapabilities
        negotiated.isSACKInUse = (client?.isSACKPermitted ?? false) && (server?.isSACKPermitted ?? false)
        negotiated.clientShift = HalfConnection.windowShift(own: client, peer: server)
        negotiated.serverShift = HalfConnection.windowShift(own: server, peer: client)
    }

    /// Adds the next packet. `payload` is the captured part of the packet's payload, and `index` is the packet's number
    /// in the capture.
    @discardableResult
    package mutating func add(
        _ packet: DecodedTCP, payload: Span<UInt8>, time: UInt64, index: Int
    ) -> PacketSummary {
        noteTime(time)
        if firstPacketIndex < 0 { firstPacketIndex = index }
        let opening = (fromClient.initialSequence, fromServer.initialSequence)
        let wasLimited = fromClient.stream.hasReachedLimit || fromServer.stream.hasReachedLimit
        let side: ConversationSide = packet.source == client ? .client : .server
        var summary =
            side == .client
            ? Self.exchange(
                packet, payload, time, index, from: &fromClient, to: &fromServer, negotiated.isSACKInUse,
                negotiated.clientShift)
            : Self.exchange(
                packet, payload, time, index, from: &fromServer, to: &fromClient, negotiated.isSACKInUse,
                negotiated.serverShift)
        if packet.isSYN || opening != (fromClient.initialSequence, fromServer.initialSequence) { negotiate() }
        summary.side = side
        summary.conversation = number
        summary.hasReachedLimit =
            !wasLimited && (fromClient.stream.hasReachedLimit || fromServer.stream.hasReachedLimit)
        isHandshakeOpen =
            !hasHandshake && fromClient.initialSequence != nil && fromServer.initialSequence != nil
        if isHandshakeOpen, (fromClient.acknowledgedEnd ?? -1) >= 0, (fromServer.acknowledgedEnd ?? -1) >= 0 {
            handshakeEnd = time
            hasHandshake = true
            noteHandshakeRoundTrip()
            isHandshakeOpen = false
        }
        return summary
    }

    /// The time from the SYN to the end of the handshake, in nanoseconds; `nil` if a SYN was sent twice, because it is
    /// unknown which SYN was answered (Karn's algorithm).
    package var handshakeRoundTrip: Int64? {
        guard hasHandshake, let client = fromClient.synTime, let server = fromServer.synTime,
            !fromClient.hasRepeatedSYN, !fromServer.hasRepeatedSYN
        else { return nil }
        return DurationText.difference(from: min(client, server), to: handshakeEnd)
    }

    private mutating func noteHandshakeRoundTrip() {
        guard let trip = handshakeRoundTrip, trip > 0 else { return }
        fromClient.roundTripUnits = 0
        fromServer.roundTripUnits = 0
        fromClient.noteRoundTrip(UInt64(trip))
        fromServer.noteRoundTrip(UInt64(trip))
    }

    @inline(__always)
    mutating func noteTime(_ time: UInt64) {
        earliest = min(earliest, time)
        latest = max(latest, time)
    }

    /// The number of bytes that the two streams hold in memory.
    @inline(__always)
    var heldBytes: Int { fromClient.stream.heldBytes + fromServer.stream.heldBytes }

    @inline(__always)
    var hasWaiting: Bool { fromClient.stream.hasWaiting || fromServer.stream.hasWaiting }

    var hasLateBytes: Bool { fromClient.stream.hasLateBytes || fromServer.stream.hasLateBytes }

    /// Stops waiting for missing bytes that their receivers have acknowledged; see `HalfConnection.giveUpReceived`.
    mutating func giveUpReceived() {
        fromClient.giveUpReceived()
        fromServer.giveUpReceived()
    }

    /// Releases the memory of one side's stream; see `StreamAssembler.release`.
    mutating func release(_ side: ConversationSide) {
        if side == .client { fromClient.stream.release() } else { fromServer.stream.release() }
    }

    mutating func takeParts(from side: ConversationSide) -> [StreamPart] {
        side == .client ? fromClient.stream.takeParts() : fromServer.stream.takeParts()
    }

    /// Ends the connection after the last packet. Bytes that were waiting after a gap are added to the stream, and the
    /// gaps are reported.
    package mutating func finish() {
        fromClient.finish()
        fromServer.finish()
    }

    private static func exchange(
        _ tcp: DecodedTCP, _ payload: Span<UInt8>, _ time: UInt64, _ index: Int, from sender: inout HalfConnection,
        to receiver: inout HalfConnection, _ isSACKInUse: Bool, _ shift: UInt8?
    ) -> PacketSummary {
        let isFirst = sender.base == nil
        let isBaseKnown = sender.base != nil && !sender.isBaseGuessed
        let taken = sender.take(
            tcp, payload: payload, time: time, index: index,
            isPeerWindowShut: receiver.window.isShut, isSACKInUse: isSACKInUse)
        sender.noteSYN(tcp, time: time)
        if taken.hasRestarted, receiver.hasRST { receiver.resetWatch?.peerEnd = -1 }
        let acknowledged = receiver.acknowledgedOffset(by: tcp)
        let previous = receiver.acknowledgedEnd
        if let acknowledged {
            receiver.noteAcknowledgment(
                acknowledged, duplicate: receiver.duplicateRange(tcp, acknowledged: acknowledged),
                echo: tcp.options.timestamp?.echo, time: time)
        }
        sender.noteClose(taken.place, acknowledged: acknowledged, time: time, index: index)
        if tcp.flags.contains(.rst) {
            sender.noteRST(
                taken.place, acknowledged: acknowledged, isFirst: isFirst, isBaseKnown: isBaseKnown, peer: receiver,
                time: time, index: index)
        } else if taken.kind != .outOfWindow {
            if sender.hasRST { sender.watchReset(own: taken.place, peer: nil, acknowledged: acknowledged) }
            if receiver.hasRST { receiver.watchReset(own: nil, peer: taken.place, acknowledged: acknowledged) }
        }
        // The window in a SYN is never scaled.
        let window = Int(tcp.window) << (tcp.isSYN ? 0 : Int(shift ?? 0))
        let before = sender.window.last
        let isBare = tcp.payloadLength == 0 && tcp.flags.isDisjoint(with: [.syn, .fin, .rst])
        let repeatsAck = isBare && taken.kind == .control && acknowledged != nil && acknowledged == previous
        let reportsGap = receiver.reportsGap(tcp, acknowledged: acknowledged)
        // If the capture contains no packets of a side, what that side sent is unknown, but a SACK block shows that it
        // sent data.
        let isOutstanding = receiver.sentEnd > (acknowledged ?? 0) || (receiver.packetCount == 0 && reportsGap)
        let isDuplicate = repeatsAck && before == window && isOutstanding && window > 0
        if isDuplicate {
            receiver.duplicateAcks &+= 1
            if receiver.duplicateAcks == 3 { receiver.recovery.thirdDuplicateTime = time }
            sender.signals.duplicates += 1
        }
        if taken.kind == .keepAlive { sender.signals.keepAlives += 1 }
        if reportsGap { sender.signals.sacks += 1 }
        // The window field of a reset has no meaning, and Linux sets it to 0.
        if !tcp.flags.contains(.rst) {
            sender.window.note(
                window, isScaleKnown: tcp.isSYN || shift != nil, time: time, packetIndex: index,
                limit: sender.limits.keptEvents)
        }
        return PacketSummary(
            conversation: 0, side: .client, time: time, packetIndex: index, flags: tcp.flags,
            relativeSequence: taken.place.start + 1, relativeAcknowledgment: acknowledged.map { $0 + 1 },
            window: window, payloadLength: tcp.payloadLength, payloadIsCut: tcp.payloadIsCut, kind: taken.kind,
            isDuplicateAck: isDuplicate, isWindowUpdate: repeatsAck && (before ?? window) != window,
            isZeroWindow: window == 0 && tcp.flags.isDisjoint(with: [.rst, .syn]),
            hasConflict: taken.hasConflict && taken.kind != .keepAlive, isUrgent: tcp.flags.contains(.urg),
            hasReachedLimit: false)
    }
}

/// The parameters negotiated by the options of both SYNs.
struct NegotiatedOptions {
    /// Whether both SYNs were captured and permit SACK.
    var isSACKInUse = false
    // The window shifts of both sides; -1 if unknown. Optionals would be larger, and would extend beyond the cache
    // line.
    private var client: Int8 = -1
    private var server: Int8 = -1

    /// The client's window shift; `nil` if it is unknown because a SYN was not captured.
    @inline(__always)
    var clientShift: UInt8? {
        get { UInt8(exactly: client) }
        set { client = newValue.map { Int8(clamping: $0) } ?? -1 }
    }
    @inline(__always)
    var serverShift: UInt8? {
        get { UInt8(exactly: server) }
        set { server = newValue.map { Int8(clamping: $0) } ?? -1 }
    }
}
