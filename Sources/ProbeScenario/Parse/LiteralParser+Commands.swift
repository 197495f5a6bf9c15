import ProbeBase

extension LiteralParser {
    /// The words of a `process` line after its `=`.
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
                .shellOperator, "no shell runs: \(Escaped.quoted(shown)) is handed to the program as an argument",
                hint: "quote it if that is meant; for a shell write sh -c '…'", Int(token.start), Int(token.end))
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
