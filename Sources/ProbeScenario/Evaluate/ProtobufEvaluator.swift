import ProbeBase

/// Evaluates `pb(…)`: messages, and the fields of a message.
struct ProtobufEvaluator {
    let evaluator: Evaluator

    func value(of expression: ProtobufExpression, span: SourceSpan) throws(EvaluationError) -> Value {
        switch expression {
        case .message(let fields):
            var writer = ProtobufWriter()
            for field in fields {
                try append(field, to: &writer)
                try evaluator.checkSize(writer.bytes.count, span)
            }
            return .bytes(writer.bytes)
        case .field(let message, let path): return try field(path, of: evaluator.bytes(of: message), span: span)
        case .number(let scalar):
            let value = try integer(of: scalar)
            guard scalar.format == .sint else { return .integer(value) }
            // `pb(m, 3)` returns the bits of a varint as a signed number, so the operand must have the same form.
            return .integer(Int(truncatingIfNeeded: ProtobufWriter.zigzag(Int64(value))))
        }
    }

    // MARK: Messages

    private func append(_ field: ProtobufExpression.Field, to writer: inout ProtobufWriter) throws(EvaluationError) {
        let number = try evaluator.integer(of: field.number)
        guard (1...ProtobufWriter.largestField).contains(number) else {
            throw EvaluationError(
                .outOfRange(number, "a field number", 1...ProtobufWriter.largestField), span: field.number.span)
        }
        switch field.content {
        case .single(let scalar): try append(scalar, number, to: &writer)
        case .packed(let scalars):
            var contents = ProtobufWriter()
            for scalar in scalars {
                switch scalar.format {
                case .fixed32: contents.append(fixed32: try fixed32(scalar))
                case .fixed64: contents.append(fixed64: try unsigned(scalar))
                case .sint, .int, nil: contents.append(varint: try varint(scalar))
                }
            }
            writer.field(number, contents.bytes)
        }
    }

    private func append(
        _ scalar: ProtobufExpression.Scalar, _ number: Int, to writer: inout ProtobufWriter
    ) throws(EvaluationError) {
        if scalar.format == nil {
            let value = try evaluator.evaluate(scalar.value)
            if value.order == nil {
                guard let bytes = value.bytes else { throw EvaluationError(.notBytes, span: scalar.value.span) }
                writer.field(number, bytes)
                return
            }
        }
        switch scalar.format {
        case .fixed32: writer.field(number, fixed32: try fixed32(scalar))
        case .fixed64: writer.field(number, fixed64: try unsigned(scalar))
        case .sint, .int, nil: writer.field(number, varint: try varint(scalar))
        }
    }

    private func integer(of scalar: ProtobufExpression.Scalar) throws(EvaluationError) -> Int {
        let value = try evaluator.integer(of: scalar.value)
        return scalar.isNegative ? -value : value
    }

    private func varint(_ scalar: ProtobufExpression.Scalar) throws(EvaluationError) -> UInt64 {
        switch scalar.format {
        case .sint: ProtobufWriter.zigzag(Int64(try integer(of: scalar)))
        case .int: UInt64(bitPattern: Int64(try integer(of: scalar)))
        default: try unsigned(scalar)
        }
    }

    private func unsigned(_ scalar: ProtobufExpression.Scalar) throws(EvaluationError) -> UInt64 {
        if case .unsigned(let value) = try evaluator.evaluate(scalar.value) { return value }
        let value = try integer(of: scalar)
        guard let unsigned = UInt64(exactly: value) else {
            throw EvaluationError(.negativeField(value), span: scalar.value.span)
        }
        return unsigned
    }

    private func fixed32(_ scalar: ProtobufExpression.Scalar) throws(EvaluationError) -> UInt32 {
        let value = try integer(of: scalar)
        guard value >= 0 else { throw EvaluationError(.negativeField(value), span: scalar.value.span) }
        guard let fixed = UInt32(exactly: value) else {
            throw EvaluationError(.outOfRange(value, "fixed32", 0...Int(UInt32.max)), span: scalar.value.span)
        }
        return fixed
    }

    // MARK: Fields

    private func field(_ path: ProtobufPath, of message: [UInt8], span: SourceSpan) throws(EvaluationError) -> Value {
        let found: ProtobufPath.Found
        do throws(ProtobufPath.Failure) { found = try path.find(in: message.span) } catch {
            throw EvaluationError(.protobuf(error, message), span: span)
        }
        switch found {
        case .varint(let value): return .integer(Int(truncatingIfNeeded: value))
        case .fixed(let value): return Value(value)
        case .bytes(let range): return .bytes(Array(message[range]))
        }
    }
}
