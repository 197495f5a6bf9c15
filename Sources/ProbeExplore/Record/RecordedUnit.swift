import ProbeBase

/// A line or message of a recorded turn, bytes that form neither, or an event such as a FIN.
struct RecordedUnit: Equatable {
    enum Kind: Equatable {
        /// A line or message, excluding its terminator or length.
        case line
        case bytes
        case tls(RecordedConversation.Handshake)
        case fin, reset, truncated, notify
        case alert(UInt8)

        /// Returns whether two recordings agree on this unit. The names in a TLS handshake may differ; if they do, the
        /// names in the first recording are used.
        func isSame(as other: Kind) -> Bool {
            if case (.tls, .tls) = (self, other) { return true }
            return self == other
        }
    }

    var side: ConversationSide
    var kind: Kind
    var bytes: [UInt8] = []
    var time: Duration
    /// Whether the unit is the first unit of its turn.
    var begins = false
    /// For a unit that ends the stream, whether the stream ended in a different way in the other recording.
    var isUncertain = false

    /// Whether the side sends no more data after this unit.
    var isEnd: Bool {
        switch kind {
        case .fin, .reset, .truncated, .notify: true
        case .line, .bytes, .tls, .alert: false
        }
    }

    /// Returns the units of a recorded conversation.
    ///
    /// - Parameter limit: the maximum number of units.
    static func of(_ conversation: RecordedConversation, _ framing: Framing, limit: Int) -> [RecordedUnit] {
        var units: [RecordedUnit] = []
        for turn in conversation.turns where units.count < limit {
            func add(_ kind: Kind) { units.append(RecordedUnit(side: turn.side, kind: kind, time: turn.time)) }
            switch turn.event {
            case .fin: add(.fin)
            case .reset: add(.reset)
            case .truncated: add(.truncated)
            case .notify: add(.notify)
            case .alert(let number): add(.alert(number))
            case .tls(let handshake): add(.tls(handshake))
            case .bytes(let bytes):
                for (index, part) in split(bytes, framing, limit: limit - units.count).enumerated() {
                    units.append(
                        RecordedUnit(
                            side: turn.side, kind: part.kind, bytes: part.bytes, time: turn.time, begins: index == 0))
                }
            }
        }
        return units
    }

    /// Returns the framing that the two sides appear to use: a framing by length only if all data consists of complete
    /// messages, or a framing by terminator if the terminator occurs.
    static func framing(of conversation: RecordedConversation) -> Framing {
        let streams = ConversationSide.allCases.map(conversation.stream).filter { !$0.isEmpty }
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

    /// Returns whether a stream consists entirely of complete messages of a framing.
    private static func isWhole(_ bytes: [UInt8], _ framing: Framing) -> Bool {
        var decoder = FrameDecoder(framing: framing, limit: nil)
        decoder.append(bytes)
        do throws(FrameError) {
            while try decoder.next() != nil {}
        } catch {
            return false
        }
        return decoder.offset == bytes.count
    }

    /// Divides a stream into lines or messages, and bytes that form neither. Each element contains the offset of the
    /// byte after it.
    ///
    /// - Parameter limit: the maximum number of units.
    static func split(
        _ bytes: [UInt8], _ framing: Framing, limit: Int = .max
    ) -> [(kind: Kind, bytes: [UInt8], end: Int)] {
        guard limit > 0 else { return [] }
        guard framing.hasUnits else { return [(.bytes, bytes, bytes.count)] }
        var decoder = FrameDecoder(framing: framing, limit: nil)
        var (units, start): ([(kind: Kind, bytes: [UInt8], end: Int)], Int) = ([], 0)
        decoder.append(bytes)
        do throws(FrameError) {
            while units.count < limit, let frame = try decoder.next() {
                // A line that contains another kind of line ending is represented as bytes.
                let isClean = framing.terminator == nil || !frame.payload.contains { $0 == 10 || $0 == 13 }
                let end = decoder.offset
                units.append(isClean ? (.line, frame.payload, end) : (.bytes, Array(bytes[start..<end]), end))
                start = decoder.offset
            }
        } catch {
            // The remaining bytes can't be divided, so they form a single unit.
        }
        if start < bytes.count, units.count < limit { units.append((.bytes, Array(bytes[start...]), bytes.count)) }
        return units
    }
}
