/// Replaces bytes in a stream that comes in pieces.
///
/// The end of what has come may be the beginning of what is looked for: it waits for what follows, or for the end of the stream.
struct ByteReplacement {
    let wanted: [UInt8]
    let replacement: [UInt8]
    /// What may be the beginning of `wanted`.
    private(set) var waiting: [UInt8] = []
    /// The number of the step that asked for it.
    let id: Int
    /// How often it has replaced.
    private(set) var count = 0

    /// - Parameter wanted: not empty.
    init(_ wanted: [UInt8], with replacement: [UInt8], by id: Int = 0) {
        (self.wanted, self.replacement, self.id) = (wanted, replacement, id)
    }

    /// - Returns: what can go on now.
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

    /// The stream has ended: what waits is not what is looked for.
    mutating func finish() -> [UInt8] {
        defer { waiting = [] }
        return waiting
    }
}
