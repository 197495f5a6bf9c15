/// The time that a flow has spent in each state.
///
/// Intervals are added in chronological order. The most recent intervals are kept, because an event such as a
/// retransmission may show only in hindsight to which state the preceding time belongs. The memory use is constant.
package struct TimeBudget: Sendable {
    private var totals = InlineArray<17, Int64>(repeating: 0)
    /// The most recent intervals. Each interval begins at the end of the previous one; the first interval begins at
    /// `recentStart`.
    private var recent: [(end: Int64, state: FlowState)] = []
    private var recentStart: Int64 = 0
    /// The end of the last interval that was added, in nanoseconds since the first packet of the flow.
    private(set) var end: Int64 = 0

    /// The maximum number of intervals that are kept. Adjacent intervals in the same state count as one interval.
    private static let keptIntervals = 48

    init() {}

    /// The time spent in a state, in nanoseconds.
    package subscript(state: FlowState) -> Int64 { totals[Int(state.rawValue)] }

    /// The time spent in all states, in nanoseconds.
    package var total: Int64 { totals.indices.reduce(0) { $0 + totals[$1] } }

    /// The states in which the flow spent time, in the order of precedence.
    package var used: [(state: FlowState, time: Int64)] {
        FlowState.allCases.compactMap { self[$0] > 0 ? ($0, self[$0]) : nil }
    }

    /// The total time spent in transfers, regardless of what limited them.
    package var transfer: Int64 {
        FlowState.allCases.reduce(0) { $1.isTransfer ? $0 + self[$1] : $0 }
    }

    /// Attributes the time from the end of the last interval until `end` to a state.
    mutating func add(_ state: FlowState, until end: Int64) {
        guard end > self.end else { return }
        totals[Int(state.rawValue)] += end - self.end
        self.end = end
        if let last = recent.last, last.state == state {
            recent[recent.count - 1].end = end
            return
        }
        if recent.count == Self.keptIntervals {
            let dropped = Self.keptIntervals / 3
            recentStart = recent[dropped - 1].end
            recent.removeFirst(dropped)
        }
        recent.append((end, state))
    }

    /// Frees the memory for the most recent intervals. Their states can't be changed anymore.
    mutating func settle() {
        recent = []
        recentStart = end
    }

    /// Attributes the time from `start` to `end` to `state`, except for any part that is in a state of higher
    /// precedence. Changes only intervals that are still kept.
    ///
    /// - Returns: the amount of time whose state was changed.
    @discardableResult
    mutating func reassign(_ state: FlowState, from start: Int64, until end: Int64) -> Int64 {
        var changed: Int64 = 0
        var result: [(end: Int64, state: FlowState)] = []
        result.reserveCapacity(recent.count + 2)
        func append(_ end: Int64, _ state: FlowState) {
            if let last = result.last, last.state == state {
                result[result.count - 1].end = end
            } else {
                result.append((end, state))
            }
        }
        var begin = recentStart
        for (until, old) in recent {
            let (from, to) = (max(begin, start), min(until, end))
            if from < to, old.rawValue > state.rawValue {
                if begin < from { append(from, old) }
                append(to, state)
                if to < until { append(until, old) }
                totals[Int(old.rawValue)] -= to - from
                totals[Int(state.rawValue)] += to - from
                changed += to - from
            } else {
                append(until, old)
            }
            begin = until
        }
        recent = result
        return changed
    }

    /// Moves all time in one state to another state, for a correction that applies to the whole flow.
    mutating func move(from old: FlowState, to new: FlowState) {
        guard old != new else { return }
        totals[Int(new.rawValue)] += totals[Int(old.rawValue)]
        totals[Int(old.rawValue)] = 0
    }

    /// Moves at most `time` from one state to another state, for a correction in hindsight.
    mutating func move(_ time: Int64, from old: FlowState, to new: FlowState) {
        let moved = min(time, totals[Int(old.rawValue)])
        totals[Int(old.rawValue)] -= moved
        totals[Int(new.rawValue)] += moved
    }

    /// Extends or reduces the time budget of a flow whose packets are not in chronological order in the capture. Added
    /// time is attributed to the state `unknown`; removed time is taken from the states with the most time.
    mutating func correct(by time: Int64) {
        if time >= 0 {
            totals[Int(FlowState.unknown.rawValue)] += time
            return
        }
        var rest = -time
        while rest > 0, let index = totals.indices.max(by: { totals[$0] < totals[$1] }), totals[index] > 0 {
            let taken = min(rest, totals[index])
            totals[index] -= taken
            rest -= taken
        }
    }

    /// Gives up what a capture of only one direction can't show.
    mutating func forgetWaits() {
        for state in FlowState.allCases {
            switch state {
            case .handshake, .closing, .unknown, .transferUnknown: break
            case _ where state.isTransfer: move(from: state, to: .transferUnknown)
            default: move(from: state, to: .unknown)
            }
        }
    }
}
