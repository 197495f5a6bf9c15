import ProbeBase

/// A line or message of a turn, or bytes that are neither.
struct RecordedUnit: Equatable {
    enum Kind: Equatable {
        /// Without its terminator or its length.
        case line
        case bytes
        case fin, reset
    }

    var side: RecordedConversation.Side
    var kind: Kind
    var bytes: [UInt8] = []
    var time: Duration
    /// The first of its turn.
    var begins = false

    /// The units of a conversation.
    static func of(_ conversation: RecordedConversation, _ framing: Framing) -> [RecordedUnit] {
        conversation.turns.flatMap { turn -> [RecordedUnit] in
            switch turn.event {
            case .fin: return [RecordedUnit(side: turn.side, kind: .fin, time: turn.time)]
            case .reset: return [RecordedUnit(side: turn.side, kind: .reset, time: turn.time)]
            case .bytes(let bytes):
                var units = split(bytes, framing).map { kind, bytes in
                    RecordedUnit(side: turn.side, kind: kind, bytes: bytes, time: turn.time)
                }
                if !units.isEmpty { units[0].begins = true }
                return units
            }
        }
    }

    /// The framing in which both ends speak: that of a prefix only if all of it fits, that of a line end if there is one.
    static func framing(of conversation: RecordedConversation) -> Framing {
        let streams = RecordedConversation.Side.allCases.map(conversation.stream).filter { !$0.isEmpty }
        func holds(_ bytes: [UInt8]) -> Bool {
            streams.contains { stream in stream.indices.contains { stream[$0...].starts(with: bytes) } }
        }
        let isText = streams.allSatisfy { stream in stream.allSatisfy { $0 >= 32 || [9, 10, 13].contains($0) } }
        if !isText {
            for framing in [Framing.u32, .u16, .netstring, .u8] where streams.allSatisfy({ isWhole($0, framing) }) {
                return framing
            }
        }
        if holds([13, 10]) { return .crlf }
        if isText, holds([10]) { return .lf }
        return .none
    }

    private static func isWhole(_ bytes: [UInt8], _ framing: Framing) -> Bool {
        split(bytes, framing).allSatisfy { $0.kind == .line }
    }

    static func split(_ bytes: [UInt8], _ framing: Framing) -> [(kind: Kind, bytes: [UInt8])] {
        guard framing != .none, framing != .websocket else { return [(.bytes, bytes)] }
        var decoder = FrameDecoder(framing: framing, limit: nil)
        var (units, start): ([(kind: Kind, bytes: [UInt8])], Int) = ([], 0)
        decoder.append(bytes)
        do throws(FrameError) {
            while let frame = try decoder.next() {
                // A line end of another kind inside a line is told by its bytes.
                let isClean = framing.terminator == nil || !frame.payload.contains { $0 == 10 || $0 == 13 }
                units.append(isClean ? (.line, frame.payload) : (.bytes, Array(bytes[start..<decoder.offset])))
                start = decoder.offset
            }
        } catch {
            // What can't be divided is sent as it is.
        }
        if start < bytes.count { units.append((.bytes, Array(bytes[start...]))) }
        return units
    }
}
