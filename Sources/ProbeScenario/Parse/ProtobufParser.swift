import ProbeBase

/// Parses protobuf values: `pb(1: "text")`, `pb(m, 3.1)` and `sint -1`.
struct ProtobufParser: GrammarPart {
    let cursor: TokenCursor

    typealias ParseValue = (String, String?) throws(Abandoned) -> Expression

    private static let example = "pb(1: \"text\", 2: 150)"

    /// Parses the arguments and the `)` after them; the `(` has been consumed.
    func parse(_ parseValue: ParseValue) throws(Abandoned) -> ProtobufExpression {
        if cursor.take(.rightParenthesis) { return .message([]) }
        let first = try parseValue("a field number or a message", Self.example)
        guard cursor.kind == .colon else {
            guard cursor.take(.comma) else {
                throw cursor.expected("`:` and a value, or `,` and a field", Self.example)
            }
            let path = try parsePath()
            try cursor.expect(.rightParenthesis, "`)`", "pb(m, 3.1)")
            return .field(of: first, path)
        }
        var fields = [try parseField(first, parseValue)]
        while cursor.take(.comma) {
            fields.append(try parseField(parseValue("a field number", Self.example), parseValue))
        }
        try cursor.expect(.rightParenthesis, "`,` or `)`", Self.example)
        return .message(fields)
    }

    private func parseField(
        _ number: Expression, _ parseValue: ParseValue
    ) throws(Abandoned) -> ProtobufExpression.Field {
        try cursor.expect(.colon, "`:`", Self.example)
        return ProtobufExpression.Field(number: number, content: try parseContent(parseValue))
    }

    private func parseContent(_ parseValue: ParseValue) throws(Abandoned) -> ProtobufExpression.Content {
        let format = takeFormat()
        guard cursor.take(.leftBracket) else { return .single(try parseScalar(format, parseValue)) }
        var scalars: [ProtobufExpression.Scalar] = []
        if cursor.take(.rightBracket) { return .packed([]) }
        repeat {
            scalars.append(try parseScalar(takeFormat() ?? format, parseValue))
        } while cursor.take(.comma)
        try cursor.expect(.rightBracket, "`,` or `]`", "pb(4: [1, 2])")
        return .packed(scalars)
    }

    func parseScalar(
        _ format: ProtobufExpression.Format?, _ parseValue: ParseValue
    ) throws(Abandoned) -> ProtobufExpression.Scalar {
        guard cursor.kind == .minus, format == .sint || format == .int else {
            return ProtobufExpression.Scalar(
                format: format, isNegative: false, value: try parseValue("a value", Self.example))
        }
        cursor.advance()
        guard cursor.kind == .number else { throw cursor.expected("a number after the `-`", "pb(1: sint -1)") }
        let place = cursor.place
        // The smallest integer is a special case, because it can't be parsed as a positive number and negated.
        if cursor.word.filter({ $0 != "_" }) == "9223372036854775808" {
            cursor.advance()
            return ProtobufExpression.Scalar(
                format: format, isNegative: false, value: Expression(.integer(Int.min), span: place))
        }
        let number = try ValueParser(cursor: cursor).parseNumber()
        return ProtobufExpression.Scalar(
            format: format, isNegative: true, value: Expression(.integer(number), span: place))
    }

    /// Consumes a word such as `sint` if a value follows it; `int(x)` is itself a value.
    func takeFormat() -> ProtobufExpression.Format? {
        guard cursor.kind == .word, let format = ProtobufExpression.Format(rawValue: cursor.word) else { return nil }
        switch cursor.token(ahead: 1).kind {
        case .number, .word, .string, .rawString, .leftBracket: break
        case .minus where format == .sint || format == .int: break
        case .leftParenthesis where format != .int || cursor.token(ahead: 1).isSpaced: break
        default: return nil
        }
        cursor.advance()
        return format
    }

    // MARK: Paths

    private func parsePath() throws(Abandoned) -> ProtobufPath {
        let example = "pb(m, 3.1)"
        var parts: [ProtobufPath.Part] = []
        repeat {
            guard cursor.kind == .number else { throw cursor.expected("a field number", example) }
            let place = cursor.place
            // The lexer reads `3.1` as one number, which is split at the dot.
            for digits in cursor.word.split(separator: ".", omittingEmptySubsequences: false) {
                guard let number = Int(digits), digits.utf8.allSatisfy(\.isDigit) else {
                    throw cursor.expected("a field number", example)
                }
                guard (1...ProtobufWriter.largestField).contains(number) else {
                    throw cursor.fail(
                        .outOfRange, "\(number) is not a valid field number",
                        hint: "use a number from 1 to 536870911", at: place)
                }
                parts.append(ProtobufPath.Part(number: number))
            }
            cursor.advance()
            if cursor.take(.leftBracket) {
                parts[parts.count - 1].index = try ValueParser(cursor: cursor).parseNumber()
                try cursor.expect(.rightBracket, "`]`", "pb(m, 3[0])")
            }
        } while cursor.take(.dot)
        return ProtobufPath(parts)
    }
}
