/// Text for people from bytes that may be anything: no control character gets through.
package enum Escaped {
    /// The bytes as they would stand in a script, without quotes: `220 a\r\n`. What is printable UTF-8 stays.
    package static func text(_ bytes: some Sequence<UInt8>) -> String {
        var result = ""
        var pending = Array(bytes)[...]
        // Most of what is shown.
        if pending.allSatisfy({ 0x20...0x7E ~= $0 }) { return String(decoding: pending, as: UTF8.self) }
        while let first = pending.first {
            if first < 0x80 {
                result += ascii(first)
                pending = pending.dropFirst()
                continue
            }
            var end = pending.startIndex + 1
            while end < pending.endIndex, pending[end] & 0xC0 == 0x80, end - pending.startIndex < 4 { end += 1 }
            let character = Array(pending[pending.startIndex..<end])
            if UTF8Check.firstInvalidOffset(in: character.span) == nil {
                result += visible(String(decoding: character, as: UTF8.self))
                pending = pending[end...]
            } else {
                result += hex(first)
                pending = pending.dropFirst()
            }
        }
        return result
    }

    /// In backquotes-free quotes for messages: `'x'`, with control characters escaped.
    /// A long one is cut: the excerpt below the message shows its place.
    package static func quoted(_ text: String) -> String {
        let shown = text.prefix(longestQuote)
        return "`\(Escaped.text(shown.utf8))\(shown.endIndex < text.endIndex ? "…" : "")`"
    }

    private static let longestQuote = 60

    private static func ascii(_ byte: UInt8) -> String {
        switch byte {
        case 0x0D: "\\r"
        case 0x0A: "\\n"
        case 0x09: "\\t"
        case 0x00: "\\0"
        case 0x20...0x7E: String(UnicodeScalar(byte))
        default: hex(byte)
        }
    }

    private static func hex(_ byte: UInt8) -> String {
        let digits = Array("0123456789abcdef")
        return "\\x\(digits[Int(byte >> 4)])\(digits[Int(byte & 15)])"
    }

    /// Escapes what is invisible or turns the direction of the text.
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

    /// `\u{202e}`
    package static func code(of scalar: UnicodeScalar) -> String { "\\u{\(String(scalar.value, radix: 16))}" }
}

extension UnicodeScalar {
    /// Whether it may stand as it is in a text for people, whatever shows it: no control character, nothing invisible, nothing that
    /// turns the direction of the text, no line break. The one answer for messages and for every report.
    package var isVisible: Bool {
        if 0x20...0x7E ~= value { return true }
        return switch properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .privateUse, .unassigned: false
        default: true
        }
    }
}
