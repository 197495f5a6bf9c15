import ProbeBase

/// Splits the text of a script into tokens. The lexer takes time linear in the length of the text, never traps, and
/// reports every error.
struct Lexer {
    /// The maximum size of a script in bytes. Offsets are stored in 32 bits, and the syntax tree of a larger script
    /// would need too much memory.
    static let largestScript = 64 << 20

    let file: Int
    let bytes: [UInt8]
    var position = 0
    var tokens: [Token] = []
    var comments: [Range<Int>] = []
    var diagnostics: [Diagnostic] = []
    /// The number of open parentheses in the statement. Inside parentheses, `/` is the division operator.
    var depth = 0
    var isSpaced = true

    init(file: Int, bytes: [UInt8]) {
        self.file = file
        self.bytes = bytes
    }

    /// Returns the tokens of the file with the given index and bytes.
    static func tokens(file: Int, bytes: [UInt8]) -> TokenList {
        var lexer = Lexer(file: file, bytes: bytes)
        if bytes.count > largestScript {
            lexer.report(
                .tooLarge, "the script is larger than \(largestScript / 1_048_576) MiB",
                hint: "split the script, or move its data to files: `file(\"payload.bin\")`", 0, 0)
            return lexer.unreadable
        }
        if let offset = UTF8Check.firstInvalidOffset(in: bytes.span) {
            lexer.report(
                .notUTF8, "the script is not valid UTF-8: the byte at offset \(offset) is invalid",
                hint: "save the file as UTF-8; write bytes for the wire as `\"\\xHH\"` or `hex(…)`", offset, offset + 1)
            return lexer.unreadable
        }
        if let offset = bytes.firstIndex(of: 0) {
            lexer.report(
                .nulByte, "the script contains a NUL byte at offset \(offset)",
                hint: "remove the NUL byte, because a script is text; write a NUL for the wire as "
                    + "`\"\\0\"`", offset, offset + 1)
            return lexer.unreadable
        }
        lexer.run()
        return TokenList(tokens: lexer.tokens, comments: lexer.comments, diagnostics: lexer.diagnostics)
    }

    private var unreadable: TokenList {
        TokenList(
            tokens: [Token(.end, 0, 0, isSpaced: true)], comments: [], diagnostics: diagnostics, isUnreadable: true)
    }

    private mutating func run() {
        tokens.reserveCapacity(bytes.count / 5)
        if bytes.count >= 3, bytes[0] == 0xEF, bytes[1] == 0xBB, bytes[2] == 0xBF { position = 3 }
        while position < bytes.count {
            step()
        }
        add(.newline, bytes.count, bytes.count)
        add(.end, bytes.count, bytes.count)
    }

    private mutating func step() {
        let start = position
        let byte = bytes[start]
        switch byte {
        case UInt8(ascii: " "), UInt8(ascii: "\t"):
            position += 1
            isSpaced = true
        case 0x0A:
            position += 1
            endLine(start)
        case 0x0D:
            if peek(1) == 0x0A {
                position += 1
            } else {
                position += 1
                report(
                    .unexpectedCharacter, "this carriage return is not followed by a line feed",
                    hint: "end the lines of the script with LF or CRLF; write a CR for the wire as `\"\\r\"`", start,
                    start + 1)
            }
        case UInt8(ascii: "#"):
            if !isSpaced {
                report(
                    .commentNeedsSpace, "a `#` inside a word does not start a comment",
                    hint: "put a space before the `#`", start, start + 1)
            }
            skipComment()
        case UInt8(ascii: "\""): string(quote: byte, kind: .string)
        case UInt8(ascii: "'"): string(quote: byte, kind: .rawString)
        case UInt8(ascii: "/"): slash()
        case UInt8(ascii: "[") where depth == 0: bracketedHost()
        case _ where byte.isWordStart: word()
        case _ where byte.isDigit: number()
        default: symbol()
        }
    }

    // MARK: Lines

    private mutating func endLine(_ start: Int) {
        isSpaced = true
        guard let last = tokens.last else { return }
        switch last.kind {
        case .pipe, .plus, .comma, .assign, .arrow, .leftParenthesis, .leftBracket: return
        case .newline: return
        default:
            add(.newline, start, start + 1)
            depth = 0
            isSpaced = true
        }
    }

    mutating func skipComment() {
        let start = position
        while position < bytes.count, bytes[position] != 0x0A { position += 1 }
        var end = position
        if end > start, bytes[end - 1] == 0x0D { end -= 1 }
        comments.append(start..<end)
    }

    // MARK: Words and numbers

    private mutating func word() {
        let start = position
        let end = bytes.endOfWord(from: start)
        position = end
        add(.word, start, end)
        if bytes.holds("hex", in: start..<end), peek(0) == UInt8(ascii: "(") {
            hexDigits()
        } else {
            shellWordsIfProcessLine()
        }
    }

    private mutating func number() {
        let start = position
        while position < bytes.count {
            let byte = bytes[position]
            if byte.isWordCharacter {
                position += 1
            } else if byte == UInt8(ascii: "."), let next = peek(1), next.isDigit {
                position += 2
            } else {
                break
            }
        }
        // The unit of a rate, as in `10B/s` and `2000/s`. Inside parentheses, the slash is the division operator.
        if depth == 0, peek(0) == UInt8(ascii: "/"), peek(1) == UInt8(ascii: "s"), !(peek(2)?.isWordCharacter ?? false)
        {
            position += 2
        }
        add(.number, start, position)
    }

    private mutating func hexDigits() {
        let open = position
        position += 1
        let start = position
        while position < bytes.count, bytes[position] != UInt8(ascii: ")"), bytes[position] != 0x0A { position += 1 }
        guard peek(0) == UInt8(ascii: ")") else {
            report(
                .unterminatedHex, "this `hex(` has no closing `)` on its line",
                hint: "close the `hex(` on the same line: `hex(de ad be ef)`", open, open + 1)
            add(.invalid, open, position)
            return
        }
        add(.leftParenthesis, open, open + 1)
        add(.hexDigits, start, position)
        position += 1
        add(.rightParenthesis, position - 1, position)
    }

    // MARK: Literals

    private mutating func string(quote: UInt8, kind: Token.Kind) {
        let start = position
        position += 1
        var hidden: Int?
        while position < bytes.count, bytes[position] != 0x0A {
            let byte = bytes[position]
            if byte.isHidden, byte != 0x0D || peek(1) != 0x0A { hidden = hidden ?? position }
            if byte == quote {
                if let hidden {
                    report(
                        .unexpectedCharacter, "this string contains an invisible control character",
                        hint: "write the character as an escape: "
                            + "`\(Escaped.text([bytes[hidden]]))`", hidden, hidden + 1)
                }
                position += 1
                add(kind, start, position)
                return
            }
            if byte == UInt8(ascii: "\\"), kind == .string, let next = peek(1), next != 0x0A { position += 1 }
            position += 1
        }
        report(.unterminatedString(quote: quote == UInt8(ascii: "\"") ? "\"" : "'"), start, start + 1)
        add(.invalid, start, position)
    }

    private mutating func slash() {
        let start = position
        if skipForeignComment() { return }
        if depth > 0 {
            position += 1
            add(.slash, start, position)
            return
        }
        guard let end = endOfRegex(honoursClasses: true) ?? endOfRegex(honoursClasses: false) else {
            report(
                .unterminatedRegex, "this regex has no closing `/` on its line",
                hint: "close the regex with `/`, and write a `/` inside the regex as `\\/`; to divide, use "
                    + "parentheses: `(a / b)`",
                start, start + 1)
            while position < bytes.count, bytes[position] != 0x0A { position += 1 }
            add(.invalid, start, position)
            return
        }
        position = end
        // Flags can follow the closing `/`.
        while let byte = peek(0), byte.isWordCharacter { position += 1 }
        add(.regex, start, position)
    }

    /// Returns the offset after the closing `/`; a `/` in a class such as `[^/]` does not close the regex.
    private func endOfRegex(honoursClasses: Bool) -> Int? {
        var index = position + 1
        var isInClass = false
        while index < bytes.count, bytes[index] != 0x0A {
            switch bytes[index] {
            case UInt8(ascii: "\\"): index += 1
            case UInt8(ascii: "[") where honoursClasses: isInClass = true
            case UInt8(ascii: "]"): isInClass = false
            case UInt8(ascii: "/") where !isInClass: return index + 1
            default: break
            }
            index += 1
        }
        return nil
    }

    private mutating func bracketedHost() {
        let start = position
        while position < bytes.count, bytes[position] != UInt8(ascii: "]"), bytes[position] > UInt8(ascii: " ") {
            position += 1
        }
        guard peek(0) == UInt8(ascii: "]") else {
            report(
                .badAddress, "this `[` has no closing `]`", hint: "write an IPv6 address as `[::1]:8080`", start,
                start + 1)
            add(.invalid, start, position)
            return
        }
        position += 1
        add(.bracketedHost, start, position)
    }

    // MARK: Symbols

    private mutating func symbol() {
        let start = position
        let (kind, length) = Self.symbol(bytes[start], peek(1), peek(2))
        guard kind != .invalid else {
            invalidCharacters()
            return
        }
        position += length
        switch kind {
        case .leftParenthesis: depth += 1
        case .rightParenthesis: depth = max(0, depth - 1)
        case .pipe:
            // A line that starts with `|` continues the previous line.
            if tokens.last?.kind == .newline, tokens.count < 2 || !tokens[tokens.count - 2].kind.isPartOfCommand {
                tokens.removeLast()
            }
        default: break
        }
        add(kind, start, position)
    }

    static func symbol(_ first: UInt8, _ second: UInt8?, _ third: UInt8?) -> (Token.Kind, Int) {
        switch (first, second) {
        case (UInt8(ascii: "-"), UInt8(ascii: ">")): (.arrow, 2)
        case (UInt8(ascii: "<"), UInt8(ascii: "-")) where third == UInt8(ascii: ">"): (.doubleArrow, 3)
        case (UInt8(ascii: "."), UInt8(ascii: ".")): (.dotDot, 2)
        case (UInt8(ascii: "="), UInt8(ascii: "=")): (.equal, 2)
        case (UInt8(ascii: "!"), UInt8(ascii: "=")): (.notEqual, 2)
        case (UInt8(ascii: "<"), UInt8(ascii: "=")): (.lessOrEqual, 2)
        case (UInt8(ascii: ">"), UInt8(ascii: "=")): (.greaterOrEqual, 2)
        case (UInt8(ascii: "|"), _): (.pipe, 1)
        case (UInt8(ascii: "+"), _): (.plus, 1)
        case (UInt8(ascii: "-"), _): (.minus, 1)
        case (UInt8(ascii: "*"), _): (.star, 1)
        case (UInt8(ascii: "("), _): (.leftParenthesis, 1)
        case (UInt8(ascii: ")"), _): (.rightParenthesis, 1)
        case (UInt8(ascii: "["), _): (.leftBracket, 1)
        case (UInt8(ascii: "]"), _): (.rightBracket, 1)
        case (UInt8(ascii: "{"), _): (.leftBrace, 1)
        case (UInt8(ascii: "}"), _): (.rightBrace, 1)
        case (UInt8(ascii: ","), _): (.comma, 1)
        case (UInt8(ascii: "="), _): (.assign, 1)
        case (UInt8(ascii: ":"), _): (.colon, 1)
        case (UInt8(ascii: ";"), _): (.semicolon, 1)
        case (UInt8(ascii: "."), _): (.dot, 1)
        case (UInt8(ascii: "%"), _): (.percent, 1)
        case (UInt8(ascii: "<"), _): (.less, 1)
        case (UInt8(ascii: ">"), _): (.greater, 1)
        default: (.invalid, 0)
        }
    }

    // MARK: Parts

    func peek(_ ahead: Int) -> UInt8? {
        let index = position + ahead
        return index < bytes.count ? bytes[index] : nil
    }

    mutating func add(_ kind: Token.Kind, _ start: Int, _ end: Int) {
        tokens.append(Token(kind, start, end, isSpaced: isSpaced))
        isSpaced = false
    }

    mutating func markSpace() { isSpaced = true }

    mutating func report(_ id: DiagnosticID, _ text: String, hint: String? = nil, _ start: Int, _ end: Int) {
        report(Diagnostic.Message(id, text, hint: hint), start, end)
    }

    mutating func report(_ message: Diagnostic.Message, _ start: Int, _ end: Int) {
        guard diagnostics.count <= Diagnostics.limit else { return }
        diagnostics.append(Diagnostic(message, span: SourceSpan(file: file, start: start, end: end)))
    }
}

extension Diagnostic.Message {
    static func unterminatedString(quote: String) -> Self {
        Self(
            .unterminatedString, "this string has no closing `\(quote)` on its line",
            hint: "close the string with `\(quote)`; write a line ending for the wire as `\\n`, and join strings "
                + "with `+`")
    }
}

/// Characters and operators that are meaningful elsewhere but not in a script: comments of other languages,
/// typographic characters, and spaces other than U+0020.
extension Lexer {
    /// Skips `// …` and `/* … */`, and reports them. A `/*` can't begin a regex; a `//` is the empty regex only if
    /// nothing but a clause follows it.
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

    /// Reports a run of invalid characters as one error. A character that resembles a symbol of the language is
    /// replaced with that symbol, so that no further errors are reported for the line.
    mutating func invalidCharacters() {
        let start = position
        let text = bytes.scalar(at: start)
        if let scalar = text.unicodeScalars.first, let found = TypographicCharacter(scalar) {
            position += text.utf8.count
            report(found.message, start, position)
            switch found.replacement {
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
            .unexpectedCharacter, "unexpected character \(Escaped.quoted(text))",
            hint: "put text for the wire in quotes", start, position)
        add(.invalid, start, position)
    }
}

/// A typographic character that resembles a character of the language, or is invisible.
package struct TypographicCharacter: Sendable {
    package enum Replacement: Sendable {
        case space
        /// The symbol that the language uses instead of the typographic character.
        case sign(String)
        case quote
        /// The letter or digit that the typographic character resembles.
        case character(String)
    }

    let name: String
    let replacement: Replacement
    /// Whether the typographic character is invisible and does not separate words.
    var isInvisible = false

    /// Creates a typographic character; `nil` if the character is not typographic.
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
        case 0xD7, 0x22C5, 0xB7: self.init("\(scalar) is a typographic symbol", .sign("*"))
        case 0x2264: self.init("\(scalar) is a typographic symbol", .sign("<="))
        case 0x2265: self.init("\(scalar) is a typographic symbol", .sign(">="))
        case 0x2260: self.init("\(scalar) is a typographic symbol", .sign("!="))
        case 0xFF01...0xFF5E:
            let plain = Unicode.Scalar(UInt8(scalar.value - 0xFEE0))
            let text = String(Character(plain))
            let isWord = UInt8(scalar.value - 0xFEE0).isWordCharacter || "#/[]\\&!@`$?^~".contains(text)
            self.init("\(scalar) is a fullwidth character", isWord ? .character(text) : .sign(text))
        default: return nil
        }
    }

    private init(_ name: String, _ replacement: Replacement) {
        self.name = name
        self.replacement = replacement
    }

    private static func hex(_ value: UInt32) -> String {
        let digits = String(value, radix: 16, uppercase: true)
        return String(repeating: "0", count: max(0, 4 - digits.utf8.count)) + digits
    }

    var message: Diagnostic.Message {
        switch replacement {
        case .space where isInvisible:
            .init(
                .unexpectedCharacter, "the script contains \(name)", hint: "remove the character, or retype the line")
        case .space:
            .init(
                .unexpectedCharacter, "the script contains \(name)",
                hint: "replace the character with an ordinary "
                    + "space")
        case .quote: .init(.unexpectedCharacter, name, hint: "use straight quotes: `\"text\"` or `'raw text'`")
        case .sign(let sign), .character(let sign): .init(.unexpectedCharacter, name, hint: "write `\(sign)`")
        }
    }
}

extension Diagnostic.Message {
    /// The message for `//` or `/*`.
    static func foreignComment(_ sign: String) -> Self {
        Self(
            .unexpectedSlash, "`\(sign)` does not start a comment",
            hint: "start the comment with `#`; it ends at the end of the line")
    }

    /// The message for `&&`, `||` or `!`.
    static func foreignOperator(_ sign: String) -> Self {
        Self(
            .unexpectedCharacter, "unknown operator `\(sign)`",
            hint: sign == "!"
                ? "use `!=` to compare, `check x lacks \"text\"` to check that text is absent, or "
                    + "`expect nothing for 200ms` to wait for silence"
                : sign.hasPrefix("|")
                    ? "write `either { C expect \"a\" } or { C expect \"b\" }` to accept one of several inputs"
                    : "write a separate step for each condition, one step per line")
    }
}

extension Lexer {
    /// Reads the rest of a line that begins with `process P =` as words of a POSIX shell. Such a line is never
    /// continued on the next line.
    mutating func shellWordsIfProcessLine() {
        let count = tokens.count
        guard count >= 2, tokens[count - 2].kind == .word, tokens[count - 1].kind == .word,
            bytes.holds("process", in: Int(tokens[count - 2].start)..<Int(tokens[count - 2].end)),
            count == 2 || tokens[count - 3].kind == .newline || tokens[count - 3].kind == .semicolon
        else { return }
        var index = position
        while index < bytes.count, bytes[index] == UInt8(ascii: " ") || bytes[index] == UInt8(ascii: "\t") {
            index += 1
        }
        guard index < bytes.count, bytes[index] == UInt8(ascii: "=") else { return }
        position = index + 1
        add(.assign, index, index + 1)
        while shellWord() {}
        let end = position
        if position < bytes.count { position += 1 }
        add(.newline, end, position)
        markSpace()
    }

    /// Reads the next word of the command. Returns false at the end of the line.
    private mutating func shellWord() -> Bool {
        while let byte = peek(0), byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") || byte == 0x0D {
            position += 1
        }
        guard let first = peek(0), first != 0x0A else { return false }
        if first == UInt8(ascii: "#") {
            skipComment()
            return false
        }
        let start = position
        while let byte = peek(0), byte != UInt8(ascii: " "), byte != UInt8(ascii: "\t"), byte != 0x0A {
            if byte == 0x0D, peek(1) == 0x0A { break }
            switch byte {
            case UInt8(ascii: "'"), UInt8(ascii: "\""):
                guard skipQuote(byte) else {
                    add(.invalid, start, position)
                    return true
                }
            case UInt8(ascii: "\\"):
                position += 1
                if let next = peek(0), next != 0x0A { position += 1 }
            case UInt8(ascii: "$") where peek(1) == UInt8(ascii: "{"):
                // `${P.port}` can't contain white space. The parser reports an unclosed brace.
                position += 2
            default: position += 1
            }
        }
        markSpace()
        add(.shellWord, start, position)
        return true
    }

    private mutating func skipQuote(_ quote: UInt8) -> Bool {
        let start = position
        position += 1
        while let byte = peek(0), byte != 0x0A {
            position += 1
            if byte == quote { return true }
            if byte == UInt8(ascii: "\\"), quote == UInt8(ascii: "\""), let next = peek(0), next != 0x0A {
                position += 1
            }
        }
        report(
            .unterminatedString,
            "this `\(quote == UInt8(ascii: "'") ? "'" : "\"")` in the command is not closed on its line",
            hint: "close the quote; a `process` line can't continue on the next line", start, start + 1)
        return false
    }
}
