import CBytes

/// Finds the ends of values in a JSON text without creating the values, so that a large document can be read in parts.
///
/// The content of a value is examined only as far as needed to find the value's end; ``JSONParser`` validates the
/// content when the value is read.
package enum JSONExtent {
    /// Returns the offset after the value that begins at `start`.
    ///
    /// - Throws: an error if there is no value at the offset, or if the value is incomplete.
    package static func end(ofValueAt start: Int, in bytes: Span<UInt8>) throws(JSONError) -> Int {
        var position = start
        var depth = 0
        while position < bytes.count {
            switch bytes[position] {
            case UInt8(ascii: "\""):
                position = try end(ofStringAt: position, in: bytes)
                if depth == 0 { return position }
            case UInt8(ascii: "{"), UInt8(ascii: "["):
                depth += 1
                position += 1
            case UInt8(ascii: "}"), UInt8(ascii: "]"):
                if depth == 0 { throw JSONError(reason: .unexpected(bytes[position]), offset: position) }
                depth -= 1
                position += 1
                if depth == 0 { return position }
            default:
                if depth == 0 { return try end(ofWordAt: position, in: bytes) }
                position += 1
            }
        }
        throw JSONError(reason: .unexpectedEnd, offset: bytes.count)
    }

    /// Returns the offset of the first byte that is not white space; the end of the text if only white space follows.
    package static func skipSpace(at start: Int, in bytes: Span<UInt8>) -> Int {
        var position = start
        while position < bytes.count {
            switch bytes[position] {
            case 0x20, 0x09, 0x0a, 0x0d: position += 1
            default: return position
            }
        }
        return position
    }

    /// Skips white space and the given byte after it, and returns the offset after that byte. Throws an error if a
    /// different byte follows the white space.
    package static func take(_ byte: UInt8, at start: Int, in bytes: Span<UInt8>) throws(JSONError) -> Int {
        let position = skipSpace(at: start, in: bytes)
        guard position < bytes.count else { throw JSONError(reason: .unexpectedEnd, offset: position) }
        guard bytes[position] == byte else { throw JSONError(reason: .unexpected(bytes[position]), offset: position) }
        return position + 1
    }

    /// Returns the end of a number, or of `true`, `false` or `null`.
    private static func end(ofWordAt start: Int, in bytes: Span<UInt8>) throws(JSONError) -> Int {
        var position = start
        loop: while position < bytes.count {
            switch bytes[position] {
            case 48...57, 65...90, 97...122, UInt8(ascii: "-"), UInt8(ascii: "+"), UInt8(ascii: "."): position += 1
            default: break loop
            }
        }
        if position == start { throw JSONError(reason: .unexpected(bytes[start]), offset: start) }
        return position
    }

    private static func end(ofStringAt start: Int, in bytes: Span<UInt8>) throws(JSONError) -> Int {
        var position = start + 1
        while position < bytes.count {
            position += bytes.extracting(droppingFirst: position).withUnsafeBytes { rest in
                rest.baseAddress.map { probe_plain_json($0, rest.count) } ?? 0
            }
            guard position < bytes.count else { break }
            switch bytes[position] {
            case UInt8(ascii: "\""): return position + 1
            // The byte after a backslash belongs to the string, even if it is a quotation mark.
            case UInt8(ascii: "\\"): position += 2
            default: position += 1
            }
        }
        throw JSONError(reason: .unexpectedEnd, offset: bytes.count)
    }
}
