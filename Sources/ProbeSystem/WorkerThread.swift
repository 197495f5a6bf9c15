import CShims
import Glibc
import Synchronization

/// A named thread for work that blocks or uses the processor for milliseconds. Starting such a thread takes a fraction
/// of the time of a dispatch queue's first job.
package struct WorkerThread: ~Copyable, Sendable {
    /// The signals that the thread accepts. Programs started by the thread inherit its signal mask.
    package enum Signals: Sendable {
        /// The thread accepts no signals, because signals are intended for the threads that wait for them.
        case blocked
        /// The thread accepts the same signals as the thread that starts it.
        case inherited
    }

    private let thread: pthread_t

    /// Starts a thread that runs `body`. The owner must call `join` or `detach`.
    ///
    /// - Parameters:
    ///   - name: the name shown by tools that list threads; at most 15 bytes.
    ///   - stack: the stack size in bytes; `nil` for the system's default.
    /// - Throws: the error of `pthread_create`; `body` is then released and never runs.
    package init(
        _ name: StaticString, signals: Signals, stack: Int? = nil, _ body: @escaping @Sendable () -> Void
    ) throws(SystemError) {
        var before = sigset_t()
        if signals == .blocked {
            var all = sigset_t()
            sigfillset(&all)
            pthread_sigmask(SIG_SETMASK, &all, &before)
        }
        defer { if signals == .blocked { pthread_sigmask(SIG_SETMASK, &before, nil) } }
        var attributes = pthread_attr_t()
        pthread_attr_init(&attributes)
        defer { pthread_attr_destroy(&attributes) }
        if let stack { pthread_attr_setstacksize(&attributes, stack) }
        let work = Unmanaged.passRetained(Work(name: name, body: body))
        var thread = pthread_t()
        let code = pthread_create(&thread, &attributes, runWork, work.toOpaque())
        if code != 0 {
            work.release()
            throw SystemError("pthread_create", code: code)
        }
        self.thread = thread
    }

    /// Waits until the thread ends.
    package consuming func join() { pthread_join(thread, nil) }

    /// Lets the thread run without an owner.
    package consuming func detach() { pthread_detach(thread) }

    /// Whether the caller runs on this thread.
    package var isCurrent: Bool { pthread_equal(thread, pthread_self()) != 0 }

    /// Returns the results of two closures. The second one runs on a separate thread, if one can be started.
    package static func both<Result: Sendable>(
        _ own: () -> Result, _ other: @escaping @Sendable () -> Result
    ) -> (Result, Result) {
        let found = Found<Result>()
        let thread: WorkerThread
        do throws(SystemError) {
            thread = try WorkerThread("share", signals: .blocked) { found.result.withLock { $0 = other() } }
        } catch {
            return (own(), other())
        }
        let first = own()
        thread.join()
        guard let second = found.result.withLock({ $0 }) else { return (first, other()) }
        return (first, second)
    }

    private final class Found<Result: Sendable>: Sendable {
        let result = Mutex<Result?>(nil)
    }
}

/// The value passed to a new thread as a pointer.
private final class Work: Sendable {
    let name: StaticString
    let body: @Sendable () -> Void

    init(name: StaticString, body: @escaping @Sendable () -> Void) {
        self.name = name
        self.body = body
    }
}

private func runWork(_ opaque: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    guard let opaque else { return nil }
    let work = Unmanaged<Work>.fromOpaque(opaque).takeRetainedValue()
    work.name.withUTF8Buffer { name in
        // A static string ends with a NUL byte.
        name.withMemoryRebound(to: CChar.self) { if let start = $0.baseAddress { probe_name_thread(start) } }
    }
    work.body()
    return nil
}
