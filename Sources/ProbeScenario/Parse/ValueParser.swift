import ProbeBase

/// An expression and the depth of its tree, which is also the recursion depth of every walk over the expression.
struct ParsedExpression {
    var value: Expression
    var depth: Int
}

/// Parses values: expressions for bytes and integers.
struct ValueParser: GrammarPart {
    let cursor: TokenCursor

    /// The maximum depth of an expression's tree. Deeper trees are rejected, so that no walk over a tree can exhaust
    /// the stack.
    static let maxExpressionDepth = 200

    private var literals: LiteralParser { LiteralParser(cursor: cursor) }

    func parseExpression(_ what: String = "a value", _ example: String? = nil) throws(Abandoned) -> Expression {
        try parseSum(what, example).value
    }

    private func parseSum(_ what: String, _ example: String?) throws(Abandoned) -> ParsedExpression {
        let first = try parseProduct(what, example)
        guard cursor.kind == .plus || cursor.kind == .minus else { return first }
        // The operands of successive `+` operators become a balanced tree, so that a long sum is not a deep tree.
        var run = [first]
        while cursor.kind == .plus || cursor.kind == .minus {
            let isSum = cursor.kind == .plus
            cursor.advance()
            let next = try parseProduct("a value after the `\(isSum ? "+" : "-")`", nil)
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
        guard depth <= Self.maxExpressionDepth else { throw cursor.fail(.expressionTooDeep, at: span) }
        return ParsedExpression(value: Expression(make(left.value, right.value), span: span), depth: depth)
    }

    private func parseProduct(_ what: String, _ example: String?) throws(Abandoned) -> ParsedExpression {
        var left = try parseAtom(what, example)
        while cursor.kind == .star || cursor.kind == .slash {
            let isProduct = cursor.kind == .star
            cursor.advance()
            let right = try parseAtom("a number after the `\(isProduct ? "*" : "/")`", nil)
            left = try combined(left, right, isProduct ? Expression.Kind.multiply : Expression.Kind.divide)
        }
        return left
    }

    private func parseAtom(_ what: String, _ example: String?) throws(Abandoned) -> ParsedExpression {
        let first = cursor.token
        switch cursor.kind {
        case .string, .rawString:
            cursor.advance()
            return leaf(.string(literals.pieces(of: first)), first)
        case .number:
            return leaf(try parseLiteral(), first)
        case .leftParenthesis:
            cursor.nesting += 1
            defer { cursor.nesting -= 1 }
            guard cursor.nesting <= TokenCursor.maxNestingDepth else {
                throw cursor.fail(.nestingTooDeep(TokenCursor.maxNestingDepth), at: cursor.span(first))
            }
            cursor.advance()
            let inner = try parseSum("a value", nil)
            try cursor.expect(.rightParenthesis, "`)`")
            return ParsedExpression(
                value: Expression(.parenthesized(inner.value), span: cursor.span(from: first)), depth: inner.depth + 1)
        case .word:
            if cursor.token(ahead: 1).kind == .leftParenthesis { return try parseCall() }
            if cursor.token(ahead: 1).kind == .dot, cursor.token(ahead: 2).kind == .word { return try parseDotted() }
            // The value is missing, and the next statement begins at this token.
            if ReservedNames.contains(cursor.text(first)) {
                throw cursor.expected(what, example)
            }
            cursor.advance()
            return leaf(.variable(cursor.text(first)), first)
        case .regex:
            throw cursor.fail(
                .regexMisplaced, "a regex is not a value",
                hint: "use a regex after `line`, `message`, `output` or `matches`, or in a table; to divide, use "
                    + "parentheses: `(a / b)`", at: cursor.span(first))
        case .minus:
            throw cursor.fail(
                .badNumber, "negative literals are not supported",
                hint: "subtract: `(0 - 1)`; in protobuf, write `int -1` or `sint -1`", at: cursor.span(first))
        default: throw cursor.expected(what, example)
        }
    }

    private func leaf(_ kind: Expression.Kind, _ token: Token) -> ParsedExpression {
        ParsedExpression(value: Expression(kind, span: cursor.span(token)), depth: 1)
    }

    // MARK: Calls

    private func parseCall() throws(Abandoned) -> ParsedExpression {
        let first = cursor.token
        let name = Name(cursor.text(first), cursor.span(first))
        cursor.advance()
        if name.value == "hex" { return try parseHex(first) }
        cursor.nesting += 1
        defer { cursor.nesting -= 1 }
        guard cursor.nesting <= TokenCursor.maxNestingDepth else {
            throw cursor.fail(.nestingTooDeep(TokenCursor.maxNestingDepth), at: cursor.span(first))
        }
        cursor.advance()
        if name.value == "pb" {
            return try parsed(from: first) { parseValue throws(Abandoned) in
                .protobuf(try ProtobufParser(cursor: cursor).parse(parseValue))
            }
        }
        var arguments: [Expression.Argument] = []
        var depth = 0
        if !cursor.take(.rightParenthesis) {
            repeat {
                var label: Name?
                let next = cursor.token(ahead: 1).kind
                if cursor.kind == .word, next == .number || next == .word || next == .string {
                    label = try cursor.parseName("a name")
                }
                let argument = try parseSum("an argument", nil)
                depth = max(depth, argument.depth)
                arguments.append(Expression.Argument(label: label, value: argument.value))
            } while cursor.take(.comma)
            try cursor.expect(.rightParenthesis, "`,` or `)`")
        }
        guard depth < Self.maxExpressionDepth else {
            throw cursor.fail(.expressionTooDeep, at: cursor.span(from: first))
        }
        guard Function(rawValue: name.value) != nil else {
            throw cursor.fail(.unknownFunction(name.value), at: name.span)
        }
        return ParsedExpression(
            value: Expression(.call(name, arguments), span: cursor.span(from: first)), depth: depth + 1)
    }

    private func parseHex(_ first: Token) throws(Abandoned) -> ParsedExpression {
        guard cursor.token(ahead: 1).kind == .hexDigits else {
            throw cursor.expected("hexadecimal digits", "hex(de ad be ef)")
        }
        cursor.advance()
        let digits = cursor.token
        cursor.advance()
        var result: [UInt8] = []
        var pending: UInt8?
        for offset in Int(digits.start)..<Int(digits.end) {
            let byte = cursor.bytes[offset]
            let place = SourceSpan(file: cursor.file, start: offset, end: offset + 1)
            if byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") || byte == 0x0D {
                if pending != nil { break }
                continue
            }
            guard let digit = byte.hexDigit else {
                cursor.report(
                    .badHex, "\(Escaped.quoted(cursor.bytes.scalar(at: offset))) is not a hexadecimal digit",
                    hint: "for example: hex(de ad be ef)", at: place)
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
            cursor.report(
                .badHex, "each byte needs two hexadecimal digits, but one byte has only one digit",
                hint: "add a leading zero: `hex(0d 0a)`", at: cursor.span(digits))
            result.append(pending)
        }
        try cursor.expect(.rightParenthesis, "`)`")
        return ParsedExpression(value: Expression(.hex(result), span: cursor.span(from: first)), depth: 1)
    }

    /// Parses `ws.text(…)`, or reports a property that is valid only in a string.
    private func parseDotted() throws(Abandoned) -> ParsedExpression {
        let first = cursor.token
        let owner = cursor.text(first)
        cursor.advance()
        cursor.advance()
        guard owner == "ws" else {
            let property = cursor.word
            cursor.advance()
            throw cursor.fail(
                .propertyOutsideString, "`\(owner).\(property)` can only be used in a string",
                hint: "write `\"${\(owner).\(property)}\"`, or `int(\"${\(owner).\(property)}\")` for a number",
                at: cursor.span(from: first))
        }
        cursor.nesting += 1
        defer { cursor.nesting -= 1 }
        guard cursor.nesting <= TokenCursor.maxNestingDepth else {
            throw cursor.fail(.nestingTooDeep(TokenCursor.maxNestingDepth), at: cursor.span(first))
        }
        return try parsed(from: first) { parseValue throws(Abandoned) in
            .webSocket(try WebSocketParser(cursor: cursor).parse(from: first, parseValue))
        }
    }

    /// Parses an expression that contains other values. The tree of the expression is one level deeper than the deepest
    /// tree of these values.
    private func parsed(
        from first: Token,
        _ parse: ((String, String?) throws(Abandoned) -> Expression) throws(Abandoned) -> Expression.Kind
    ) throws(Abandoned) -> ParsedExpression {
        var depth = 0
        let kind = try parse { what, example throws(Abandoned) in
            let argument = try parseSum(what, example)
            depth = max(depth, argument.depth)
            return argument.value
        }
        guard depth < Self.maxExpressionDepth else {
            throw cursor.fail(.expressionTooDeep, at: cursor.span(from: first))
        }
        return ParsedExpression(value: Expression(kind, span: cursor.span(from: first)), depth: depth + 1)
    }

    /// Parses the value with which a protobuf field is compared: any value, `int -1` or `sint -1`.
    func parseProtobufOperand(_ example: String) throws(Abandoned) -> Expression {
        let first = cursor.token
        let parser = ProtobufParser(cursor: cursor)
        guard cursor.isWord("int") || cursor.isWord("sint"), let format = parser.takeFormat() else {
            return try parseExpression("a value", example)
        }
        return try parsed(from: first) { parseValue throws(Abandoned) in
            .protobuf(.number(try parser.parseScalar(format, parseValue)))
        }.value
    }

    /// Returns whether the result of the expression is an integer, as far as one pass can determine.
    func isIntegerLike(_ expression: Expression) -> Bool {
        switch expression.kind {
        case .integer, .unsigned, .divide, .subtract: true
        case .variable(let name): context.integerNames.contains(name)
        case .parenthesized(let inner), .add(let inner, _), .multiply(let inner, _): isIntegerLike(inner)
        case .call(let name, _): Function(rawValue: name.value)?.makesInteger ?? false
        case .protobuf(.number): true
        case .string, .hex, .webSocket, .protobuf: false
        }
    }
}

extension Diagnostic.Message {
    static let expressionTooDeep = Self(
        .tooDeep, "this expression is nested too deeply", hint: "compute a part of the expression first: `let part = …`"
    )

    static func nestingTooDeep(_ limit: Int) -> Self {
        Self(
            .tooDeep, "blocks and parentheses are nested more than \(limit) levels deep",
            hint: "move the inner part to a `define`")
    }

    static func unknownFunction(_ name: String) -> Self {
        Self(
            .unknownFunction, "unknown function \(Escaped.quoted(name))",
            hint: ForeignWords.function(name)
                ?? didYouMean(name, Function.allCases.map(\.rawValue) + ["hex", "pb"], "use one of:"))
    }
}

/// Parses the parts of a statement that accompany expressions: quantities, comparisons, and words from fixed lists.
extension ValueParser {
    // MARK: Quantities

    private func number() -> NumberLiteral {
        NumberLiteral(Array(cursor.bytes[Int(cursor.token.start)..<Int(cursor.token.end)]))
    }

    /// Parses a duration, such as `20ms`. Zero is an error unless `allowsZero` is set.
    func parseDuration(_ example: String, allowsZero: Bool = false) throws(Abandoned) -> Duration {
        guard cursor.kind == .number else { throw cursor.expected("a duration", example) }
        switch number() {
        case .duration(let duration):
            if duration == .zero, !allowsZero {
                throw cursor.fail(
                    .badNumber, "this duration can't be zero", hint: "for example: 20ms", at: cursor.place)
            }
            cursor.advance()
            return duration
        case .integer: throw cursor.fail(.missingUnit(cursor.word, .duration), at: cursor.place)
        case let other: throw badNumber(other, wanted: .duration)
        }
    }

    /// Parses a rate in bytes per second, such as `10B/s`.
    func parseRate() throws(Abandoned) -> Int {
        guard cursor.kind == .number else { throw cursor.expected("a rate", "10B/s") }
        switch number() {
        case .rate(let rate):
            if rate == 0 {
                throw cursor.fail(
                    .badNumber, "the rate can't be zero: nothing would ever be sent", hint: "for example: 10B/s",
                    at: cursor.place)
            }
            cursor.advance()
            return rate
        case .integer, .size, .frequency: throw cursor.fail(.missingUnit(cursor.word, .rate), at: cursor.place)
        case let other: throw badNumber(other, wanted: .rate)
        }
    }

    /// Parses an integer or a size, as an integer.
    func parseNumber() throws(Abandoned) -> Int {
        guard cursor.kind == .number else { throw cursor.expected("a number") }
        switch number() {
        case .integer(let value), .size(let value):
            cursor.advance()
            return value
        case let other: throw badNumber(other, wanted: .integer)
        }
    }

    /// Parses an integer or a size, like ``parseNumber()``, up to 2^64 - 1.
    func parseLiteral() throws(Abandoned) -> Expression.Kind {
        guard case .unsigned(let value) = number() else { return .integer(try parseNumber()) }
        cursor.advance()
        return .unsigned(value)
    }

    private func badNumber(_ number: NumberLiteral, wanted: NumberQuantity) -> Abandoned {
        let text = cursor.word
        let place = cursor.place
        switch number {
        case .unknownUnit(let digits, let unit):
            return cursor.fail(.unknownUnit(digits: digits, unit: unit, wanted), at: place)
        case .tooLarge, .unsigned:
            return cursor.fail(
                .badNumber, "\(text) is too large", hint: "use a number up to 9223372036854775807", at: place)
        case .malformed:
            return cursor.fail(
                .badNumber, "\(Escaped.quoted(text)) is not a valid number",
                hint: "write a number as 12, 1_000 or 0x1f, a size as 4KiB, and a duration as 1.5s", at: place)
        case .duration: return cursor.fail(.wrongQuantity(text, is: .duration, wanted: wanted), at: place)
        case .rate, .frequency: return cursor.fail(.wrongQuantity(text, is: .rate, wanted: wanted), at: place)
        case .size, .integer: return cursor.fail(.wrongQuantity(text, is: .size, wanted: wanted), at: place)
        }
    }

    // MARK: Comparisons

    func takeComparison() -> Comparison? {
        let comparison: Comparison
        switch cursor.kind {
        case .equal: comparison = .equal
        case .notEqual: comparison = .notEqual
        case .less: comparison = .less
        case .lessOrEqual: comparison = .lessOrEqual
        case .greater: comparison = .greater
        case .greaterOrEqual: comparison = .greaterOrEqual
        default: return nil
        }
        cursor.advance()
        return comparison
    }

    /// Parses a comparison with a number, such as `<= 100`. A number alone means `==`.
    func parseComparison(_ example: String) throws(Abandoned) -> (Comparison, Expression) {
        guard let comparison = takeComparison() else {
            return (.equal, try parseExpression("a number", example))
        }
        return (comparison, try parseExpression("a number", example))
    }

    /// Parses a comparison with a duration, such as `<= 100ms`.
    ///
    /// - Parameter usual: the comparison that a message suggests.
    func parseTimeComparison(
        _ example: String, usual: Comparison, allowsZero: Bool = false
    ) throws(Abandoned) -> (Comparison, Duration) {
        guard let comparison = takeComparison() else {
            throw cursor.expected("`\(usual.rawValue)` or another comparison", example)
        }
        return (comparison, try parseDuration(example, allowsZero: allowsZero))
    }

    // MARK: Words

    func parseFraming() throws(Abandoned) -> Framing {
        let place = cursor.place
        if cursor.kind == .string || cursor.kind == .rawString {
            let bytes = try LiteralParser(cursor: cursor).parsePlainBytes("a delimiter", "framing \"END\"")
            guard let framing = Framing(delimiter: bytes.value) else {
                throw cursor.fail(
                    .expected, "a delimiter must have at least one byte",
                    hint: "write `framing \"END\"` or `framing none`", at: place)
            }
            return framing
        }
        return try cursor.parseChoice("a framing", Framing.allCases)
    }

    func parseSignal() throws(Abandoned) -> ProcessSignal {
        guard cursor.kind == .word else { throw cursor.expected("a signal", "signal TERM") }
        var name = cursor.word
        if name.utf8.starts(with: "SIG".utf8) { name = String(name.dropFirst(3)) }
        guard let signal = ProcessSignal.all.first(where: { $0.name == name }) else {
            throw cursor.fail(
                .unknownWord(cursor.word, what: "a signal", choices: ProcessSignal.all.map(\.name)),
                at: cursor.place)
        }
        cursor.advance()
        return signal
    }
}

extension ProcessSignal {
    /// The signals that a script can name, with their numbers on Linux.
    static let all: [ProcessSignal] = [
        ProcessSignal(name: "HUP", number: 1), ProcessSignal(name: "INT", number: 2),
        ProcessSignal(name: "QUIT", number: 3),
        ProcessSignal(name: "ILL", number: 4), ProcessSignal(name: "TRAP", number: 5),
        ProcessSignal(name: "ABRT", number: 6),
        ProcessSignal(name: "BUS", number: 7), ProcessSignal(name: "FPE", number: 8),
        ProcessSignal(name: "KILL", number: 9),
        ProcessSignal(name: "USR1", number: 10), ProcessSignal(name: "SEGV", number: 11),
        ProcessSignal(name: "USR2", number: 12), ProcessSignal(name: "PIPE", number: 13),
        ProcessSignal(name: "ALRM", number: 14), ProcessSignal(name: "TERM", number: 15),
        ProcessSignal(name: "CHLD", number: 17), ProcessSignal(name: "CONT", number: 18),
        ProcessSignal(name: "STOP", number: 19), ProcessSignal(name: "TSTP", number: 20),
        ProcessSignal(name: "WINCH", number: 28), ProcessSignal(name: "SYS", number: 31),
    ]
}

/// The quantity that a number expresses.
enum NumberQuantity: String, Sendable {
    case duration, rate, size, integer

    var article: String {
        switch self {
        case .duration: "a duration"
        case .rate: "a rate"
        case .size: "a size"
        case .integer: "a number"
        }
    }

    /// Returns the hint that names the units.
    ///
    /// - Parameter number: the number to which the user must add a unit; `nil` if the hint should give an example.
    func units(for number: String?) -> String {
        switch (self, number) {
        case (.duration, let number?): "write \(number)ms, or use another unit: us, s or min"
        case (.duration, nil): "write a duration, such as 10ms; the units are us, ms, s and min"
        case (.rate, let number?): "write \(number)B/s, or use another unit: KiB/s, MiB/s, kB/s or MB/s"
        case (.rate, nil): "write a rate, such as 10B/s; the units are B/s, KiB/s, MiB/s, kB/s and MB/s"
        case (.size, _): "write a size, such as 512B, 4KiB, 10MiB, 1kB or 1MB"
        case (.integer, _):
            "write a number, such as 12, 1_000 or 0x1f, or a size, such as 512B, 4KiB, 10MiB, 1kB or 1MB"
        }
    }
}

extension Diagnostic.Message {
    static func missingUnit(_ number: String, _ quantity: NumberQuantity) -> Self {
        Self(
            .missingUnit, "expected \(quantity.article) with a unit, found \(number)",
            hint: quantity.units(for: number.allSatisfy(\.isNumber) ? number : nil))
    }

    static func unknownUnit(digits: String, unit: String, _ quantity: NumberQuantity) -> Self {
        Self(.unknownUnit, "unknown unit \(Escaped.quoted(unit))", hint: unitHint(digits, unit, quantity))
    }

    private static func unitHint(_ digits: String, _ unit: String, _ quantity: NumberQuantity) -> String {
        let units = NumberLiteral.durationUnits.map(\.name) + NumberLiteral.sizeUnits.map(\.name)
        if let near = units.first(where: { $0.lowercased() == unit.lowercased() }) {
            return "did you mean `\(digits)\(near)`?"
        }
        if unit == "m" { return "did you mean `\(digits)ms` or `\(digits)min`?" }
        if unit == "K" || unit == "k" { return "did you mean `\(digits)KiB` or `\(digits)kB`?" }
        if unit == "sec" { return "did you mean `\(digits)s`?" }
        return quantity.units(for: digits)
    }

    static func wrongQuantity(_ text: String, is actual: NumberQuantity, wanted: NumberQuantity) -> Self {
        Self(
            .wrongQuantity, "expected \(wanted.article), but \(text) is \(actual.article)",
            hint: wanted.units(for: nil))
    }
}
