package import ProbeBase
import CShims

/// Detects stalls of the thread that runs a loop. The loop reports when it is about to sleep and when it has woken up.
package struct StandstillWatch: Sendable {
    package private(set) var standstills = Standstills()
    /// The time at which the loop last ran.
    package private(set) var lastRun = MonotonicTime.now
    /// Whether the loop's own work never counts as a stall, however long it takes.
    private let ignoresWork: Bool
    /// The processor time of the thread when it last woke up.
    private var processorTime: Int64 = 0

    package init(ignoresWork: Bool = false) { self.ignoresWork = ignoresWork }

    /// Restarts the measurement when the loop starts, or when it resumes after a period in which nothing was due.
    package mutating func restart() { lastRun = .now }

    /// Records that the loop has done work. Work that takes a long time delays the events that the loop waits for, and
    /// therefore counts as a stall.
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
    /// - Parameter due: the time at which the loop should have woken up, at most a heartbeat after it fell asleep;
    ///   `nil` if it had no deadline.
    package mutating func slept(until now: MonotonicTime = .now, due: MonotonicTime?) {
        let due = due.map { max(lastRun, min($0, lastRun + Standstills.heartbeat)) } ?? now
        standstills.ran(at: now, due: due, last: lastRun)
        lastRun = now
        if ignoresWork { processorTime = probe_thread_cpu_ns() }
    }
}
