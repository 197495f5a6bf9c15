import ProbeBase
import ProbeEngine
import ProbeSystem

/// Ends a part of a run at a given time: running cases end immediately, and no further case begins.
struct RunLimit: Sendable {
    let control: RunControl
    private let run: RunControl
    private let timer: Task<Void, Never>

    init(_ run: RunControl, at end: MonotonicTime) {
        let control = RunControl(partOf: run)
        self.run = run
        self.control = control
        let left = end - .now
        if left <= .zero { control.end() }
        timer = Task.detached {
            do { try await Task.sleep(for: max(left, .zero)) } catch { return }
            control.end()
        }
    }

    var isOver: Bool { control.interruptedBy != nil }

    /// Ends the limit, without ending the run.
    func cancel() {
        timer.cancel()
        run.forget(control)
    }
}
