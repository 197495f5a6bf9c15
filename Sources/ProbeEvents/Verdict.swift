/// The verdict on a case. If several verdicts apply, the first one in the order of declaration is used.
package enum Verdict: String, Sendable, CaseIterable, Comparable {
    /// An expectation was not met.
    case failed
    /// The script could not be run as written, or the machine prevented it.
    case error
    /// A fault or an assertion could not be confirmed on the wire.
    case inconclusive
    /// The subject declares that it lacks a capability.
    case unsupported
    /// A `require` of the scenario is not met on this machine.
    case skipped
    case passed

    package static func < (left: Verdict, right: Verdict) -> Bool { left.rank < right.rank }

    private var rank: Int { Verdict.allCases.firstIndex(of: self) ?? 0 }
}
