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

    var what: What
    /// So many bytes of the connection came before it.
    var offset: Int
    var time: MonotonicTime

    /// A warning that close_notify follows (RFC 8446, 6.1). Only a step that names it wants to know of it.
    var isUserCanceled: Bool {
        if case .alert(let alert, let isEnd) = what { alert.code == TLSAlert.userCanceled && !isEnd } else { false }
    }

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
