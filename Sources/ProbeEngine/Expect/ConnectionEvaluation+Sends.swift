import Glibc
import ProbeBase
import ProbeEvents
import ProbeScenario
import ProbeSystem

/// What becomes of a send.
extension ConnectionEvaluation {
    private var notSending: Result {
        let what = "nothing is being sent"
        return .mismatch(Finding(.error, "\(what): `\(view.name) start sending …` comes first"), what)
    }

    /// Until the kernel has taken it all; without a `within` the deadline counts only time without progress.
    func sent(_ patience: Duration) -> Result {
        guard let send = view.send else { return notSending }
        switch send.state {
        case .done(let moment): return .satisfied(ConnectionMatch(), at: moment)
        case .failed(let error, _): return .mismatch(sendFailure(error, send), "the send failed: \(error.reason)")
        case .abandoned:
            return .mismatch(
                Finding(.error, "the connection was closed before all was sent"), "the connection was closed")
        case .queued, .underWay: break
        }
        if window.deadline < .distantFuture, window.isOver {
            return .impossible(
                Finding(
                    .failed,
                    "\(view.name)'s send was not done in time: \(send.taken) of \(send.count) bytes had been taken by the "
                        + "kernel"), .missed)
        }
        // Where the harness stood still, so did the send.
        let last = send.lastProgressOfAny ?? window.now
        if window.isOver(last + patience, from: last) {
            return .impossible(
                Finding(
                    .failed,
                    "\(view.name)'s send made no progress for \(DurationText.script(patience)): \(send.taken) of "
                        + "\(send.count) bytes taken by the kernel",
                    hints: ["the peer does not read: its window is shut and the kernel's buffers are full"]), .missed)
        }
        let next = window.limit(of: last + patience, from: last)
        return .pending(until: window.deadline < .distantFuture ? min(next, window.limit) : next)
    }

    private func sendFailure(_ error: SystemError, _ send: ConnectionView.Send) -> Finding {
        var hints: [String] = []
        if error.code == EPIPE || error.code == ECONNRESET {
            hints.append("the peer has closed the connection: it answers data with RST")
        }
        return Finding(
            .failed, "\(view.name)'s send failed after \(send.taken) of \(send.count) bytes: \(error.reason)",
            hints: hints)
    }

    func sendFailed(_ reason: String?) -> Result {
        guard let send = view.send else { return notSending }
        switch send.state {
        case .failed(let error, let moment):
            // Linux tells the first send after an RST ECONNRESET, or EPIPE when the reading side has been told of it already.
            let actual = error.code == ECONNRESET ? "reset" : error.code == EPIPE ? "broken-pipe" : error.reason
            guard let reason, actual != reason, !(reason == "reset" && error.code == EPIPE) else {
                return .satisfied(ConnectionMatch(), at: moment)
            }
            let what = "the send failed with \(actual), not with \(reason)"
            return .mismatch(Finding(.failed, what), what)
        case .done:
            return .mismatch(
                Finding(.failed, "the send succeeded: the kernel took all \(send.count) bytes"), "the send was done")
        case .queued, .underWay, .abandoned:
            return window.wait(orMissed: Finding(.failed, "the send did not fail within \(window.allowed)"))
        }
    }

    /// A wait for the script's own pace is no stall.
    func stalled(_ duration: Duration) -> Result {
        guard let send = view.send else { return notSending }
        switch send.state {
        case .done:
            return .mismatch(
                Finding(
                    .failed, "the send did not stall: the kernel took all \(send.count) bytes",
                    hints: ["loopback absorbs over 4 MB: `with receive-buffer 4KiB` on the receiving side bounds it"]),
                "the send was done")
        case .failed(let error, _):
            return .mismatch(
                Finding(.failed, "\(view.name)'s send failed: \(error.reason)"), "the send failed: \(error.reason)")
        case .queued, .underWay, .abandoned: break
        }
        // Counted from the step on, as silence is.
        let last = max(send.lastProgress, window.start)
        if window.isOver(last + duration, from: last) { return .satisfied(ConnectionMatch(), at: last + duration) }
        if window.isOver {
            return .impossible(
                Finding(
                    .failed,
                    "the send did not stall for \(DurationText.script(duration)): \(send.taken) of \(send.count) bytes taken, "
                        + "and still moving"), .missed)
        }
        return .pending(until: min(window.limit(of: last + duration, from: last), window.limit))
    }
}
