import Dispatch
import Glibc

/// Introduces the subjects of a run, all at the same time: reports need the subjects' names from the first line on.
package final class SubjectIntroductions: Sendable {
    private let done = DispatchSemaphore(value: 0)
    private let count: Int

    package init(_ sources: [any SubjectSource]) {
        count = sources.count
        for source in sources {
            source.introduce { [done] in done.signal() }
        }
    }

    /// Waits for all subjects; each has a deadline. Returns early if the descriptor becomes readable, in which case the
    /// run handles the signal.
    package func wait(orUntilReadable descriptor: Int32) {
        for _ in 0..<count {
            while done.wait(timeout: .now() + .milliseconds(50)) == .timedOut {
                var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
                if poll(&entry, 1, 0) > 0 { return }
            }
        }
    }
}
