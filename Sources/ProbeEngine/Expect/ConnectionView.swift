import ProbeBase
import ProbeScenario
import ProbeSystem

/// A snapshot of a connection's state, against which an expectation is evaluated once. The buffers share their storage
/// with the connection; keeping a snapshot longer would force a copy when the connection changes them.
struct ConnectionView {
    /// The input that is pending in the kernel for a connection that is not read immediately.
    struct InKernel {
        var unread: Int
        var endIsPending: Bool
    }

    /// The TLS events that a connection received, in addition to the bytes.
    struct TLS {
        /// The events that steps have expected or skipped.
        var taken: ArraySlice<TLSEvent> = []
        /// The events that no step has expected yet.
        var events: ArraySlice<TLSEvent> = []
        /// Whether the handshake has completed. After the handshake, a FIN must be preceded by close_notify.
        var isUp = true
        var bytesAfterEnd: TLSEvent.BytesAfterEnd?
        /// The number of received bytes of an incomplete TLS record.
        var unfinished = 0

        /// Whether the peer's close_notify has arrived.
        var hasNotified: Bool { taken.contains { $0.what == .notify } || events.contains { $0.what == .notify } }

        /// Whether a step has expected the close_notify or the alert that ended TLS. A FIN after such an event is an
        /// orderly end.
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
        /// The time at which the send last made progress, or the time until which its pace delays the next piece.
        var lastProgress: MonotonicTime
        /// The time of the last progress of any send on the connection; `nil` if no send is in progress.
        var lastProgressOfAny: MonotonicTime?
    }

    /// The actor's name.
    var name: String
    /// A phrase that names one of several connections of the actor, such as `P's connection to its client`; `nil` if
    /// the actor has only one connection.
    var leg: String?
    var receiveBuffer = ReceiveBuffer()
    var urgent = ReceiveBuffer()
    var end: Connection.ReadEnd?
    /// Whether a step must still expect the end of the connection.
    var endIsUnconsumed = true
    var framing = Framing.crlf
    /// Whether the peer is a client.
    var peerIsClient = false
    var ignoresRest = false
    /// Whether a `whenever` block consumes lines and answers them as soon as they are complete.
    var answersLines = false
    var reading = Connection.Reading.atOnce
    var hasOverflowed = false
    /// The TLS events; `nil` without TLS.
    var tls: TLS?
    var send: Send?
    /// The input that is pending in the kernel; `nil` if the kernel was not queried, or if the connection is read
    /// immediately.
    var inKernel: InKernel?

    /// The name of the receiver of the bytes, as the grammatical subject of a sentence.
    var receiver: String { leg ?? name }
    /// The name of the connection, as the grammatical subject of a sentence.
    var connection: String { leg ?? "\(name)'s connection" }

    /// Whether the unread bytes are the beginning of a line that a `whenever` block may consume once the line is
    /// complete.
    var endsInAnswerableLine: Bool {
        guard answersLines, end == nil, !receiveBuffer.isEmpty, urgent.isEmpty else { return false }
        if case .incomplete = FrameScanner.next(framing, in: receiveBuffer, from: 0) { return true }
        return false
    }
}
