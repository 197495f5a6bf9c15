import ProbeBase
import ProbeEvents
import ProbeScenario
import ProbeSystem

/// What a met expectation takes from a connection.
struct ConnectionMatch {
    /// Unread bytes.
    var bytes = 0
    /// Parts of them, where what stands between stays.
    var parts: [Range<Int>] = []
    var urgentBytes = 0
    /// The end of the connection.
    var takesEnd = false
    /// So much of what came of TLS.
    var news = 0
    var bindings: [(String, Value)] = []
}

/// Compares what there is of a connection with what is expected. Pure: it looks, and takes nothing.
struct ConnectionEvaluation {
    var view: ConnectionView
    var window: TimeWindow

    typealias Result = Outcome<ConnectionMatch>

    func evaluate(_ wanted: ResolvedConnectionExpectation, _ progress: inout InputProgress) -> Result {
        switch wanted {
        case .input(let input):
            if let tls = view.tls { return self.input(input, tls, &progress) }
            return self.input(input, &progress)
        case .urgent(let bytes): return urgent(bytes)
        case .nothing: return nothing()
        case .stalled(let duration): return stalled(duration)
        case .sent(_, let patience): return sent(patience)
        case .sendFailed(let reason): return sendFailed(reason)
        }
    }

    // MARK: Bytes, lines, ends

    func input(_ input: ExpectedInput, _ progress: inout InputProgress) -> Result {
        if view.hasOverflowed { return .mismatch(Self.overflow(of: view.name), "64 MiB are unread") }
        // After `ignore rest` what nobody expects is no error: an end is looked for behind it.
        let skipped = view.ignoresRest && input.isEnd ? view.receiveBuffer.count : 0
        let matcher = InputMatcher(
            buffer: skipped > 0 ? ReceiveBuffer() : view.receiveBuffer, end: view.end, framing: view.framing,
            isOfClient: view.isOfClient)
        switch matcher.match(input, &progress) {
        case .matched(let take, let completed, let bindings):
            return .satisfied(
                ConnectionMatch(bytes: skipped + take, takesEnd: input.isEnd, bindings: bindings), at: completed)
        case .taken(let parts, let completed, let bindings):
            return .satisfied(ConnectionMatch(parts: parts, bindings: bindings), at: completed)
        case .mismatch(let mismatch):
            if view.endsInAnswerableLine { return window.wait(orMissed: finding(mismatch, input)) }
            let reason: Impossibility.Reason =
                mismatch.isPartial && view.end == nil
                ? .partialMismatch(mismatch.summary) : .mismatch(mismatch.summary)
            return .impossible(finding(mismatch, input), reason)
        case .pending:
            // What has come by the deadline is looked at to its end.
            if progress.isBusy { return .pending(until: window.now) }
            return window.wait(orMissed: missed(input))
        }
    }

    static func overflow(of name: String) -> Finding {
        Finding(
            .error, "\(name) has 64 MiB of unread bytes: the harness keeps no more",
            hints: ["`\(name) stop reading` leaves them to the kernel; an `expect` takes them"])
    }

    private func finding(_ mismatch: InputMatcher.Mismatch, _ input: ExpectedInput) -> Finding {
        var finding = Finding(
            mismatch.isLimit ? .error : .failed, "\(view.name): \(mismatch.summary)", expected: mismatch.expected,
            actual: mismatch.actual,
            hints: mismatch.hints)
        if case .reset? = view.end, finding.hints.isEmpty, !mismatch.isLimit, !input.isEnd {
            finding.hints.append(NearMiss.resetInsteadOfFin)
        }
        return finding
    }

    /// Nothing that fits came in time: says what did.
    func missed(_ input: ExpectedInput) -> Finding {
        let unread = Array(view.receiveBuffer.unread.prefix(max(InputMatcher.shownLimit, input.shownLength)))
        var finding = Finding(
            .failed, "\(view.name): \(input.description) did not come within \(window.allowed)",
            hints: NearMiss.atDeadline(input, actual: unread, framing: view.framing))
        switch input {
        case .bytes(let bytes): (finding.expected, finding.actual) = (bytes, unread)
        case .line(let text, _), .message(let text, _):
            finding.expected = text.value.map { $0 + (view.framing.terminator ?? []) }
            finding.actual = unread
        default: if !unread.isEmpty { finding.actual = unread }
        }
        if case .eof = input, view.tls?.hasNotified ?? false {
            finding.hints.append("close_notify came, and no FIN behind it: `expect notify` is met by it")
        }
        switch view.reading {
        case .atOnce: break
        case .stopped:
            finding.hints.append("\(view.name) does not read: `resume reading` comes before an `expect`")
        case .slowly(let bytes, let interval):
            finding.hints.append(
                "\(view.name) reads slowly, \(bytes) bytes every \(DurationText.script(interval)): that takes its time, too"
            )
        }
        return finding
    }

    // MARK: Urgent bytes

    private func urgent(_ bytes: [UInt8]) -> Result {
        let unread = view.urgent.unread
        if !bytes.starts(with: unread.prefix(bytes.count)) {
            return .mismatch(
                Finding(.failed, "\(view.name): other urgent bytes came", expected: bytes, actual: Array(unread)),
                "other urgent bytes came")
        }
        if unread.count >= bytes.count {
            return .satisfied(
                ConnectionMatch(urgentBytes: bytes.count), at: view.urgent.arrival(of: max(0, bytes.count - 1)))
        }
        return window.wait(
            orMissed: Finding(
                .failed, "\(view.name): no urgent byte came within \(window.allowed)", expected: bytes,
                actual: Array(unread)))
    }

    // MARK: Silence

    private func nothing() -> Result {
        let ended = view.endIsNews ? view.end?.time : nil
        let message = view.tls?.firstNews
        let came = [view.receiveBuffer.arrival(of: 0), view.urgent.arrival(of: 0), ended, message?.at]
            .compactMap(\.self).min()
        guard let came else { return quiet() }
        let isBytes = !view.receiveBuffer.isEmpty || !view.urgent.isEmpty
        let reason = isBytes ? "bytes came" : message?.what ?? "the connection ended"
        switch window.silence("\(view.name): something came", at: came) {
        case .lasted: return quiet()
        case .cannotBeTold(let finding): return .mismatch(finding, reason)
        case .isBroken: break
        }
        if isBytes {
            let buffer = view.receiveBuffer.isEmpty ? view.urgent : view.receiveBuffer
            let unread = Array(buffer.unread.prefix(InputMatcher.shownLimit))
            let when =
                came < window.start
                ? "before the step" : "\(DurationText.script(came - window.start)) after the step began"
            let finding = Finding(
                .failed, "\(view.name): bytes came where nothing was expected, \(when)", expected: [], actual: unread)
            return view.endsInAnswerableLine ? window.wait(orMissed: finding) : .mismatch(finding, reason)
        }
        let what =
            switch view.end {
            case _ where message.map { $0.at <= ended ?? .distantFuture } ?? false: message?.what ?? ""
            case .reset?: "the connection was reset (RST)"
            case .failed(let error, _)?: "the connection failed (\(error.reason))"
            case .eof?, nil: "the peer closed (FIN)"
            }
        return .mismatch(Finding(.failed, "\(view.name): \(what) where nothing was expected"), reason)
    }

    /// Nothing has come that was read. A connection that is not read at once is not told what came: its kernel has been asked.
    private func quiet() -> Result {
        guard window.isOver, let inKernel = view.inKernel else { return window.silence(ConnectionMatch()) }
        if inKernel.unread > 0 {
            let what = "\(inKernel.unread) bytes lie in the kernel"
            return .mismatch(Finding(.failed, "\(view.name): \(what) where nothing was expected"), what)
        }
        if inKernel.endIsPending {
            let what = "the peer closed or reset the connection"
            return .mismatch(Finding(.failed, "\(view.name): \(what) where nothing was expected"), what)
        }
        return window.silence(ConnectionMatch())
    }
}
