package import ProbeBase

/// The data that the two sides of a connection sent, and the related events, in the order in which the recorder
/// observed them.
package struct RecordedConversation: Sendable, Equatable {
    /// The server name and the application protocols in a TLS handshake, if they could be read, and whether there is a
    /// client certificate.
    package struct Handshake: Sendable, Equatable {
        package var serverName: String?
        package var offeredProtocols: [String]
        package var chosenProtocol: String?
        package var hasClientCertificate: Bool

        package init(
            serverName: String? = nil, offeredProtocols: [String] = [], chosenProtocol: String? = nil,
            hasClientCertificate: Bool = false
        ) {
            (self.serverName, self.offeredProtocols) = (serverName, offeredProtocols)
            (self.chosenProtocol, self.hasClientCertificate) = (chosenProtocol, hasClientCertificate)
        }
    }

    package enum Event: Sendable, Equatable {
        case bytes([UInt8])
        /// The side sent a FIN; on a TLS connection, a close_notify and then a FIN.
        case fin
        case reset
        /// TLS begins with this event; all following events are decrypted.
        case tls(Handshake)
        /// On a TLS connection, the side sent a FIN without a close_notify.
        case truncated
        /// On a TLS connection, the side sent a close_notify without a FIN.
        case notify
        /// On a TLS connection, the side sent an alert with this number.
        case alert(UInt8)
    }

    /// What happened on one side of the connection: consecutive bytes that the side sent, or an event such as a FIN.
    package struct Turn: Sendable, Equatable {
        package var side: ConversationSide
        package var event: Event
        /// The time since the connection began.
        package var time: Duration
    }

    package private(set) var turns: [Turn] = []
    /// Whether events after the last turn are missing, because the recording was stopped or has reached its limit.
    package private(set) var isCut = false
    /// Whether events are missing because the recording has reached its limit.
    package private(set) var hasReachedLimit = false
    private var room: Int

    /// Creates an empty recording.
    ///
    /// - Parameter limit: the maximum size in bytes; each turn counts as an additional ``turnCost`` bytes.
    package init(limit: Int = .max) { room = limit }

    /// The number of bytes that a turn adds to the size, in addition to the bytes of its data.
    package static let turnCost = 64

    /// Adds an event. If the last turn consists of bytes from the same side, further bytes are appended to it. Nothing
    /// is added once the recording has reached its size limit.
    package mutating func add(_ event: Event, from side: ConversationSide, at time: Duration) {
        if isCut { return }
        guard case .bytes(let more) = event else {
            turns.append(Turn(side: side, event: event, time: time))
            return
        }
        if more.isEmpty { return }
        let isNew: Bool
        if let last = turns.last, last.side == side, case .bytes = last.event { isNew = false } else { isNew = true }
        if isNew {
            room -= Self.turnCost
            turns.append(Turn(side: side, event: .bytes([]), time: time))
        }
        let taken = more.prefix(max(0, room))
        // The bytes are moved out of the turn while they are changed, so that they are not copied.
        var event = Event.fin
        swap(&event, &turns[turns.count - 1].event)
        if case .bytes(var bytes) = event {
            event = .fin
            bytes.append(contentsOf: taken)
            turns[turns.count - 1].event = .bytes(bytes)
        }
        if isNew, taken.isEmpty { turns.removeLast() }
        if more.count > room { (isCut, hasReachedLimit) = (true, true) }
        room -= more.count
    }

    /// Marks all events after the last turn as missing.
    package mutating func cut() { isCut = true }

    /// Returns whether a side has signaled that it will send no more data.
    package func hasEnded(_ side: ConversationSide) -> Bool {
        turns.contains { turn in
            switch turn.event {
            case .fin, .reset, .truncated, .notify: turn.side == side
            case .bytes, .tls, .alert: false
            }
        }
    }

    /// Whether the conversation contains no bytes.
    package var isEmpty: Bool { !turns.contains { if case .bytes = $0.event { true } else { false } } }

    /// The index of the turn at which undecrypted TLS begins; `nil` if there is none. The turn belongs to the client
    /// and begins with a ClientHello. Any bytes that the server sends next are also TLS.
    package var firstTLSTurn: Int? {
        turns.indices.first { index in
            guard turns[index].side == .client, case .bytes(let bytes) = turns[index].event, bytes.count >= 6,
                bytes[0] == 0x16, bytes[1] == 3, bytes[5] == 1
            else { return false }
            for turn in turns[(index + 1)...] where turn.side == .server {
                if case .bytes(let answer) = turn.event { return answer[0] == 0x16 || answer[0] == 0x15 }
            }
            return true
        }
    }

    /// The handshake of a decrypted TLS connection; `nil` if there is none.
    package var handshake: Handshake? {
        turns.lazy.compactMap { if case .tls(let handshake) = $0.event { handshake } else { nil } }.first
    }

    /// The client random in the ClientHello at which undecrypted TLS begins. Key logs identify secrets by this value.
    package var clientRandom: [UInt8]? {
        guard let firstTLSTurn, case .bytes(let bytes) = turns[firstTLSTurn].event, bytes.count >= 43 else {
            return nil
        }
        return Array(bytes[11..<43])
    }

    /// Returns all bytes that a side sent.
    package func stream(of side: ConversationSide) -> [UInt8] {
        turns.flatMap { turn -> [UInt8] in
            if turn.side == side, case .bytes(let bytes) = turn.event { bytes } else { [] }
        }
    }
}
