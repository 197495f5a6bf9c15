import ProbeBase
import ProbeScenario
import ProbeSystem

/// The state of a connection that an expectation can be about. Made for a single look: the buffers are shared with the
/// connection, and would be copied if the connection changed them in the meantime.
struct ConnectionView {
    /// What the kernel still holds for a connection that is not read immediately.
    struct InKernel {
        var unread: Int
        var endIsPending: Bool
    }

    /// The TLS events received in addition to the bytes.
    struct TLS {
        /// The events that steps have expected or skipped.
        var taken: ArraySlice<TLSEvent> = []
        /// The events that no step has expected yet.
        var events: ArraySlice<TLSEvent> = []
        /// Whether the handshake is done, after which a FIN must be preceded by close_notify.
        var isUp = true
        var bytesAfterEnd: TLSEvent.BytesAfterEnd?
        /// The number of bytes of an incomplete record.
        var unfinished = 0

        /// Whether the peer's close_notify has arrived.
        var hasNotified: Bool { taken.contains { $0.what == .notify } || events.contains { $0.what == .notify } }

        /// Whether a step has expected close_notify, or the alert that ended TLS. A FIN after it is an orderly end.
        var endIsConsumed: Bool {
            taken.contains { events in
                switch events.what {
                case .notify, .alert(_, isEnd: true): true
                case .alert, .failure: false
                }
            }
        }
    }

    /// A send in the background.
    struct Send {
        var state: SendOperation.State
        /// The number of bytes that the kernel has accepted, out of `count`.
        var taken: Int
        var count: Int
        /// When the send last made progress, or the moment until which its pace makes it wait.
        var lastProgress: MonotonicTime
        /// The last progress of any send on the connection; `nil` if none is under way.
        var lastProgressOfAny: MonotonicTime?
    }

    /// The actor's name.
    var name: String
    /// The connection among several of the actor, such as `P's connection to its client`; `nil` for its only one.
    var leg: String?
    var receiveBuffer = ReceiveBuffer()
    var urgent = ReceiveBuffer()
    var end: Connection.ReadEnd?
    /// Whether no step has expected the end yet.
    var endIsUnconsumed = true
    var framing = Framing.crlf
    /// Whether the peer is a client.
    var peerIsClient = false
    var ignoresRest = false
    /// Whether a `whenever` consumes the lines that it answers as soon as they are complete.
    var answersLines = false
    var reading = Connection.Reading.atOnce
    var hasOverflowed = false
    /// `nil` without TLS.
    var tls: TLS?
    var send: Send?
    /// `nil` if the kernel was not asked, or the connection is read immediately.
    var inKernel: InKernel?

    /// What has received the bytes, as the subject of a sentence.
    var receiver: String { leg ?? name }
    /// The connection, as the subject of a sentence.
    var connection: String { leg ?? "\(name)'s connection" }

    /// Whether the unread bytes are the beginning of a line that a `whenever` may consume once it is complete.
    var endsInAnswerableLine: Bool {
        guard answersLines, end == nil, !receiveBuffer.isEmpty, urgent.isEmpty else { return false }
        if case .incomplete = FrameScanner.next(framing, in: receiveBuffer, from: 0) { return true }
        return false
    }
}
