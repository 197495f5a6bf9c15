import ProbeBase
import ProbeScenario
import ProbeSystem

/// What there is of a connection that an expectation may be about. Made for one look: the buffers are shared with the connection, and
/// would be copied if the connection changed them meanwhile.
struct ConnectionView {
    /// What the kernel still has, of a connection that is not read at once.
    struct InKernel {
        var unread: Int
        var endIsPending: Bool
    }

    /// What came of TLS beside the bytes.
    struct TLS {
        /// What steps have expected, or passed over.
        var taken: ArraySlice<TLSNews> = []
        /// What no step has expected yet.
        var news: ArraySlice<TLSNews> = []
        /// Its handshake is done: a FIN needs a close_notify before it.
        var isUp = true
        var behindEnd: TLSNews.BehindEnd?
        /// Bytes that are no whole record yet.
        var unfinished = 0

        /// The peer's close_notify has come.
        var hasNotified: Bool { taken.contains { $0.what == .notify } || news.contains { $0.what == .notify } }

        /// A step has expected close_notify, or the alert by which TLS ended: a FIN is the end behind it.
        var endIsTaken: Bool {
            taken.contains { news in
                switch news.what {
                case .notify, .alert(_, isEnd: true): true
                case .alert, .failure: false
                }
            }
        }
    }

    /// A send in the background.
    struct Send {
        var state: SendOperation.State
        /// Bytes that the kernel has taken, of so many.
        var taken: Int
        var count: Int
        /// When it last moved on, or the moment for which its pace lets it wait.
        var lastProgress: MonotonicTime
        /// The same of whatever send of the connection moved last; nil: none is under way.
        var lastProgressOfAny: MonotonicTime?
    }

    var name: String
    var receiveBuffer = ReceiveBuffer()
    var urgent = ReceiveBuffer()
    var end: Connection.ReadEnd?
    /// No step has expected the end.
    var endIsNews = true
    var framing = Framing.crlf
    /// The peer is a client.
    var isOfClient = false
    var ignoresRest = false
    /// A `whenever` takes lines that it answers as soon as they are complete.
    var answersLines = false
    var reading = Connection.Reading.atOnce
    var hasOverflowed = false
    /// nil without TLS.
    var tls: TLS?
    var send: Send?
    /// nil where it was not asked, or the connection is read at once.
    var inKernel: InKernel?

    /// What is unread is the beginning of a line that a `whenever` may take once it is complete.
    var endsInAnswerableLine: Bool {
        guard answersLines, end == nil, !receiveBuffer.isEmpty, urgent.isEmpty else { return false }
        if case .incomplete = FrameScanner.next(framing, in: receiveBuffer, from: 0) { return true }
        return false
    }
}
