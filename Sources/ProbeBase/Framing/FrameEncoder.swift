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
        if let width = framing.prefixWidth {
            let length = UInt64(payload.count)
            let maximum = UInt64.max >> UInt64(64 - 8 * width)
            guard length <= maximum else { throw .tooLong(maximum: maximum) }
            return (0..<width).map { UInt8(truncatingIfNeeded: length >> UInt64(8 * (width - 1 - $0))) } + payload
        }
        return framing == .varint ? Self.varint(UInt64(payload.count)) + payload : payload
    }

    /// The value in base 128, lowest group first; all bytes but the last have the highest bit set: one to ten bytes.
    package static func varint(_ value: UInt64) -> [UInt8] {
        var bytes: [UInt8] = []
        var rest = value
        while rest >= 0x80 {
            bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        bytes.append(UInt8(truncatingIfNeeded: rest))
        return bytes
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
