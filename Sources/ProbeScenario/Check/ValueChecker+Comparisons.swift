import ProbeBase

/// The two sides of a `check`.
extension ValueChecker {
    func check(_ left: Expression, _ comparison: Step.CheckOperator, _ right: Step.CheckOperand) {
        let first = requireNoRegex(left)
        report(names.constants.fold(left))
        switch right {
        case .regex(let literal):
            check(literal)
            if first == .integer { names.report(.integerAsBytes(context.sources.shown(left)), at: left.span) }
            names.bindGroups(of: literal)
        case .value(let value):
            let second = infer(value)
            report(names.constants.fold(value))
            checkOperands(left, first, comparison, value, second)
        }
    }

    private func checkOperands(
        _ left: Expression, _ first: ValueType, _ comparison: Step.CheckOperator, _ right: Expression,
        _ second: ValueType
    ) {
        switch comparison {
        case .matches:
            if second != .regex, second != .any {
                names.report(
                    .wrongType, "\(context.sources.shown(right)) is no regex",
                    hint: "write check x matches /…/, or name a cell of a table that is a regex", at: right.span)
            }
            if first == .integer { names.report(.integerAsBytes(context.sources.shown(left)), at: left.span) }
        case .contains, .lacks:
            for (type, part) in [(first, left), (second, right)] {
                if type == .integer {
                    names.report(.integerAsBytes(context.sources.shown(part)), at: part.span)
                }
                if type == .regex, part == right {
                    names.report(.mayBeRegex(context.sources.shown(part)), at: part.span)
                }
            }
            if names.constants.fold(right).length == 0 { names.report(.emptyExpected, at: right.span) }
        case .compare(let comparison):
            if second == .regex { names.report(.mayBeRegex(context.sources.shown(right)), at: right.span) }
            let isMixed =
                (first == .integer && (second == .bytes || second == .pieces))
                || (second == .integer && (first == .bytes || first == .pieces))
            if isMixed {
                names.report(
                    .mixedTypes, "a number is compared with bytes here: they are never equal",
                    hint: "write \"${n}\" for the decimal text of a number, int(…) for the number in a text",
                    at: left.span.joined(with: right.span))
            } else if comparison != .equal, comparison != .notEqual, first == .bytes || second == .bytes {
                names.report(
                    .wrongType, "bytes are compared with == and !=, contains and lacks",
                    hint: "compare lengths with len(x) < 10, and decimal texts with int(x) < 10",
                    at: left.span.joined(with: right.span))
            }
        }
    }
}

extension Diagnostic.Message {
    static func integerAsBytes(_ text: String) -> Self {
        Self(.wrongType, "\(text) is a number, and bytes are meant", hint: bytesHint(text))
    }

    private static func bytesHint(_ text: String) -> String {
        if text.utf8.allSatisfy(\.isDigit) { return "write it as text, \"\(text)\", or as a byte, u8(\(text))" }
        if text.utf8.allSatisfy({ $0.isWordCharacter || $0 == UInt8(ascii: "-") }) {
            return "write \"${\(text)}\" for its decimal text, or u8(…), u16(…) for its bytes"
        }
        return "u8(…), u16(…) make bytes of it; for its decimal text write let n = \(text) and then \"${n}\""
    }
}
