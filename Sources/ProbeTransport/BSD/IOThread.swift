import CShims
import Glibc

/// Starts detached threads.
enum IOThread {
    /// Runs `body` on a new thread, which ends with it.
    ///
    /// - Throws: the error of `pthread_create`; `body` is then released without having run.
    static func start(_ body: @escaping @Sendable () -> Void) throws(SystemError) {
        var attributes = pthread_attr_t()
        pthread_attr_init(&attributes)
        defer { pthread_attr_destroy(&attributes) }
        pthread_attr_setdetachstate(&attributes, CInt(PTHREAD_CREATE_DETACHED))
        pthread_attr_setstacksize(&attributes, stackSize)
        let work = Unmanaged.passRetained(Work(body))
        var thread = pthread_t()
        let result = pthread_create(&thread, &attributes, runWork, work.toOpaque())
        if result != 0 {
            work.release()
            throw SystemError(code: result)
        }
    }

    /// Handlers run here too, and they are the user's.
    private static let stackSize = 1 << 20
}

/// What a new thread is given: one pointer's worth.
private final class Work: Sendable {
    let body: @Sendable () -> Void

    init(_ body: @escaping @Sendable () -> Void) {
        self.body = body
    }
}

private func runWork(_ opaque: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    guard let opaque else { return nil }
    let work = Unmanaged<Work>.fromOpaque(opaque).takeRetainedValue()
    work.body()
    return nil
}
