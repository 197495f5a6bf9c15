import ProbeBase
import ProbeEvents
import ProbeSystem

/// The outcome of an expectation at one moment. Only the evaluations in this folder decide when an expectation is met.
///
/// The text of what is awaited is the description of the expectation itself: a text in each `pending` would be rebuilt
/// at every look.
enum Outcome<Value> {
    /// The expectation was met at `at`, which is `nil` if the moment is unknown. Whether that was in time is judged
    /// when the match is consumed.
    case satisfied(Value, at: MonotonicTime?)
    /// The expectation may still be met. Unless something changes earlier, the next look is at `until`.
    case pending(until: MonotonicTime)
    /// The expectation can no longer be met.
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

    /// Something else than expected arrived.
    static func mismatch(_ finding: Finding, _ reason: String) -> Outcome { .impossible(finding, .mismatch(reason)) }
}

/// Why an expectation can no longer be met.
struct Impossibility {
    enum Reason {
        /// Something else arrived. The text is a short description, used as the reason of an `either`'s branch.
        case mismatch(String)
        /// Something else arrived, but incompletely: a moment later it can be shown in full.
        case partialMismatch(String)
        /// The deadline has passed.
        case missed
    }

    /// What the step reports.
    var finding: Finding
    var reason: Reason

    /// A short description of the reason; `nil` if nothing arrived.
    var shortReason: String? {
        switch reason {
        case .mismatch(let text), .partialMismatch(let text): text
        case .missed: nil
        }
    }

    var isMissed: Bool { if case .missed = reason { true } else { false } }
    var isPartial: Bool { if case .partialMismatch = reason { true } else { false } }
}

/// An expectation that is being awaited: its values, what they are compared with, and the progress of the comparison.
protocol PendingExpectation {
    associatedtype Match

    /// What the step waits for, as a noun phrase.
    var description: String { get }
    /// Whether the expectation also measures from the last progress of something, not only within the window.
    var measuresProgress: Bool { get }

    /// Looks at the current state, and consumes nothing.
    ///
    /// - Throws: what prevents the harness from looking.
    mutating func evaluate(_ window: TimeWindow) throws(Finding) -> Outcome<Match>
}

extension PendingExpectation {
    var measuresProgress: Bool { false }
}
