/// Human-readable text that represents arbitrary bytes. Control characters, invisible characters and characters that
/// change the direction of the text are escaped, so that the text is safe on a terminal and in every report.
package enum Escaped {
    // MARK: Text

    /// Returns text in a script's notation, without quotes, such as `220 a\r\n`. Printable UTF-8, quotes and
    /// backslashes are not escaped.
    package static func text(_ bytes: some Sequence<UInt8>) -> String {
        var pending = Array(bytes)[...]
        // Most texts need no escapes.
        if pending.allSatisfy({ 0x20...0x7E ~= $0 }) { return String(decoding: pending, as: UTF8.self) }
        var result: [UInt8] = []
        while let first = pending.first {
            if first < 0x80 {
                append(first, to: &result, quotes: false)
                pending = pending.dropFirst()
                continue
            }
            var end = pending.startIndex + 1
            while end < pending.endIndex, pending[end] & 0xC0 == 0x80, end - pending.startIndex < 4 { end += 1 }
            let character = Array(pending[pending.startIndex..<end])
            if UTF8Check.firstInvalidOffset(in: character.span) == nil {
                result.append(text: visible(String(decoding: character, as: UTF8.self)))
                pending = pending[end...]
            } else {
                append(first, to: &result, quotes: false)
                pending = pending.dropFirst()
            }
        }
        return String(decoding: result, as: UTF8.self)
    }

    /// Returns the text of a string in a script's notation, without quotes.
    package static func text(_ text: String) -> String {
        // Most texts need no escapes. They must be handled quickly, because there may be thousands of them.
        let isPlain = text.utf8.withContiguousStorageIfAvailable { bytes in
            bytes.allSatisfy { $0 >= 0x20 && $0 < 0x7F }
        }
        return isPlain == true ? text : Escaped.text(text.utf8)
    }

    /// Returns the text in backticks, for use in messages. A long text is cut, because the excerpt of the script below
    /// the message shows the rest.
    package static func quoted(_ text: String) -> String {
        let shown = text.prefix(longestQuote)
        return "`\(Escaped.text(shown.utf8))\(shown.endIndex < text.endIndex ? "…" : "")`"
    }

    private static let longestQuote = 60

    /// Returns text that another program has written. Invalid UTF-8 is replaced with U+FFFD, and each invisible
    /// character with its code, such as `\u{1b}`. If there are more than `limit` bytes, the text is cut and the total
    /// number of bytes is appended.
    package static func foreignText(_ bytes: some Collection<UInt8>, limit: Int) -> String {
        let text = visible(String(decoding: bytes.prefix(limit), as: UTF8.self))
        return bytes.count > limit ? "\(text)… (\(bytes.count) bytes)" : text
    }

    /// Replaces each character that is invisible or changes the direction of the text with the character's code, and
    /// returns the result.
    package static func visible(_ text: String) -> String {
        var result = ""
        for scalar in text.unicodeScalars {
            if scalar.isVisible {
                result.unicodeScalars.append(scalar)
            } else {
                result += code(of: scalar)
            }
        }
        return result
    }

    /// Returns a character's code, for example `\u{202e}`.
    package static func code(of scalar: UnicodeScalar) -> String { "\\u{\(String(scalar.value, radix: 16))}" }

    // MARK: Bytes

    /// Returns bytes in a script's notation, without quotes: printable ASCII unchanged, the escapes
    /// `\r \n \t \0 \\ \"`, and every other byte as `\xHH`. The bytes can be recovered from the text.
    ///
    /// - Parameter limit: the maximum number of bytes that are shown; if there are more, the total is appended.
    package static func bytes(_ bytes: some Collection<UInt8>, limit: Int = .max) -> String {
        let shown = Array(bytes.prefix(limit))
        var text: [UInt8] = []
        for byte in shown { append(byte, to: &text) }
        let rest = bytes.count > limit ? "… (\(bytes.count - limit) more bytes)" : ""
        return String(decoding: text, as: UTF8.self) + rest
    }

    /// Returns bytes as a script's literal in double quotes, followed by the total number of bytes if not all are
    /// shown.
    package static func literal(_ bytes: some Collection<UInt8>, limit: Int = .max) -> String {
        let shown = "\"\(Escaped.bytes(bytes.prefix(limit)))\""
        return bytes.count > limit ? "\(shown)… (\(bytes.count) bytes in all)" : shown
    }

    /// Returns bytes for use in a sentence; only the first 60 bytes are shown.
    package static func phrase(_ bytes: some Collection<UInt8>) -> String { readable(bytes, limit: 60) }

    // MARK: Readable bytes

    /// Returns bytes in double quotes, in a form that is easy to read: characters of valid UTF-8 are unchanged, and
    /// other bytes are escaped as in `literal`. If there are more than `limit` bytes, the text is cut and the total
    /// number of bytes is appended.
    package static func readable(_ bytes: some Collection<UInt8>, limit: Int = .max) -> String {
        // A character that extends beyond the limit is shown completely.
        let shown = bytes.count > limit ? Array(bytes.prefix(limit + 3)) : Array(bytes)
        var text = "\""
        var index = 0
        while index < min(limit, shown.count) {
            let unit = readableUnit(of: shown, at: index)
            text += unit.text
            index += unit.length
        }
        return index < bytes.count ? "\(text)\"… (\(bytes.count) bytes in all)" : text + "\""
    }

    /// Returns the text for the byte at an index, or for the UTF-8 character that begins there, and the number of bytes
    /// that the text represents.
    package static func readableUnit(of bytes: [UInt8], at index: Int) -> (text: String, length: Int) {
        readableUnit(of: bytes.span, at: index)
    }

    /// Returns the text for the byte at an index, or for the UTF-8 character that begins there, and the number of bytes
    /// that the text represents.
    package static func readableUnit(of bytes: Span<UInt8>, at index: Int) -> (text: String, length: Int) {
        let first = bytes[index]
        if first >= 0xC2 {
            let length = first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4
            if index + length <= bytes.count {
                let character = (index..<(index + length)).map { bytes[$0] }
                if UTF8Check.firstInvalidOffset(in: character.span) == nil {
                    let text = String(decoding: character, as: UTF8.self)
                    // An invisible character is shown as the escapes of its bytes.
                    let isVisible = text.unicodeScalars.allSatisfy(\.isVisible)
                    return (isVisible ? text : Escaped.bytes(character), length)
                }
            }
        }
        return (byte(first), 1)
    }

    /// Returns a literal such as `"220 rea"` in at most `width` columns. If the literal must be cut, it ends with an
    /// ellipsis: `"220 …`. The result is `nil` if not even one character fits. Characters of valid UTF-8 are shown
    /// unchanged.
    package static func literal(_ bytes: Span<UInt8>, width: Int) -> String? {
        var text = [UInt8(ascii: "\"")]
        var columns = 1
        var index = 0
        while index < bytes.count {
            let length = text.count
            let start = index
            columns += appendReadable(bytes, &index, to: &text)
            // One column is reserved for the closing quote, or for the ellipsis if more bytes follow.
            if columns + 1 > width {
                return start == 0 ? nil : String(decoding: text[..<length], as: UTF8.self) + "…"
            }
        }
        return columns + 1 <= width ? String(decoding: text, as: UTF8.self) + "\"" : nil
    }

    /// Appends the text for the byte or the UTF-8 character at an index, moves the index past it, and returns the
    /// number of columns of the text.
    private static func appendReadable(_ bytes: Span<UInt8>, _ index: inout Int, to text: inout [UInt8]) -> Int {
        let length = text.count
        if bytes[index] < 0x80 {
            // Most bytes are ASCII.
            append(bytes[index], to: &text)
            index += 1
            return text.count - length
        }
        let unit = readableUnit(of: bytes, at: index)
        text.append(text: unit.text)
        index += unit.length
        return Columns.width(unit.text)
    }

    /// Returns an excerpt such as `"220 rea\r\n"`. Characters of valid UTF-8 are shown unchanged; a character that
    /// is incomplete, or that the limit cuts, is shown as escaped bytes. If there are more than `limit` bytes, the
    /// total number is appended: `"aaaa"… (5000 bytes)`.
    package static func excerpt(_ bytes: some Collection<UInt8>, limit: Int = 64) -> String {
        var text: [UInt8] = []
        appendExcerpt(of: bytes, limit: limit, to: &text)
        return String(decoding: text, as: UTF8.self)
    }

    /// Returns an excerpt of a span, such as `"220 rea\r\n"`.
    package static func excerpt(_ bytes: Span<UInt8>, limit: Int = 64) -> String {
        var text: [UInt8] = []
        append(bytes.extracting(0..<min(bytes.count, max(limit, 0))), of: bytes.count, to: &text)
        return String(decoding: text, as: UTF8.self)
    }

    static func appendExcerpt(of bytes: some Collection<UInt8>, limit: Int, to text: inout [UInt8]) {
        // The bytes are copied to an array, because a loop over a generic collection makes a call for each byte.
        append(Array(bytes.prefix(max(limit, 0))).span, of: bytes.count, to: &text)
    }

    private static func append(_ head: Span<UInt8>, of count: Int, to text: inout [UInt8]) {
        text.reserveCapacity(text.count + head.count + 24)
        text.append(UInt8(ascii: "\""))
        var index = 0
        while index < head.count { _ = appendReadable(head, &index, to: &text) }
        text.append(UInt8(ascii: "\""))
        if count > head.count { text.append(text: "… (\(ByteText.count(count, "byte")))") }
    }

    /// Returns one byte in a script's notation.
    package static func byte(_ byte: UInt8) -> String {
        var text: [UInt8] = []
        append(byte, to: &text)
        return String(decoding: text, as: UTF8.self)
    }

    /// Appends one byte in a script's notation. If `quotes` is `false`, double quotes and backslashes are not escaped.
    package static func append(_ byte: UInt8, to text: inout [UInt8], quotes: Bool = true) {
        let letter: UInt8
        switch byte {
        case 0x0D: letter = UInt8(ascii: "r")
        case 0x0A: letter = UInt8(ascii: "n")
        case 0x09: letter = UInt8(ascii: "t")
        case 0x00: letter = UInt8(ascii: "0")
        case UInt8(ascii: "\""), UInt8(ascii: "\\"):
            guard quotes else { return text.append(byte) }
            letter = byte
        case 0x20...0x7E: return text.append(byte)
        default:
            text.append(UInt8(ascii: "\\"))
            text.append(UInt8(ascii: "x"))
            text.append(UInt8.hexDigits[Int(byte >> 4)])
            text.append(UInt8.hexDigits[Int(byte & 15)])
            return
        }
        text.append(UInt8(ascii: "\\"))
        text.append(letter)
    }
}

extension UnicodeScalar {
    /// Whether human-readable text may contain the character unescaped. Control characters, line breaks, invisible
    /// characters and characters that change the direction of the text must be escaped. Messages and all reports use
    /// this definition.
    package var isVisible: Bool {
        if 0x20...0x7E ~= value { return true }
        return switch properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .privateUse, .unassigned: false
        default: true
        }
    }
}
