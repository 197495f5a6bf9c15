package import ProbeBase
import CShims

/// Notices when the thread of a loop stands still. The loop says when it is about to sleep, and when it has slept.
package struct StandstillWatch: Sendable {
    package private(set) var standstills = Standstills()
    /// When the loop last ran.
    package private(set) var lastRun = MonotonicTime.now
    /// Whether the loop's own work is no standstill, however long it takes.
    private let ignoresWork: Bool
    /// The thread's processor time when it last woke up.
    private var processorTime: Int64 = 0

    package init(ignoresWork: Bool = false) { self.ignoresWork = ignoresWork }

    /// The loop starts, or comes back from where nothing was due.
    package mutating func restart() { lastRun = .now }

    /// Long work delays what the loop waits for, and so counts as a standstill.
    package mutating func worked(until now: MonotonicTime = .now) {
        var own = Duration.zero
        if ignoresWork, now > lastRun + Standstills.tolerance {
            own = .nanoseconds(probe_thread_cpu_ns() - processorTime)
        }
        standstills.ran(at: now, due: lastRun + own, last: lastRun)
        lastRun = now
    }

    /// - Parameter due: when the loop had to wake up, a heartbeat after it fell asleep at the latest; nil: at no time.
    package mutating func slept(until now: MonotonicTime = .now, due: MonotonicTime?) {
        let due = due.map { max(lastRun, min($0, lastRun + Standstills.heartbeat)) } ?? now
        standstills.ran(at: now, due: due, last: lastRun)
        lastRun = now
        if ignoresWork { processorTime = probe_thread_cpu_ns() }
    }
}
