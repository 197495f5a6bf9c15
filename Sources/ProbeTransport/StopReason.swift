import Glibc
import ProbeSystem

/// The reason why a transport stopped.
public enum StopReason: Sendable, Hashable {
    case eof, reset, refused, timeout, tooLong, tlsTruncated, tlsFailed, brokenPipe
    /// No sign of life was received from the peer for ``TransportHeartbeat/timeout``.
    case heartbeat
    /// The peer's WebSocket close frame was received; `code` is `nil` if the frame contained no code.
    case closed(code: UInt16?)
    case `protocol`, stopped, other

    /// The word for the reason in the scenario language and in the adapter protocol, such as `too-long`.
    public var word: String {
        switch self {
        case .eof: "eof"
        case .reset: "reset"
        case .refused: "refused"
        case .timeout: "timeout"
        case .tooLong: "too-long"
        case .tlsTruncated: "tls-truncated"
        case .tlsFailed: "tls-failed"
        case .brokenPipe: "broken-pipe"
        case .heartbeat: "heartbeat"
        case .closed: "closed"
        case .protocol: "protocol"
        case .stopped: "stopped"
        case .other: "other"
        }
    }

    /// Creates the reason that a word names; `closed` is created without a code.
    public init?(word: String) {
        guard let reason = Self.all.first(where: { $0.word == word }) else { return nil }
        self = reason
    }

    /// All reasons for which a transport can stop, one for each word that names a reason.
    static let all: [StopReason] = [
        .eof, .reset, .refused, .timeout, .tooLong, .tlsTruncated, .tlsFailed, .brokenPipe, .heartbeat,
        .closed(code: nil), .protocol, .stopped, .other,
    ]
}

extension StopReason {
    /// Creates the reason for a connection that ended with the given `errno`.
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

/// Interprets the errors that occur on a transport's own sockets.
extension SystemError {
    static func subject(_ code: CInt = errno) -> SystemError { SystemError("the subject", code: code) }

    /// The reason to report for a connection that ended with this error.
    var stopReason: StopReason { StopReason(errno: code) }

    /// Whether the failed call may succeed if it is repeated, at once or when the descriptor is ready.
    var isTransient: Bool { code == EAGAIN || code == EWOULDBLOCK || code == EINTR }
}
