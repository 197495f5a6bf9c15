import Glibc
import ProbeTransport
import Testing

/// Stores a transport's events, for which the test's thread can wait.
///
/// `@unchecked Sendable` is safe, because all properties are accessed only while `mutex` is held.
final class EventMailbox: @unchecked Sendable {
    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private let condition = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
    private var events: [TransportEvent] = []
    private var isClosed = false
    private var reactions: [@Sendable (TransportEvent) -> Void] = []

    init() {
        pthread_mutex_init(mutex, nil)
        pthread_cond_init(condition, nil)
    }

    deinit {
        pthread_mutex_destroy(mutex)
        pthread_cond_destroy(condition)
        mutex.deallocate()
        condition.deallocate()
    }

    /// Sets a closure that runs on the transport's thread with each event, before the event is stored.
    func react(_ reaction: @escaping @Sendable (TransportEvent) -> Void) {
        locked { reactions.append(reaction) }
    }

    /// The handler to pass to ``TransportFactory/makeTransport(_:handler:)``.
    var handler: TransportHandler {
        { event in
            for reaction in self.locked({ self.reactions }) { reaction(event) }
            self.locked {
                self.events.append(event)
                pthread_cond_broadcast(self.condition)
            }
        }
    }

    /// Marks the mailbox as closed, because the transport's thread has ended and no further event will arrive.
    func close() {
        locked {
            isClosed = true
            pthread_cond_broadcast(condition)
        }
    }

    /// Waits until ``close()`` is called. Returns `false` if that takes too long.
    func waitUntilClosed() -> Bool {
        wait { isClosed ? true : nil } ?? false
    }

    /// Returns the next event. If none arrives, returns `nil` and records an issue.
    func next(location: SourceLocation = #_sourceLocation) -> TransportEvent? {
        let event = wait { events.isEmpty ? nil : events.removeFirst() }
        if event == nil { Issue.record("no event arrived", sourceLocation: location) }
        return event
    }

    /// Returns the next event other than `sent`.
    func nextExceptSent(location: SourceLocation = #_sourceLocation) -> TransportEvent? {
        while let event = next(location: location) {
            if case .sent = event { continue }
            return event
        }
        return nil
    }

    /// Returns all events up to and including `stopped`, without `sent`.
    func throughStop(location: SourceLocation = #_sourceLocation) -> [TransportEvent] {
        var seen: [TransportEvent] = []
        while let event = nextExceptSent(location: location) {
            seen.append(event)
            if case .stopped = event { break }
        }
        return seen
    }

    /// The events that have arrived and have not been taken.
    var waiting: [TransportEvent] { locked { events } }

    private func locked<Result>(_ body: () -> Result) -> Result {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        return body()
    }

    private func wait<Result>(_ poll: () -> Result?) -> Result? {
        var deadline = timespec()
        clock_gettime(CLOCK_REALTIME, &deadline)
        // The deadline only ends a wait that would otherwise last indefinitely. The result of a test does not depend on
        // the exact deadline.
        deadline.tv_sec += 120
        return locked {
            while true {
                if let result = poll() { return result }
                if pthread_cond_timedwait(condition, mutex, &deadline) == ETIMEDOUT { return poll() }
            }
        }
    }
}
