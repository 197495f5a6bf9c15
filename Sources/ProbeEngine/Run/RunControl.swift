import Synchronization

/// Ends a run early when a signal arrives: running cases end immediately, with their results and captures, and no
/// further case begins.
package final class RunControl: Sendable {
    private struct State {
        var signal: Int32?
        var running: [Int: CaseRun] = [:]
        var next = 0
    }

    private let state = Mutex(State())

    package init() {}

    /// The signal that ended the run.
    package var interruptedBy: Int32? { state.withLock { $0.signal } }

    /// Ends the run. Only the first signal is recorded.
    package func interrupt(by signal: Int32) {
        let running = state.withLock { state in
            if state.signal == nil { state.signal = signal }
            return Array(state.running.values)
        }
        for run in running {
            Task { await run.interrupt() }
        }
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
