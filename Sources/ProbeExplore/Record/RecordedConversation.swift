package import ProbeBase

/// What the two ends of one connection said, in the order in which it was seen.
package struct RecordedConversation: Sendable, Equatable {
    /// What the two ends of a TLS handshake said of names, as far as it could be read.
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
        /// With TLS, a close_notify and the FIN behind it.
        case fin
        case reset
        /// TLS begins: what is said from here on was decrypted.
        case tls(Handshake)
        /// With TLS: a FIN without a close_notify before it.
        case truncated
        /// With TLS: a close_notify with no FIN behind it.
        case notify
        /// With TLS, by its number.
        case alert(UInt8)
    }

    /// What one end did without the other one in between.
    package struct Turn: Sendable, Equatable {
        package var side: ConversationSide
        package var event: Event
        /// From the beginning of the connection.
        package var time: Duration
    }

    package private(set) var turns: [Turn] = []
    /// Something behind the last turn is missing: the recording was stopped, or has reached its limit.
    package private(set) var isCut = false
    /// It is cut because it has reached its limit.
    package private(set) var hasReachedLimit = false
    private var room: Int

    /// - Parameter limit: the most bytes that are kept, and ``turnCost`` more for each turn.
    package init(limit: Int = .max) { room = limit }

    /// What a turn counts beside its bytes.
    package static let turnCost = 64

    /// Bytes of one end behind those of the same end belong to its turn. Nothing is added behind the limit.
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
        // Out of the turn meanwhile, so that they are not copied.
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

    /// What comes from now on is missing.
    package mutating func cut() { isCut = true }

    /// Whether an end has said that it sends no more.
    package func hasEnded(_ side: ConversationSide) -> Bool {
        turns.contains { turn in
            switch turn.event {
            case .fin, .reset, .truncated, .notify: turn.side == side
            case .bytes, .tls, .alert: false
            }
        }
    }

    /// Nothing was said.
    package var isEmpty: Bool { !turns.contains { if case .bytes = $0.event { true } else { false } } }

    /// The turn with which TLS begins and that can't be read: one of the client that begins with a ClientHello, if what the server says
    /// next is TLS too.
    package var firstOfTLS: Int? {
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

    /// That of the TLS that was decrypted.
    package var handshake: Handshake? {
        turns.lazy.compactMap { if case .tls(let handshake) = $0.event { handshake } else { nil } }.first
    }

    /// The client's random value in the ClientHello with which TLS begins: secrets are told by it.
    package var clientRandom: [UInt8]? {
        guard let firstOfTLS, case .bytes(let bytes) = turns[firstOfTLS].event, bytes.count >= 43 else { return nil }
        return Array(bytes[11..<43])
    }

    /// All that one end sent.
    package func stream(of side: ConversationSide) -> [UInt8] {
        turns.flatMap { turn -> [UInt8] in
            if turn.side == side, case .bytes(let bytes) = turn.event { bytes } else { [] }
        }
    }
}
