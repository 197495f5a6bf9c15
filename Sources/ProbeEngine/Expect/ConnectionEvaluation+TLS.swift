import ProbeBase
import ProbeEvents
import ProbeSystem

/// Expectations of a connection with TLS: its ends are close_notify, alerts, and the FIN behind them or without them.
///
/// Bytes, messages of TLS and the end of the connection are one sequence: what came first has to be expected first, whether a step waits
/// for it or finds it there.
extension ConnectionEvaluation {
    func input(
        _ input: ExpectedInput, _ tls: ConnectionView.TLS, _ progress: inout InputProgress
    ) -> Result {
        if view.hasOverflowed { return self.input(input, &progress) }
        let sequence = sequence(tls, for: input)
        switch input {
        case .notify, .alert, .closed, .eof, .truncated:
            if let bytes = bytesBefore(input, sequence) { return bytes }
            return end(input, tls, sequence)
        default: return bytes(input, tls, sequence, &progress)
        }
    }

    /// What comes next.
    private struct Sequence {
        /// News that is passed over.
        var passed: ArraySlice<TLSNews>
        /// What a step has to expect first, behind so many unread bytes.
        var next: TLSNews?
        var unread: Int
    }

    private func sequence(_ tls: ConnectionView.TLS, for input: ExpectedInput) -> Sequence {
        let wantsWarning = if case .alert(TLSAlert.userCanceled) = input { true } else { false }
        // After `ignore rest` what can't be read matters to nobody either.
        let ignores = view.ignoresRest && input.isEnd
        let passed = tls.news.prefix { $0.isUserCanceled && !wantsWarning || $0.isFailure && ignores }
        let next = tls.news.dropFirst(passed.count).first
        let count = view.receiveBuffer.count
        return Sequence(
            passed: passed, next: next,
            unread: next.map { min(count, max(0, $0.offset - view.receiveBuffer.consumed)) } ?? count)
    }

    // MARK: Bytes, and RST

    /// Bytes behind what comes next are not looked at.
    private func bytes(
        _ input: ExpectedInput, _ tls: ConnectionView.TLS, _ sequence: Sequence, _ progress: inout InputProgress
    ) -> Result {
        var first = self
        if sequence.next != nil {
            first.view.receiveBuffer = view.receiveBuffer.prefix(sequence.unread)
            first.view.end = nil
        }
        switch first.input(input, &progress) {
        case .satisfied(let match, _) where match.takesEnd && isInRecord(tls):
            guard let (what, reason) = came(tls, sequence, before: input) else { return .satisfied(match, at: nil) }
            return .mismatch(what, reason)
        case .satisfied(var match, let moment):
            let taken = view.receiveBuffer.consumed + max(match.bytes, match.parts.last?.upperBound ?? 0)
            match.news = match.takesEnd ? sequence.passed.count : sequence.passed.prefix { $0.offset < taken }.count
            return .satisfied(match, at: moment)
        case .pending(let until):
            if progress.isBusy { return .pending(until: until) }
            guard let (what, reason) = came(tls, sequence, before: input) else { return .pending(until: until) }
            return .mismatch(what, reason)
        case .impossible(let why):
            // A FIN says less than what came before it.
            let saysLess =
                sequence.next == nil ? view.end != nil && !why.isMissed && sequence.unread == 0 : why.isMissed
            guard saysLess, let (what, reason) = came(tls, sequence, before: input)
            else { return .impossible(why) }
            return .mismatch(what, reason)
        }
    }

    /// The connection has ended in the middle of a record, which matters.
    private func isInRecord(_ tls: ConnectionView.TLS) -> Bool { tls.unfinished > 0 && !view.ignoresRest }

    /// What came instead of what is still expected, and can't come behind that; nil: it still can.
    private func came(
        _ tls: ConnectionView.TLS, _ sequence: Sequence, before input: ExpectedInput
    ) -> (Finding, String)? {
        let what: String
        if let next = sequence.next {
            what = next.description
        } else if tls.unfinished > 0, view.end != nil {
            what = "\(ByteText.count(tls.unfinished, "byte")) came that are no whole TLS record"
        } else if case .eof? = view.end, tls.isUp, !tls.endIsTaken {
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
        if sequence.unread > 0, !input.isEnd {
            finding.actual = Array(view.receiveBuffer.unread.prefix(min(sequence.unread, InputMatcher.shownLimit)))
            finding.summary += ", after \(ByteText.count(sequence.unread, "byte")) of one that is not whole"
        }
        return (finding, what)
    }

    // MARK: Ends

    /// Bytes before an end are an error, unless `ignore rest` came before.
    private func bytesBefore(_ input: ExpectedInput, _ sequence: Sequence) -> Result? {
        if sequence.unread == 0 || view.ignoresRest { return nil }
        let what = "bytes came where \(input.description) was expected"
        let unread = view.receiveBuffer.unread.prefix(min(sequence.unread, InputMatcher.shownLimit))
        return .impossible(
            Finding(.failed, "\(view.name): \(what)", expected: [], actual: Array(unread)), .partialMismatch(what))
    }

    private func end(_ input: ExpectedInput, _ tls: ConnectionView.TLS, _ sequence: Sequence) -> Result {
        switch (input, sequence.next?.what) {
        case (.notify, .notify): return satisfied(sequence, at: sequence.next?.time)
        case (.closed, .notify), (.closed, .alert):
            return satisfied(sequence, at: sequence.next?.time, takesEnd: true)
        case (.alert(let code), .alert(let alert, _)) where alert.code == code:
            return satisfied(sequence, at: sequence.next?.time)
        case (.eof, .notify): return finBehindNotify(input, sequence)
        case (.truncated, .notify): return mismatch(input, "close_notify came")
        case (.eof, nil): return fin(input, tls, sequence)
        case (.truncated, nil):
            if tls.hasNotified { return mismatch(input, "close_notify came") }
            if case .eof(let time)? = view.end, !isInRecord(tls) {
                return satisfied(sequence, at: time, takesEnd: true)
            }
        case (.closed, nil):
            if let end = view.end, !isInRecord(tls) { return satisfied(sequence, at: end.time, takesEnd: true) }
        default: break
        }
        if let (what, reason) = came(tls, sequence, before: input) { return .mismatch(what, reason) }
        return awaited(input)
    }

    private func satisfied(_ sequence: Sequence, at time: MonotonicTime?, takesEnd: Bool = false) -> Result {
        let news = sequence.passed.count + (sequence.next == nil ? 0 : 1)
        return .satisfied(ConnectionMatch(bytes: sequence.unread, takesEnd: takesEnd, news: news), at: time)
    }

    /// It has not come: whether it still can.
    private func awaited(_ input: ExpectedInput) -> Result {
        switch view.end {
        case nil: window.wait(orMissed: missed(input))
        case .eof: mismatch(input, "the peer closed (FIN)")
        case .reset: mismatch(input, "the connection was reset (RST)")
        case .failed(let error, _): mismatch(input, "the connection failed (\(error.reason))")
        }
    }

    private func mismatch(_ input: ExpectedInput, _ what: String) -> Result {
        .mismatch(
            Finding(.failed, "\(view.name): \(what) where \(input.description) was expected"), what)
    }

    private func finBehindNotify(_ input: ExpectedInput, _ sequence: Sequence) -> Result {
        switch view.end {
        case .eof(let time): satisfied(sequence, at: time, takesEnd: true)
        case .reset: mismatch(input, "the connection was reset (RST) behind close_notify")
        case .failed, nil: awaited(input)
        }
    }

    /// No close_notify is there that a step has not taken.
    private func fin(_ input: ExpectedInput, _ tls: ConnectionView.TLS, _ sequence: Sequence) -> Result {
        guard case .eof(let time)? = view.end else { return awaited(input) }
        if tls.endIsTaken || !tls.isUp || sequence.passed.contains(where: \.isFailure) {
            return satisfied(sequence, at: time, takesEnd: true)
        }
        if isInRecord(tls), let (what, reason) = came(tls, sequence, before: input) { return .mismatch(what, reason) }
        return .mismatch(
            Finding(
                .failed,
                "\(view.name): a FIN came without a close_notify: the stream may have been cut off",
                hints: ["`expect truncated` is met by it"]),
            "a FIN came without a close_notify")
    }
}

extension ConnectionView.TLS {
    /// The first of what came that no step has expected.
    var firstNews: (what: String, at: MonotonicTime)? {
        var first = news.first.map { ($0.description, $0.time) }
        if let behindEnd, behindEnd.time < first?.1 ?? .distantFuture {
            first = (behindEnd.description, behindEnd.time)
        }
        return first
    }
}
