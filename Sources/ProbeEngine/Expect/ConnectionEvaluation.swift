import Glibc
import ProbeBase
import ProbeEvents
import ProbeScenario
import ProbeSystem

/// What a satisfied expectation consumes from a connection.
struct ConnectionMatch {
    /// The number of unread bytes to consume, starting with the first.
    var bytes = 0
    /// The ranges of unread bytes to consume, if only parts of the unread bytes are consumed.
    var parts: [Range<Int>] = []
    var urgentBytes = 0
    /// Whether the end of the connection is consumed.
    var consumesEnd = false
    /// The number of TLS events to consume.
    var events = 0
    var bindings: [(String, Value)] = []
}

/// Compares the state of a connection with an expectation. Has no side effects: it consumes nothing.
struct ConnectionEvaluation {
    var view: ConnectionView
    var window: TimeWindow

    typealias Result = Outcome<ConnectionMatch>

    func evaluate(_ expectation: ConnectionExpectation<Resolved>, _ progress: inout InputProgress) -> Result {
        switch expectation {
        case .urgent(let bytes): return urgent(bytes)
        case .nothing: return nothing()
        case .stalled(let duration): return stalled(duration)
        case .sent: return sent()
        case .sendFailed(let reason): return sendFailed(reason)
        default:
            if let tls = view.tls { return input(expectation, tls, &progress) }
            return input(expectation, &progress)
        }
    }

    // MARK: Bytes, lines, ends

    func input(_ input: ConnectionExpectation<Resolved>, _ progress: inout InputProgress) -> Result {
        if view.hasOverflowed { return .mismatch(Self.overflow(of: view.name), "64 MiB are unread") }
        // After `ignore rest`, unread bytes are not an error: they are skipped, and the end of the connection is
        // evaluated.
        let skipped = view.ignoresRest && input.isAboutEnd ? view.receiveBuffer.count : 0
        let matcher = InputMatcher(
            buffer: skipped > 0 ? ReceiveBuffer() : view.receiveBuffer, end: view.end, framing: view.framing,
            peerIsClient: view.peerIsClient)
        switch matcher.match(input, &progress) {
        case .matched(let take, let completed, let bindings):
            return .satisfied(
                ConnectionMatch(bytes: skipped + take, consumesEnd: input.isAboutEnd, bindings: bindings), at: completed
            )
        case .taken(let parts, let completed, let bindings):
            return .satisfied(ConnectionMatch(parts: parts, bindings: bindings), at: completed)
        case .mismatch(let mismatch):
            if view.endsInAnswerableLine { return window.wait(orMissed: finding(mismatch, input)) }
            let reason: Impossibility.Reason =
                mismatch.isPartial && view.end == nil
                ? .partialMismatch(mismatch.reason) : .mismatch(mismatch.reason)
            return .impossible(finding(mismatch, input), reason)
        case .pending:
            // Everything received by the deadline is examined, even if this takes several turns of the reactor.
            if progress.isBusy { return .pending(until: window.now) }
            return window.wait(orMissed: missed(input))
        }
    }

    static func overflow(of name: String) -> Finding {
        Finding(
            .error, "\(name) has 64 MiB of unread bytes, the most that the harness keeps",
            hints: ["use `\(name) stop reading` to leave bytes in the kernel, or consume the bytes with `expect`"])
    }

    private func finding(_ mismatch: InputMatcher.Mismatch, _ input: ConnectionExpectation<Resolved>) -> Finding {
        var finding = Finding(
            mismatch.isLimit ? .error : .failed, summary(of: mismatch, input), expected: mismatch.expected,
            actual: mismatch.actual,
            hints: mismatch.hints)
        if case .reset? = view.end, finding.hints.isEmpty, !mismatch.isLimit, !input.isAboutEnd {
            finding.hints.append(NearMiss.resetInsteadOfFin)
        }
        return finding
    }

    private func summary(of mismatch: InputMatcher.Mismatch, _ input: ConnectionExpectation<Resolved>) -> String {
        switch mismatch.subject {
        case .actor: "\(view.receiver) \(mismatch.summary)"
        case .connection(let unread):
            "\(view.connection) \(mismatch.summary) while \(view.name) expected \(input.description)"
                + Self.incomplete(unread)
        }
    }

    /// Returns the last clause of a finding about input that can't be completed. The clause states how many bytes are
    /// unread.
    private static func incomplete(_ unread: Int) -> String {
        unread == 0 ? "" : ", after \(ByteText.count(unread, "byte")) of incomplete input"
    }

    /// Returns the finding for input that did not arrive in time, with the bytes that did arrive.
    func missed(_ input: ConnectionExpectation<Resolved>) -> Finding {
        let unread = Array(
            view.receiveBuffer.unread.prefix(max(InputMatcher.shownLimit, InputMatcher.shownLength(of: input))))
        var finding = Finding(
            .failed, "\(missing(input)) within \(window.allowed)",
            hints: NearMiss.atDeadline(input, actual: unread, framing: view.framing))
        switch input {
        case .bytes(let bytes): (finding.expected, finding.actual) = (bytes, unread)
        case .line(let text, _), .message(let text, _):
            finding.expected = text.value.map { $0 + (view.framing.terminator ?? []) }
            finding.actual = unread
        default: if !unread.isEmpty { finding.actual = unread }
        }
        if case .eof = input, view.tls?.hasNotified ?? false {
            finding.hints.append(
                "close_notify was received, but no FIN followed: use `expect notify` to expect only the close_notify")
        }
        switch view.reading {
        case .atOnce: break
        case .stopped:
            finding.hints.append("\(view.name) is not reading: add `\(view.name) resume reading` before this step")
        case .slowly(let bytes, let interval):
            finding.hints.append(
                "\(view.name) reads only \(ByteText.count(bytes, "byte")) every \(DurationText.script(interval)): "
                    + "allow for that in the deadline"
            )
        }
        return finding
    }

    /// Returns the clause of a finding that states which input was not received.
    private func missing(_ input: ConnectionExpectation<Resolved>) -> String {
        switch input {
        case .line(.any, _): "\(view.receiver) received no line"
        case .message(.any, _): "\(view.receiver) received no message"
        case .anyBytes: "\(view.receiver) received no bytes"
        case .closed: "\(view.connection) did not end"
        default: "\(view.receiver) did not receive \(input.description)"
        }
    }

    // MARK: Urgent bytes

    private func urgent(_ bytes: [UInt8]) -> Result {
        let unread = view.urgent.unread
        if !bytes.starts(with: unread.prefix(bytes.count)) {
            let what = "received unexpected urgent bytes"
            return .mismatch(
                Finding(.failed, "\(view.receiver) \(what)", expected: bytes, actual: Array(unread)), what)
        }
        if unread.count >= bytes.count {
            return .satisfied(
                ConnectionMatch(urgentBytes: bytes.count), at: view.urgent.arrival(of: max(0, bytes.count - 1)))
        }
        return window.wait(
            orMissed: Finding(
                .failed, "\(view.receiver) received no urgent byte within \(window.allowed)", expected: bytes,
                actual: Array(unread)))
    }

    // MARK: Silence

    private func nothing() -> Result {
        let ended = view.endIsUnconsumed ? view.end?.time : nil
        let message = view.tls?.firstUnconsumedEvent
        let first = [view.receiveBuffer.arrival(of: 0), view.urgent.arrival(of: 0), ended, message?.at]
            .compactMap(\.self).min()
        guard let first else { return quiet() }
        let isBytes = !view.receiveBuffer.isEmpty || !view.urgent.isEmpty
        let reason = isBytes ? "received data" : message?.what ?? "the connection ended"
        switch window.silence("\(view.receiver) received something", at: first) {
        case .lasted: return quiet()
        case .isUndetermined(let finding): return .mismatch(finding, reason)
        case .isBroken: break
        }
        if isBytes {
            let buffer = view.receiveBuffer.isEmpty ? view.urgent : view.receiveBuffer
            let unread = Array(buffer.unread.prefix(InputMatcher.shownLimit))
            let when =
                first < window.start
                ? "before the step began" : "\(DurationText.script(first - window.start)) after the step began"
            let finding = Finding(
                .failed, "\(view.receiver) received data \(when), expected \(silence)", expected: [], actual: unread)
            return view.endsInAnswerableLine ? window.wait(orMissed: finding) : .mismatch(finding, reason)
        }
        let what =
            switch view.end {
            case _ where message.map { $0.at <= ended ?? .distantFuture } ?? false: message?.what ?? ""
            case let end?: "\(view.connection) \(InputMatcher.describe(end))"
            case nil: "the peer closed \(view.connection) (FIN)"
            }
        return .mismatch(Finding(.failed, "\(what) while \(view.name) expected \(silence)"), reason)
    }

    /// The silence that the step expects, in words.
    private var silence: String { "silence for \(window.allowed)" }

    /// Evaluates an expected silence if no input has been read. On a connection that is not read immediately, input
    /// that has arrived may still be unread in the kernel's buffer, so the kernel is queried.
    private func quiet() -> Result {
        guard window.isOver, let inKernel = view.inKernel else { return window.silence(ConnectionMatch()) }
        if inKernel.unread > 0 {
            let what = "left \(ByteText.count(inKernel.unread, "byte")) unread in the kernel's buffer"
            return .mismatch(Finding(.failed, "\(view.receiver) \(what), expected \(silence)"), what)
        }
        if inKernel.endIsPending {
            return .mismatch(
                Finding(
                    .failed,
                    "\(view.connection) was closed or reset by the peer while \(view.name) expected \(silence)"),
                "the peer closed or reset the connection")
        }
        return window.silence(ConnectionMatch())
    }
}

/// Expectations about a send in the background.
extension ConnectionEvaluation {
    private var notSending: Result {
        let what = "nothing is being sent"
        return .mismatch(
            Finding(
                .error, "\(view.name) is not sending anything in the background",
                hints: ["add `\(view.name) start sending …` before this step"]), what)
    }

    /// Evaluates `expect sent`: the kernel must accept all bytes. Without a `within`, the step fails only after a
    /// period without progress.
    func sent() -> Result {
        guard let send = view.send else { return notSending }
        switch send.state {
        case .done(let moment): return .satisfied(ConnectionMatch(), at: moment)
        case .failed(let error, _): return .mismatch(sendFailure(error, send), "the send failed: \(error.reason)")
        case .abandoned:
            return .mismatch(
                Finding(.error, "\(view.connection) was closed before all bytes were sent"), "the connection was closed"
            )
        case .queued, .underWay: break
        }
        if window.deadline < .distantFuture, window.isOver {
            return .impossible(
                Finding(
                    .failed,
                    "\(view.name)'s send did not complete in time: the kernel had accepted \(taken(send))"), .missed)
        }
        let scaledTimeout = window.scaledTimeout
        // The send can't have made progress while the harness was stalled, so the time of the stall is not counted.
        let last = send.lastProgressOfAny ?? window.now
        if window.isOver(last + scaledTimeout, from: last) {
            return .impossible(
                Finding(
                    .failed,
                    "\(view.name)'s send made no progress for \(DurationText.script(scaledTimeout)): the kernel had "
                        + "accepted \(taken(send))",
                    hints: ["make the peer read: its window is closed, and the kernel's buffers are full"]), .missed
            )
        }
        let next = window.limit(of: last + scaledTimeout, from: last)
        return .pending(until: window.deadline < .distantFuture ? min(next, window.limit) : next)
    }

    private func taken(_ send: ConnectionView.Send) -> String {
        "\(send.taken) of \(ByteText.count(send.count, "byte"))"
    }

    private func sendFailure(_ error: SystemError, _ send: ConnectionView.Send) -> Finding {
        var hints: [String] = []
        if error.code == EPIPE || error.code == ECONNRESET {
            hints.append("check why the peer closed its socket: its kernel answers data with an RST")
        }
        return Finding(
            .failed, "\(view.name)'s send failed after \(taken(send)): \(error.reason)",
            hints: hints)
    }

    func sendFailed(_ reason: String?) -> Result {
        guard let send = view.send else { return notSending }
        switch send.state {
        case .failed(let error, let moment):
            // On Linux, the first send after an RST fails with ECONNRESET, or with EPIPE if a read has already reported
            // the reset.
            let actual = error.code == ECONNRESET ? "reset" : error.code == EPIPE ? "broken-pipe" : error.reason
            guard let reason, actual != reason, !(reason == "reset" && error.code == EPIPE) else {
                return .satisfied(ConnectionMatch(), at: moment)
            }
            let what = "send failed with \(actual), expected \(reason)"
            return .mismatch(Finding(.failed, "\(view.name)'s \(what)"), "the \(what)")
        case .done:
            return .mismatch(
                Finding(
                    .failed,
                    "\(view.name)'s send succeeded but was expected to fail: the kernel accepted all "
                        + ByteText.count(send.count, "byte")), "the send succeeded")
        case .queued, .underWay, .abandoned:
            return window.wait(orMissed: Finding(.failed, "\(view.name)'s send did not fail within \(window.allowed)"))
        }
    }

    /// Evaluates `expect stalled`: the send must make no progress for `duration`. A wait that is due to the pace set by
    /// the script is not a stall.
    func stalled(_ duration: Duration) -> Result {
        guard let send = view.send else { return notSending }
        switch send.state {
        case .done:
            return .mismatch(
                Finding(
                    .failed,
                    "\(view.name)'s send did not stall: the kernel accepted all \(ByteText.count(send.count, "byte"))",
                    hints: [
                        "add `with receive-buffer 4KiB` on the receiving side: without it, loopback absorbs more "
                            + "than 4 MB"
                    ]),
                "the send succeeded")
        case .failed(let error, _):
            return .mismatch(
                Finding(.failed, "\(view.name)'s send failed: \(error.reason)"), "the send failed: \(error.reason)")
        case .queued, .underWay, .abandoned: break
        }
        // Like an expected silence, the stall is measured from the start of the step at the earliest.
        let last = max(send.lastProgress, window.start)
        if window.isOver(last + duration, from: last) { return .satisfied(ConnectionMatch(), at: last + duration) }
        if window.isOver {
            return .impossible(
                Finding(
                    .failed,
                    "\(view.name)'s send did not stall for \(DurationText.script(duration)): it was still making "
                        + "progress, with \(taken(send)) accepted by the kernel"), .missed)
        }
        return .pending(until: min(window.limit(of: last + duration, from: last), window.limit))
    }
}

/// Expectations of a connection with TLS. The connection ends with a FIN, with or without a preceding close_notify or
/// alert.
///
/// Bytes, TLS events and the end of the connection form one sequence: steps must expect them in the order of their
/// arrival, no matter whether they arrive before the step or during it.
extension ConnectionEvaluation {
    func input(
        _ input: ConnectionExpectation<Resolved>, _ tls: ConnectionView.TLS, _ progress: inout InputProgress
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

    /// The part of the sequence of bytes and TLS events that the current step must expect.
    private struct Sequence {
        /// The TLS events that precede `next` and that no step needs to expect, such as a user_canceled alert.
        var passed: ArraySlice<TLSEvent>
        /// The next TLS event that a step must expect; it arrived after `unread` bytes.
        var next: TLSEvent?
        var unread: Int
    }

    private func sequence(_ tls: ConnectionView.TLS, for input: ConnectionExpectation<Resolved>) -> Sequence {
        let expectsWarning = if case .alert(Int(TLSAlert.userCanceled)) = input { true } else { false }
        // After `ignore rest`, TLS records that can't be read are also ignored.
        let ignores = view.ignoresRest && input.isAboutEnd
        let passed = tls.events.prefix { $0.isUserCanceled && !expectsWarning || $0.isFailure && ignores }
        let next = tls.events.dropFirst(passed.count).first
        let count = view.receiveBuffer.count
        return Sequence(
            passed: passed, next: next,
            unread: next.map { min(count, max(0, $0.offset - view.receiveBuffer.consumed)) } ?? count)
    }

    // MARK: Bytes and RST

    /// Evaluates an expectation of bytes or of an RST. Bytes that arrived after the next TLS event are not examined.
    private func bytes(
        _ input: ConnectionExpectation<Resolved>, _ tls: ConnectionView.TLS, _ sequence: Sequence,
        _ progress: inout InputProgress
    ) -> Result {
        var first = self
        if sequence.next != nil {
            first.view.receiveBuffer = view.receiveBuffer.prefix(sequence.unread)
            first.view.end = nil
        }
        switch first.input(input, &progress) {
        case .satisfied(let match, _) where match.consumesEnd && isInRecord(tls):
            guard let (what, reason) = unexpectedInput(tls, sequence, before: input) else {
                return .satisfied(match, at: nil)
            }
            return .mismatch(what, reason)
        case .satisfied(var match, let moment):
            let taken = view.receiveBuffer.consumed + max(match.bytes, match.parts.last?.upperBound ?? 0)
            match.events =
                match.consumesEnd ? sequence.passed.count : sequence.passed.prefix { $0.offset < taken }.count
            return .satisfied(match, at: moment)
        case .pending(let until):
            if progress.isBusy { return .pending(until: until) }
            guard let (what, reason) = unexpectedInput(tls, sequence, before: input) else {
                return .pending(until: until)
            }
            return .mismatch(what, reason)
        case .impossible(let why):
            // Unexpected input is more informative than the FIN that follows it or the missed deadline.
            let isLessInformative =
                sequence.next == nil ? view.end != nil && !why.isMissed && sequence.unread == 0 : why.isMissed
            guard isLessInformative, let (what, reason) = unexpectedInput(tls, sequence, before: input)
            else { return .impossible(why) }
            return .mismatch(what, reason)
        }
    }

    /// Whether the connection ended within a TLS record. After `ignore rest`, an incomplete record doesn't matter.
    private func isInRecord(_ tls: ConnectionView.TLS) -> Bool { tls.unfinished > 0 && !view.ignoresRest }

    /// Returns a finding about what arrived instead of the expected input, with a short reason; `nil` if the input can
    /// still arrive.
    private func unexpectedInput(
        _ tls: ConnectionView.TLS, _ sequence: Sequence, before input: ConnectionExpectation<Resolved>
    ) -> (Finding, String)? {
        let what: String
        if let next = sequence.next {
            what = next.description
        } else if tls.unfinished > 0, view.end != nil {
            what = "received \(ByteText.count(tls.unfinished, "byte")) of an incomplete TLS record"
        } else if case .eof? = view.end, tls.isUp, !tls.endIsConsumed {
            what = "received a FIN without a close_notify"
        } else {
            return nil
        }
        var finding = Finding(
            .failed,
            sequence.next == nil
                ? "\(view.receiver) \(what), expected \(input.description)"
                : "\(what) while \(view.name) expected \(input.description)")
        switch input {
        case .bytes(let bytes): finding.expected = bytes
        case .line(let text, _), .message(let text, _): finding.expected = text.value
        default: break
        }
        if sequence.unread > 0, !input.isAboutEnd {
            finding.actual = Array(view.receiveBuffer.unread.prefix(min(sequence.unread, InputMatcher.shownLimit)))
            finding.summary += Self.incomplete(sequence.unread)
        }
        return (finding, what)
    }

    // MARK: Ends

    /// Returns a mismatch if unread bytes precede an expected end; `nil` if there are none, or after `ignore rest`.
    private func bytesBefore(_ input: ConnectionExpectation<Resolved>, _ sequence: Sequence) -> Result? {
        if sequence.unread == 0 || view.ignoresRest { return nil }
        let what = "received data, expected \(input.description)"
        let unread = view.receiveBuffer.unread.prefix(min(sequence.unread, InputMatcher.shownLimit))
        return .impossible(
            Finding(.failed, "\(view.receiver) \(what)", expected: [], actual: Array(unread)), .partialMismatch(what))
    }

    private func end(_ input: ConnectionExpectation<Resolved>, _ tls: ConnectionView.TLS, _ sequence: Sequence)
        -> Result
    {
        switch (input, sequence.next?.what) {
        case (.notify, .notify): return satisfied(sequence, at: sequence.next?.time)
        case (.closed, .notify), (.closed, .alert):
            return satisfied(sequence, at: sequence.next?.time, consumesEnd: true)
        case (.alert(let code), .alert(let alert, _)) where Int(alert.code) == code:
            return satisfied(sequence, at: sequence.next?.time)
        case (.eof, .notify): return finAfterNotify(input, sequence)
        case (.truncated, .notify): return received("close_notify", input)
        case (.eof, nil): return fin(input, tls, sequence)
        case (.truncated, nil):
            if tls.hasNotified { return received("close_notify", input) }
            if case .eof(let time)? = view.end, !isInRecord(tls) {
                return satisfied(sequence, at: time, consumesEnd: true)
            }
        case (.closed, nil):
            if let end = view.end, !isInRecord(tls) { return satisfied(sequence, at: end.time, consumesEnd: true) }
        default: break
        }
        if let (what, reason) = unexpectedInput(tls, sequence, before: input) { return .mismatch(what, reason) }
        return awaited(input)
    }

    private func satisfied(_ sequence: Sequence, at time: MonotonicTime?, consumesEnd: Bool = false) -> Result {
        let events = sequence.passed.count + (sequence.next == nil ? 0 : 1)
        return .satisfied(ConnectionMatch(bytes: sequence.unread, consumesEnd: consumesEnd, events: events), at: time)
    }

    /// Returns the result for an expected end that has not arrived: pending if it can still arrive, a mismatch
    /// otherwise.
    private func awaited(_ input: ConnectionExpectation<Resolved>) -> Result {
        switch view.end {
        case nil: window.wait(orMissed: missed(input))
        case let end?: ended(InputMatcher.describe(end), input)
        }
    }

    private func ended(_ what: String, _ input: ConnectionExpectation<Resolved>) -> Result {
        .mismatch(
            Finding(.failed, "\(view.connection) \(what) while \(view.name) expected \(input.description)"),
            "the connection \(what)")
    }

    private func received(_ what: String, _ input: ConnectionExpectation<Resolved>) -> Result {
        .mismatch(
            Finding(.failed, "\(view.receiver) received \(what), expected \(input.description)"), "received \(what)")
    }

    private func finAfterNotify(_ input: ConnectionExpectation<Resolved>, _ sequence: Sequence) -> Result {
        switch view.end {
        case .eof(let time): satisfied(sequence, at: time, consumesEnd: true)
        case .reset: ended("was reset (RST) after close_notify", input)
        case .failed, nil: awaited(input)
        }
    }

    /// Evaluates a FIN that is not preceded by an unconsumed close_notify.
    private func fin(_ input: ConnectionExpectation<Resolved>, _ tls: ConnectionView.TLS, _ sequence: Sequence)
        -> Result
    {
        guard case .eof(let time)? = view.end else { return awaited(input) }
        if tls.endIsConsumed || !tls.isUp || sequence.passed.contains(where: \.isFailure) {
            return satisfied(sequence, at: time, consumesEnd: true)
        }
        if isInRecord(tls), let (what, reason) = unexpectedInput(tls, sequence, before: input) {
            return .mismatch(what, reason)
        }
        return .mismatch(
            Finding(
                .failed,
                "\(view.receiver) received a FIN without a close_notify: the stream may have been truncated",
                hints: ["use `expect truncated` to expect a stream that may have been truncated"]),
            "received a FIN without a close_notify")
    }
}

extension ConnectionView.TLS {
    /// The description and the time of the first TLS event that no step has expected.
    var firstUnconsumedEvent: (what: String, at: MonotonicTime)? {
        var first = events.first.map { ($0.description, $0.time) }
        if let bytesAfterEnd, bytesAfterEnd.time < first?.1 ?? .distantFuture {
            first = (bytesAfterEnd.description, bytesAfterEnd.time)
        }
        return first
    }
}
