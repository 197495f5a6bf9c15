import ProbeEvents

/// What ends a case whatever step is running. Pure.
struct FaultState {
    /// The first one counts.
    private(set) var fault: Finding?
    /// The run was interrupted while the case ran, and nothing else was wrong by then.
    private(set) var wasInterrupted = false
    /// Nothing is judged any more.
    var isTearingDown = false

    /// Makes the step that is running, or the next one, fail.
    ///
    /// - Returns: whether the fault is the first one.
    mutating func raise(_ finding: Finding) -> Bool {
        guard fault == nil, !isTearingDown else { return false }
        fault = finding
        return true
    }

    mutating func interrupt() -> Bool {
        if fault == nil, !isTearingDown { wasInterrupted = true }
        return raise(Finding(.error, "the run was interrupted"))
    }

    /// `finally` blocks run whatever happened before.
    mutating func clear() { fault = nil }

    /// - Parameter isCancelled: the step is a line of a `together` whose other line failed.
    func check(isCancelled: Bool) throws(Finding) {
        if let fault { throw fault }
        if isTearingDown { throw Finding(.error, "the case has ended") }
        if isCancelled { throw Finding(.failed, "another line of the together failed") }
    }
}
