import ProbeBase

/// Characters and signs that mean nothing in a script, but something elsewhere: comments of other languages, typographic characters, and
/// spaces that are none.
extension Lexer {
    /// Passes over `// …` and `/* … */`, which are reported. A `/*` can start no regex; a `//` is the empty one where nothing but a clause
    /// follows it.
    mutating func skipForeignComment() -> Bool {
        let start = position
        if isSpaced, peek(1) == UInt8(ascii: "*") {
            position += 2
            while position < bytes.count, peek(0) != UInt8(ascii: "*") || peek(1) != UInt8(ascii: "/") { position += 1 }
            let isClosed = position < bytes.count
            if !isClosed {
                position = start
                while position < bytes.count, bytes[position] != 0x0A { position += 1 }
            } else {
                position += 2
            }
            report(.foreignComment("/*"), start, start + 2)
            isSpaced = true
            return true
        }
        guard isSpaced, depth == 0, peek(1) == UInt8(ascii: "/"), !isEmptyRegex else { return false }
        while position < bytes.count, bytes[position] != 0x0A { position += 1 }
        report(.foreignComment("//"), start, start + 2)
        return true
    }

    private var isEmptyRegex: Bool {
        guard let last = tokens.last, last.kind != .newline else { return false }
        var index = position + 2
        if index < bytes.count, bytes[index] == UInt8(ascii: "i") { index += 1 }
        if index < bytes.count, bytes[index].isWordCharacter { return false }
        while index < bytes.count, bytes[index] == UInt8(ascii: " ") || bytes[index] == UInt8(ascii: "\t") {
            index += 1
        }
        guard index < bytes.count else { return last.kind == .word }
        switch bytes[index] {
        case 0x0A, 0x0D: return last.kind == .word
        case UInt8(ascii: ","), UInt8(ascii: "{"), UInt8(ascii: "}"), UInt8(ascii: ";"), UInt8(ascii: "#"): return true
        default:
            guard bytes[index].isWordStart else { return false }
            let word = bytes.text(index..<bytes.endOfWord(from: index))
            return last.kind == .word && ["as", "within", "after", "for", "is"].contains(word)
        }
    }

    /// A run of characters without meaning is one error. One that stands for a sign of the language is read as that sign, so that the rest
    /// of its line is not reported too.
    mutating func invalidCharacters() {
        let start = position
        let text = bytes.scalar(at: start)
        if let scalar = text.unicodeScalars.first, let found = TypographicCharacter(scalar) {
            position += text.utf8.count
            report(found.message, start, position)
            switch found.meant {
            case .space: isSpaced = true
            case .sign(let sign):
                let signs = Array(sign.utf8)
                let (kind, length) = Self.symbol(
                    signs[0], signs.count > 1 ? signs[1] : nil, signs.count > 2 ? signs[2] : nil)
                add(length == signs.count ? kind : .invalid, start, position)
            case .quote, .character: add(.invalid, start, position)
            }
            return
        }
        if peek(0) == UInt8(ascii: "&") || peek(0) == UInt8(ascii: "!") {
            position += 1
            if peek(0) == bytes[start] { position += 1 }
            report(.foreignOperator(bytes.text(start..<position)), start, position)
            add(.invalid, start, position)
            return
        }
        while let byte = peek(0), byte > UInt8(ascii: " "), !byte.isWordCharacter,
            Self.symbol(byte, peek(1), peek(2)).0 == .invalid, byte != UInt8(ascii: "\""), byte != UInt8(ascii: "'"),
            byte != UInt8(ascii: "/"), byte != UInt8(ascii: "["), byte != UInt8(ascii: "#")
        {
            if position > start, byte >= 0xC0, let scalar = bytes.scalar(at: position).unicodeScalars.first,
                TypographicCharacter(scalar) != nil
            {
                break
            }
            position += 1
        }
        if position == start { position += 1 }
        report(
            .unexpectedCharacter, "\(Escaped.quoted(text)) has no meaning here",
            hint: "text for the wire stands in quotes", start, position)
        add(.invalid, start, position)
    }
}

/// A character of typography that looks like one of the language, or like nothing at all.
package struct TypographicCharacter: Sendable {
    package enum Meant: Sendable {
        case space
        /// What the language writes for it.
        case sign(String)
        case quote
        /// A letter or a digit.
        case character(String)
    }

    let name: String
    let meant: Meant
    /// It can't be seen at all, and stands for nothing.
    var isInvisible = false

    /// nil for a character that is none of these.
    init?(_ scalar: Unicode.Scalar) {
        let code = "U+" + Self.hex(scalar.value)
        switch scalar.value {
        case 0xA0: self.init("a no-break space (\(code))", .space)
        case 0x3000: self.init("an ideographic space (\(code))", .space)
        case 0x2000...0x200A, 0x202F, 0x205F, 0x1680: self.init("a typographic space (\(code))", .space)
        case 0x85, 0x2028, 0x2029: self.init("a typographic line end (\(code))", .space)
        case 0xAD, 0x200B...0x200F, 0x202A...0x202E, 0x2060...0x2069, 0xFEFF, 0x180E, 0x61C:
            self.init("an invisible character (\(code))", .space)
            isInvisible = true
        case 0x201C...0x201F, 0x2018...0x201B, 0xAB, 0xBB, 0x2039, 0x203A, 0x300C...0x300F, 0x2032, 0x2033, 0xB4, 0x60,
            0xFF02, 0xFF07:
            self.init("\(scalar) is a typographic quote", .quote)
        case 0x2192, 0x21D2, 0x27F6, 0x27F9, 0x279C, 0x2794, 0x279D, 0x279E, 0x27A1, 0x2B62, 0x21A6:
            self.init("\(scalar) is a typographic arrow", .sign("->"))
        case 0x2194, 0x21D4, 0x27F7: self.init("\(scalar) is a typographic arrow", .sign("<->"))
        case 0x2010...0x2015, 0x2212, 0xFE58, 0xFE63:
            self.init("\(scalar) (\(code)) is a typographic dash", .sign("-"))
        case 0x2026: self.init("\(scalar) is a typographic ellipsis", .sign(".."))
        case 0xD7, 0x22C5, 0xB7: self.init("\(scalar) is a typographic sign", .sign("*"))
        case 0x2264: self.init("\(scalar) is a typographic sign", .sign("<="))
        case 0x2265: self.init("\(scalar) is a typographic sign", .sign(">="))
        case 0x2260: self.init("\(scalar) is a typographic sign", .sign("!="))
        case 0xFF01...0xFF5E:
            let plain = Unicode.Scalar(UInt8(scalar.value - 0xFEE0))
            let text = String(Character(plain))
            let isWord = UInt8(scalar.value - 0xFEE0).isWordCharacter || "#/[]\\&!@`$?^~".contains(text)
            self.init("\(scalar) is a fullwidth character", isWord ? .character(text) : .sign(text))
        default: return nil
        }
    }

    private init(_ name: String, _ meant: Meant) {
        self.name = name
        self.meant = meant
    }

    private static func hex(_ value: UInt32) -> String {
        let digits = String(value, radix: 16, uppercase: true)
        return String(repeating: "0", count: max(0, 4 - digits.utf8.count)) + digits
    }

    var message: Diagnostic.Message {
        switch meant {
        case .space where isInvisible:
            .init(
                .unexpectedCharacter, "\(name) stands here, where nobody sees it",
                hint: "remove it, or write the line anew")
        case .space: .init(.unexpectedCharacter, "\(name) stands here", hint: "write an ordinary space instead of it")
        case .quote: .init(.unexpectedCharacter, name, hint: "use the straight ones: \"text\" or 'raw text'")
        case .sign(let sign), .character(let sign): .init(.unexpectedCharacter, name, hint: "write `\(sign)`")
        }
    }
}

extension Diagnostic.Message {
    /// `//` or `/*`.
    static func foreignComment(_ sign: String) -> Self {
        Self(.unexpectedSlash, "`\(sign)` starts no comment", hint: "a comment goes from # to the end of its line")
    }

    /// `&&`, `||`, `!`
    static func foreignOperator(_ sign: String) -> Self {
        Self(
            .unexpectedCharacter, "there is no operator `\(sign)`",
            hint: sign == "!"
                ? "`!=` compares, check x lacks \"text\" looks for what is missing, expect nothing for 200ms "
                    + "waits for silence"
                : sign.hasPrefix("|")
                    ? "one of several is written either { C expect \"a\" } or { C expect \"b\" }"
                    : "what must hold together is written as several steps, one a line")
    }
}
