import Glibc
import ProbeSystem

/// An `errno`, and what it means to a transport.
struct SystemError: Error, Sendable, Equatable {
    let code: CInt

    init(code: CInt) {
        self.code = code
        Surroundings.note("the subject", code)
    }

    /// The system's sentence for it. glibc's `strerror` is thread-safe for every code since 2.32.
    var text: String { String(cString: strerror(code)) }

    /// Why a connection that ended with it stopped.
    var reason: StopReason { StopReason(errno: code) }

    /// The same call may succeed right away or once the descriptor is ready.
    var isTransient: Bool { code == EAGAIN || code == EWOULDBLOCK || code == EINTR }
}
