import ProbeBase

/// An expression and how deep its tree is: what walks it recurses that deep.
struct ParsedExpression {
    var value: Expression
    var depth: Int
}

extension Parser {
    /// Deeper trees are refused, so that no walk over one can exhaust the stack.
    static let deepestExpression = 200

    /// Whether a value can start here.
    var startsExpression: Bool {
        switch kind {
        case .string, .rawString, .number, .word, .leftParenthesis: true
        default: false
        }
    }

    mutating func parseExpression(_ what: String = "a value", _ example: String? = nil) throws(Abandoned) -> Expression
    {
        try parseSum(what, example).value
    }

    private mutating func parseSum(_ what: String, _ example: String?) throws(Abandoned) -> ParsedExpression {
        let first = try parseProduct(what, example)
        guard kind == .plus || kind == .minus else { return first }
        // A run of `+` is joined as a balanced tree, so that a long one is not a deep one.
        var run = [first]
        while kind == .plus || kind == .minus {
            let isSum = kind == .plus
            advance()
            let next = try parseProduct("a value behind the `\(isSum ? "+" : "-")`", nil)
            if isSum {
                run.append(next)
            } else {
                let left = try balanced(run[...])
                run = [try combined(left, next, Expression.Kind.subtract)]
            }
        }
        return try balanced(run[...])
    }

    private func balanced(_ run: ArraySlice<ParsedExpression>) throws(Abandoned) -> ParsedExpression {
        if run.count == 1 { return run[run.startIndex] }
        let middle = run.startIndex + (run.count + 1) / 2
        return try combined(balanced(run[..<middle]), balanced(run[middle...]), Expression.Kind.add)
    }

    private func combined(
        _ left: ParsedExpression, _ right: ParsedExpression, _ make: (Expression, Expression) -> Expression.Kind
    ) throws(Abandoned) -> ParsedExpression {
        let span = left.value.span.joined(with: right.value.span)
        let depth = max(left.depth, right.depth) + 1
        guard depth <= Self.deepestExpression else { throw fail(.expressionTooDeep, at: span) }
        return ParsedExpression(value: Expression(make(left.value, right.value), span: span), depth: depth)
    }

    private mutating func parseProduct(_ what: String, _ example: String?) throws(Abandoned) -> ParsedExpression {
        var left = try parseAtom(what, example)
        while kind == .star || kind == .slash {
            let isProduct = kind == .star
            advance()
            let right = try parseAtom("a number behind the `\(isProduct ? "*" : "/")`", nil)
            left = try combined(left, right, isProduct ? Expression.Kind.multiply : Expression.Kind.divide)
        }
        return left
    }

    private mutating func parseAtom(_ what: String, _ example: String?) throws(Abandoned) -> ParsedExpression {
        let first = token
        switch kind {
        case .string:
            advance()
            return leaf(.string(decodeString(first)), first)
        case .rawString:
            advance()
            return leaf(.string([.text(Array(bytes[Int(first.start) + 1..<Int(first.end) - 1]))]), first)
        case .number:
            return leaf(.integer(try parseNumber()), first)
        case .leftParenthesis:
            nesting += 1
            defer { nesting -= 1 }
            guard nesting <= Self.deepestNesting else {
                throw fail(.nestingTooDeep(Self.deepestNesting), at: span(first))
            }
            advance()
            let inner = try parseSum("a value", nil)
            try expect(.rightParenthesis, "`)`")
            return ParsedExpression(
                value: Expression(.parenthesized(inner.value), span: span(from: first)), depth: inner.depth + 1)
        case .word:
            if token(ahead: 1).kind == .leftParenthesis { return try parseCall() }
            if token(ahead: 1).kind == .dot, token(ahead: 2).kind == .word { return try parseDotted() }
            // A statement that starts where a value is missing.
            if ReservedNames.contains(text(first)), text(first) != "name" { throw expected(what, example) }
            advance()
            return leaf(.variable(text(first)), first)
        case .regex: throw fail(.regexAsValue, at: span(first))
        case .minus: throw fail(.negativeNumber, at: span(first))
        default: throw expected(what, example)
        }
    }

    private func leaf(_ kind: Expression.Kind, _ token: Token) -> ParsedExpression {
        ParsedExpression(value: Expression(kind, span: span(token)), depth: 1)
    }

    // MARK: Calls

    private mutating func parseCall() throws(Abandoned) -> ParsedExpression {
        let first = token
        let name = Name(text(first), span(first))
        advance()
        if name.value == "pb" {
            notBuilt(.protobuf, at: name.span)
            try skipParentheses()
            return ParsedExpression(value: Expression(.string([.text([0x3F])]), span: span(from: first)), depth: 1)
        }
        if name.value == "hex" { return try parseHex(first) }
        nesting += 1
        defer { nesting -= 1 }
        guard nesting <= Self.deepestNesting else { throw fail(.nestingTooDeep(Self.deepestNesting), at: span(first)) }
        advance()
        var arguments: [Expression.Argument] = []
        var depth = 0
        if !take(.rightParenthesis) {
            repeat {
                var label: Name?
                let next = token(ahead: 1).kind
                if kind == .word, next == .number || next == .word || next == .string {
                    label = try parseName("a name")
                }
                let argument = try parseSum("an argument", nil)
                depth = max(depth, argument.depth)
                arguments.append(Expression.Argument(label: label, value: argument.value))
            } while take(.comma)
            try expect(.rightParenthesis, "`,` or `)`")
        }
        guard depth < Self.deepestExpression else { throw fail(.expressionTooDeep, at: span(from: first)) }
        guard Function(rawValue: name.value) != nil else {
            throw fail(.unknownFunction(name.value), at: name.span)
        }
        return ParsedExpression(value: Expression(.call(name, arguments), span: span(from: first)), depth: depth + 1)
    }

    private mutating func parseHex(_ first: Token) throws(Abandoned) -> ParsedExpression {
        guard token(ahead: 1).kind == .hexDigits else { throw expected("hexadecimal digits", "hex(de ad be ef)") }
        advance()
        let digits = token
        advance()
        var result: [UInt8] = []
        var pending: UInt8?
        for offset in Int(digits.start)..<Int(digits.end) {
            let byte = bytes[offset]
            let place = SourceSpan(file: file, start: offset, end: offset + 1)
            if byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") || byte == 0x0D {
                if pending != nil { break }
                continue
            }
            guard let digit = byte.hexDigit else {
                report(.lexical(.badHexDigit(Escaped.quoted(bytes.scalar(at: offset)))), at: place)
                throw Abandoned()
            }
            if let high = pending {
                result.append(high << 4 | digit)
                pending = nil
            } else {
                pending = digit
            }
        }
        if let pending {
            report(.lexical(.oddHexDigits), at: span(digits))
            result.append(pending)
        }
        try expect(.rightParenthesis, "`)`")
        return ParsedExpression(value: Expression(.hex(result), span: span(from: first)), depth: 1)
    }

    /// `ws.text(…)`, or a property that belongs into a string.
    private mutating func parseDotted() throws(Abandoned) -> ParsedExpression {
        let first = token
        let owner = text(first)
        advance()
        advance()
        let property = text(token)
        advance()
        let place = span(from: first)
        guard owner == "ws" else { throw fail(.propertyOutsideString(owner: owner, property: property), at: place) }
        notBuilt(.webSocket, at: place)
        try skipParentheses()
        return ParsedExpression(value: Expression(.string([.text([0x3F])]), span: span(from: first)), depth: 1)
    }

    private mutating func skipParentheses() throws(Abandoned) {
        guard kind == .leftParenthesis else { throw expected("`(`") }
        var depth = 0
        while true {
            switch kind {
            case .leftParenthesis: depth += 1
            case .rightParenthesis: depth -= 1
            case .newline, .end: throw expected("`)`")
            default: break
            }
            advance()
            if depth == 0 { return }
        }
    }
}
