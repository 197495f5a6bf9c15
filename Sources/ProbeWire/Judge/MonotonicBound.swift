import ProbeBase

/// Judges a number that can only grow while the connection goes on.
enum MonotonicBound {
    case holds
    /// It holds for any greater number as well.
    case holdsForGood
    /// Not yet; it still may.
    case open
    /// Not, and it can't any more.
    case never
    /// Not, and any greater number would not hold either.
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

    /// With more of what was counted missing from the capture, the outcome could be another one.
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
