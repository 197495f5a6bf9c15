import ProbeBase
import ProbeEvents
import ProbeSystem

/// Expectations of a connection with TLS: its ends are close_notify, alerts, and the FIN behind them or without them.
extension ConnectionEvaluation {
    func input(
        _ input: ExpectedInput, _ tls: ConnectionView.TLS, _ progress: inout InputProgress
    ) -> Result {
        switch input {
        case .notify:
            return message(
                input, tls.notifyIsNews ? tls.notifiedAt : nil, ConnectionMatch(takesNotify: true), tls, &progress)
        case .alert(let code):
            guard let first = tls.alerts.first else { return message(input, nil, ConnectionMatch(), tls, &progress) }
            if first.alert.code == code {
                return message(input, first.at, ConnectionMatch(alerts: 1), tls, &progress)
            }
            return .mismatch(
                Finding(
                    .failed,
                    "\(view.name): the peer sent the alert \(first.alert) (\(first.alert.code)) where \(input.description) was expected"
                ),
                "another alert came")
        case .truncated: return truncated(input, tls, &progress)
        case .eof: return eof(input, tls, &progress)
        case .closed where tls.failure != nil && tls.alerts.isEmpty && tls.isUp: return missing(input, tls)
        case .closed:
            let ends = [view.end?.time, tls.notifyIsNews ? tls.notifiedAt : nil, tls.alerts.first?.at].compactMap(
                \.self)
            return message(
                input, ends.min(), ConnectionMatch(takesNotify: tls.notifiedAt != nil, alerts: tls.alerts.count), tls,
                &progress)
        default: return other(input, self.input(input, &progress), tls)
        }
    }

    /// What is still expected can't come behind close_notify, an alert or a record that can't be read.
    private func other(_ input: ExpectedInput, _ result: Result, _ tls: ConnectionView.TLS) -> Result {
        switch result {
        case .satisfied: return result
        case .pending:
            guard let (what, reason) = ended(tls, before: input) else { return result }
            return .mismatch(what, reason)
        case .impossible(let why):
            // A FIN says less than what came before it.
            guard view.end != nil, !why.isMissed, view.receiveBuffer.isEmpty,
                let (what, reason) = ended(tls, before: input)
            else { return result }
            return .mismatch(what, reason)
        }
    }

    private func ended(_ tls: ConnectionView.TLS, before input: ExpectedInput) -> (Finding, String)? {
        let what: String
        if let (alert, _) = tls.alerts.first {
            what = "the peer sent the alert \(alert) (\(alert.code))"
        } else if let failure = tls.failure {
            what = "TLS failed (\(failure.reason))"
        } else if tls.unfinished > 0, view.end != nil {
            what = "\(ByteText.count(tls.unfinished, "byte")) came that are no whole TLS record"
        } else if tls.notifiedAt != nil, tls.notifyIsNews {
            what = "the peer sent close_notify"
        } else if case .eof? = view.end, tls.isUp, tls.notifiedAt == nil, !tls.alertIsTaken {
            what = "a FIN came without a close_notify"
        } else {
            return nil
        }
        var finding = Finding(.failed, "\(view.name): \(what) where \(input.description) was expected")
        switch input {
        case .bytes(let bytes): finding.expected = bytes
        case .line(let text, _), .message(let text, _): finding.expected = text.value
        default: break
        }
        if !view.receiveBuffer.isEmpty {
            finding.actual = Array(view.receiveBuffer.unread.prefix(InputMatcher.shownLimit))
            finding.summary += ", after \(view.receiveBuffer.count) bytes that are no whole one"
        }
        return (finding, what)
    }

    // MARK: Ends

    /// Bytes before it are an error, unless `ignore rest` came before.
    private var unreadBefore: (skipped: Int, unread: [UInt8]) {
        if view.ignoresRest { return (view.receiveBuffer.count, []) }
        return (0, Array(view.receiveBuffer.unread.prefix(InputMatcher.shownLimit)))
    }

    private func bytesCame(_ unread: [UInt8], before input: ExpectedInput) -> Result {
        .impossible(
            Finding(
                .failed, "\(view.name): bytes came where \(input.description) was expected", expected: [],
                actual: unread), .partialMismatch("bytes came where \(input.description) was expected"))
    }

    /// close_notify, an alert, or any end.
    private func message(
        _ input: ExpectedInput, _ moment: MonotonicTime?, _ match: ConnectionMatch, _ tls: ConnectionView.TLS,
        _ progress: inout InputProgress
    ) -> Result {
        if view.hasOverflowed { return self.input(input, &progress) }
        let (skipped, unread) = unreadBefore
        if !unread.isEmpty { return bytesCame(unread, before: input) }
        if let moment {
            var match = match
            match.bytes = skipped
            return .satisfied(match, at: moment)
        }
        return missing(input, tls)
    }

    /// It has not come: whether it still can.
    private func missing(_ input: ExpectedInput, _ tls: ConnectionView.TLS) -> Result {
        if let (what, reason) = ended(tls, before: input) { return .mismatch(what, reason) }
        switch view.end {
        case nil: return window.wait(orMissed: missed(input))
        case .eof: return mismatch(input, "the peer closed (FIN)")
        case .reset: return mismatch(input, "the connection was reset (RST)")
        case .failed(let error, _): return mismatch(input, "the connection failed (\(error.reason))")
        }
    }

    private func mismatch(_ input: ExpectedInput, _ what: String) -> Result {
        .mismatch(
            Finding(.failed, "\(view.name): \(what) where \(input.description) was expected"), what)
    }

    /// close_notify and the FIN behind it.
    private func eof(
        _ input: ExpectedInput, _ tls: ConnectionView.TLS, _ progress: inout InputProgress
    ) -> Result {
        let (skipped, unread) = unreadBefore
        if !unread.isEmpty { return bytesCame(unread, before: input) }
        switch view.end {
        case nil:
            if tls.notifiedAt != nil, tls.alerts.isEmpty {
                return window.wait(orMissed: missed(input))
            }
            return missing(input, tls)
        case .eof(let time):
            let needsNoNotify = !tls.isUp && tls.alerts.isEmpty && tls.failure == nil
            if tls.notifiedAt != nil || tls.alertIsTaken || needsNoNotify {
                return .satisfied(ConnectionMatch(bytes: skipped, takesNotify: tls.notifiedAt != nil), at: time)
            }
            if !tls.alerts.isEmpty || tls.failure != nil { return missing(input, tls) }
            return .mismatch(
                Finding(
                    .failed,
                    "\(view.name): a FIN came without a close_notify: the stream may have been cut off",
                    hints: ["`expect truncated` is met by it"]),
                "a FIN came without a close_notify")
        case .reset where tls.notifiedAt != nil && tls.alerts.isEmpty:
            return mismatch(input, "the connection was reset (RST) behind close_notify")
        case .reset, .failed: return missing(input, tls)
        }
    }

    /// A FIN without close_notify.
    private func truncated(
        _ input: ExpectedInput, _ tls: ConnectionView.TLS, _ progress: inout InputProgress
    ) -> Result {
        let (skipped, unread) = unreadBefore
        if !unread.isEmpty { return bytesCame(unread, before: input) }
        if case .eof(let time)? = view.end, tls.notifiedAt == nil, tls.alerts.isEmpty, tls.failure == nil,
            tls.unfinished == 0
        {
            return .satisfied(ConnectionMatch(bytes: skipped), at: time)
        }
        if tls.notifiedAt != nil {
            return mismatch(input, "close_notify came")
        }
        return missing(input, tls)
    }
}

extension ConnectionView.TLS {
    /// The first message of TLS that no step has expected.
    var firstNews: (what: String, at: MonotonicTime)? {
        var news: [(what: String, at: MonotonicTime)] = alerts.prefix(1).map {
            ("the peer sent the alert \($0.alert) (\($0.alert.code))", $0.at)
        }
        if notifyIsNews, let notifiedAt { news.append(("the peer sent close_notify", notifiedAt)) }
        if let behindNotify {
            news.append(("\(ByteText.count(behindNotify.count, "byte")) came behind close_notify", behindNotify.at))
        }
        if let failure, alerts.isEmpty { news.append(("TLS failed (\(failure.reason))", failure.at)) }
        return news.min { $0.at < $1.at }
    }
}
