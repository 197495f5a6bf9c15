import ProbeBase
import ProbeSystem

/// What the peer says by TLS beside its bytes, with its place among them: what came first has to be expected first.
struct TLSNews {
    enum What: Equatable {
        /// Any alert but close_notify; `isEnd`: TLS ended by it.
        case alert(TLSAlert, isEnd: Bool)
        /// close_notify.
        case notify
        /// Something came that can't be read, or the handshake failed.
        case failure(String)
    }

    /// Bytes that nobody reads, as TLS had ended before them; the first of them came at `time`.
    struct BehindEnd {
        /// It has ended by a fatal alert, not by close_notify.
        var isAlert: Bool
        var count: Int
        var time: MonotonicTime

        var description: String {
            "\(ByteText.count(count, "byte")) came behind \(isAlert ? "a fatal alert" : "close_notify")"
        }
    }

    var what: What
    /// So many bytes of the connection came before it.
    var offset: Int
    var time: MonotonicTime

    /// A warning that close_notify follows (RFC 8446, 6.1). Only a step that names it wants to know of it.
    var isUserCanceled: Bool {
        if case .alert(let alert, let isEnd) = what { alert.code == TLSAlert.userCanceled && !isEnd } else { false }
    }

    /// The alert by which TLS has ended.
    var isEnd: Bool { if case .alert(_, isEnd: true) = what { true } else { false } }

    var isFailure: Bool { if case .failure = what { true } else { false } }

    var isAlert: Bool { if case .alert = what { true } else { false } }

    /// For findings, as `the peer sent close_notify`.
    var description: String {
        switch what {
        case .alert(let alert, _): "the peer sent the alert \(alert) (\(alert.code))"
        case .notify: "the peer sent close_notify"
        case .failure(let reason): "TLS failed (\(reason))"
        }
    }
}
