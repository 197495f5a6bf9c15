import ProbeBase
import ProbeSystem

/// A TLS event other than received bytes, with its position among them: whatever arrived first must be expected first.
struct TLSEvent {
    enum Kind: Equatable {
        /// Any alert other than close_notify. `isEnd` means that it ended TLS.
        case alert(TLSAlert, isEnd: Bool)
        /// The peer sent close_notify.
        case notify
        /// Unreadable input was received, or the handshake failed.
        case failure(String)
    }

    /// Bytes that are never read, because TLS had ended before them. The first of them arrived at `time`.
    struct BytesAfterEnd {
        /// Whether TLS ended with a fatal alert rather than close_notify.
        var isAlert: Bool
        var count: Int
        var time: MonotonicTime

        /// A description for findings, as a predicate: `received 3 bytes after close_notify`.
        var description: String {
            "received \(ByteText.count(count, "byte")) after \(isAlert ? "a fatal alert" : "close_notify")"
        }
    }

    var what: Kind
    /// The number of bytes of the connection received before the event.
    var offset: Int
    var time: MonotonicTime

    /// Whether this is a warning that close_notify follows (RFC 8446, 6.1). Only a step that names it is concerned with
    /// it.
    var isUserCanceled: Bool {
        if case .alert(let alert, let isEnd) = what { alert.code == TLSAlert.userCanceled && !isEnd } else { false }
    }

    /// Whether this is the alert that ended TLS.
    var isEnd: Bool { if case .alert(_, isEnd: true) = what { true } else { false } }

    var isFailure: Bool { if case .failure = what { true } else { false } }

    var isAlert: Bool { if case .alert = what { true } else { false } }

    /// A description for findings, such as `the peer sent close_notify`.
    var description: String {
        switch what {
        case .alert(let alert, _): "the peer sent the alert \(alert) (\(alert.code))"
        case .notify: "the peer sent close_notify"
        case .failure(let reason): "TLS failed (\(reason))"
        }
    }

    /// A description for findings, with the receiving actor as its subject: `C received close_notify`.
    func sentence(of name: String) -> String {
        switch what {
        case .alert(let alert, _): "\(name) received the alert \(alert) (\(alert.code))"
        case .notify: "\(name) received close_notify"
        case .failure(let reason): "\(name)'s TLS session failed (\(reason))"
        }
    }
}
