/// What a case comes to. Where several apply, the first of this order does.
package enum Verdict: String, Sendable, CaseIterable, Comparable {
    /// An expectation was not met.
    case failed
    /// The script or its surroundings stood in the way.
    case error
    /// A fault or an assertion could not be seen on the wire.
    case inconclusive
    /// The subject says that it can't.
    case unsupported
    /// A `require` is not met here.
    case skipped
    case passed

    package static func < (left: Verdict, right: Verdict) -> Bool { left.rank < right.rank }

    private var rank: Int { Verdict.allCases.firstIndex(of: self) ?? 0 }
}
