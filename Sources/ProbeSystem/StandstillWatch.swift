package import ProbeBase
import CShims

/// Detects when the thread of a loop stands still. The loop reports when it is about to sleep, and when it has slept.
package struct StandstillWatch: Sendable {
    package private(set) var standstills = Standstills()
    /// When the loop last ran.
    package private(set) var lastRun = MonotonicTime.now
    /// Whether the loop's own work never counts as a standstill, however long it takes.
    private let ignoresWork: Bool
    /// The thread's processor time when it last woke up.
    private var processorTime: Int64 = 0

    package init(ignoresWork: Bool = false) { self.ignoresWork = ignoresWork }

    /// Restarts the watch when the loop starts, or resumes after a time in which nothing was due.
    package mutating func restart() { lastRun = .now }

    /// Records work. Long work delays what the loop waits for, and therefore counts as a standstill.
    package mutating func worked(until now: MonotonicTime = .now) {
        var own = Duration.zero
        if ignoresWork, now > lastRun + Standstills.tolerance {
            own = .nanoseconds(probe_thread_cpu_ns() - processorTime)
        }
        standstills.ran(at: now, due: lastRun + own, last: lastRun)
        lastRun = now
    }

    /// Records a sleep.
    ///
    /// - Parameter due: when the loop had to wake up, at most a heartbeat after it fell asleep; `nil` if it had no
    ///   deadline.
    package mutating func slept(until now: MonotonicTime = .now, due: MonotonicTime?) {
        let due = due.map { max(lastRun, min($0, lastRun + Standstills.heartbeat)) } ?? now
        standstills.ran(at: now, due: due, last: lastRun)
        lastRun = now
        if ignoresWork { processorTime = probe_thread_cpu_ns() }
    }
}
