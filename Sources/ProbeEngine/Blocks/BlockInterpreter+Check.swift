import ProbeBase
import ProbeEvents
import ProbeScenario
import ProbeSystem

extension BlockInterpreter {
    func check(
        _ left: Expression, _ comparison: Step.CheckOperator, _ right: Step.CheckOperand
    ) throws(Finding) {
        let value = try context.value(of: left)
        switch (comparison, right) {
        case (.matches, .regex(let literal)):
            let regex = try context.regex(literal)
            let bytes = value.bytes ?? []
            guard let groups = ExpectedText.regex(regex).match(bytes) else {
                throw Finding(.failed, "the value does not match /\(regex.source)/", actual: bytes)
            }
            for (name, value) in groups { context.bind(name, value) }
        case (.matches, .value(let expression)):
            guard case .regex(let regex) = try context.value(of: expression) as Value else {
                throw Finding(.error, at: expression.span, "`matches` needs a regex")
            }
            if regex.firstMatch(in: value.bytes ?? []) == nil {
                throw Finding(.failed, "the value does not match /\(regex.source)/", actual: value.bytes)
            }
        case (.compare(let comparison), .value(let expression)):
            let other = try context.value(of: expression)
            if left.isProtobufField || expression.isProtobufField { try requireOneType(value, other) }
            try compare(
                left.isProtobufField ? value.unsigned(beside: other) : value, comparison,
                expression.isProtobufField ? other.unsigned(beside: value) : other)
        case (.contains, .value(let expression)), (.lacks, .value(let expression)):
            let needle = try context.bytes(of: expression)
            var buffer = ReceiveBuffer()
            buffer.append(value.bytes ?? [], at: .now)
            let isThere = buffer.firstIndex(of: needle) != nil
            if isThere != (comparison == .contains) {
                throw Finding(
                    .failed, "the value \(isThere ? "contains" : "does not contain") \(Escaped.phrase(needle))",
                    actual: value.bytes)
            }
        default: throw Finding(.error, "this check compares what can't be compared")
        }
    }

    /// A field's type is a part of what was received: the text "1" is not the number 1.
    private func requireOneType(_ left: Value, _ right: Value) throws(Finding) {
        switch (left.order, right.order) {
        case (.some, nil):
            throw Finding(.failed, "the field is the number \(left.text), not bytes", expected: right.bytes)
        case (nil, .some):
            throw Finding(.failed, "the field is bytes, not the number \(right.text)", actual: left.bytes)
        default: break
        }
    }

    private func compare(_ left: Value, _ comparison: Comparison, _ right: Value) throws(Finding) {
        if let a = left.order, let b = right.order {
            let difference = a == b ? 0 : a < b ? -1 : 1
            if !comparison.holds(difference, 0) {
                throw Finding(.failed, "\(left.text) \(comparison.rawValue) \(right.text) does not hold")
            }
            return
        }
        guard let a = left.bytes, let b = right.bytes, comparison == .equal || comparison == .notEqual else {
            throw Finding(.error, "bytes are compared by == and != only")
        }
        if (a == b) != (comparison == .equal) {
            throw Finding(
                .failed, comparison == .equal ? "the values differ" : "the values are the same", expected: b, actual: a)
        }
    }
}

extension Value {
    fileprivate var text: String { String(decoding: bytes ?? [], as: UTF8.self) }

    /// What a varint of protobuf says beside a number from 2^63 on. Without its schema it may have a sign; that number has none.
    fileprivate func unsigned(beside other: Value) -> Value {
        guard case .integer(let value) = self, value < 0, case .unsigned = other else { return self }
        return .unsigned(UInt64(bitPattern: Int64(value)))
    }
}

extension Expression {
    /// `pb(m, 3.1)`
    fileprivate var isProtobufField: Bool {
        if case .protobuf(.field) = kind { true } else { false }
    }
}
