import FlyingSocks
import ProbeTransport

/// What one of FlyingSocks' errors means to a transport.
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
        // Both the end of the stream and a descriptor that was closed.
        case SocketError.disconnected:
            reason = .eof
            detail = nil
        case SocketError.timeout: reason = .timeout
        case SocketError.failed(_, let code, _): reason = StopReason(errno: code)
        default: reason = .other
        }
    }

    /// Why there is no connection. `SocketError.disconnected` is then no end of a stream: FlyingSocks says so when its pool is told of
    /// an error or hang-up, and does not ask which.
    init(connecting error: any Error) {
        self = FlyingSocksFailure(error)
        if reason == .eof { self = FlyingSocksFailure(.other, "not connected: \(error)") }
    }
}
