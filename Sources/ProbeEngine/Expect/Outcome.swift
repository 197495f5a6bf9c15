import ProbeBase
import ProbeEvents
import ProbeSystem

/// What an expectation comes to, at a moment. Only the evaluations in this folder say when an expectation is met.
///
/// What is awaited is the description of the expectation itself: a text in each `pending` would be made anew at each look.
enum Outcome<Value> {
    /// It was met at `at`; nil where the moment is not known. Whether that was in time is judged when it is taken.
    case satisfied(Value, at: MonotonicTime?)
    /// It may still be met. Unless something changes before, the next look is at `until`.
    case pending(until: MonotonicTime)
    /// It can't be met any more.
    case impossible(Impossibility)
}

extension Outcome {
    func map<Other>(_ change: (Value) -> Other) -> Outcome<Other> {
        switch self {
        case .satisfied(let value, let moment): .satisfied(change(value), at: moment)
        case .pending(let next): .pending(until: next)
        case .impossible(let why): .impossible(why)
        }
    }

    static func impossible(_ finding: Finding, _ reason: Impossibility.Reason) -> Outcome {
        .impossible(Impossibility(finding: finding, reason: reason))
    }

    /// What came is another thing than what is wanted.
    static func mismatch(_ finding: Finding, _ reason: String) -> Outcome { .impossible(finding, .mismatch(reason)) }
}

/// Why an expectation can't be met.
struct Impossibility {
    enum Reason {
        /// Something else came, in few words: the reason of an `either`'s branch.
        case mismatch(String)
        /// The same, but what came has not come whole: a moment later it can be shown whole.
        case partialMismatch(String)
        /// The deadline has passed.
        case missed
    }

    /// What the step says.
    var finding: Finding
    var reason: Reason

    /// In few words; nil where nothing came.
    var shortReason: String? {
        switch reason {
        case .mismatch(let text), .partialMismatch(let text): text
        case .missed: nil
        }
    }

    var isMissed: Bool { if case .missed = reason { true } else { false } }
    var isPartial: Bool { if case .partialMismatch = reason { true } else { false } }
}

/// An expectation while it is waited for: its values, what they are compared with, and how far the comparison is.
protocol PendingExpectation {
    associatedtype Match

    /// What is waited for, in words.
    var description: String { get }
    /// Its times are not only the window's: it also measures from the last progress of something.
    var measuresProgress: Bool { get }

    /// Looks at what is there now; takes nothing.
    ///
    /// - Throws: what keeps the harness from looking.
    mutating func evaluate(_ window: TimeWindow) throws(Finding) -> Outcome<Match>
}

extension PendingExpectation {
    var measuresProgress: Bool { false }
}
