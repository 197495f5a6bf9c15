/// Encodes one unit of a framing. `FrameDecoder` with the same framing returns the same payload.
package struct FrameEncoder: Sendable {
    package enum Failure: Error, Sendable, Equatable, CustomStringConvertible {
        /// The payload contains the terminator at this offset, so it would be read as two units.
        case containsTerminator(offset: Int)
        /// The payload has more bytes than the prefix can express.
        case tooLong(maximum: UInt64)

        package var description: String {
            switch self {
            case .containsTerminator(let offset): "the terminator is part of the payload, at byte \(offset)"
            case .tooLong(let maximum): "the payload is longer than \(maximum) bytes, the most that its length can say"
            }
        }
    }

    package let framing: Framing

    package init(framing: Framing) {
        self.framing = framing
    }

    /// The payload, followed by its terminator or preceded by its length.
    package func encode(_ payload: [UInt8]) throws(Failure) -> [UInt8] {
        if let terminator = framing.terminator {
            if let offset = Self.offset(of: terminator, in: payload) { throw .containsTerminator(offset: offset) }
            return payload + terminator
        }
        guard let prefix = framing.prefix else { return payload }
        guard let length = prefix.encode(payload.count) else { throw .tooLong(maximum: UInt64(prefix.largest)) }
        return length + payload
    }

    private static func offset(of terminator: [UInt8], in payload: [UInt8]) -> Int? {
        var start = 0
        while let index = payload.span.firstIndex(of: terminator[0], from: start) {
            if payload[index...].starts(with: terminator) { return index }
            start = index + 1
        }
        return nil
    }
}
