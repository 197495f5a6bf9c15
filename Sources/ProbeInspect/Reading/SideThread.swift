import Glibc
import Synchronization

/// A thread for a part of work that takes milliseconds: it costs a fraction of what a queue's first one does.
struct SideThread: ~Copyable {
    private final class Work: Sendable {
        let body: @Sendable () -> Void
        init(_ body: @escaping @Sendable () -> Void) { self.body = body }
    }

    private let thread: pthread_t

    /// Begins with `body`; nil where there is no thread to be had. Who has it must `join` it.
    init?(_ body: @escaping @Sendable () -> Void) {
        // Signals are for the thread that waits for them.
        var all = sigset_t()
        var before = sigset_t()
        sigfillset(&all)
        pthread_sigmask(SIG_SETMASK, &all, &before)
        defer { pthread_sigmask(SIG_SETMASK, &before, nil) }
        let handed = Unmanaged.passRetained(Work(body))
        var thread = pthread_t()
        let code = pthread_create(
            &thread, nil,
            { raw in
                guard let raw else { return nil }
                Unmanaged<Work>.fromOpaque(raw).takeRetainedValue().body()
                return nil
            }, handed.toOpaque())
        guard code == 0 else {
            handed.release()
            return nil
        }
        self.thread = thread
    }

    /// Waits for its end.
    consuming func join() {
        pthread_join(thread, nil)
    }

    /// What both come to: the second one on a thread of its own, where there is one to be had.
    static func both<Result: Sendable>(
        _ own: () -> Result, _ other: @escaping @Sendable () -> Result
    ) -> (Result, Result) {
        let found = Found<Result>()
        guard let thread = SideThread({ found.result.withLock { $0 = other() } }) else { return (own(), other()) }
        let first = own()
        thread.join()
        guard let second = found.result.withLock({ $0 }) else { return (first, other()) }
        return (first, second)
    }

    private final class Found<Result: Sendable>: Sendable {
        let result = Mutex<Result?>(nil)
    }
}
