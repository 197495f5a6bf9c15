import Glibc
import ProbeSystem

extension StopReason {
    /// Why a connection stopped that ended with this `errno`.
    package init(errno code: CInt) {
        self =
            switch code {
            case ECONNREFUSED: .refused
            case ECONNRESET, ECONNABORTED: .reset
            case EPIPE: .brokenPipe
            case ETIMEDOUT: .timeout
            default: .other
            }
    }
}

/// What the errors of a transport's own sockets mean.
extension SystemError {
    static func subject(_ code: CInt = errno) -> SystemError { SystemError("the subject", code: code) }

    /// Why a connection stopped that ended with this error.
    var stopReason: StopReason { StopReason(errno: code) }

    /// Whether the same call may succeed at once or when the descriptor is ready.
    var isTransient: Bool { code == EAGAIN || code == EWOULDBLOCK || code == EINTR }
}
