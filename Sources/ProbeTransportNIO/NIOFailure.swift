import NIOCore
import NIOExtras
import NIOPosix
import NIOSSL
import ProbeTransport

/// A NIO error, translated to the reason with which a transport stops.
struct NIOFailure: Sendable, Equatable {
    var reason: StopReason
    var detail: String?

    init(_ error: any Error) {
        detail = "\(error)"
        switch error {
        case let error as IOError: reason = StopReason(errno: error.errnoCode)
        case let error as NIOConnectionError: reason = Self.reason(error)
        case ChannelError.connectTimeout: reason = .timeout
        case is NIOLengthFieldBasedFrameDecoderError, is ByteToMessageDecoderError.PayloadTooLargeError:
            reason = .tooLong
        case NIOSSLError.uncleanShutdown: reason = .tlsTruncated
        case is NIOSSLError, is NIOSSLExtraError, is BoringSSLError: reason = .tlsFailed
        default: reason = .other
        }
    }

    init(_ reason: StopReason, _ detail: String? = nil) {
        self.reason = reason
        self.detail = detail
    }

    /// Returns the reason to report if several connection attempts have failed. A refusal is preferred, because it
    /// proves that the host is alive; otherwise, the reason for the first failure is returned.
    private static func reason(_ error: NIOConnectionError) -> StopReason {
        let reasons = error.connectionErrors.map { NIOFailure($0.error).reason }
        if reasons.contains(.refused) { return .refused }
        return reasons.first ?? .other
    }
}
