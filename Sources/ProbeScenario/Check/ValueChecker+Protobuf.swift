import ProbeBase

extension ValueChecker {
    /// The type of `pb(…)`; what is wrong inside is reported.
    func infer(_ value: ProtobufExpression) -> ValueType {
        switch value {
        case .message(let fields):
            for field in fields {
                requireInteger(field.number, "a field's number", 1, ProtobufWriter.largestField)
                switch field.content {
                case .single(let scalar):
                    if scalar.format == nil { checkUnnamed(scalar.value) } else { check(scalar) }
                case .packed(let scalars): for scalar in scalars { check(scalar) }
                }
            }
            return .bytes
        case .field(let message, _):
            requireBytes(message)
            return .any
        case .number(let scalar):
            check(scalar)
            return .integer
        }
    }

    private func check(_ scalar: ProtobufExpression.Scalar) {
        switch scalar.format {
        case .sint, .int: requireInteger(scalar.value)
        case .fixed32: requireInteger(scalar.value, "a fixed32", 0, Int(UInt32.max))
        case .fixed64, nil: requireUnsigned(scalar.value, "a number")
        }
    }

    /// Bytes, or a number that is written as a varint.
    private func checkUnnamed(_ value: Expression) {
        if requireNoRegex(value) == .integer { requireUnsigned(value, "a varint") }
    }

    /// Up to 2^64 - 1, which is more than what a script computes with.
    private func requireUnsigned(_ value: Expression, _ what: String) {
        if case .unsigned = names.constants.fold(value) { return }
        requireInteger(value, what, 0)
    }
}
