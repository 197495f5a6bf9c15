/// Text for people from arbitrary bytes. Control characters, invisible characters and characters that change the
/// direction of the text are escaped, so that it is safe on a terminal and in every report.
package enum Escaped {
    // MARK: Text

    /// Returns text in the notation of a script, without quotes: `220 a\r\n`. Printable UTF-8 is not escaped, nor are
    /// quotes and backslashes.
    package static func text(_ bytes: some Sequence<UInt8>) -> String {
        var pending = Array(bytes)[...]
        // The usual case.
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

    /// Does the same for a string.
    package static func text(_ text: String) -> String {
        // The usual case; there may be thousands of texts.
        let isPlain = text.utf8.withContiguousStorageIfAvailable { bytes in
            bytes.allSatisfy { $0 >= 0x20 && $0 < 0x7F }
        }
        return isPlain == true ? text : Escaped.text(text.utf8)
    }

    /// Returns the text in backquotes, for messages. A long text is cut: the excerpt below the message shows its place.
    package static func quoted(_ text: String) -> String {
        let shown = text.prefix(longestQuote)
        return "`\(Escaped.text(shown.utf8))\(shown.endIndex < text.endIndex ? "…" : "")`"
    }

    private static let longestQuote = 60

    /// Returns text from another program. Bytes that are not UTF-8 become U+FFFD, and each invisible character becomes
    /// its code, `\u{1b}`. If there are more than `limit` bytes, the first ones are returned, followed by their number.
    package static func foreignText(_ bytes: some Collection<UInt8>, limit: Int) -> String {
        let text = visible(String(decoding: bytes.prefix(limit), as: UTF8.self))
        return bytes.count > limit ? "\(text)… (\(bytes.count) bytes)" : text
    }

    /// Returns the text with each character replaced by its code that is invisible or changes the text's direction.
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

    /// Returns bytes in the notation of a script, without quotes: printable ASCII unchanged, `\r \n \t \0 \\ \"`, every
    /// other byte as `\xHH`. The bytes can be recovered from the text.
    ///
    /// - Parameter limit: the maximum number of bytes that are shown; further ones are counted.
    package static func bytes(_ bytes: some Collection<UInt8>, limit: Int = .max) -> String {
        let shown = Array(bytes.prefix(limit))
        var text: [UInt8] = []
        for byte in shown { append(byte, to: &text) }
        let rest = bytes.count > limit ? "… (\(bytes.count - limit) more bytes)" : ""
        return String(decoding: text, as: UTF8.self) + rest
    }

    /// Does the same as `bytes` in double quotes, followed by the number of bytes if not all are shown.
    package static func literal(_ bytes: some Collection<UInt8>, limit: Int = .max) -> String {
        let shown = "\"\(Escaped.bytes(bytes.prefix(limit)))\""
        return bytes.count > limit ? "\(shown)… (\(bytes.count) bytes in all)" : shown
    }

    /// Returns bytes for use in a sentence, cut if they would fill the screen.
    package static func phrase(_ bytes: some Collection<UInt8>) -> String { readable(bytes, limit: 60) }

    // MARK: Readable bytes

    /// Returns bytes in double quotes, readable for people: characters of valid UTF-8 unchanged, everything else as in
    /// `literal`. If there are more than `limit` bytes, the first ones are returned, followed by the total number.
    package static func readable(_ bytes: some Collection<UInt8>, limit: Int = .max) -> String {
        // A character that the limit would cut is shown completely.
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

    /// Returns the text for the byte at an index, or for the character that begins there, and the number of its bytes.
    package static func readableUnit(of bytes: [UInt8], at index: Int) -> (text: String, length: Int) {
        readableUnit(of: bytes.span, at: index)
    }

    /// Does the same for a span.
    package static func readableUnit(of bytes: Span<UInt8>, at index: Int) -> (text: String, length: Int) {
        let first = bytes[index]
        if first >= 0xC2 {
            let length = first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4
            if index + length <= bytes.count {
                let character = (index..<(index + length)).map { bytes[$0] }
                if UTF8Check.firstInvalidOffset(in: character.span) == nil {
                    let text = String(decoding: character, as: UTF8.self)
                    // A character that is not visible is shown as its bytes, in the notation of a script.
                    let isVisible = text.unicodeScalars.allSatisfy(\.isVisible)
                    return (isVisible ? text : Escaped.bytes(character), length)
                }
            }
        }
        return (byte(first), 1)
    }

    /// Returns a literal such as `"220 rea"` in at most `width` columns; `"220 …` if it is cut, `nil` if not even one
    /// character fits. Characters of valid UTF-8 are shown unchanged.
    package static func literal(_ bytes: Span<UInt8>, width: Int) -> String? {
        var text = [UInt8(ascii: "\"")]
        var columns = 1
        var index = 0
        while index < bytes.count {
            let length = text.count
            let start = index
            columns += appendReadable(bytes, &index, to: &text)
            // One column is reserved for the quote, or for the ellipsis if more bytes follow.
            if columns + 1 > width {
                return start == 0 ? nil : String(decoding: text[..<length], as: UTF8.self) + "…"
            }
        }
        return columns + 1 <= width ? String(decoding: text, as: UTF8.self) + "\"" : nil
    }

    /// Appends the text for the byte or the character at an index, and moves the index past it. Returns the number of
    /// columns that it takes.
    private static func appendReadable(_ bytes: Span<UInt8>, _ index: inout Int, to text: inout [UInt8]) -> Int {
        let length = text.count
        if bytes[index] < 0x80 {
            // The usual case.
            append(bytes[index], to: &text)
            index += 1
            return text.count - length
        }
        let unit = readableUnit(of: bytes, at: index)
        text.append(text: unit.text)
        index += unit.length
        return Columns.width(unit.text)
    }

    /// Returns an excerpt such as `"220 rea\r\n"`. Characters of valid UTF-8 are shown unchanged; one that is cut, by
    /// the limit too, as its bytes. If there are more than `limit` bytes, the first ones are returned, followed by the
    /// total number: `"aaaa"… (5000 bytes)`.
    package static func excerpt(_ bytes: some Collection<UInt8>, limit: Int = 64) -> String {
        var text: [UInt8] = []
        appendExcerpt(of: bytes, limit: limit, to: &text)
        return String(decoding: text, as: UTF8.self)
    }

    /// Does the same for a span.
    package static func excerpt(_ bytes: Span<UInt8>, limit: Int = 64) -> String {
        var text: [UInt8] = []
        append(bytes.extracting(0..<min(bytes.count, max(limit, 0))), of: bytes.count, to: &text)
        return String(decoding: text, as: UTF8.self)
    }

    static func appendExcerpt(of bytes: some Collection<UInt8>, limit: Int, to text: inout [UInt8]) {
        // A loop over a generic collection would call it for each byte.
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

    /// Returns one byte in the notation of `bytes`.
    package static func byte(_ byte: UInt8) -> String {
        var text: [UInt8] = []
        append(byte, to: &text)
        return String(decoding: text, as: UTF8.self)
    }

    /// Appends one byte to a text; without `quotes`, a double quote and a backslash are not escaped.
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
    /// Whether the character may be shown unescaped in a text for people: it is not a control character, an invisible
    /// one, one that changes the text's direction, or a line break. Messages and all reports use this definition.
    package var isVisible: Bool {
        if 0x20...0x7E ~= value { return true }
        return switch properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .privateUse, .unassigned: false
        default: true
        }
    }
}
