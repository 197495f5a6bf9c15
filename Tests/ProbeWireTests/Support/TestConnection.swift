import ProbeBase
import ProbeWire

/// A connection whose packets a test specifies by stream offsets.
struct TestConnection {
    static let client = SocketEndpoint(address: .loopbackV4, port: 40_000)
    static let server = SocketEndpoint(address: .loopbackV4, port: 80)

    var conversation: Conversation
    var time: UInt64 = 1_767_225_600_000_000_000
    var index = 0
    let clientISN: UInt32
    let serverISN: UInt32

    init(clientISN: UInt32 = 1_000, serverISN: UInt32 = 5_000, limits: ConversationLimits = .live) {
        self.clientISN = clientISN
        self.serverISN = serverISN
        conversation = Conversation(client: Self.client, server: Self.server, limits: limits)
    }

    /// Advances the time of the next packet.
    mutating func wait(_ milliseconds: Double) {
        time += UInt64(milliseconds * 1_000_000)
    }

    /// Adds a packet. `at` and `ack` are stream offsets. `cut` is the number of bytes at the end of the payload that
    /// are missing from the capture.
    @discardableResult
    mutating func send(
        _ side: ConversationSide, _ flags: TCPFlags = .ack, at offset: Int64, ack: Int64? = 0, _ text: String = "",
        window: UInt16 = 65535, cut: Int = 0, options: TCPOptions = TCPOptions()
    ) -> PacketSummary {
        send(side, flags, at: offset, ack: ack, bytes: Array(text.utf8), window: window, cut: cut, options: options)
    }

    /// Adds a packet with the given bytes, like the `send` function that accepts text.
    @discardableResult
    mutating func send(
        _ side: ConversationSide, _ flags: TCPFlags = .ack, at offset: Int64, ack: Int64? = 0, bytes payload: [UInt8],
        window: UInt16 = 65535, cut: Int = 0, options: TCPOptions = TCPOptions()
    ) -> PacketSummary {
        let own = side == .client ? clientISN : serverISN
        let peer = side == .client ? serverISN : clientISN
        let captured = payload.count - cut
        var tcp = DecodedTCP(
            source: side == .client ? Self.client : Self.server,
            destination: side == .client ? Self.server : Self.client,
            sequence: SequenceNumber(own) + 1 + Int(offset), flags: flags, window: window, options: options,
            payload: 0..<captured, payloadLength: payload.count)
        if let ack {
            tcp.acknowledgment = SequenceNumber(peer) + 1 + Int(ack)
            tcp.flags.insert(.ack)
        }
        defer { index += 1 }
        return conversation.add(tcp, payload: payload.span.extracting(0..<captured), time: time, index: index)
    }

    /// Adds the packets of a handshake: SYN, SYN-ACK and ACK, 0.1 ms apart.
    mutating func handshake(sack: Bool = true, scale: UInt8? = 7) {
        var options = TCPOptions()
        options.isSACKPermitted = sack
        options.windowScale = scale
        options.maximumSegmentSize = 65483
        send(.client, .syn, at: -1, ack: nil, options: options)
        wait(0.1)
        send(.server, .syn, at: -1, ack: 0, options: options)
        wait(0.1)
        send(.client, at: 0, ack: 0, window: 512)
        wait(0.1)
    }

    static func connected(clientISN: UInt32 = 1_000, serverISN: UInt32 = 5_000) -> TestConnection {
        var connection = TestConnection(clientISN: clientISN, serverISN: serverISN)
        connection.handshake()
        return connection
    }

    func text(_ side: ConversationSide) -> String {
        String(decoding: conversation.halfConnection(from: side).stream.bytes, as: UTF8.self)
    }

    func judge(_ statement: HalfConnectionStatement<Resolved>, from side: ConversationSide = .server) -> WireVerdict {
        conversation.judge(.halfConnection(statement, from: side))
    }
}

extension WireVerdict {
    enum Outcome { case passed, failed, waiting, inconclusive }

    var outcome: Outcome {
        switch self {
        case .passed: .passed
        case .failed: .failed
        case .waiting: .waiting
        case .inconclusive: .inconclusive
        }
    }

    var failure: WireFailure? {
        switch self {
        case .failed(let failure), .waiting(let failure): failure
        case .passed, .inconclusive: nil
        }
    }
}

func bytes(_ text: String) -> [UInt8] { Array(text.utf8) }
