import ProbeBase

/// Checks values: that each is of the type that its place wants, and in its bounds, as far as that is known before the run.
final class ValueChecker {
    let names: NameScope
    var context: ParseContext { names.context }
    /// `${dir}` has a meaning there.
    var isInProcessLine = false

    /// The addresses that the script may use; nil: any.
    private let targets: AllowedTargets?

    init(_ names: NameScope, allowing targets: AllowedTargets? = nil) {
        self.names = names
        self.targets = targets
    }

    func report(_ folded: ConstantFolder.Folded) {
        if case .wrong(let error) = folded { names.report(.evaluation(error.reason), at: error.span) }
    }

    /// A value of any type but a regex is meant here; gives the type.
    @discardableResult
    func requireNoRegex(_ value: Expression) -> ValueType {
        let type = infer(value)
        if type == .regex { names.report(.mayBeRegex(context.sources.shown(value)), at: value.span) }
        return type
    }

    // MARK: What a place wants

    /// Bytes are meant here; gives what is known of them.
    @discardableResult
    func requireBytes(_ expression: Expression) -> ConstantFolder.Folded {
        switch infer(expression) {
        case .integer: names.report(.integerAsBytes(context.sources.shown(expression)), at: expression.span)
        case .regex: names.report(.mayBeRegex(context.sources.shown(expression)), at: expression.span)
        case .bytes, .pieces, .any:
            let folded = names.constants.fold(expression)
            report(folded)
            return folded
        }
        return .unknown
    }

    /// An integer is meant here, in these bounds.
    func requireInteger(_ expression: Expression, _ what: String = "", _ low: Int = Int.min, _ high: Int = Int.max) {
        switch infer(expression) {
        case .bytes, .pieces:
            names.report(.bytesAsInteger(context.sources.shown(expression)), at: expression.span)
        case .regex: names.report(.mayBeRegex(context.sources.shown(expression)), at: expression.span)
        case .integer, .any:
            let folded = names.constants.fold(expression)
            report(folded)
            if case .unsigned(let value) = folded {
                names.report(.evaluation(.tooLargeInteger(value)), at: expression.span)
                return
            }
            guard case .integer(let value) = folded else {
                if low > Int.min || high < Int.max {
                    context.scenario.integerRanges[expression.span] = IntegerRange(what: what, values: low...high)
                }
                return
            }
            if value < low || value > high {
                names.report(.outOfRange(what, value, low, high), at: expression.span)
            }
        }
    }

    /// Bytes or a regex cell.
    func requirePattern(_ pattern: Pattern, allowsEmpty: Bool = true) {
        switch pattern {
        case .any: break
        case .regex(let literal): check(literal)
        case .value(let expression):
            let type = infer(expression)
            if type == .integer {
                names.report(.integerAsBytes(context.sources.shown(expression)), at: expression.span)
            }
            let folded = names.constants.fold(expression)
            report(folded)
            if !allowsEmpty, folded.length == 0 { names.report(.emptyExpected, at: expression.span) }
        }
    }

    func check(_ address: AddressExpression, for purpose: AllowedTargets.Purpose) {
        if let unix = address.unix {
            if case .path(let path) = unix { requireBytes(path) }
            return
        }
        if address.hostName != nil { return checkPort(of: address) }
        // A port that a case or a step gives is judged by the run, as soon as it has a value.
        var port: UInt16? = address.port == nil ? 0 : nil
        if let expression = address.port {
            requireInteger(expression, "the port", 1, 65_535)
            if case .integer(let value) = names.constants.fold(expression) { port = UInt16(exactly: value) }
        }
        if let refusal = targets?.refusal(of: address.host, port: port, for: purpose) {
            names.report(.targetNotAllowed, refusal.text, hint: refusal.hint, at: address.span)
        }
    }

    /// Of what is on a link: its own network has every port.
    func checkPort(of address: AddressExpression) {
        if let port = address.port { requireInteger(port, "the port", 1, 65_535) }
    }

    func check(_ option: SocketOption) {
        switch option {
        case .receiveBuffer(let size): requireInteger(size, "the buffer", 1, 1 << 30)
        case .sendBuffer(let size): requireInteger(size, "the buffer", 1, 1 << 30)
        case .noDelay, .keepAlive, .keepAliveEvery: break
        }
    }

    /// The bounds of a range, the lower one first.
    func requireRange(_ first: Expression, _ last: Expression) {
        requireInteger(first)
        requireInteger(last)
        if case .integer(let low) = names.constants.fold(first), case .integer(let high) = names.constants.fold(last),
            low > high
        {
            names.report(.emptyRange(low, high), at: first.span.joined(with: last.span))
        }
    }
}

extension Diagnostic.Message {
    static func emptyRange(_ first: Int, _ last: Int) -> Self {
        Self(
            .emptyRange, "the range \(first)..\(last) is empty: nothing would run",
            hint: "a range goes upwards and holds both ends, such as 1..13")
    }

    static func outOfRange(_ what: String, _ value: Int, _ low: Int, _ high: Int) -> Self {
        Self(
            .outOfRange,
            high == Int.max
                ? "\(what) is \(value), and must be at least \(low)"
                : "\(what) is \(value), and must be from \(low) to \(high)")
    }

    static func evaluation(_ reason: EvaluationError.Reason) -> Self {
        Self(reason.id, reason.text, hint: reason.hint)
    }
}
