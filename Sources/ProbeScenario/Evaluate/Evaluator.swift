package import ProbeBase
package import ProbeRegex

/// Evaluates expressions. Every value has at most ``largestValue`` bytes, and arithmetic is checked for overflow, so
/// evaluation never traps. Evaluation reads only the scope, so an expression always has the same value in the same
/// scope.
package struct Evaluator {
    /// The maximum size of a value: 256 MiB.
    package static let largestValue = 256 << 20
    /// The maximum total size of the variables of one case: 512 MiB.
    package static let largestCase = 512 << 20

    private let scope: any EvaluationScope
    private let sources: SourceMap
    let framing: Framing
    /// The number that is added to each seed in the script.
    let seedOffset: Int
    /// Whether the sender is a WebSocket client, whose frames are masked.
    private let masksFrames: Bool
    /// The ranges of the integers that the checker could not compute.
    private let ranges: [SourceSpan: IntegerRange]

    /// Creates an evaluator.
    ///
    /// - Parameters:
    ///   - sources: the files of the scenario. The path in `file("x")` is relative to the file that contains the call.
    ///   - framing: the current framing, which determines the terminator of `line(…)` and `lines(…)`.
    ///   - seedOffset: the number from `--seed`, which is added to each seed in the script to obtain different random
    ///     bytes and cuts.
    ///   - masksFrames: whether `line(…)` and similar functions create the masked frames of a client.
    ///   - ranges: the scenario's `Scenario.integerRanges`.
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

    /// Returns the expression as bytes; an integer becomes its decimal text.
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

    package func bytes(ofOptional expression: Expression?) throws(EvaluationError) -> [UInt8]? {
        guard let expression else { return nil }
        return try bytes(of: expression)
    }

    package func integer(ofOptional expression: Expression?) throws(EvaluationError) -> Int? {
        guard let expression else { return nil }
        return try integer(of: expression)
    }

    /// Returns the text that a line or a message must match.
    package func text(of pattern: Pattern) throws(EvaluationError) -> ExpectedText {
        switch pattern {
        case .any: return .any
        case .regex(let literal): return .regex(try regex(of: literal))
        case .value(let expression):
            let value = try evaluate(expression)
            if case .regex(let regex) = value { return .regex(regex) }
            guard let bytes = value.bytes else { throw EvaluationError(.notBytes, span: expression.span) }
            return .value(bytes)
        }
    }

    /// Returns the pieces of a value from `cuts()` if the value is the whole expression; otherwise, the bytes of the
    /// expression as one piece.
    package func pieces(of expression: Expression) throws(EvaluationError) -> [[UInt8]] {
        let value = try evaluate(expression)
        if case .pieces(let pieces) = value { return pieces }
        guard let bytes = value.bytes else { throw EvaluationError(.notBytes, span: expression.span) }
        return [bytes]
    }

    /// Returns the bytes of a string with its interpolated values. An error about the size of the result is reported at
    /// `span`.
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

    /// Returns the regex of a literal. An interpolated value matches literally, and a quantifier after it applies to
    /// the whole value.
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
        // The result is doubled until it is large enough, so a short value that is repeated millions of times is copied
        // in large blocks. An empty value stays empty.
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

    package func contents(ofFile path: String, referencedAt span: SourceSpan) throws(EvaluationError) -> [UInt8] {
        let file = try file(path, referencedAt: span)
        do throws(LoadError) {
            return try scope.contents(of: file)
        } catch {
            throw EvaluationError(.file(path, error), span: span)
        }
    }

    /// Returns the file that a script names, without checking whether it exists.
    package func file(_ path: String, referencedAt span: SourceSpan) throws(EvaluationError) -> ScriptFile {
        let script = sources.files.first?.path ?? ""
        let referrer = sources.file(of: span)?.path ?? script
        guard ScriptPath.staysInside(path), let file = ScriptPath.file(path, referencedIn: referrer, of: script) else {
            throw EvaluationError(.outsideFolder(path), span: span)
        }
        return file
    }

    /// Returns a unit of the framing with this payload: a line with its terminator, or a message with its length.
    package func framed(_ payload: [UInt8], span: SourceSpan) throws(EvaluationError) -> [UInt8] {
        if framing == .websocket { return textMessage(payload) }
        let (before, after) = try envelope(of: payload.count, span: span)
        return before + payload + after
    }

    /// Returns a WebSocket text message in one frame; the masking key depends only on the length and the seed.
    func textMessage(_ payload: [UInt8]) -> [UInt8] {
        var frame = WebSocketFrame(WebSocketFrame.Opcode.text, payload)
        if masksFrames {
            var generator = SplitMix64(seed: seedOffset &+ payload.count)
            frame.key = generator.bytes(4)
        }
        // Encoding the frame can't fail, because its header contains the actual length of the payload.
        return frame.encoded() ?? []
    }

    func envelope(of count: Int, span: SourceSpan) throws(EvaluationError) -> (before: [UInt8], after: [UInt8]) {
        guard framing.hasUnits else { throw EvaluationError(.noTerminator(framing), span: span) }
        guard let envelope = framing.envelope(of: count) else {
            throw EvaluationError(.tooLongForPrefix(length: count, framing.rawValue), span: span)
        }
        return envelope
    }
}

extension Evaluator {
    /// Returns the value of `name(…)`. This function verifies the number of arguments even though the checker also
    /// verifies it, because some expressions have not been checked.
    func call(_ name: Name, _ arguments: [Expression.Argument], span: SourceSpan) throws(EvaluationError) -> Value {
        guard let function = Function(rawValue: name.value) else {
            throw EvaluationError(.badCall(name.value), span: name.span)
        }
        if let format = function.integerFormat {
            return .bytes(try encoded(argument(0, of: arguments, name), as: format))
        }
        switch function {
        case .base64: return try decodedBase64(argument(0, of: arguments, name))
        case .file:
            let path = try argument(0, of: arguments, name)
            let text = String(decoding: try bytes(of: path), as: UTF8.self)
            let contents = try contents(ofFile: text, referencedAt: path.span)
            try checkSize(contents.count, span)
            return .bytes(contents)
        case .random:
            let count = try integer(of: argument(0, of: arguments, name))
            let seed = try integer(of: argument(1, of: arguments, name))
            guard count >= 0 else { throw EvaluationError(.negativeCount(count), span: span) }
            try checkSize(count, span)
            var generator = SplitMix64(seed: seed &+ seedOffset)
            return .bytes(generator.bytes(count))
        case .sized: return try sized(argument(0, of: arguments, name), argument(1, of: arguments, name))
        case .line:
            let result = try framed(bytes(of: argument(0, of: arguments, name)), span: span)
            return .bytes(result)
        case .lines:
            var result: [UInt8] = []
            for argument in arguments {
                result += try framed(bytes(of: argument.value), span: span)
                try checkSize(result.count, span)
            }
            return .bytes(result)
        case .int: return try decimal(argument(0, of: arguments, name))
        case .len: return .integer(try bytes(of: argument(0, of: arguments, name)).count)
        default: throw EvaluationError(.badCall(name.value), span: name.span)
        }
    }

    private func argument(
        _ index: Int, of arguments: [Expression.Argument], _ name: Name
    ) throws(EvaluationError) -> Expression {
        guard index < arguments.count else { throw EvaluationError(.badCall(name.value), span: name.span) }
        return arguments[index].value
    }

    private func encoded(_ argument: Expression, as format: IntegerFormat) throws(EvaluationError) -> [UInt8] {
        if case .unsigned(let value) = try evaluate(argument) {
            guard let bytes = format.encode(unsigned: value) else {
                throw EvaluationError(.tooLargeInteger(value), span: argument.span)
            }
            return bytes
        }
        let value = try integer(of: argument)
        guard let bytes = format.encode(value) else {
            throw EvaluationError(.doesNotFit(value, format), span: argument.span)
        }
        return bytes
    }

    private func decodedBase64(_ argument: Expression) throws(EvaluationError) -> Value {
        switch Base64.decode(try bytes(of: argument)) {
        case .bytes(let bytes): return .bytes(bytes)
        case .invalid(let offset): throw EvaluationError(.badBase64(offset: offset), span: argument.span)
        }
    }

    private func sized(_ format: Expression, _ value: Expression) throws(EvaluationError) -> Value {
        guard case .variable(let word) = format.kind, let prefix = IntegerFormat(rawValue: word) else {
            throw EvaluationError(.badCall("sized"), span: format.span)
        }
        let payload = try bytes(of: value)
        guard let length = prefix.encode(payload.count) else {
            throw EvaluationError(.tooLongForPrefix(length: payload.count, prefix.rawValue), span: value.span)
        }
        return .bytes(length + payload)
    }

    /// Evaluates `int(x)`: decimal digits with an optional `-` before them; an integer is returned unchanged.
    private func decimal(_ argument: Expression) throws(EvaluationError) -> Value {
        let value = try evaluate(argument)
        if value.order != nil { return value }
        let text = value.bytes ?? []
        let isNegative = text.first == UInt8(ascii: "-")
        let digits = text.dropFirst(isNegative ? 1 : 0)
        guard !digits.isEmpty, digits.allSatisfy(\.isDigit) else {
            throw EvaluationError(.notDecimal(text), span: argument.span)
        }
        let number = String(decoding: text, as: UTF8.self)
        if let integer = Int(number) { return .integer(integer) }
        guard let integer = UInt64(number) else { throw EvaluationError(.overflow, span: argument.span) }
        return .unsigned(integer)
    }
}

extension Evaluator {
    /// The maximum number of pieces in one send.
    package static let maxPieces = 1 << 20

    /// Returns the bytes that a `send` writes, one array for each piece that is sent as a separate segment. The pieces
    /// result from `|`, `cuts()`, `cut at` or `in pieces of`. `send line` adds the framing's terminator after the last
    /// piece, or its length prefix before the first piece. Pieces are never empty.
    package func pieces(of statement: SendStatement) throws(EvaluationError) -> [[UInt8]] {
        let result = try wholePieces(of: statement)
        guard let cut = statement.cut else { return result }
        return try pieces(of: result.whole, cut, span: statement.pieces[0].span)
    }

    /// Returns the pieces for a connection with TLS. Cut offsets apply to the bytes that `seal` returns.
    package func pieces(
        of statement: SendStatement, sealing seal: ([UInt8]) -> [UInt8]
    ) throws(EvaluationError) -> [[UInt8]] {
        let plain = try wholePieces(of: statement)
        let sealed = seal(plain.whole)
        if let cut = statement.cut { return try pieces(of: sealed, cut, span: statement.pieces[0].span) }
        var result: [[UInt8]] = []
        var start = 0
        for piece in plain.dropLast() where start + piece.count < sealed.count {
            result.append(Array(sealed[start..<(start + piece.count)]))
            start += piece.count
        }
        if start < sealed.count { result.append(Array(sealed[start...])) }
        return result
    }

    /// Returns the pieces before a clause such as `cut at` divides them further.
    private func wholePieces(of statement: SendStatement) throws(EvaluationError) -> [[UInt8]] {
        var result: [[UInt8]] = []
        for piece in statement.pieces {
            if statement.pieces.count == 1 {
                result = try pieces(of: piece)
            } else {
                result.append(try bytes(of: piece))
            }
        }
        var total = 0
        for piece in result {
            total += piece.count
            try checkSize(total, statement.pieces[0].span)
        }
        if statement.mode == .line { result = try line(result, span: statement.pieces[0].span) }
        result.removeAll(where: \.isEmpty)
        return result
    }

    private func line(_ pieces: [[UInt8]], span: SourceSpan) throws(EvaluationError) -> [[UInt8]] {
        let payload = pieces.whole
        if framing == .websocket {
            // The header of the WebSocket frame is sent with the first piece.
            var rest = textMessage(payload)[...]
            let header = rest.count - payload.count
            var frames: [[UInt8]] = []
            for (index, piece) in pieces.enumerated() {
                let count = index == pieces.count - 1 ? rest.count : piece.count + (index == 0 ? header : 0)
                frames.append(Array(rest.prefix(count)))
                rest = rest.dropFirst(count)
            }
            return frames
        }
        let (before, after) = try envelope(of: payload.count, span: span)
        guard pieces.count > 1 else { return [before + payload + after] }
        var result = pieces
        result[0] = before + result[0]
        result[result.count - 1] += after
        return result
    }

    /// Returns the bytes, divided as the clause specifies.
    package func pieces(
        of whole: [UInt8], _ cut: Cut<Parsed>, span: SourceSpan
    ) throws(EvaluationError) -> [[UInt8]] {
        var offsets: [Int] = []
        switch cut {
        case .at(let expressions):
            for expression in expressions {
                let offset = try integer(of: expression)
                guard offset > (offsets.last ?? 0) else {
                    throw EvaluationError(.cutOutOfOrder(offset), span: expression.span)
                }
                guard offset < whole.count else {
                    throw EvaluationError(.cutPastEnd(offset: offset, length: whole.count), span: expression.span)
                }
                offsets.append(offset)
            }
        case .random(let seed):
            // Draws 1 to 64 random offsets at which to cut. Equal offsets result in a single cut.
            var generator = SplitMix64(seed: try integer(of: seed) &+ seedOffset)
            guard whole.count > 1 else { return whole.isEmpty ? [] : [whole] }
            let most = min(whole.count - 1, Self.maxPieces / 4)
            let wanted = 1 + generator.below(min(most, 64))
            var places: Set<Int> = []
            for _ in 0..<wanted { places.insert(1 + generator.below(whole.count - 1)) }
            offsets = places.sorted()
        case .inPieces(let size):
            let step = try integer(of: size)
            guard step > 0 else { throw EvaluationError(.negativeCount(step), span: size.span) }
            guard whole.count / step < Self.maxPieces else {
                throw EvaluationError(.tooManyPieces(limit: Self.maxPieces), span: size.span)
            }
            offsets = Array(stride(from: step, to: max(step, whole.count), by: step))
        }
        var result: [[UInt8]] = []
        var start = 0
        for offset in offsets {
            result.append(Array(whole[start..<offset]))
            start = offset
        }
        if start < whole.count { result.append(Array(whole[start...])) }
        return result
    }

    /// Evaluates the expressions in the clauses that determine how a proxy forwards bytes.
    package func style(of style: ForwardStyle<Parsed>) throws(EvaluationError) -> ForwardStyle<Resolved> {
        ForwardStyle(
            cut: try style.cut.map { (cut) throws(EvaluationError) in try self.cut(cut) }, pace: style.pace,
            delay: style.delay, isJoined: style.isJoined)
    }

    private func cut(_ cut: Cut<Parsed>) throws(EvaluationError) -> Cut<Resolved> {
        switch cut {
        case .at(let expressions):
            var offsets: [Int] = []
            for expression in expressions { offsets.append(try integer(of: expression)) }
            return .at(offsets)
        case .random(let seed): return .random(seed: try integer(of: seed))
        case .inPieces(let size): return .inPieces(of: max(1, try integer(of: size)))
        }
    }
}

extension Evaluator {
    func bytes(of value: WebSocketExpression, span: SourceSpan) throws(EvaluationError) -> [UInt8] {
        if value.kind == .accept {
            return Array(WebSocketHandshake.accept(try bytes(of: value.arguments[0])).utf8)
        }
        var frame = try frame(value)
        if let isFinal = value.isFinal { frame.isFinal = isFinal }
        if let reserved = value.reserved { frame.reserved = UInt8(try number(reserved, "rsv", 0...7)) }
        if let opcode = value.opcode { frame.opcode = UInt8(try number(opcode, "opcode", 0...15)) }
        if let length = value.length { frame.statedLength = UInt64(try number(length, "length", 0...Int.max)) }
        if let form = value.lengthForm {
            let width = try integer(of: form)
            guard let form = WebSocketFrame.LengthForm(rawValue: width) else {
                throw EvaluationError(.badLengthForm(width), span: form.span)
            }
            frame.lengthForm = form
        }
        switch value.mask {
        case .chosen:
            // The masking key of a WebSocket frame depends only on the payload's length and the seed.
            var generator = SplitMix64(seed: seedOffset &+ frame.payload.count)
            frame.key = generator.bytes(4)
        case .key(let key):
            let bytes = try bytes(of: key)
            guard bytes.count == 4 else { throw EvaluationError(.badMaskingKey(bytes.count), span: key.span) }
            frame.key = bytes
        case .none?, nil: break
        }
        guard let bytes = frame.encoded() else {
            throw EvaluationError(
                .lengthAboveForm(frame.statedLength ?? UInt64(frame.payload.count)),
                span: value.lengthForm?.span ?? span)
        }
        try checkSize(bytes.count, span)
        return bytes
    }

    private func frame(_ value: WebSocketExpression) throws(EvaluationError) -> WebSocketFrame {
        let arguments = value.arguments
        func payload(_ index: Int) throws(EvaluationError) -> [UInt8] {
            index < arguments.count ? try bytes(of: arguments[index]) : []
        }
        switch value.kind {
        case .text: return WebSocketFrame(WebSocketFrame.Opcode.text, try payload(0))
        case .binary: return WebSocketFrame(WebSocketFrame.Opcode.binary, try payload(0))
        case .ping: return WebSocketFrame(WebSocketFrame.Opcode.ping, try payload(0))
        case .pong, .accept: return WebSocketFrame(WebSocketFrame.Opcode.pong, try payload(0))
        case .close:
            guard let code = arguments.first else { return .close(nil) }
            return .close(UInt16(try number(code, "a close code", 0...65_535)), try payload(1))
        case .frame:
            return WebSocketFrame(UInt8(try number(arguments[0], "opcode", 0...15)), try payload(1))
        }
    }

    private func number(
        _ expression: Expression, _ what: String, _ range: ClosedRange<Int>
    ) throws(EvaluationError) -> Int {
        let value = try integer(of: expression)
        guard range.contains(value) else {
            throw EvaluationError(.outOfRange(value, what, range), span: expression.span)
        }
        return value
    }
}
