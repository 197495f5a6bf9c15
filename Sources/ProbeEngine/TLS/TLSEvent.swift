import ProbeBase
import ProbeSystem

/// A TLS event other than received bytes, with its position in the byte stream. Steps must expect bytes and events in
/// the order of their arrival.
struct TLSEvent {
    enum Kind: Equatable {
        /// Any alert other than close_notify. `isEnd` means that the alert ended TLS.
        case alert(TLSAlert, isEnd: Bool)
        /// The peer sent close_notify.
        case notify
        /// Input that can't be decrypted or decoded was received, or the handshake failed.
        case failure(String)
    }

    /// Bytes that are never decrypted because they arrived after the end of TLS. The first of them arrived at `time`.
    struct BytesAfterEnd {
        /// Whether TLS ended with a fatal alert rather than close_notify.
        var isAlert: Bool
        var count: Int
        var time: MonotonicTime

        /// A predicate for findings, such as `received 3 bytes after close_notify`.
        var description: String {
            "received \(ByteText.count(count, "byte")) after \(isAlert ? "a fatal alert" : "close_notify")"
        }
    }

    var what: Kind
    /// The number of bytes received on the connection before the event.
    var offset: Int
    var time: MonotonicTime

    /// Whether the event is a user_canceled alert, a warning that is followed by close_notify (RFC 8446, section 6.1).
    /// The event is skipped, unless a step expects exactly this alert.
    var isUserCanceled: Bool {
        if case .alert(let alert, let isEnd) = what { alert.code == TLSAlert.userCanceled && !isEnd } else { false }
    }

    /// Whether the event is the alert that ended TLS.
    var isEnd: Bool { if case .alert(_, isEnd: true) = what { true } else { false } }

    var isFailure: Bool { if case .failure = what { true } else { false } }

    var isAlert: Bool { if case .alert = what { true } else { false } }

    /// A clause for findings, such as `the peer sent close_notify`.
    var description: String {
        switch what {
        case .alert(let alert, _): "the peer sent the alert \(alert) (\(alert.code))"
        case .notify: "the peer sent close_notify"
        case .failure(let reason): "TLS failed (\(reason))"
        }
    }

    /// A clause for findings, with the receiving actor as the grammatical subject, such as `C received close_notify`.
    func sentence(of name: String) -> String {
        switch what {
        case .alert(let alert, _): "\(name) received the alert \(alert) (\(alert.code))"
        case .notify: "\(name) received close_notify"
        case .failure(let reason): "\(name)'s TLS session failed (\(reason))"
        }
    }
}
