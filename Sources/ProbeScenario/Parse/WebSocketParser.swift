/// Parses `ws.text("x", fin: no)` and similar expressions.
struct WebSocketParser: GrammarPart {
    let cursor: TokenCursor

    private static let options = ["fin", "mask", "rsv", "opcode", "length", "length-form"]

    /// Parses a WebSocket expression.
    ///
    /// - Parameters:
    ///   - first: the word `ws`; the cursor is at the token after the dot.
    ///   - parseValue: parses an argument.
    func parse(
        from first: Token, _ parseValue: (String, String?) throws(Abandoned) -> Expression
    ) throws(Abandoned) -> WebSocketExpression {
        let choices = WebSocketExpression.Kind.allCases
        guard let kind = WebSocketExpression.Kind(rawValue: cursor.word) else {
            throw cursor.fail(
                .unknownWord(cursor.word, what: "a WebSocket frame", choices: choices.map(\.rawValue)),
                at: cursor.place)
        }
        cursor.advance()
        let example = kind.entry.example
        guard cursor.kind == .leftParenthesis else { throw cursor.expected("`(`", example) }
        cursor.advance()
        var value = WebSocketExpression(kind: kind, arguments: [])
        var seen: Set<String> = []
        if !cursor.take(.rightParenthesis) {
            repeat {
                if cursor.kind == .word, cursor.token(ahead: 1).kind == .colon {
                    try parseOption(into: &value, &seen, parseValue)
                } else {
                    value.arguments.append(try parseValue("an argument", example))
                }
            } while cursor.take(.comma)
            try cursor.expect(.rightParenthesis, "`,` or `)`")
        }
        guard kind.arity.contains(value.arguments.count) else {
            throw cursor.fail(
                .argumentCount, "wrong number of arguments for `\(kind.name)(…)`", hint: "for example: \(example)",
                at: cursor.span(from: first))
        }
        return value
    }

    private func parseOption(
        into value: inout WebSocketExpression, _ seen: inout Set<String>,
        _ parseValue: (String, String?) throws(Abandoned) -> Expression
    ) throws(Abandoned) {
        let (word, place) = (cursor.word, cursor.place)
        guard Self.options.contains(word), value.kind != .accept else {
            throw cursor.fail(
                .unknownWord(
                    word, what: "an option of \(value.kind.name)", choices: value.kind == .accept ? [] : Self.options),
                at: place)
        }
        if !seen.insert(word).inserted { throw cursor.fail(.clauseTwice(word), at: place) }
        cursor.advance()
        cursor.advance()
        switch word {
        case "fin": value.isFinal = try parseYesOrNo("fin: no")
        case "mask":
            if cursor.kind == .word, ["yes", "no"].contains(cursor.word) {
                value.mask = try parseYesOrNo("mask: yes") ? .chosen : WebSocketExpression.Mask.none
            } else {
                value.mask = .key(try parseValue("`yes`, `no` or four bytes", "mask: hex(01 02 03 04)"))
            }
        case "rsv": value.reserved = try parseValue("a number from 0 to 7", "rsv: 4")
        case "opcode": value.opcode = try parseValue("a number from 0 to 15", "opcode: 0")
        case "length": value.length = try parseValue("a number", "length: 70000")
        default: value.lengthForm = try parseValue("1, 2 or 8", "length-form: 8")
        }
    }

    private func parseYesOrNo(_ example: String) throws(Abandoned) -> Bool {
        if cursor.take(word: "yes") { return true }
        if cursor.take(word: "no") { return false }
        throw cursor.expected("`yes` or `no`", example)
    }
}
