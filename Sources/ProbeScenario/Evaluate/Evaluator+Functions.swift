import ProbeBase

extension Evaluator {
    /// The value of `name(…)`. The checker has made sure of the number of arguments; here they are looked at again, as an
    /// expression may come from elsewhere.
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
            let contents = try contents(ofFile: text, saidAt: path.span)
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
            throw EvaluationError(.tooLongForPrefix(length: payload.count, prefix), span: value.span)
        }
        return .bytes(length + payload)
    }

    /// `int(x)`: decimal digits, with an optional `-` before them; an integer stays what it is.
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
