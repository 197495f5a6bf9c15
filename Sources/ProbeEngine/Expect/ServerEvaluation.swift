import ProbeBase
import ProbeEvents
import ProbeScenario
import ProbeSystem

/// What a step expects from a server.
enum ResolvedServerExpectation {
    /// `accept`, which is satisfied by any connection.
    case connection
    /// `accept` or `accept tls failed` on a server with TLS, as branches of an `either`: the result of the handshake
    /// decides between them.
    case handshake(fails: Bool, alert: UInt8?)
    case noConnection(for: Duration)
}

/// A snapshot of a server's state, against which an expectation is evaluated.
struct ServerView {
    var name: String
    var isListening: Bool
    /// Whether a connection is waiting to be accepted by a step.
    var hasWaiting: Bool
    /// The handshake of the first waiting connection; `nil` if no handshake has begun.
    var handshake: Handshake?

    enum Handshake: Equatable {
        case underWay
        case done
        /// The handshake failed. `alerts` holds the alerts of both sides.
        case failed(reason: String, alerts: [UInt8])
    }
}

/// Compares the connections waiting at a server with an expectation. Has no side effects: it consumes nothing.
struct ServerEvaluation {
    var view: ServerView
    var window: TimeWindow

    func evaluate(_ expectation: ResolvedServerExpectation) -> Outcome<Void> {
        guard view.isListening else {
            let what = "\(view.name) is not listening"
            return .mismatch(Finding(.error, what), what)
        }
        switch expectation {
        case .connection:
            // The time at which the connection was opened is known only after the connection has been accepted.
            if view.hasWaiting { return .satisfied((), at: nil) }
            return window.wait(
                orMissed: Finding(.failed, "\(view.name) received no connection within \(window.allowed)"))
        case .handshake(let fails, let alert):
            return handshake(fails: fails, alert: alert)
        case .noConnection:
            guard view.hasWaiting else { return window.silence(()) }
            let what = "\(view.name) received a connection"
            switch window.silence(what, at: window.now) {
            case .lasted: return window.silence(())
            case .isUndetermined(let finding): return .mismatch(finding, "received a connection")
            case .isBroken:
                return .mismatch(
                    Finding(
                        .failed,
                        "\(what) \(DurationText.script(window.now - window.start)) after the step began, "
                            + "expected none for \(window.allowed)"),
                    "received a connection")
            }
        }
    }

    private func handshake(fails: Bool, alert: UInt8?) -> Outcome<Void> {
        guard view.hasWaiting else {
            return window.wait(
                orMissed: Finding(.failed, "\(view.name) received no connection within \(window.allowed)"))
        }
        switch (view.handshake, fails) {
        // No handshake has begun yet; the step that accepts the connection begins it.
        case (nil, _): return .satisfied((), at: nil)
        case (.underWay, _):
            return window.wait(
                orMissed: Finding(.failed, "\(view.name) did not complete its TLS handshake within \(window.allowed)"))
        case (.done, false): return .satisfied((), at: nil)
        case (.done, true): return mismatch("\(view.name)'s TLS handshake succeeded")
        case (.failed(let reason, _), false): return mismatch("\(view.name)'s TLS handshake failed: \(reason)")
        case (.failed(let reason, let alerts), true):
            guard let alert, !alerts.contains(alert) else { return .satisfied((), at: nil) }
            return mismatch(
                "\(view.name)'s TLS handshake failed without the alert \(TLSAlert(level: 2, code: alert)): \(reason)")
        }
    }

    private func mismatch(_ what: String) -> Outcome<Void> { .mismatch(Finding(.failed, what), what) }
}
