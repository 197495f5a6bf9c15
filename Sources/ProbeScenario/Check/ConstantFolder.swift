import ProbeBase

/// Evaluates expressions before the run, as far as possible: integers and byte values. For a large byte value, only the
/// length is computed.
struct ConstantFolder {
    enum Folded {
        case integer(Int)
        case unsigned(UInt64)
        /// Bytes, given by their length. A short value also includes the bytes themselves.
        case bytes(length: Int, [UInt8]?)
        case unknown
        case wrong(EvaluationError)

        var length: Int? {
            if case .bytes(let length, _) = self { return length }
            return nil
        }
    }

    private static let fewBytes = 4_096

    private var values: [String: Folded] = [:]
    /// Returns the constant value of a name that has no entry in `values`, or only its length; `nil` if the name has no
    /// constant value.
    private let others: (String) -> Folded?
    /// The framing of the scenario; `nil` if a step changes it.
    var framing: Framing?

    init(framing: Framing, others: @escaping (String) -> Folded? = { _ in nil }) {
        self.framing = framing
        self.others = others
    }

    private func known(_ name: String) -> Folded? { values[name] ?? others(name) }

    /// Adds a `let` from the header.
    ///
    /// - Returns: the error in the value of the `let`; `nil` if the value has no error.
    mutating func define(_ name: String, _ value: Expression) -> EvaluationError? {
        let folded = fold(value)
        if case .wrong(let error) = folded { return error }
        values[name] = folded
        return nil
    }

    /// Removes a name that a step binds again, because its value is no longer constant.
    mutating func forget(_ name: String) { values[name] = nil }

    func fold(_ expression: Expression) -> Folded {
        switch expression.kind {
        case .string(let pieces): return fold(pieces)
        case .integer(let value): return .integer(value)
        case .unsigned(let value): return .unsigned(value)
        case .variable(let name): return known(name) ?? .unknown
        case .hex(let bytes): return Self.few(bytes)
        case .webSocket, .protobuf: return .unknown
        case .parenthesized(let inner): return fold(inner)
        case .call(let name, let arguments): return call(name.value, arguments, expression.span)
        case .add(let left, let right): return sum(fold(left), fold(right), expression.span)
        case .subtract(let left, let right):
            return integers(fold(left), fold(right), expression.span) { $0.subtractingReportingOverflow($1) }
        case .divide(let left, let right):
            let divisor = fold(right)
            if case .integer(0) = divisor { return .wrong(EvaluationError(.divisionByZero, span: right.span)) }
            return integers(fold(left), divisor, expression.span) { $0.dividedReportingOverflow(by: $1) }
        case .multiply(let left, let right): return product(fold(left), fold(right), expression.span, right.span)
        }
    }

    static func few(_ bytes: [UInt8]) -> Folded {
        .bytes(length: bytes.count, bytes.count <= Self.fewBytes ? bytes : nil)
    }

    private func fold(_ pieces: [StringPiece]) -> Folded {
        if pieces.count == 1, case .text(let text) = pieces[0] { return Self.few(text) }
        var result = Folded.bytes(length: 0, [])
        for piece in pieces {
            let next: Folded
            switch piece {
            case .text(let text): next = Self.few(text)
            case .variable(let name):
                switch known(name.value) {
                case .integer(let value): next = Self.few(Array(String(value).utf8))
                case .unsigned(let value): next = Self.few(Array(String(value).utf8))
                case .bytes(let length, let bytes): next = .bytes(length: length, bytes)
                default: return .unknown
                }
            case .property: return .unknown
            }
            result = sum(result, next, SourceSpan(start: 0, end: 0))
        }
        return result
    }

    private func sum(_ left: Folded, _ right: Folded, _ span: SourceSpan) -> Folded {
        switch (left, right) {
        case (.wrong, _): return left
        case (_, .wrong): return right
        case (.integer(let a), .integer(let b)):
            let (value, overflow) = a.addingReportingOverflow(b)
            return overflow ? .wrong(EvaluationError(.overflow, span: span)) : .integer(value)
        case (.bytes(let a, let head), .bytes(let b, let tail)):
            if let head, let tail, a + b <= Self.fewBytes { return .bytes(length: a + b, head + tail) }
            return sized(a + b, nil, span)
        default: return .unknown
        }
    }

    private func sized(_ length: Int, _ bytes: [UInt8]?, _ span: SourceSpan) -> Folded {
        guard length <= Evaluator.largestValue else {
            return .wrong(EvaluationError(.tooLarge(limit: Evaluator.largestValue), span: span))
        }
        return .bytes(length: length, bytes)
    }

    private func integers(
        _ left: Folded, _ right: Folded, _ span: SourceSpan,
        _ compute: (Int, Int) -> (partialValue: Int, overflow: Bool)
    ) -> Folded {
        switch (left, right) {
        case (.wrong(let error), _), (_, .wrong(let error)): return .wrong(error)
        case (.integer(let a), .integer(let b)):
            let (value, overflow) = compute(a, b)
            return overflow ? .wrong(EvaluationError(.overflow, span: span)) : .integer(value)
        default: return .unknown
        }
    }

    private func product(_ left: Folded, _ right: Folded, _ span: SourceSpan, _ factorSpan: SourceSpan) -> Folded {
        switch (left, right) {
        case (.wrong, _): return left
        case (_, .wrong): return right
        case (.integer(let a), .integer(let b)):
            let (value, overflow) = a.multipliedReportingOverflow(by: b)
            return overflow ? .wrong(EvaluationError(.overflow, span: span)) : .integer(value)
        case (.bytes(let length, let bytes), .integer(let factor)):
            guard factor >= 0 else { return .wrong(EvaluationError(.negativeCount(factor), span: factorSpan)) }
            let (total, overflow) = length.multipliedReportingOverflow(by: factor)
            guard !overflow else { return sized(Int.max, nil, span) }
            if let bytes, total <= Self.fewBytes, factor <= Self.fewBytes {
                return .bytes(length: total, Array(repeatElement(bytes, count: factor).joined()))
            }
            return sized(total, nil, span)
        default: return .unknown
        }
    }

    private func call(_ name: String, _ arguments: [Expression.Argument], _ span: SourceSpan) -> Folded {
        guard let function = Function(rawValue: name), let first = arguments.first?.value else { return .unknown }
        let argument = function == .sized ? Folded.unknown : fold(first)
        if case .wrong = argument { return argument }
        if let format = function.integerFormat {
            guard case .integer(let value) = argument else { return .unknown }
            guard let bytes = format.encode(value) else {
                return .wrong(EvaluationError(.doesNotFit(value, format), span: first.span))
            }
            return Self.few(bytes)
        }
        switch function {
        case .base64:
            guard case .bytes(_, let bytes?) = argument else { return .unknown }
            switch Base64.decode(bytes) {
            case .bytes(let decoded): return Self.few(decoded)
            case .invalid(let offset): return .wrong(EvaluationError(.badBase64(offset: offset), span: first.span))
            }
        case .random:
            guard case .integer(let count) = argument else { return .unknown }
            guard count >= 0 else { return .wrong(EvaluationError(.negativeCount(count), span: first.span)) }
            return sized(count, nil, span)
        case .sized:
            guard arguments.count == 2, case .variable(let word) = first.kind,
                let format = IntegerFormat(rawValue: word),
                case .bytes(let length, let bytes) = fold(arguments[1].value)
            else { return .unknown }
            guard let prefix = format.encode(length) else {
                return .wrong(
                    EvaluationError(.tooLongForPrefix(length: length, format.rawValue), span: arguments[1].value.span))
            }
            return sum(Self.few(prefix), .bytes(length: length, bytes), span)
        case .line, .lines: return lines(arguments, span)
        case .len: return argument.length.map(Folded.integer) ?? .unknown
        case .int:
            guard case .bytes(_, let bytes?) = argument else { return .unknown }
            let scope = BoundScope(variables: ["x": .bytes(bytes)])
            let evaluator = Evaluator(scope: scope, sources: SourceMap([]), framing: .none)
            do throws(EvaluationError) {
                let word = Expression(.variable("x"), span: first.span)
                let call = Expression(.call(Name("int", span), [Expression.Argument(value: word)]), span: span)
                return .integer(try evaluator.integer(of: call))
            } catch {
                return .wrong(error)
            }
        default: return .unknown
        }
    }

    private func lines(_ arguments: [Expression.Argument], _ span: SourceSpan) -> Folded {
        guard let framing, framing != .websocket else { return .unknown }
        guard framing.hasUnits else {
            return .wrong(EvaluationError(.noTerminator(framing), span: span))
        }
        guard let terminator = framing.terminator else { return .unknown }
        var result = Folded.bytes(length: 0, [])
        for argument in arguments {
            let line = fold(argument.value)
            guard line.length != nil else { return line }
            result = sum(sum(result, line, span), Self.few(terminator), span)
        }
        return result
    }
}
