import ProbeBase

/// The two sides of a `check`.
extension ValueChecker {
    func check(_ left: Expression, _ comparison: Step.CheckOperator, _ right: Step.CheckOperand) {
        let first = requireNoRegex(left)
        report(names.constants.fold(left))
        switch right {
        case .regex(let literal):
            check(literal)
            if first == .integer { names.report(.value(.integerAsBytes(context.sources.shown(left))), at: left.span) }
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
                names.report(.value(.notARegex(context.sources.shown(right))), at: right.span)
            }
            if first == .integer { names.report(.value(.integerAsBytes(context.sources.shown(left))), at: left.span) }
        case .contains, .lacks:
            for (type, part) in [(first, left), (second, right)] {
                if type == .integer {
                    names.report(.value(.integerAsBytes(context.sources.shown(part))), at: part.span)
                }
                if type == .regex, part == right {
                    names.report(.value(.regexAsBytes(context.sources.shown(part))), at: part.span)
                }
            }
            if names.constants.fold(right).length == 0 { names.report(.value(.emptyExpected), at: right.span) }
        case .compare(let comparison):
            if second == .regex { names.report(.value(.regexAsBytes(context.sources.shown(right))), at: right.span) }
            let isMixed =
                (first == .integer && (second == .bytes || second == .pieces))
                || (second == .integer && (first == .bytes || first == .pieces))
            if isMixed {
                names.report(.value(.mixedCheck), at: left.span.joined(with: right.span))
            } else if comparison != .equal, comparison != .notEqual, first == .bytes || second == .bytes {
                names.report(.value(.orderOfBytes), at: left.span.joined(with: right.span))
            }
        }
    }
}
