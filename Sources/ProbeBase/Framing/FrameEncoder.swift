/// Encodes one unit of a framing. A `FrameDecoder` with the same framing decodes the unit to the original payload.
package struct FrameEncoder: Sendable {
    package enum Failure: Error, Sendable, Equatable, CustomStringConvertible {
        /// The payload contains the terminator at this offset, so a receiver would read two units.
        case containsTerminator(offset: Int)
        /// The payload has more bytes than the length's encoding can express.
        case tooLong(maximum: UInt64)

        package var description: String {
            switch self {
            case .containsTerminator(let offset): "the payload contains the terminator at byte \(offset)"
            case .tooLong(let maximum):
                "the payload is longer than \(maximum) bytes, the maximum that its length prefix can express"
            }
        }
    }

    package let framing: Framing
    /// The search for the terminator, copied for each payload; `nil` if the framing has no terminator.
    private let search: DelimiterSearch?

    package init(framing: Framing) {
        self.framing = framing
        search = framing.terminator.map { DelimiterSearch($0) }
    }

    /// Returns the payload followed by its terminator, or preceded by its length.
    package func encode(_ payload: [UInt8]) throws(Failure) -> [UInt8] {
        guard let (before, after) = framing.envelope(of: payload.count) else {
            throw .tooLong(maximum: UInt64(framing.prefix?.largest ?? 0))
        }
        let unit = before + payload + after
        // The end of the payload and the beginning of the delimiter can form a delimiter, as in the payload "a" before
        // the delimiter "aa".
        if var search, let end = search.end(in: unit.span), end < unit.count {
            throw .containsTerminator(offset: end - after.count)
        }
        return unit
    }
}
