/// One TCP connection as it was captured: both directions, put in order and classified packet by packet.
///
/// Packets are added in the order of the capture. Nothing is decoded twice, and a packet costs no more than its bytes.
package struct Conversation: Sendable {
    // In memory an array's first element stands 16 bytes before a cache line: what few packets touch takes them, and the two lines
    // behind them are what every packet touches.

    /// In its table, from 0.
    package let number: Int
    private var handshakeEnd: UInt64 = 0
    package let client: SocketEndpoint
    package let server: SocketEndpoint
    private var earliest = UInt64.max
    private var latest: UInt64 = 0
    private var hasHandshake = false
    private(set) var agreement = Agreement()
    /// Both SYNs were captured, and not yet the acknowledgment that completes the handshake.
    private(set) var isHandshakeOpen = false
    package internal(set) var fromClient: Flow
    package internal(set) var fromServer: Flow

    /// When both SYNs had been acknowledged.
    package var handshakeTime: UInt64? { hasHandshake ? handshakeEnd : nil }

    /// Earliest and latest; times may go backwards between the directions.
    package var firstTime: UInt64? { packetCount == 0 ? nil : earliest }
    package var lastTime: UInt64? { packetCount == 0 ? nil : latest }

    /// What the options of both SYNs come to.
    struct Agreement {
        /// Both SYNs were captured and permit it.
        var isSACKInUse = false
        /// nil where a SYN that decides it was not captured.
        var clientShift: UInt8?
        var serverShift: UInt8?
    }

    package init(
        client: SocketEndpoint, server: SocketEndpoint, number: Int = 0, limits: ConversationLimits = .live
    ) {
        self.init(client: client, server: server, number: number, sharing: SharedLimits(limits))
    }

    init(client: SocketEndpoint, server: SocketEndpoint, number: Int, sharing limits: SharedLimits) {
        self.client = client
        self.server = server
        self.number = number
        fromClient = Flow(sharing: limits)
        fromServer = Flow(sharing: limits)
    }

    package func flow(from side: ConversationSide) -> Flow {
        side == .client ? fromClient : fromServer
    }

    package var packetCount: Int { fromClient.packetCount + fromServer.packetCount }

    package func endpoint(of side: ConversationSide) -> SocketEndpoint {
        side == .client ? client : server
    }

    /// Both sides have sent a FIN, or one an RST.
    package var isClosed: Bool {
        fromClient.rst != nil || fromServer.rst != nil || (fromClient.fin != nil && fromServer.fin != nil)
    }

    /// After each SYN: what every later packet is read by.
    private mutating func agree() {
        let client = fromClient.synOptions
        let server = fromServer.synOptions
        agreement.isSACKInUse = (client?.isSACKPermitted ?? false) && (server?.isSACKPermitted ?? false)
        agreement.clientShift = Flow.windowShift(own: client, peer: server)
        agreement.serverShift = Flow.windowShift(own: server, peer: client)
    }

    /// Takes the next packet of this connection. `payload` is what was captured of it, `index` its number in the capture.
    @discardableResult
    package mutating func add(
        _ packet: DecodedTCP, payload: Span<UInt8>, time: UInt64, index: Int
    ) -> PacketSummary {
        noteTime(time)
        let wasLimited = fromClient.stream.hasReachedLimit || fromServer.stream.hasReachedLimit
        let fact = PacketFacts(packet, time: time, index: index)
        let side: ConversationSide = packet.source == client ? .client : .server
        var summary =
            side == .client
            ? Self.exchange(
                fact, payload, from: &fromClient, to: &fromServer, agreement.isSACKInUse, agreement.clientShift)
            : Self.exchange(
                fact, payload, from: &fromServer, to: &fromClient, agreement.isSACKInUse, agreement.serverShift)
        if packet.isSYN { agree() }
        summary.side = side
        summary.conversation = number
        summary.hasReachedLimit =
            !wasLimited && (fromClient.stream.hasReachedLimit || fromServer.stream.hasReachedLimit)
        isHandshakeOpen =
            !hasHandshake && fromClient.initialSequence != nil && fromServer.initialSequence != nil
        if isHandshakeOpen, (fromClient.acknowledgedEnd ?? -1) >= 0, (fromServer.acknowledgedEnd ?? -1) >= 0 {
            handshakeEnd = time
            hasHandshake = true
            isHandshakeOpen = false
        }
        return summary
    }

    @inline(__always)
    mutating func noteTime(_ time: UInt64) {
        earliest = min(earliest, time)
        latest = max(latest, time)
    }

    /// Bytes of both streams in memory.
    var heldBytes: Int { fromClient.stream.heldBytes + fromServer.stream.heldBytes }

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

    private struct PacketFacts {
        var tcp: DecodedTCP
        var time: UInt64
        var index: Int

        init(_ tcp: DecodedTCP, time: UInt64, index: Int) {
            self.tcp = tcp
            self.time = time
            self.index = index
        }
    }

    private static func exchange(
        _ packet: PacketFacts, _ payload: Span<UInt8>, from sender: inout Flow, to receiver: inout Flow,
        _ isSACKInUse: Bool, _ shift: UInt8?
    ) -> PacketSummary {
        let tcp = packet.tcp
        let taken = sender.take(
            tcp, payload: payload, time: packet.time, index: packet.index,
            isPeerWindowShut: receiver.window.isShut, isSACKInUse: isSACKInUse)
        sender.noteSYN(tcp, time: packet.time)
        let acknowledged = receiver.acknowledgedOffset(by: tcp)
        let previous = receiver.acknowledgedEnd
        if let acknowledged {
            receiver.noteAcknowledgment(
                acknowledged, duplicate: receiver.duplicateRange(tcp, acknowledged: acknowledged),
                echo: tcp.options.timestamp?.echo, time: packet.time)
        }
        sender.noteClose(taken.place, acknowledged: acknowledged, time: packet.time, index: packet.index)
        // A SYN's own window is never scaled.
        let window = Int(tcp.window) << (tcp.isSYN ? 0 : Int(shift ?? 0))
        let before = sender.window.last
        let isBare = tcp.payloadLength == 0 && tcp.flags.isDisjoint(with: [.syn, .fin, .rst])
        let repeatsAck = isBare && taken.kind == .control && acknowledged != nil && acknowledged == previous
        let isDuplicate =
            repeatsAck && before == window && receiver.sentEnd > (acknowledged ?? 0) && window > 0
        if isDuplicate { receiver.duplicateAcks &+= 1 }
        // A reset's window means nothing, and Linux sends 0 there.
        if !tcp.flags.contains(.rst) {
            sender.window.note(
                window, isScaleKnown: tcp.isSYN || shift != nil, time: packet.time, packetIndex: packet.index,
                limit: sender.limits.keptEvents)
        }
        return PacketSummary(
            conversation: 0, side: .client, time: packet.time, packetIndex: packet.index, flags: tcp.flags,
            relativeSequence: taken.place.start + 1, relativeAcknowledgment: acknowledged.map { $0 + 1 },
            window: window, payloadLength: tcp.payloadLength, payloadIsCut: tcp.payloadIsCut, kind: taken.kind,
            isDuplicateAck: isDuplicate, isWindowUpdate: repeatsAck && (before ?? window) != window,
            isZeroWindow: window == 0 && tcp.flags.isDisjoint(with: [.rst, .syn]),
            hasConflict: taken.hasConflict && taken.kind != .keepAlive, isUrgent: tcp.flags.contains(.urg),
            hasReachedLimit: false)
    }
}
