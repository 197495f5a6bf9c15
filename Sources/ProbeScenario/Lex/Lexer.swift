import ProbeBase

/// Cuts the text of a script into words. Takes time linear in the text, never traps, and reports all that is wrong.
struct Lexer {
    /// Offsets are kept in 32 bits, and the tree of a larger script would not be small.
    static let largestScript = 64 << 20

    let file: Int
    let bytes: [UInt8]
    var position = 0
    var tokens: [Token] = []
    var comments: [Range<Int>] = []
    var diagnostics: [Diagnostic] = []
    /// Open parentheses of the statement: inside them `/` divides.
    var depth = 0
    var isSpaced = true

    init(file: Int, bytes: [UInt8]) {
        self.file = file
        self.bytes = bytes
    }

    /// The words of the file `file` with these bytes.
    static func tokens(file: Int, bytes: [UInt8]) -> TokenList {
        var lexer = Lexer(file: file, bytes: bytes)
        if bytes.count > largestScript {
            lexer.report(
                .tooLarge, "the script is larger than \(largestScript / 1_048_576) MiB",
                hint: "split it, or move its data to files: file(\"payload.bin\")", 0, 0)
            return lexer.unreadable
        }
        if let offset = UTF8Check.firstInvalidOffset(in: bytes.span) {
            lexer.report(
                .notUTF8, "the script is not UTF-8 text: the byte at offset \(offset) fits nowhere",
                hint: "save the file as UTF-8; bytes for the wire are written \"\\xHH\" or hex(…)", offset, offset + 1)
            return lexer.unreadable
        }
        if let offset = bytes.firstIndex(of: 0) {
            lexer.report(
                .nulByte, "the script holds a NUL byte, at offset \(offset)",
                hint: "a script is text; a NUL for the wire is written \"\\0\"", offset, offset + 1)
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
                    .unexpectedCharacter, "a carriage return stands here without a line feed",
                    hint: "end the lines of the script with LF or CRLF; a CR for the wire is written \"\\r\"", start,
                    start + 1)
            }
        case UInt8(ascii: "#"):
            if !isSpaced {
                report(
                    .commentNeedsSpace, "a # in the middle of a word starts no comment",
                    hint: "put a space before the #", start, start + 1)
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
        // `10B/s`, `2000/s`: inside parentheses a slash divides.
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
                .unterminatedHex, "this hex( has no closing ) on its line", hint: "write hex(de ad be ef)", open,
                open + 1)
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
                        .unexpectedCharacter, "a control character stands in this string, where nobody sees it",
                        hint: "write it as an escape: \(Escaped.text([bytes[hidden]]))", hidden, hidden + 1)
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
                .unterminatedRegex, "this regex has no closing / on its line",
                hint: "close it with /; a / inside is written \\/; division works only inside parentheses", start,
                start + 1)
            while position < bytes.count, bytes[position] != 0x0A { position += 1 }
            add(.invalid, start, position)
            return
        }
        position = end
        // The flags.
        while let byte = peek(0), byte.isWordCharacter { position += 1 }
        add(.regex, start, position)
    }

    /// Behind the closing `/`; one in a class such as `[^/]` closes nothing.
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
                .badAddress, "this [ has no closing ]", hint: "an IPv6 address is written [::1]:8080", start, start + 1)
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
            // A line that starts with `|` belongs to the one before.
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
            .unterminatedString, "this string has no closing \(quote) on its line",
            hint: "close it with \(quote); a line end for the wire is written \\n, and strings are joined with +")
    }
}
