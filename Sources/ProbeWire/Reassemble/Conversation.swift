package import ProbeBase

/// One TCP connection as it was captured: both directions, put in order and classified packet by packet.
///
/// Packets are added in the order of the capture. Nothing is decoded twice, and a packet costs no more than its bytes.
package struct Conversation: Sendable {
    // The first 64 bytes are what every packet touches: a cache line of their own (`ConversationList`), as are those of each flow.

    package let client: SocketEndpoint
    /// Both SYNs were captured, and not yet the acknowledgment that completes the handshake.
    private(set) var isHandshakeOpen = false
    private var hasHandshake = false
    package let server: SocketEndpoint
    private(set) var agreement = Agreement()
    private var earliest = UInt64.max
    private var latest: UInt64 = 0
    package internal(set) var fromClient: HalfConnection
    private var storedNumber: Int32
    /// In the capture; by it the connections of a table are in order.
    private(set) var firstPacketIndex = -1
    private var handshakeEnd: UInt64 = 0
    package internal(set) var fromServer: HalfConnection

    /// In its table, from 0.
    package internal(set) var number: Int {
        get { Int(storedNumber) }
        set { storedNumber = Int32(newValue) }
    }

    /// When both SYNs had been acknowledged.
    package var handshakeTime: UInt64? { hasHandshake ? handshakeEnd : nil }

    /// Earliest and latest; times may go backwards between the directions.
    package var firstTime: UInt64? { packetCount == 0 ? nil : earliest }
    package var lastTime: UInt64? { packetCount == 0 ? nil : latest }

    /// What the options of both SYNs come to.
    struct Agreement {
        /// Both SYNs were captured and permit it.
        var isSACKInUse = false
        // -1 where it is not known: an optional would be larger, and beyond the cache line.
        private var client: Int8 = -1
        private var server: Int8 = -1

        /// nil where a SYN that decides it was not captured.
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

    package init(
        client: SocketEndpoint, server: SocketEndpoint, number: Int = 0, limits: ConversationLimits = .live
    ) {
        self.init(client: client, server: server, number: number, blank: HalfConnection(limits: limits))
    }

    /// - Parameter blank: how each of its flows begins.
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

    /// Both sides have sent a FIN, or one an RST.
    @inline(__always)
    package var isClosed: Bool {
        fromClient.rst != nil || fromServer.rst != nil || (fromClient.fin != nil && fromServer.fin != nil)
    }

    /// After each SYN: what every later packet is read by.
    private mutating func agree() {
        let client = fromClient.synAbilities
        let server = fromServer.synAbilities
        agreement.isSACKInUse = (client?.isSACKPermitted ?? false) && (server?.isSACKPermitted ?? false)
        agreement.clientShift = HalfConnection.windowShift(own: client, peer: server)
        agreement.serverShift = HalfConnection.windowShift(own: server, peer: client)
    }

    /// Takes the next packet of this connection. `payload` is what was captured of it, `index` its number in the capture.
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
                packet, payload, time, index, from: &fromClient, to: &fromServer, agreement.isSACKInUse,
                agreement.clientShift)
            : Self.exchange(
                packet, payload, time, index, from: &fromServer, to: &fromClient, agreement.isSACKInUse,
                agreement.serverShift)
        if packet.isSYN || opening != (fromClient.initialSequence, fromServer.initialSequence) { agree() }
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

    /// The nanoseconds from the SYN to the end of the handshake; nil if a SYN was sent twice, because which one was answered is not known
    /// (Karn).
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

    /// Bytes of both streams in memory.
    @inline(__always)
    var heldBytes: Int { fromClient.stream.heldBytes + fromServer.stream.heldBytes }

    @inline(__always)
    var hasWaiting: Bool { fromClient.stream.hasWaiting || fromServer.stream.hasWaiting }

    var hasLateBytes: Bool { fromClient.stream.hasLateBytes || fromServer.stream.hasLateBytes }

    /// See `HalfConnection.giveUpReceived`.
    mutating func giveUpReceived() {
        fromClient.giveUpReceived()
        fromServer.giveUpReceived()
    }

    /// See `StreamAssembler.release`.
    mutating func release(_ side: ConversationSide) {
        if side == .client { fromClient.stream.release() } else { fromServer.stream.release() }
    }

    mutating func takeParts(from side: ConversationSide) -> [StreamPart] {
        side == .client ? fromClient.stream.takeParts() : fromServer.stream.takeParts()
    }

    /// No more packets will come: what waited behind a gap joins the stream, and the gaps are reported.
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
        // A SYN's own window is never scaled.
        let window = Int(tcp.window) << (tcp.isSYN ? 0 : Int(shift ?? 0))
        let before = sender.window.last
        let isBare = tcp.payloadLength == 0 && tcp.flags.isDisjoint(with: [.syn, .fin, .rst])
        let repeatsAck = isBare && taken.kind == .control && acknowledged != nil && acknowledged == previous
        let reportsGap = receiver.reportsGap(tcp, acknowledged: acknowledged)
        // If a side is not in the capture, what it sent is unknown, but a SACK block shows that it sent something.
        let isOutstanding = receiver.sentEnd > (acknowledged ?? 0) || (receiver.packetCount == 0 && reportsGap)
        let isDuplicate = repeatsAck && before == window && isOutstanding && window > 0
        if isDuplicate {
            receiver.duplicateAcks &+= 1
            if receiver.duplicateAcks == 3 { receiver.recovery.thirdDuplicateTime = time }
            sender.signals.duplicates += 1
        }
        if taken.kind == .keepAlive { sender.signals.keepAlives += 1 }
        if reportsGap { sender.signals.sacks += 1 }
        // A reset's window means nothing, and Linux sends 0 there.
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
