import Glibc

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
