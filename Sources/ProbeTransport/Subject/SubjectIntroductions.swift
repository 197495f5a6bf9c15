import Dispatch
import Glibc

/// Determines the names of a run's subjects, all at the same time. Reports need the names for their first lines.
package final class SubjectIntroductions: Sendable {
    private let done = DispatchSemaphore(value: 0)
    private let count: Int

    package init(_ sources: [any SubjectSource]) {
        count = sources.count
        for source in sources {
            source.introduce { [done] in done.signal() }
        }
    }

    /// Waits until the names of all subjects are known; each subject has a deadline. Returns early if the descriptor
    /// becomes readable, which indicates a signal that the run handles.
    package func wait(orUntilReadable descriptor: Int32) {
        for _ in 0..<count {
            while done.wait(timeout: .now() + .milliseconds(50)) == .timedOut {
                var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
                if poll(&entry, 1, 0) > 0 { return }
            }
        }
    }
}
