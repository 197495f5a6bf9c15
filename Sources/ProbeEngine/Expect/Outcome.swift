import ProbeBase
import ProbeEvents
import ProbeSystem

/// The outcome of one evaluation of an expectation. Only the evaluations in this folder decide whether an expectation
/// is met.
///
/// A `pending` outcome has no text. The description of the expectation states what the step waits for, and composing
/// another description for each evaluation would be wasteful.
enum Outcome<Value> {
    /// The expectation was met at the time `at`, which is `nil` if that time is unknown. Whether the expectation was
    /// met in time is judged when the match is consumed.
    case satisfied(Value, at: MonotonicTime?)
    /// The expectation may still be met. Unless something changes earlier, it is evaluated again at `until`.
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

    /// Returns the outcome for something unexpected that arrived.
    static func mismatch(_ finding: Finding, _ reason: String) -> Outcome { .impossible(finding, .mismatch(reason)) }
}

/// The reason why an expectation can no longer be met.
struct Impossibility {
    enum Reason {
        /// Something unexpected arrived. The text is a short description, which an `either` uses as the reason why a
        /// branch was not taken.
        case mismatch(String)
        /// Something unexpected arrived, but only in part. Waiting for the remaining bytes allows the finding to show
        /// the input completely.
        case partialMismatch(String)
        /// The deadline has passed.
        case missed
    }

    /// The finding that the step reports.
    var finding: Finding
    var reason: Reason

    /// A short description of the mismatch; `nil` if the deadline passed.
    var shortReason: String? {
        switch reason {
        case .mismatch(let text), .partialMismatch(let text): text
        case .missed: nil
        }
    }

    var isMissed: Bool { if case .missed = reason { true } else { false } }
    var isPartial: Bool { if case .partialMismatch = reason { true } else { false } }
}

/// An expectation that a step waits for: its values, the actor's state, and the progress of the comparison.
protocol PendingExpectation {
    associatedtype Match

    /// The expected event, as a noun phrase.
    var description: String { get }
    /// Whether the expectation has a time limit that restarts whenever progress is made, in addition to its deadline.
    var measuresProgress: Bool { get }

    /// Evaluates the current state without consuming anything.
    ///
    /// - Throws: the reason why the state can't be evaluated.
    mutating func evaluate(_ window: TimeWindow) throws(Finding) -> Outcome<Match>
}

extension PendingExpectation {
    var measuresProgress: Bool { false }
}
