/// Prevents a CI runner from interpreting text as commands. GitHub's runner looks for `::` at the start of each line,
/// after any white space, and for `##[` anywhere in a line.
///
/// The second colon is written as `\u003a` and the bracket as `\u005b`. In a JSON string, these escapes represent the
/// same characters. The text may be filtered in pieces of any length.
package struct WorkflowCommandFilter: Sendable {
    private enum Position {
        /// The line consists only of white space so far.
        case start
        /// The last character was the first colon at the start of the line.
        case colon
        case inside
    }

    private var position = Position.start
    /// The number of consecutive `#` characters directly before the current position.
    private var hashes = 0

    package init() {}

    /// Whether the current line is empty so far.
    package private(set) var isAtLineStart = true

    package mutating func filtered(_ bytes: [UInt8]) -> [UInt8] {
        var result: [UInt8] = []
        result.reserveCapacity(bytes.count)
        for byte in bytes {
            switch byte {
            case UInt8(ascii: "\n"), UInt8(ascii: "\r"):
                (position, hashes) = (.start, 0)
                result.append(byte)
            case UInt8(ascii: ":") where position == .colon:
                position = .inside
                result += Array(#"\u003a"#.utf8)
            case UInt8(ascii: "[") where hashes == 2:
                (position, hashes) = (.inside, 0)
                result += Array(#"\u005b"#.utf8)
            default:
                hashes = byte == UInt8(ascii: "#") ? min(hashes + 1, 2) : 0
                advance(over: byte)
                result.append(byte)
            }
            isAtLineStart = byte == UInt8(ascii: "\n")
        }
        return result
    }

    private mutating func advance(over byte: UInt8) {
        guard position != .inside else { return }
        if position == .start, byte == UInt8(ascii: ":") {
            position = .colon
        } else if position == .colon || (0x21...0x7E).contains(byte) {
            position = .inside
        }
        // Every byte that is not visible ASCII counts as white space, because Unicode has multibyte white space, and a
        // runner may accept further characters.
    }
}
