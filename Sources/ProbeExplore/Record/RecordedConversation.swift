import ProbeBase

/// What the two ends of one connection said, in the order in which it was seen.
package struct RecordedConversation: Sendable, Equatable {
    package enum Side: Sendable, Hashable, CaseIterable {
        case client, server

        package var opposite: Side { self == .client ? .server : .client }
    }

    package enum Event: Sendable, Equatable {
        case bytes([UInt8])
        case fin
        case reset
    }

    /// What one end did without the other one in between.
    package struct Turn: Sendable, Equatable {
        package var side: Side
        package var event: Event
        /// From the beginning of the connection.
        package var time: Duration
    }

    package private(set) var turns: [Turn] = []

    package init() {}

    /// Bytes of one end behind those of the same end belong to its turn.
    package mutating func add(_ event: Event, from side: Side, at time: Duration) {
        if case .bytes(let more) = event, let last = turns.last, last.side == side, case .bytes(var bytes) = last.event
        {
            // Out of the list meanwhile, so that it is not copied.
            turns.removeLast()
            bytes.append(contentsOf: more)
            turns.append(Turn(side: side, event: .bytes(bytes), time: last.time))
        } else {
            turns.append(Turn(side: side, event: event, time: time))
        }
    }

    /// Nothing was said.
    package var isEmpty: Bool { !turns.contains { if case .bytes = $0.event { true } else { false } } }

    /// A turn of the client begins with a ClientHello: what was said from there on is not there to be read.
    package var isTLS: Bool {
        turns.contains { turn in
            guard turn.side == .client, case .bytes(let bytes) = turn.event, bytes.count >= 6 else { return false }
            return bytes[0] == 0x16 && bytes[1] == 3 && bytes[5] == 1
        }
    }

    /// All that one end sent.
    package func stream(of side: Side) -> [UInt8] {
        turns.flatMap { turn -> [UInt8] in
            if turn.side == side, case .bytes(let bytes) = turn.event { bytes } else { [] }
        }
    }
}
