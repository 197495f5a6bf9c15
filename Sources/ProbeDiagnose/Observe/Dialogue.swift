import ProbeBase
import ProbeWire

/// The messages of the two sides, as far as they show whether the server answers the client or sends unsolicited data, as
/// programs do to keep a connection alive.
///
/// The framing of most protocols is unknown, so a message that follows data from the peer is not necessarily an answer.
struct Dialogue: Sendable {
    /// The sizes of the last segments with data, the newest first.
    private var clientLengths = SIMD4<Int32>()
    private var serverLengths = SIMD4<Int32>()
    /// The time of the server's last data, and the time at which its last message began.
    private var serverTime: Int64?
    private var messageTime: Int64?
    /// The times between the beginnings of the server's messages, and the times from the client's data to them.
    private var gaps = Spread()
    private var waits = Spread()
    /// The longest wait for a message that is no answer.
    private(set) var longestKeepAlive: Int64 = 0
    /// The longest time between two messages of the server without any data from the client.
    private(set) var longestOwnPause: Int64 = 0
    /// Whether the server sent the first data in the capture.
    private(set) var beginsWithServer = false
    /// The server's answer to a request after the client had closed its side; `nil` if there is none.
    var late: Answer?
    /// The server's last answer, and the one that the client cut off by closing its side.
    var lastAnswer: Answer?
    var cutAnswer: Answer?

    /// An answer of the server.
    struct Answer: Sendable {
        /// The time from the request to the beginning of the answer.
        var wait: Int64
        /// The time of the request.
        var asked: Int64
        var request: Int
        var answer: Int
    }

    private struct Spread: Sendable {
        private(set) var count = 0
        private(set) var shortest = Int64.max
        private(set) var longest: Int64 = 0
        var range: Int64 { count == 0 ? 0 : longest - shortest }

        mutating func add(_ value: Int64) {
            count += 1
            shortest = min(shortest, value)
            longest = max(longest, value)
        }
    }

    /// The largest message that may be a keep-alive of an application, and the shortest time between two of them.
    private static let keepAliveLength = 64
    private static let keepAliveTime: Int64 = 5_000_000_000

    /// Whether the server sends messages in equal intervals that don't depend on the times of the client's messages.
    var isPeriodic: Bool {
        gaps.count >= 2 && gaps.shortest >= Self.keepAliveTime && gaps.range <= gaps.longest / 50
            && waits.range > max(5 * gaps.range, 1_000_000_000)
    }

    /// Returns whether a wait of the given length is no evidence of a slow server, because the server also sends
    /// unsolicited messages after such a time.
    func sendsUnsolicited(after wait: Int64) -> Bool {
        isPeriodic || longestOwnPause >= wait / 2 || longestKeepAlive >= wait / 2
    }

    /// Records new data.
    ///
    /// - Parameters:
    ///   - last: the side and the time of the data before it.
    ///   - isIdle: whether the sender had nothing outstanding, and was permitted to send.
    mutating func note(_ packet: DiagnosedPacket, after last: (side: ConversationSide, time: Int64)?, isIdle: Bool) {
        defer {
            let length = Int32(clamping: packet.length)
            if packet.side == .client {
                clientLengths = SIMD4(length, clientLengths.x, clientLengths.y, clientLengths.z)
            } else {
                serverLengths = SIMD4(length, serverLengths.x, serverLengths.y, serverLengths.z)
            }
        }
        guard packet.side == .server else { return }
        if last == nil { beginsWithServer = true }
        defer { serverTime = packet.time }
        guard packet.time - (serverTime ?? Int64.min / 2) >= 1_000_000_000 else { return }
        if let messageTime { gaps.add(packet.time - messageTime) }
        messageTime = packet.time
        guard let last else { return }
        if last.side == .client {
            waits.add(packet.time - last.time)
        } else if isIdle {
            longestOwnPause = max(longestOwnPause, packet.time - last.time)
        }
    }

    /// Returns whether data can be an answer to the peer's last data. It can't if it was sent before that data arrived,
    /// or if both sides send equal small messages again and again after long pauses, which are keep-alives of the
    /// application.
    ///
    /// - Parameters:
    ///   - end: the position after the peer's data.
    ///   - isFramed: whether the data is known to answer a request.
    mutating func isAnswer(_ packet: DiagnosedPacket, after wait: Int64, to end: Int64, isFramed: Bool) -> Bool {
        if let acknowledgment = packet.acknowledgment, acknowledgment < end { return false }
        let (own, peer) =
            packet.side == .server ? (serverLengths, clientLengths) : (clientLengths, serverLengths)
        let length = Int32(clamping: packet.length)
        guard !isFramed, wait >= Self.keepAliveTime, packet.length <= Self.keepAliveLength, peer.x == length,
            any(own .== length)
        else { return true }
        if packet.side == .server { longestKeepAlive = max(longestKeepAlive, wait) }
        return false
    }

    /// Records the client's reply to the server's last message, given that message's only packet. If a small message came
    /// after a long pause, and a message of the same length replies to it, the server asked whether the client is alive,
    /// or a user at the server's end typed something that the client echoes.
    mutating func noteReply(_ packet: DiagnosedPacket, to last: Int) {
        guard packet.side == .client, let answer = lastAnswer, answer.answer == last,
            answer.wait >= Self.keepAliveTime, packet.length <= Self.keepAliveLength,
            serverLengths.x == Int32(clamping: packet.length)
        else { return }
        longestKeepAlive = max(longestKeepAlive, answer.wait)
    }

    /// Returns whether the server's next data answers a request whose end is known: an HTTP request, or the hello of a
    /// TLS client.
    static func answersRequest(_ client: MessageProgress, _ server: MessageProgress) -> Bool {
        guard !client.isIncomplete else { return false }
        switch (client.kind, server.kind) {
        case (.http, .undecided): return true
        case (.http, .http): return !server.isIncomplete
        case (.tls, .undecided): return client.tls.hasHello
        default: return false
        }
    }
}

extension FlowObservation {
    /// Measures how long a side took to send data after it received data from its peer.
    func noteAnswer(_ packet: DiagnosedPacket) {
        let side = packet.side
        let (own, peer) = (self[side], peer(of: side))
        defer {
            dialogue.note(
                packet, after: lastData.map { ($0.side, $0.time) },
                isIdle: own.outstanding == 0 && (own.zero == nil || own.zero?.openedAt != nil))
        }
        guard let last = lastData else {
            // This is the first data after the handshake, such as a greeting.
            guard side == .server, let end = handshakeEnd, !client.progress.isIncomplete else { return }
            let wait = max(0, packet.time - end - delay(to: .server))
            server.noteAnswer(
                packet, after: wait, to: set.completion?.packet ?? packet.number, isAcknowledged: true, isFramed: false)
            return
        }
        let wait = packet.time - last.time - delay(to: side)
        // After an upgrade, for example to WebSocket, what the server sends is not necessarily an answer.
        guard last.side != side, wait >= 0, !server.progress.http.isTunnel else { return }
        let isFramed = side == .server && Dialogue.answersRequest(client.progress, server.progress)
        guard dialogue.isAnswer(packet, after: wait, to: peer.dataEnd, isFramed: isFramed) else { return }
        let request = peer.lastDataPacket
        dialogue.noteReply(packet, to: request)
        if wait >= 2_000_000_000, wait > tlsStall?.wait ?? 0,
            TLSProgress.isHandshaking(client.progress, server.progress)
        {
            tlsStall = (side, wait, request, packet.number)
        }
        if side == .server {
            let answer = Dialogue.Answer(wait: wait, asked: last.time, request: request, answer: packet.number)
            dialogue.lastAnswer = answer
            if client.fin != nil { dialogue.late = answer }
        }
        own.noteAnswer(
            packet, after: wait, to: request, isAcknowledged: peer.acknowledgedTime >= last.time, isFramed: isFramed)
    }
}
