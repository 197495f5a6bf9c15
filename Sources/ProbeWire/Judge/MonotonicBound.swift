import ProbeBase

/// The state of a comparison whose number can only grow while the connection continues.
enum MonotonicBound {
    case holds
    /// It holds for any greater number as well.
    case holdsForGood
    /// It does not hold yet, but still may.
    case open
    /// It does not hold and no longer can.
    case never
    /// It does not hold, and would not hold for any greater number either.
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

    /// Whether the outcome could be different if more of what was counted is missing from the capture.
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
