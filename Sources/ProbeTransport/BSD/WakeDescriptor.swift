import ProbeSystem
import CShims
import Glibc

/// An eventfd with which any thread can interrupt another thread's `poll`. The eventfd is closed when its last owner
/// releases it.
final class WakeDescriptor: Sendable {
    let descriptor: CInt

    /// Creates a descriptor; throws if the process or the system has run out of descriptors.
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
        // `write` fails only if the counter is full, and a full counter makes the descriptor readable anyway.
        _ = write(descriptor, &one, MemoryLayout<UInt64>.size)
    }

    /// Makes the descriptor unreadable again.
    func clear() {
        var count: UInt64 = 0
        // `read` fails only if the descriptor was not readable.
        _ = read(descriptor, &count, MemoryLayout<UInt64>.size)
    }
}
