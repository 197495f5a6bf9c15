import ProbeBase

/// Collects the parts of a string: text and what is interpolated.
struct PieceBuilder {
    private(set) var pieces: [StringPiece] = []
    private var text: [UInt8] = []

    mutating func append(_ byte: UInt8) { text.append(byte) }
    mutating func append(contentsOf bytes: some Sequence<UInt8>) { text.append(contentsOf: bytes) }

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

extension Parser {
    /// The pieces of a `"string"`; what is wrong in it is reported, and left out.
    func decodeString(_ token: Token) -> [StringPiece] {
        var builder = PieceBuilder()
        let end = Int(token.end) - 1
        var index = Int(token.start) + 1
        while index < end {
            let byte = bytes[index]
            if byte == UInt8(ascii: "\\") {
                index = decodeEscape(at: index, end: end, into: &builder)
            } else if byte == UInt8(ascii: "$"), index + 1 < end, bytes[index + 1] == UInt8(ascii: "{") {
                let (piece, next) = interpolation(at: index, end: end)
                builder.append(piece ?? .text([0x3F]))
                index = next
            } else {
                builder.append(byte)
                index += 1
            }
        }
        return builder.finished()
    }

    private func decodeEscape(at start: Int, end: Int, into builder: inout PieceBuilder) -> Int {
        guard start + 1 < end else {
            lexical(.unknownEscape("\\"), start, start + 1)
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
                lexical(.badHexEscape, start, next)
                return next
            }
            builder.append(high << 4 | low)
            return next + 2
        case UInt8(ascii: "u"): return decodeUnicode(at: start, end: end, into: &builder)
        default:
            let character = bytes.scalar(at: start + 1)
            lexical(.unknownEscape(Escaped.quoted("\\" + character)), start, start + 1 + character.utf8.count)
            return start + 1 + character.utf8.count
        }
        return next
    }

    private func decodeUnicode(at start: Int, end: Int, into builder: inout PieceBuilder) -> Int {
        var index = start + 2
        guard index < end, bytes[index] == UInt8(ascii: "{") else {
            lexical(.badUnicodeEscape, start, index)
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
            lexical(.badUnicodeEscape, start, index)
            return index
        }
        builder.append(contentsOf: String(Character(scalar)).utf8)
        return index + 1
    }

    /// `${name}`, `${S.port}`, `${P.port.2}` at `start`, and the offset behind it.
    func interpolation(at start: Int, end: Int) -> (piece: StringPiece?, next: Int) {
        var close = start + 2
        while close < end, bytes[close] != UInt8(ascii: "}"), bytes[close] > UInt8(ascii: " ") { close += 1 }
        guard close < end, bytes[close] == UInt8(ascii: "}") else {
            lexical(.badInterpolation(Escaped.quoted(bytes.text(start..<min(close, start + 30)))), start, close)
            return (nil, max(close, start + 2))
        }
        let nameStart = start + 2
        let nameEnd = close > nameStart && bytes[nameStart].isWordStart ? bytes.endOfWord(from: nameStart) : nameStart
        let name = Name(bytes.text(nameStart..<nameEnd), SourceSpan(file: file, start: nameStart, end: nameEnd))
        if nameEnd > nameStart, nameEnd == close { return (.variable(name), close + 1) }
        if nameEnd > nameStart, nameEnd < close, bytes[nameEnd] == UInt8(ascii: ".") {
            let property = Name(
                bytes.text(nameEnd + 1..<close), SourceSpan(file: file, start: nameEnd + 1, end: close))
            if !property.value.isEmpty { return (.property(actor: name, property: property), close + 1) }
        }
        let shown = bytes.text(start..<min(close + 1, start + 40))
        lexical(.badInterpolation(Escaped.quoted(shown)), start, close + 1)
        return (nil, close + 1)
    }

    func lexical(_ kind: LexicalDiagnosticKind, _ start: Int, _ end: Int) {
        report(.lexical(kind), at: SourceSpan(file: file, start: start, end: end))
    }

    /// A string without interpolation, as text: titles, paths and tags.
    mutating func parsePlainString(_ what: String, _ example: String) throws(Abandoned) -> Spanned<String> {
        let first = token
        guard kind == .string || kind == .rawString else { throw expected(what, example) }
        let pieces =
            kind == .string ? decodeString(first) : [.text(Array(bytes[Int(first.start) + 1..<Int(first.end) - 1]))]
        advance()
        var text: [UInt8] = []
        for piece in pieces {
            guard case .text(let part) = piece else { throw fail(.interpolationNotHere, at: span(first)) }
            text += part
        }
        return Spanned(String(decoding: text, as: UTF8.self), span(first))
    }

    // MARK: Regex

    mutating func parseRegex(_ what: String = "a regex", _ example: String = "/^220 /") throws(Abandoned)
        -> RegexLiteral
    {
        guard kind == .regex else { throw expected(what, example) }
        let literal = regexLiteral(token)
        advance()
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
                lexical(.unknownRegexFlag(Escaped.quoted(bytes.scalar(at: offset))), offset, offset + 1)
                break
            }
        }
        var builder = PieceBuilder()
        // The pattern with a letter in place of each variable, and the place of each of its bytes in the script.
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
        let place = span(token)
        do throws(RegexSyntaxError) {
            let regex = try ByteRegex(bytes: sample, ignoresCase: ignoresCase)
            return RegexLiteral(
                pieces: builder.finished(), ignoresCase: ignoresCase, groupNames: regex.groupNames,
                compiled: isInterpolated ? nil : regex, span: place)
        } catch {
            let offset = origins.indices.contains(error.offset) ? origins[error.offset] : close
            lexical(.regexSyntax(error.message), offset, min(offset + 1, Int(token.end)))
            return RegexLiteral(
                pieces: builder.finished(), ignoresCase: ignoresCase, groupNames: [], compiled: nil, span: place)
        }
    }

    // MARK: Commands

    /// The words of a `process` line after its `=`.
    mutating func parseCommandWords() throws(Abandoned) -> [Spanned<[StringPiece]>] {
        var words: [Spanned<[StringPiece]>] = []
        while kind == .shellWord {
            words.append(Spanned(commandWord(token), span(token)))
            advance()
        }
        if kind == .invalid { throw Abandoned() }
        guard !words.isEmpty else { throw expected("a command", "process P = redis-server --port ${P.port}") }
        return words
    }

    private func commandWord(_ token: Token) -> [StringPiece] {
        let shown = text(token)
        if Self.shellOperators.contains(shown) {
            lexical(.shellOperator(Escaped.quoted(shown)), Int(token.start), Int(token.end))
        }
        var builder = PieceBuilder()
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
                // In double quotes a backslash quotes only what is special there (POSIX, XCU 2.2.3).
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
