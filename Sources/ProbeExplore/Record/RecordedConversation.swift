package import ProbeBase

/// What the two ends of a connection sent, in the order in which it was observed.
package struct RecordedConversation: Sendable, Equatable {
    /// The names exchanged in a TLS handshake, as far as they could be read.
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
        /// A FIN; with TLS, a close_notify and the FIN that follows.
        case fin
        case reset
        /// The beginning of TLS: everything after it was decrypted.
        case tls(Handshake)
        /// With TLS, a FIN that no close_notify precedes.
        case truncated
        /// With TLS, a close_notify that no FIN follows.
        case notify
        /// With TLS, an alert with its number.
        case alert(UInt8)
    }

    /// What one end did without interruption by the other.
    package struct Turn: Sendable, Equatable {
        package var side: ConversationSide
        package var event: Event
        /// The time since the beginning of the connection.
        package var time: Duration
    }

    package private(set) var turns: [Turn] = []
    /// Whether something is missing after the last turn because the recording was stopped or has reached its limit.
    package private(set) var isCut = false
    /// Whether it is cut because it has reached its limit.
    package private(set) var hasReachedLimit = false
    private var room: Int

    /// Creates an empty recording.
    ///
    /// - Parameter limit: the maximum number of bytes that are kept; each turn counts ``turnCost`` in addition.
    package init(limit: Int = .max) { room = limit }

    /// The number of bytes that a turn counts towards the limit, in addition to its data.
    package static let turnCost = 64

    /// Adds an event. Bytes that follow bytes of the same end are added to its turn; nothing is added beyond the limit.
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
        // Taken out of the turn meanwhile, so that the bytes are not copied.
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

    /// Marks everything from now on as missing.
    package mutating func cut() { isCut = true }

    /// Returns whether an end has signalled that it sends no more.
    package func hasEnded(_ side: ConversationSide) -> Bool {
        turns.contains { turn in
            switch turn.event {
            case .fin, .reset, .truncated, .notify: turn.side == side
            case .bytes, .tls, .alert: false
            }
        }
    }

    /// Whether no bytes were sent.
    package var isEmpty: Bool { !turns.contains { if case .bytes = $0.event { true } else { false } } }

    /// The index of the turn that begins TLS and can't be read: a client's turn that starts with a ClientHello, if the
    /// server's next bytes, if any, are TLS as well.
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

    /// The handshake of decrypted TLS.
    package var handshake: Handshake? {
        turns.lazy.compactMap { if case .tls(let handshake) = $0.event { handshake } else { nil } }.first
    }

    /// The client's random value in the ClientHello that begins TLS. Key logs identify secrets by it.
    package var clientRandom: [UInt8]? {
        guard let firstTLSTurn, case .bytes(let bytes) = turns[firstTLSTurn].event, bytes.count >= 43 else {
            return nil
        }
        return Array(bytes[11..<43])
    }

    /// Returns all bytes that one end sent.
    package func stream(of side: ConversationSide) -> [UInt8] {
        turns.flatMap { turn -> [UInt8] in
            if turn.side == side, case .bytes(let bytes) = turn.event { bytes } else { [] }
        }
    }
}
