import ProbeBase
import ProbeRegex

/// Parses the contents of strings, regexes and command words.
struct LiteralParser: GrammarPart {
    let cursor: TokenCursor

    var bytes: [UInt8] { cursor.bytes }
    var kind: Token.Kind { cursor.kind }
    var token: Token { cursor.token }

    // MARK: Names from outside the script

    /// Parses a name from outside the script, such as `redis-server`, `python3.11`, `br-lan` or `"/opt/x y/z"`: a
    /// string, or words, numbers, dots and signs without spaces between them.
    func parseSolidText(_ what: String, _ example: String) throws(Abandoned) -> Name {
        if cursor.kind == .string || cursor.kind == .rawString { return try parsePlainString(what, "") }
        guard cursor.kind == .word || cursor.kind == .number else { throw cursor.expected(what, example) }
        let start = cursor.token
        cursor.advance()
        while !cursor.token.isSpaced, [.word, .number, .dot, .minus, .plus].contains(cursor.kind) { cursor.advance() }
        let place = cursor.span(from: start)
        return Name(cursor.bytes.text(place.start..<place.end), place)
    }

    // MARK: Strings

    /// Returns the pieces of a string. Errors in the string are reported, and its invalid parts are omitted.
    func pieces(of token: Token) -> [StringPiece] {
        token.kind == .string
            ? decoded(token) : [.text(Array(bytes[Int(token.start) + 1..<Int(token.end) - 1]))]
    }

    /// Returns the pieces of a `"string"`.
    private func decoded(_ token: Token) -> [StringPiece] {
        let end = Int(token.end) - 1
        var index = Int(token.start) + 1
        if index < end, endOfPlainText(from: index, end: end) == end { return [.text(Array(bytes[index..<end]))] }
        var builder = PieceBuilder(length: end - index)
        while index < end {
            let special = endOfPlainText(from: index, end: end)
            builder.append(contentsOf: bytes[index..<special])
            index = special
            guard index < end else { break }
            if bytes[index] == UInt8(ascii: "\\") {
                index = decodeEscape(at: index, end: end, into: &builder)
            } else {
                let (piece, next) = interpolation(at: index, end: end)
                builder.append(piece ?? .text([0x3F]))
                index = next
            }
        }
        return builder.finished()
    }

    /// Returns the offset at which the next escape or interpolation begins.
    private func endOfPlainText(from start: Int, end: Int) -> Int {
        var index = start
        while index < end, bytes[index] != UInt8(ascii: "\\") {
            if bytes[index] == UInt8(ascii: "$"), index + 1 < end, bytes[index + 1] == UInt8(ascii: "{") { break }
            index += 1
        }
        return index
    }

    private func decodeEscape(at start: Int, end: Int, into builder: inout PieceBuilder) -> Int {
        guard start + 1 < end else {
            report(.unknownEscape("\\"), start, start + 1)
            return end
        }
        let next = start + 2
        switch bytes[start + 1] {
        case UInt8(ascii: "r"): builder.append(0x0D)
        case UInt8(ascii: "n"): builder.append(0x0A)
        case UInt8(ascii: "t"): builder.append(0x09)
        case UInt8(ascii: "0"): builder.append(0x00)
        case UInt8(ascii: "\\"), UInt8(ascii: "\""), UInt8(ascii: "$"): builder.append(bytes[start + 1])
        case UInt8(ascii: "x"):
            guard next + 1 < end, let high = bytes[next].hexDigit, let low = bytes[next + 1].hexDigit else {
                report(
                    .unknownEscape, "`\\x` must be followed by exactly two hexadecimal digits",
                    hint: "for example: \\x0d", start, next)
                return next
            }
            builder.append(high << 4 | low)
            return next + 2
        case UInt8(ascii: "u"): return decodeUnicode(at: start, end: end, into: &builder)
        default:
            let character = bytes.scalar(at: start + 1)
            report(.unknownEscape(Escaped.quoted("\\" + character)), start, start + 1 + character.utf8.count)
            return start + 1 + character.utf8.count
        }
        return next
    }

    private func decodeUnicode(at start: Int, end: Int, into builder: inout PieceBuilder) -> Int {
        var index = start + 2
        guard index < end, bytes[index] == UInt8(ascii: "{") else {
            report(.badUnicodeEscape, start, index)
            return index
        }
        index += 1
        var value: UInt32 = 0
        var digits = 0
        while index < end, let digit = bytes[index].hexDigit, digits < 7 {
            value = value << 4 | UInt32(digit)
            digits += 1
            index += 1
        }
        guard index < end, bytes[index] == UInt8(ascii: "}"), (1...6).contains(digits),
            let scalar = UnicodeScalar(value)
        else {
            report(.badUnicodeEscape, start, index)
            return index
        }
        builder.append(contentsOf: String(Character(scalar)).utf8)
        return index + 1
    }

    /// Parses an interpolation, such as `${name}`, `${S.port}` or `${P.port.2}`, at `start`, and returns the
    /// interpolation and the offset after it.
    func interpolation(at start: Int, end: Int) -> (piece: StringPiece?, next: Int) {
        var close = start + 2
        while close < end, bytes[close] != UInt8(ascii: "}"), bytes[close] > UInt8(ascii: " ") { close += 1 }
        guard close < end, bytes[close] == UInt8(ascii: "}") else {
            report(
                .badInterpolation(Escaped.quoted(bytes.text(start..<min(close, start + 30)))), start, close)
            return (nil, max(close, start + 2))
        }
        let nameStart = start + 2
        let nameEnd = close > nameStart && bytes[nameStart].isWordStart ? bytes.endOfWord(from: nameStart) : nameStart
        let name = Name(bytes.text(nameStart..<nameEnd), SourceSpan(file: cursor.file, start: nameStart, end: nameEnd))
        if nameEnd > nameStart, nameEnd == close { return (.variable(name), close + 1) }
        if nameEnd > nameStart, nameEnd < close, bytes[nameEnd] == UInt8(ascii: ".") {
            let property = Name(
                bytes.text(nameEnd + 1..<close), SourceSpan(file: cursor.file, start: nameEnd + 1, end: close))
            if !property.value.isEmpty { return (.property(actor: name, property: property), close + 1) }
        }
        let shown = bytes.text(start..<min(close + 1, start + 40))
        report(.badInterpolation(Escaped.quoted(shown)), start, close + 1)
        return (nil, close + 1)
    }

    func report(_ id: DiagnosticID, _ text: String, hint: String? = nil, _ start: Int, _ end: Int) {
        report(Diagnostic.Message(id, text, hint: hint), start, end)
    }

    func report(_ message: Diagnostic.Message, _ start: Int, _ end: Int) {
        cursor.report(message, at: SourceSpan(file: cursor.file, start: start, end: end))
    }

    /// Parses a string without interpolation as text, for titles, paths and tags.
    func parsePlainString(_ what: String, _ example: String) throws(Abandoned) -> Spanned<String> {
        let bytes = try parsePlainBytes(what, example)
        return Spanned(String(decoding: bytes.value, as: UTF8.self), bytes.span)
    }

    /// Parses a string without interpolation as bytes.
    func parsePlainBytes(_ what: String, _ example: String) throws(Abandoned) -> Spanned<[UInt8]> {
        let first = token
        guard kind == .string || kind == .rawString else { throw cursor.expected(what, example) }
        let pieces = pieces(of: first)
        cursor.advance()
        var text: [UInt8] = []
        for piece in pieces {
            guard case .text(let part) = piece else {
                throw cursor.fail(
                    .badInterpolation,
                    "interpolation is not allowed in this text, which is needed before any case runs",
                    hint: "write the text literally; escape a literal `${` as `\\${`", at: cursor.span(first))
            }
            text += part
        }
        return Spanned(text, cursor.span(first))
    }
}

/// Collects the parts of a string: text and interpolations.
struct PieceBuilder {
    private var pieces: [StringPiece] = []
    private var text: [UInt8] = []

    /// Creates a builder.
    ///
    /// - Parameter length: the approximate number of bytes of text.
    init(length: Int) { text.reserveCapacity(length) }

    mutating func append(_ byte: UInt8) { text.append(byte) }
    mutating func append(contentsOf bytes: some Collection<UInt8>) { text.append(contentsOf: bytes) }

    mutating func append(_ piece: StringPiece) {
        flush()
        pieces.append(piece)
    }

    mutating func finished() -> [StringPiece] {
        flush()
        return pieces
    }

    private mutating func flush() {
        guard !text.isEmpty else { return }
        pieces.append(.text(text))
        text = []
    }
}

extension Diagnostic.Message {
    static func unknownEscape(_ escape: String) -> Self {
        Self(
            .unknownEscape, "unknown escape \(escape)",
            hint: "use one of \\r \\n \\t \\0 \\\\ \\\" \\$ \\xHH \\u{H…}, or 'single quotes', which have no escapes")
    }

    static let badUnicodeEscape = Self(
        .unknownEscape, "`\\u` must be followed by one to six hexadecimal digits in braces",
        hint: "write a character as `\\u{e9}`, and a byte as `\\xHH`")

    static func badInterpolation(_ text: String) -> Self {
        Self(
            .badInterpolation, "\(text) is not a valid interpolation",
            hint: "write `${name}`, `${S.port}` or `${S.address}`; escape a literal `${` as `\\${`")
    }
}

extension LiteralParser {
    /// Parses the words of a `process` line after its `=`.
    func parseCommandWords() throws(Abandoned) -> [Spanned<[StringPiece]>] {
        var words: [Spanned<[StringPiece]>] = []
        while kind == .shellWord {
            words.append(Spanned(commandWord(token), cursor.span(token)))
            cursor.advance()
        }
        if kind == .invalid { throw Abandoned() }
        guard !words.isEmpty else { throw cursor.expected("a command", "process P = redis-server --port ${P.port}") }
        return words
    }

    private func commandWord(_ token: Token) -> [StringPiece] {
        let shown = cursor.text(token)
        if Self.shellOperators.contains(shown) {
            report(
                .shellOperator,
                "commands don't run in a shell: \(Escaped.quoted(shown)) is passed to the program as an argument",
                hint: "quote the operator if the program should receive it; to run a shell, write `sh -c "
                    + "'…'`", Int(token.start),
                Int(token.end))
        }
        var builder = PieceBuilder(length: Int(token.end - token.start))
        var index = Int(token.start)
        let end = Int(token.end)
        var isInDoubleQuotes = false
        while index < end {
            let byte = bytes[index]
            switch byte {
            case UInt8(ascii: "'") where !isInDoubleQuotes:
                index += 1
                while index < end, bytes[index] != UInt8(ascii: "'") {
                    builder.append(bytes[index])
                    index += 1
                }
                index += 1
            case UInt8(ascii: "\""):
                isInDoubleQuotes.toggle()
                index += 1
            case UInt8(ascii: "\\"):
                let next = index + 1 < end ? bytes[index + 1] : byte
                // Between double quotes, a backslash escapes only special characters (POSIX, XCU, section 2.2.3).
                let isSpecial = [UInt8(ascii: "$"), UInt8(ascii: "`"), UInt8(ascii: "\""), UInt8(ascii: "\\")].contains(
                    next)
                if isInDoubleQuotes, !isSpecial { builder.append(byte) }
                builder.append(next)
                index += 2
            case UInt8(ascii: "$") where index + 1 < end && bytes[index + 1] == UInt8(ascii: "{"):
                let (piece, next) = interpolation(at: index, end: end)
                builder.append(piece ?? .text([0x3F]))
                index = next
            default:
                builder.append(byte)
                index += 1
            }
        }
        return builder.finished()
    }

    private static let shellOperators: Set<String> = [
        "|", "||", "&", "&&", ";", "<", ">", ">>", "2>", "2>&1", ">&2", "&>", "*",
    ]
}

extension LiteralParser {
    func parseRegex(_ what: String = "a regex", _ example: String = "/^220 /") throws(Abandoned)
        -> RegexLiteral
    {
        guard kind == .regex else { throw cursor.expected(what, example) }
        let literal = regexLiteral(token)
        cursor.advance()
        return literal
    }

    private func regexLiteral(_ token: Token) -> RegexLiteral {
        let start = Int(token.start) + 1
        var close = Int(token.end) - 1
        while close > start, bytes[close] != UInt8(ascii: "/") { close -= 1 }
        var ignoresCase = false
        for offset in (close + 1)..<max(close + 1, Int(token.end)) {
            if bytes[offset] == UInt8(ascii: "i"), !ignoresCase {
                ignoresCase = true
            } else {
                report(
                    .regexSyntax, "unknown regex flag \(Escaped.quoted(bytes.scalar(at: offset)))",
                    hint: "remove the flag; the only flag is `i`, which ignores case", offset, offset + 1)
                break
            }
        }
        var builder = PieceBuilder(length: Int(token.end - token.start))
        // A sample of the pattern with a letter in place of each variable, and, for each byte of the sample, its offset
        // in the script.
        var sample: [UInt8] = []
        var origins: [Int] = []
        var isInterpolated = false
        var index = start
        while index < close {
            if bytes[index] == UInt8(ascii: "\\"), index + 1 < close {
                builder.append(contentsOf: bytes[index...index + 1])
                sample += bytes[index...index + 1]
                origins += [index, index + 1]
                index += 2
            } else if bytes[index] == UInt8(ascii: "$"), index + 1 < close, bytes[index + 1] == UInt8(ascii: "{") {
                let (piece, next) = interpolation(at: index, end: close)
                builder.append(piece ?? .text([0x3F]))
                isInterpolated = true
                sample.append(UInt8(ascii: "x"))
                origins.append(index)
                index = next
            } else {
                builder.append(bytes[index])
                sample.append(bytes[index])
                origins.append(index)
                index += 1
            }
        }
        let place = cursor.span(token)
        do throws(RegexSyntaxError) {
            let regex = try ByteRegex(bytes: sample, ignoresCase: ignoresCase)
            return RegexLiteral(
                pieces: builder.finished(), ignoresCase: ignoresCase, groupNames: regex.groupNames,
                compiled: isInterpolated ? nil : regex, span: place)
        } catch {
            let offset = origins.indices.contains(error.offset) ? origins[error.offset] : close
            report(.regexSyntax, "invalid regex: \(error.message)", offset, min(offset + 1, Int(token.end)))
            return RegexLiteral(
                pieces: builder.finished(), ignoresCase: ignoresCase, groupNames: [], compiled: nil, span: place)
        }
    }
}
