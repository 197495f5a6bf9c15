import Synchronization

/// Ends a run early when a signal arrives: running cases end immediately, with their results and captures, and no
/// further case begins.
package final class RunControl: Sendable {
    private struct State {
        var signal: Int32?
        var running: [Int: CaseRun] = [:]
        /// The controls of parts of the run, which end with it.
        var parts: [RunControl] = []
        var next = 0
    }

    private let state = Mutex(State())

    package init() {}

    /// Creates the control of a part of a run. The part ends no later than the run, and can be ended alone.
    package init(partOf run: RunControl) {
        let signal = run.state.withLock { state in
            state.parts.append(self)
            return state.signal
        }
        if let signal { interrupt(by: signal) }
    }

    /// Makes the run forget a part that has ended.
    package func forget(_ part: RunControl) { state.withLock { $0.parts.removeAll { $0 === part } } }

    /// Ends a part of a run because its time is over.
    package func end() { interrupt(by: 0) }

    /// The signal that ended the run; 0 if the part's time is over.
    package var interruptedBy: Int32? { state.withLock { $0.signal } }

    /// Ends the run. Only the first signal is recorded.
    package func interrupt(by signal: Int32) {
        let (running, parts) = state.withLock { state in
            if state.signal == nil { state.signal = signal }
            return (Array(state.running.values), state.parts)
        }
        for run in running {
            Task { await run.interrupt() }
        }
        for part in parts { part.interrupt(by: signal) }
    }

    /// Registers a case that is about to begin.
    ///
    /// - Returns: a ticket for ``leave(_:)``; `nil` if no further case may begin.
    func enter(_ run: CaseRun) -> Int? {
        state.withLock { state in
            if state.signal != nil { return nil }
            state.next += 1
            state.running[state.next] = run
            return state.next
        }
    }

    func leave(_ ticket: Int) {
        state.withLock { _ = $0.running.removeValue(forKey: ticket) }
    }
}
