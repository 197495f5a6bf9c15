import ProbeBase

/// Arranges the tokens of a script in a new layout, line by line.
struct Layout {
    struct Line {
        var indent: Int
        var code = ""
        var comment = ""
        /// The first word of the line, if the line declares an actor.
        var actorWord: String?

        var isBlank: Bool { code.isEmpty && comment.isEmpty }
    }

    private let bytes: [UInt8]
    private let list: TokenList
    /// For each `{` or `}`, keyed by the index of its token, whether its block is on one line.
    private var isInline: [Int: Bool] = [:]

    private var lines: [Line] = []
    private var current = Line(indent: 0)
    private var depth = 0
    /// For each open block, whether the block is on one line.
    private var blocks: [Bool] = []
    private var last: Token?
    private var beforeLast: Token?
    private var statementEnded = true
    private var statementStart: Token?
    private var parentheses = 0
    /// Whether all tokens so far belong to the header.
    private var isInHeader = true

    init(bytes: [UInt8], list: TokenList) {
        self.bytes = bytes
        self.list = list
    }

    mutating func run() -> String {
        let places = lineNumbers()
        matchBraces(places.tokens)
        var comment = 0
        var previousLine = 0
        for (index, token) in list.tokens.enumerated() {
            while comment < list.comments.count,
                list.comments[comment].lowerBound < Int(token.start) || token.kind == .end
            {
                add(list.comments[comment], on: places.comments[comment], after: previousLine)
                previousLine = places.comments[comment]
                comment += 1
            }
            switch token.kind {
            case .newline, .semicolon: statementEnded = true
            case .end: break
            default:
                add(token, index, on: places.tokens[index], after: previousLine)
                previousLine = places.tokens[index]
            }
        }
        flush()
        return drawn()
    }

    // MARK: Places

    private func lineNumbers() -> (tokens: [Int], comments: [Int]) {
        var number = 1
        var offset = 0
        func advance(to target: Int) -> Int {
            while offset < min(target, bytes.count) {
                if bytes[offset] == 0x0A { number += 1 }
                offset += 1
            }
            return number
        }
        var tokens = [Int](repeating: 0, count: list.tokens.count)
        var comments = [Int](repeating: 0, count: list.comments.count)
        var comment = 0
        for (index, token) in list.tokens.enumerated() {
            while comment < list.comments.count,
                list.comments[comment].lowerBound < Int(token.start) || token.kind == .end
            {
                comments[comment] = advance(to: list.comments[comment].lowerBound)
                comment += 1
            }
            tokens[index] = advance(to: Int(token.start))
        }
        return (tokens, comments)
    }

    private mutating func matchBraces(_ places: [Int]) {
        var open: [Int] = []
        for (index, token) in list.tokens.enumerated() {
            if token.kind == .leftBrace { open.append(index) }
            if token.kind == .rightBrace, let start = open.popLast() {
                let isOneLine = places[start] == places[index]
                isInline[start] = isOneLine
                isInline[index] = isOneLine
            }
        }
    }

    // MARK: Words

    private mutating func add(_ token: Token, _ index: Int, on line: Int, after previousLine: Int) {
        let isClosing = token.kind == .rightBrace
        let inlineBlock = blocks.last ?? false
        if isClosing {
            let wasInline = blocks.popLast() ?? false
            if !wasInline { depth = max(0, depth - 1) }
            if wasInline { append(" }", token) } else { start(token, indent: depth) }
        } else if last?.kind == .leftBrace {
            if inlineBlock {
                append(" " + text(token), token)
            } else {
                start(token, indent: depth, declares: declares(index))
            }
        } else if statementEnded {
            if inlineBlock {
                append("; " + text(token), token)
            } else {
                let gap = line - previousLine > 1
                start(token, indent: depth, declares: declares(index), blankBefore: gap)
            }
        } else if line > previousLine {
            start(token, indent: depth + 1)
        } else {
            append((needsSpace(before: token) ? " " : "") + text(token), token)
        }
        if statementEnded || last == nil { statementStart = token }
        statementEnded = false
        beforeLast = last
        last = token
        switch token.kind {
        case .leftBrace:
            let isOneLine = isInline[index] ?? false
            blocks.append(isOneLine)
            if !isOneLine { depth += 1 }
            statementEnded = true
        case .leftParenthesis: parentheses += 1
        case .rightParenthesis: parentheses -= 1
        default: break
        }
    }

    private mutating func append(_ text: String, _ token: Token) { current.code += text }

    private mutating func start(_ token: Token, indent: Int, declares: Bool = false, blankBefore: Bool = false) {
        flush()
        if blankBefore { addBlankLine() }
        current = Line(indent: indent, code: text(token))
        if declares, Self.actorWords.contains(current.code) { current.actorWord = current.code }
    }

    /// Returns whether the statement that begins with this token belongs to the header.
    private mutating func declares(_ index: Int) -> Bool {
        guard isInHeader, depth == 0 else { return false }
        isInHeader = list.tokens[index].kind == .word && HeaderStatement.begins(list.tokens[index...], of: bytes)
        return isInHeader
    }

    private mutating func add(_ comment: Range<Int>, on line: Int, after previousLine: Int) {
        let text = String(decoding: bytes[comment].trimmingTrailingSpace, as: UTF8.self)
        if line == previousLine, !current.code.isEmpty, current.comment.isEmpty {
            current.comment = text
            return
        }
        flush()
        let isInBlockStart = last?.kind == .leftBrace && (lines.last.map { !$0.code.isEmpty } ?? false)
        if line - previousLine > 1, !isInBlockStart { addBlankLine() }
        let isContinued = !statementEnded
        lines.append(Line(indent: isContinued ? depth + 1 : depth, comment: text))
    }

    private mutating func addBlankLine() {
        if let last = lines.last, !last.isBlank { lines.append(Line(indent: 0)) }
    }

    private mutating func flush() {
        // A `link` step begins with the same word as the declaration of a link.
        if current.actorWord == "link", !Self.declaresLink(current.code) { current.actorWord = nil }
        if !current.isBlank { lines.append(current) }
        current = Line(indent: 0)
    }

    /// Returns whether only names follow the arrow: `link S <-> T, U`.
    private static func declaresLink(_ code: String) -> Bool {
        let words = code.split(separator: " ")
        guard let arrow = words.firstIndex(of: "<->") else { return false }
        return words[(arrow + 1)...].dropLast().allSatisfy { $0.utf8.last == UInt8(ascii: ",") }
    }

    private func text(_ token: Token) -> String {
        let range = Int(token.start)..<Int(token.end)
        guard token.kind == .hexDigits else { return bytes.text(range) }
        let digits = bytes[range].split { $0 == 0x20 || $0 == 0x09 || $0 == 0x0D }
        return digits.map { String(decoding: $0, as: UTF8.self) }.joined(separator: " ")
    }

    private static let actorWords: Set<String> = [
        "server", "client", "subject", "process", "proxy", "crowd", "link", "name",
    ]
    private static let longestActorWord = 7

    // MARK: Spaces

    private func needsSpace(before token: Token) -> Bool {
        guard let last else { return false }
        // The name of a command after `require` may consist of several tokens, so spaces are neither added nor removed.
        if let statementStart, bytes.holds("require", in: Int(statementStart.start)..<Int(statementStart.end)) {
            return token.isSpaced
        }
        switch (last.kind, token.kind) {
        case (_, .comma), (_, .rightParenthesis), (.leftParenthesis, _), (.dotDot, _), (_, .dotDot): return false
        case (.leftBracket, _), (_, .rightBracket): return false
        case (_, .leftBracket): return token.isSpaced
        case (.word, .leftParenthesis):
            let name = bytes.text(Int(last.start)..<Int(last.end))
            return Function(rawValue: name) == nil && !["hex", "pb"].contains(name) && token.isSpaced
        case (.colon, _), (_, .colon), (.dot, _), (_, .dot), (_, .percent): return token.isSpaced
        // In `pb(1: sint -1)`, the `-` is the sign of the number.
        case (.minus, .number) where isSign: return false
        // The `-` may be part of a host name such as `5-a.example`.
        case (_, .minus), (.minus, _): return token.isSpaced || parentheses > 0 || last.isSpaced && last.kind == .minus
        case (.number, .word), (.word, .number): return token.isSpaced
        default: return true
        }
    }

    /// Whether the last token is the sign of a number, after `sint` or `int`.
    private var isSign: Bool {
        guard let beforeLast, beforeLast.kind == .word else { return false }
        return ["sint", "int"].contains(bytes.text(Int(beforeLast.start)..<Int(beforeLast.end)))
    }

    // MARK: Columns

    private func drawn() -> String {
        let drawn = lines.map(Self.withActorColumn)
        var result = ""
        var index = 0
        while index < drawn.count {
            var end = index
            while end < drawn.count, !drawn[end].code.isEmpty, !drawn[end].comment.isEmpty { end += 1 }
            let width = drawn[index..<end].map { Self.width($0) }.max() ?? 0
            for line in drawn[index..<end] {
                result +=
                    Self.code(line) + String(repeating: " ", count: width - Self.width(line) + 2) + line.comment + "\n"
            }
            if end == index {
                let line = drawn[index]
                result += line.isBlank ? "\n" : Self.code(line) + line.comment + "\n"
                end += 1
            }
            index = end
        }
        return result
    }

    /// Pads the declaring word so that the names of all actors start in the same column, one space after the longest
    /// declaring word.
    private static func withActorColumn(_ line: Line) -> Line {
        guard let word = line.actorWord else { return line }
        var line = line
        let padding = String(repeating: " ", count: max(0, longestActorWord - word.utf8.count))
        line.code = word + padding + line.code.dropFirst(word.count)
        return line
    }

    private static let indentation = 4

    private static func code(_ line: Line) -> String {
        String(repeating: " ", count: indentation * line.indent) + line.code
    }

    private static func width(_ line: Line) -> Int {
        indentation * line.indent + line.code.unicodeScalars.reduce(0) { $0 + CharacterWidth.columns(of: $1) }
    }
}
