/// Prevents a CI's runner from reading commands in text. GitHub's runner looks for `::` after white space at the start
/// of each line, and for `##[` anywhere in it.
///
/// The second colon and the bracket are written as `\u003a` and `\u005b`, which are the same characters in a JSON
/// string. The output may be cut into pieces anywhere.
package struct WorkflowCommandFilter: Sendable {
    private enum Position {
        /// Only white space so far.
        case start
        /// After the first colon.
        case colon
        case inside
    }

    private var position = Position.start
    /// The number of consecutive `#` before the current position.
    private var hashes = 0

    package init() {}

    /// Whether the current line is still empty.
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
        // Unicode has white space of several bytes, and a runner may accept more: every byte that is not visible ASCII
        // counts.
    }
}
