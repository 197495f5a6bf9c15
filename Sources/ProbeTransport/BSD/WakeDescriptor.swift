import ProbeSystem
import CShims
import Glibc

/// An eventfd by which any thread ends another one's `poll`. Closed when nobody holds it any more.
final class WakeDescriptor: Sendable {
    let descriptor: CInt

    /// Fails with `errno` when the process or the system has no descriptor left.
    init() throws(SystemError) {
        descriptor = probe_eventfd()
        if descriptor < 0 { throw SystemError.subject() }
    }

    deinit {
        close(descriptor)
    }

    /// Makes the descriptor readable.
    func wake() {
        var one: UInt64 = 1
        // Fails only when the counter is full, and then it is readable anyway.
        _ = write(descriptor, &one, MemoryLayout<UInt64>.size)
    }

    /// Makes it unreadable again.
    func clear() {
        var count: UInt64 = 0
        // Fails only when there was nothing to clear.
        _ = read(descriptor, &count, MemoryLayout<UInt64>.size)
    }
}
