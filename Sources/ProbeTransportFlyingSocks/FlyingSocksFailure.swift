import FlyingSocks
import ProbeTransport

/// A FlyingSocks error, translated to the reason with which a transport stops.
struct FlyingSocksFailure: Error, Sendable, Equatable {
    var reason: StopReason
    var detail: String?

    init(_ reason: StopReason, _ detail: String? = nil) {
        self.reason = reason
        self.detail = detail
    }

    init(_ error: any Error) {
        if let failure = error as? FlyingSocksFailure {
            self = failure
            return
        }
        detail = "\(error)"
        switch error {
        // FlyingSocks throws `disconnected` at the end of the stream and for a descriptor that was closed.
        case SocketError.disconnected:
            reason = .eof
            detail = nil
        case SocketError.timeout: reason = .timeout
        case SocketError.failed(_, let code, _): reason = StopReason(errno: code)
        default: reason = .other
        }
    }

    /// Creates the reason why a connection could not be established. While connecting, `SocketError.disconnected` does
    /// not mean the end of the stream: FlyingSocks throws it when its socket pool reports an error or hang-up, without
    /// querying the cause.
    init(connecting error: any Error) {
        self = FlyingSocksFailure(error)
        if reason == .eof { self = FlyingSocksFailure(.other, "not connected: \(error)") }
    }
}
