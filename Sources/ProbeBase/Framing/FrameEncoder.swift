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

    /// Returns the payload, followed by its terminator or preceded by its length.
    package func encode(_ payload: [UInt8]) throws(Failure) -> [UInt8] {
        guard let (before, behind) = framing.envelope(of: payload.count) else {
            throw .tooLong(maximum: UInt64(framing.prefix?.largest ?? 0))
        }
        let unit = before + payload + behind
        if let terminator = framing.terminator {
            // The end of the payload and the beginning of a delimiter may be a delimiter together: "a" and "aab" before "aab".
            let offset = Self.offset(of: terminator, in: unit)
            if offset < payload.count { throw .containsTerminator(offset: offset) }
        }
        return unit
    }

    /// Returns the offset of the first terminator in a unit.
    ///
    /// - Parameter unit: the payload with the terminator at its end.
    private static func offset(of terminator: [UInt8], in unit: [UInt8]) -> Int {
        if terminator.count <= 2, let last = terminator.last {
            // Eight bytes at a time, which is worthwhile for the named terminators.
            var start = terminator.count - 1
            while let index = unit.span.firstIndex(of: last, from: start) {
                if terminator.count == 1 || unit[index - 1] == terminator[0] { return index + 1 - terminator.count }
                start = index + 1
            }
        }
        var search = DelimiterSearch(terminator)
        let end = unit.firstIndex { search.read($0) } ?? unit.count - 1
        return end + 1 - terminator.count
    }
}
