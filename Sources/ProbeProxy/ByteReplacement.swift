/// Replaces a sequence of bytes in a stream that arrives in pieces.
///
/// If the end of a piece may be the beginning of a match, that end is held back until more bytes arrive or the stream
/// ends.
struct ByteReplacement {
    let original: [UInt8]
    let replacement: [UInt8]
    /// The received bytes that are held back because they may be the beginning of `original`.
    private(set) var waiting: [UInt8] = []
    /// The identifier of the step that requested the replacement.
    let id: Int
    /// The number of replacements made so far.
    private(set) var count = 0

    /// Creates a replacement.
    ///
    /// - Parameter original: the bytes to replace; must not be empty.
    init(_ original: [UInt8], with replacement: [UInt8], by id: Int = 0) {
        (self.original, self.replacement, self.id) = (original, replacement, id)
    }

    /// Processes the next bytes of the stream, and returns the bytes that can be forwarded now.
    mutating func pass(_ bytes: [UInt8]) -> [UInt8] {
        let input = waiting.isEmpty ? bytes : waiting + bytes
        waiting = []
        var output: [UInt8] = []
        var position = 0
        while position < input.count {
            let rest = input[position...]
            if rest.count >= original.count {
                if rest.starts(with: original) {
                    output += replacement
                    count += 1
                    position += original.count
                    continue
                }
            } else if original.starts(with: rest) {
                waiting = Array(rest)
                return output
            }
            output.append(input[position])
            position += 1
        }
        return output
    }

    /// Ends the stream, and returns the bytes that were held back, which can no longer become a match.
    mutating func finish() -> [UInt8] {
        defer { waiting = [] }
        return waiting
    }
}
