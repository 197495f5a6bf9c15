import ProbeBase

/// Judges a number that can only grow while the connection goes on.
enum MonotonicBound {
    case holds
    /// Not yet; it still may.
    case open
    /// Not, and it can't any more.
    case never

    init(_ value: Int, _ comparison: Comparison, _ bound: Int, canGrow: Bool) {
        if comparison.holds(value, bound) {
            self = .holds
            return
        }
        switch comparison {
        case .less, .lessOrEqual: self = .never
        case .equal: self = canGrow && value < bound ? .open : .never
        case .notEqual, .greater, .greaterOrEqual: self = canGrow ? .open : .never
        }
    }

    /// With more of what was counted missing from the capture, the outcome could be another one.
    func isUnsettled(_ comparison: Comparison) -> Bool {
        let isHolding = if case .holds = self { true } else { false }
        return switch comparison {
        case .equal, .notEqual: true
        case .less, .lessOrEqual: isHolding
        case .greater, .greaterOrEqual: !isHolding
        }
    }

    func verdict(_ failure: @autoclosure () -> WireFailure) -> WireVerdict {
        switch self {
        case .holds: .passed
        case .open: .waiting(failure())
        case .never: .failed(failure())
        }
    }
}
