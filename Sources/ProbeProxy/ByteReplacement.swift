/// Replaces bytes in a stream that arrives in pieces.
///
/// The end of a piece may be the beginning of a match; it is kept until more bytes arrive, or the stream ends.
struct ByteReplacement {
    let wanted: [UInt8]
    let replacement: [UInt8]
    /// Received bytes that may be the beginning of `wanted`.
    private(set) var waiting: [UInt8] = []
    /// The number of the step that requested the replacement.
    let id: Int
    /// The number of replacements made.
    private(set) var count = 0

    /// - Parameter wanted: the bytes to replace; must not be empty.
    init(_ wanted: [UInt8], with replacement: [UInt8], by id: Int = 0) {
        (self.wanted, self.replacement, self.id) = (wanted, replacement, id)
    }

    /// Processes the next bytes of the stream, and returns the bytes that can be forwarded now.
    mutating func pass(_ bytes: [UInt8]) -> [UInt8] {
        let input = waiting.isEmpty ? bytes : waiting + bytes
        waiting = []
        var output: [UInt8] = []
        var position = 0
        while position < input.count {
            let rest = input[position...]
            if rest.count >= wanted.count {
                if rest.starts(with: wanted) {
                    output += replacement
                    count += 1
                    position += wanted.count
                    continue
                }
            } else if wanted.starts(with: rest) {
                waiting = Array(rest)
                return output
            }
            output.append(input[position])
            position += 1
        }
        return output
    }

    /// Ends the stream, and returns the bytes that were kept: they can no longer become a match.
    mutating func finish() -> [UInt8] {
        defer { waiting = [] }
        return waiting
    }
}
