import Glibc
import ProbeTransport
import Testing

/// A transport's events, awaited by the test's thread.
///
/// `@unchecked Sendable`: everything is used only while `mutex` is held.
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

    /// Runs on the transport's thread with each event, before the event is stored.
    func react(_ reaction: @escaping @Sendable (TransportEvent) -> Void) {
        locked { reactions.append(reaction) }
    }

    /// For ``TransportFactory/makeTransport(_:handler:)``.
    var handler: TransportHandler {
        { event in
            for reaction in self.locked({ self.reactions }) { reaction(event) }
            self.locked {
                self.events.append(event)
                pthread_cond_broadcast(self.condition)
            }
        }
    }

    /// No further event will come: the transport's thread has ended.
    func close() {
        locked {
            isClosed = true
            pthread_cond_broadcast(condition)
        }
    }

    /// Waits until ``close()``; false if that takes too long.
    func waitUntilClosed() -> Bool {
        wait { isClosed ? true : nil } ?? false
    }

    /// The next event. Nil, and a recorded issue, if none comes.
    func next(location: SourceLocation = #_sourceLocation) -> TransportEvent? {
        let event = wait { events.isEmpty ? nil : events.removeFirst() }
        if event == nil { Issue.record("no event came", sourceLocation: location) }
        return event
    }

    /// The next event that is no `sent`.
    func nextButSent(location: SourceLocation = #_sourceLocation) -> TransportEvent? {
        while let event = next(location: location) {
            if case .sent = event { continue }
            return event
        }
        return nil
    }

    /// All events up to and including `stopped`, without `sent`.
    func throughStop(location: SourceLocation = #_sourceLocation) -> [TransportEvent] {
        var seen: [TransportEvent] = []
        while let event = nextButSent(location: location) {
            seen.append(event)
            if case .stopped = event { break }
        }
        return seen
    }

    /// The events that are stored now.
    var waiting: [TransportEvent] { locked { events } }

    private func locked<Result>(_ body: () -> Result) -> Result {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        return body()
    }

    private func wait<Result>(_ poll: () -> Result?) -> Result? {
        var deadline = timespec()
        clock_gettime(CLOCK_REALTIME, &deadline)
        // It ends a wait that would last for ever, and decides nothing else.
        deadline.tv_sec += 120
        return locked {
            while true {
                if let result = poll() { return result }
                if pthread_cond_timedwait(condition, mutex, &deadline) == ETIMEDOUT { return poll() }
            }
        }
    }
}
