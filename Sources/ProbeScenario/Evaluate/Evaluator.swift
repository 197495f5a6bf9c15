package import ProbeBase

/// Computes expressions. Every value is at most ``largestValue`` bytes, arithmetic is checked, and nothing is read but what
/// the scope gives: evaluating never traps, and the same scope gives the same value.
package struct Evaluator {
    /// 256 MiB.
    package static let largestValue = 256 << 20
    /// What the variables of one case hold together at most: 512 MiB.
    package static let largestCase = 512 << 20

    private let scope: any EvaluationScope
    private let sources: SourceMap
    let framing: Framing
    /// Added to each seed of the script.
    let seedOffset: Int
    /// Of a client of WebSocket: what it frames is masked.
    private let masksFrames: Bool
    /// The ranges of the integers that the check could not compute.
    private let ranges: [SourceSpan: IntegerRange]

    /// - Parameters:
    ///   - sources: of the scenario: `file("x")` is looked for next to the file that says so.
    ///   - framing: in force at this moment; it gives `line(…)` and `lines(…)` their terminator.
    ///   - seedOffset: added to each seed of the script (`--seed`): other random bytes and cuts.
    ///   - masksFrames: the frames of `line(…)` and its kin are a client's.
    ///   - ranges: of the scenario, `Scenario.integerRanges`.
    package init(
        scope: any EvaluationScope, sources: SourceMap, framing: Framing, seedOffset: Int = 0,
        masksFrames: Bool = false,
        ranges: [SourceSpan: IntegerRange] = [:]
    ) {
        self.ranges = ranges
        self.scope = scope
        self.sources = sources
        self.framing = framing
        self.seedOffset = seedOffset
        self.masksFrames = masksFrames
    }

    // MARK: Kinds of values

    /// The expression as bytes; an integer is its decimal text.
    package func bytes(of expression: Expression) throws(EvaluationError) -> [UInt8] {
        guard let bytes = try evaluate(expression).bytes else {
            throw EvaluationError(.notBytes, span: expression.span)
        }
        return bytes
    }

    package func integer(of expression: Expression) throws(EvaluationError) -> Int {
        let result = try evaluate(expression)
        guard case .integer(let value) = result else {
            if case .unsigned(let value) = result {
                throw EvaluationError(.tooLargeInteger(value), span: expression.span)
            }
            throw EvaluationError(.notAnInteger(sources.text(of: expression.span)), span: expression.span)
        }
        if !ranges.isEmpty, let range = ranges[expression.span], !range.values.contains(value) {
            throw EvaluationError(.notAllowed(range, value), span: expression.span)
        }
        return value
    }

    /// The pieces of a value that `cuts()` made when it is the whole expression; else its bytes as one piece.
    package func pieces(of expression: Expression) throws(EvaluationError) -> [[UInt8]] {
        let value = try evaluate(expression)
        if case .pieces(let pieces) = value { return pieces }
        guard let bytes = value.bytes else { throw EvaluationError(.notBytes, span: expression.span) }
        return [bytes]
    }

    /// A string with all that it interpolates. The span is blamed for a text that is too large.
    package func bytes(of pieces: [StringPiece], span: SourceSpan) throws(EvaluationError) -> [UInt8] {
        var result: [UInt8] = []
        for piece in pieces {
            switch piece {
            case .text(let text): result += text
            case .variable(let name):
                guard let bytes = try value(of: name).bytes else { throw EvaluationError(.notBytes, span: name.span) }
                result += bytes
            case .property(let actor, let property):
                guard let bytes = scope.property(property.value, of: actor.value) else {
                    throw EvaluationError(
                        .noProperty(actor: actor.value, property: property.value),
                        span: actor.span.joined(with: property.span))
                }
                result += bytes
            }
            try checkSize(result.count, span)
        }
        return result
    }

    /// The regex of a literal; what it interpolates matches itself, and a quantifier behind it is for all of it.
    package func regex(of literal: RegexLiteral) throws(EvaluationError) -> ByteRegex {
        if let compiled = literal.compiled { return compiled }
        var pattern: [UInt8] = []
        for piece in literal.pieces {
            if case .text(let text) = piece {
                pattern += text
            } else {
                pattern += "(?:".utf8
                pattern += ByteRegex.quoting(try bytes(of: [piece], span: literal.span)).utf8
                pattern += ")".utf8
            }
        }
        do throws(RegexSyntaxError) {
            return try ByteRegex(bytes: pattern, ignoresCase: literal.ignoresCase)
        } catch {
            throw EvaluationError(.regexSyntax(error.message), span: literal.span)
        }
    }

    // MARK: Expressions

    package func evaluate(_ expression: Expression) throws(EvaluationError) -> Value {
        switch expression.kind {
        case .string(let pieces): .bytes(try bytes(of: pieces, span: expression.span))
        case .integer(let value): .integer(value)
        case .unsigned(let value): .unsigned(value)
        case .variable(let name): try value(of: Name(name, expression.span))
        case .hex(let bytes): .bytes(bytes)
        case .webSocket(let value): .bytes(try bytes(of: value, span: expression.span))
        case .protobuf(let value): try ProtobufEvaluator(evaluator: self).value(of: value, span: expression.span)
        case .parenthesized(let inner): try evaluate(inner)
        case .call(let name, let arguments):
            try call(name, arguments, span: expression.span)
        case .multiply(let left, let right): try product(left, right, span: expression.span)
        case .add(let left, let right): try sum(left, right, span: expression.span)
        case .subtract(let left, let right):
            .integer(try checked(integer(of: left).subtractingReportingOverflow(integer(of: right)), expression.span))
        case .divide(let left, let right): try quotient(left, right, span: expression.span)
        }
    }

    private func value(of name: Name) throws(EvaluationError) -> Value {
        guard let value = scope.value(of: name.value) else {
            throw EvaluationError(.unbound(name.value), span: name.span)
        }
        return value
    }

    private func checked(_ result: (partialValue: Int, overflow: Bool), _ span: SourceSpan) throws(EvaluationError)
        -> Int
    {
        guard !result.overflow else { throw EvaluationError(.overflow, span: span) }
        return result.partialValue
    }

    func checkSize(_ count: Int, _ span: SourceSpan) throws(EvaluationError) {
        guard count <= Self.largestValue else { throw EvaluationError(.tooLarge(limit: Self.largestValue), span: span) }
    }

    private func sum(_ left: Expression, _ right: Expression, span: SourceSpan) throws(EvaluationError) -> Value {
        let first = try evaluate(left)
        let second = try evaluate(right)
        if case .integer(let a) = first, case .integer(let b) = second {
            return .integer(try checked(a.addingReportingOverflow(b), span))
        }
        if first.order != nil, second.order != nil { throw EvaluationError(.overflow, span: span) }
        guard let head = first.bytes else { throw EvaluationError(.notBytes, span: left.span) }
        guard let tail = second.bytes else { throw EvaluationError(.notBytes, span: right.span) }
        try checkSize(head.count + tail.count, span)
        return .bytes(head + tail)
    }

    private func product(_ left: Expression, _ right: Expression, span: SourceSpan) throws(EvaluationError) -> Value {
        let first = try evaluate(left)
        let factor = try integer(of: right)
        if case .integer(let value) = first {
            return .integer(try checked(value.multipliedReportingOverflow(by: factor), span))
        }
        if case .unsigned = first { throw EvaluationError(.overflow, span: span) }
        guard let bytes = first.bytes else { throw EvaluationError(.notBytes, span: left.span) }
        guard factor >= 0 else { throw EvaluationError(.negativeCount(factor), span: right.span) }
        let (count, overflow) = bytes.count.multipliedReportingOverflow(by: factor)
        try checkSize(overflow ? Int.max : count, span)
        if bytes.count == 1 { return .bytes([UInt8](repeating: bytes[0], count: count)) }
        // Doubled, as far as that goes: a short value repeated millions of times is copied in large parts. An empty value stays
        // empty.
        var result: [UInt8] = []
        result.reserveCapacity(count)
        if count > 0 { result += bytes }
        while result.count < count { result += result.prefix(count - result.count) }
        return .bytes(result)
    }

    private func quotient(_ left: Expression, _ right: Expression, span: SourceSpan) throws(EvaluationError) -> Value {
        let dividend = try integer(of: left)
        let divisor = try integer(of: right)
        guard divisor != 0 else { throw EvaluationError(.divisionByZero, span: right.span) }
        return .integer(try checked(dividend.dividedReportingOverflow(by: divisor), span))
    }

    // MARK: Files and framing

    package func contents(ofFile path: String, saidAt span: SourceSpan) throws(EvaluationError) -> [UInt8] {
        let file = try file(path, saidAt: span)
        do throws(LoadError) {
            return try scope.contents(of: file)
        } catch {
            throw EvaluationError(.file(path, error), span: span)
        }
    }

    /// The file that a script names there; whether there is one is not looked at.
    package func file(_ path: String, saidAt span: SourceSpan) throws(EvaluationError) -> ScriptFile {
        let script = sources.files.first?.path ?? ""
        let said = sources.file(of: span)?.path ?? script
        guard ScriptPath.staysInside(path), let file = ScriptPath.file(path, saidIn: said, of: script) else {
            throw EvaluationError(.outsideFolder(path), span: span)
        }
        return file
    }

    /// A unit of the framing with this payload: a line with its terminator, a message with its length.
    package func framed(_ payload: [UInt8], span: SourceSpan) throws(EvaluationError) -> [UInt8] {
        if framing == .websocket { return textMessage(payload) }
        let (before, behind) = try envelope(of: payload.count, span: span)
        return before + payload + behind
    }

    /// In one frame; the same message of the same seed has the same key.
    func textMessage(_ payload: [UInt8]) -> [UInt8] {
        var frame = WebSocketFrame(WebSocketFrame.Opcode.text, payload)
        if masksFrames {
            var generator = SplitMix64(seed: seedOffset &+ payload.count)
            frame.key = generator.bytes(4)
        }
        // Nothing is said of its length that does not fit.
        return frame.encoded() ?? []
    }

    func envelope(of count: Int, span: SourceSpan) throws(EvaluationError) -> (before: [UInt8], behind: [UInt8]) {
        guard framing.hasUnits else { throw EvaluationError(.noTerminator(framing), span: span) }
        guard let envelope = framing.envelope(of: count) else {
            throw EvaluationError(.tooLongForPrefix(length: count, framing.prefix ?? .u8), span: span)
        }
        return envelope
    }
}
