import ProbeBase
import ProbeRegex

/// The text of a value in a case's label: short, and without raw bytes.
enum CaseLabel {
    /// The maximum length of the text of a value. Longer text is truncated.
    static let longest = 24

    static func text(_ value: Value) -> String {
        switch value {
        case .integer(let number): String(number)
        case .unsigned(let number): String(number)
        case .bytes(let bytes): text(bytes)
        case .pieces(let pieces): text(Array(pieces.joined()))
        case .regex(let regex): quoted(regex.source, "/")
        }
    }

    private static func text(_ bytes: [UInt8]) -> String {
        let isShort = !bytes.isEmpty && bytes.count <= longest
        let isPlain =
            isShort && bytes.allSatisfy { $0.isWordCharacter || $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: ".") }
        if isPlain { return String(decoding: bytes, as: UTF8.self) }
        // The text uses the escapes of a script: `\n` is a line feed, and `\\n` is a backslash and an n. An escape is
        // never split.
        var text = ""
        var index = 0
        while index < bytes.count {
            let unit = Escaped.readableUnit(of: bytes, at: index)
            guard text.count + unit.text.count <= longest else { return "\"\(text)...\"" }
            text += unit.text
            index += unit.length
        }
        return "\"\(text)\""
    }

    private static func quoted(_ text: String, _ quote: String) -> String {
        let escaped = Escaped.text(text.utf8)
        let kept = escaped.prefix(longest)
        return quote + kept + (kept.count < escaped.count ? "..." : "") + quote
    }
}
