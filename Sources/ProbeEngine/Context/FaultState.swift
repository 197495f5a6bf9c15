import ProbeEvents

/// The faults that end a case, regardless of which step is running. This type has no side effects.
struct FaultState {
    /// The first fault; later faults are ignored.
    private(set) var fault: Finding?
    /// Whether the run was interrupted while the case was running, before any other fault.
    private(set) var wasInterrupted = false
    /// Whether the case is being torn down. If it is, nothing is judged any longer.
    var isTearingDown = false

    /// Makes the current step fail or, if no step is running, the next step.
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

    /// Clears the fault, so that `finally` blocks run whatever the outcome of the case.
    mutating func clear() { fault = nil }

    /// Checks whether the case may continue.
    ///
    /// - Parameter isCancelled: whether the step is a line of a `together` in which another line failed.
    /// - Throws: the fault, or the finding that states why the step must end.
    func check(isCancelled: Bool) throws(Finding) {
        if let fault { throw fault }
        if isTearingDown { throw Finding(.error, "the case has ended") }
        if isCancelled { throw Finding(.failed, "another line of the `together` block failed") }
    }
}
