import ProbeBase

/// The state of a comparison of a number that can only grow while the connection lasts.
enum MonotonicBound {
    case holds
    /// The comparison is true, and is also true for any greater number.
    case holdsForGood
    /// The comparison is not true yet, but may become true later.
    case open
    /// The comparison is false, and the number can no longer change.
    case never
    /// The comparison is false, and is also false for any greater number.
    case exceeded

    init(_ value: Int, _ comparison: Comparison, _ bound: Int, canGrow: Bool) {
        if comparison.holds(value, bound) {
            self =
                switch comparison {
                case .greater, .greaterOrEqual: .holdsForGood
                case .notEqual: value > bound ? .holdsForGood : .holds
                case .less, .lessOrEqual, .equal: .holds
                }
            return
        }
        switch comparison {
        case .less, .lessOrEqual: self = .exceeded
        case .equal: self = value > bound ? .exceeded : canGrow ? .open : .never
        case .notEqual, .greater, .greaterOrEqual: self = canGrow ? .open : .never
        }
    }

    /// Whether the result could change if packets that are missing from the capture increased the number.
    var isUnsettled: Bool {
        switch self {
        case .holdsForGood, .exceeded: false
        case .holds, .open, .never: true
        }
    }

    func verdict(_ failure: @autoclosure () -> WireFailure) -> WireVerdict {
        switch self {
        case .holds, .holdsForGood: .passed
        case .open: .waiting(failure())
        case .never, .exceeded: .failed(failure())
        }
    }
}
