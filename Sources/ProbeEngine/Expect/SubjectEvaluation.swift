import ProbeBase
import ProbeEvents
import ProbeScenario
import ProbeSystem
import ProbeTransport

/// What a satisfied expectation consumes from a subject's reports.
struct SubjectMatch {
    /// The number of deliveries to consume, starting with the first.
    var deliveries = 0
    /// The number of `ping` and `pong` reports to consume.
    var controls = 0
    /// The number of `full` and `drained` reports to consume.
    var pressures = 0
    /// The number of `attempt-failed` reports to consume.
    var failedAttempts = 0
    /// The remaining bytes of the last consumed delivery, which the step did not expect and which stay unconsumed.
    var rest: [UInt8] = []
    var bindings: [(String, Value)] = []
    /// The number of the accepted connection; `nil` for other expectations.
    var accepted: Int?
}

/// How much of the delivered data a step has compared. Data may be delivered in thousands of pieces, and each piece is
/// compared only once.
struct SubjectProgress {
    fileprivate var bytes: [UInt8] = []
    fileprivate var deliveries = 0
    var polling = PollingProgress()
}

/// Compares a subject's reports with an expectation. Has no side effects: it consumes nothing.
struct SubjectEvaluation {
    var name: String
    var reports: SubjectReports
    var framing: Framing
    var window: TimeWindow
    /// The resources that the subject's adapter uses, if the expectation concerns resources.
    var measure: ResourceMeasure?

    typealias Result = Outcome<SubjectMatch>

    func evaluate(_ expectation: ResolvedSubjectExpectation, _ progress: inout SubjectProgress) -> Result {
        switch expectation {
        case .started:
            if let startedAt = reports.startedAt { return .satisfied(SubjectMatch(), at: startedAt) }
            return waitUnlessStopped(expectation)
        case .secured:
            if case .secured(_, _, let time) = reports.security { return .satisfied(SubjectMatch(), at: time) }
            return waitUnlessStopped(expectation)
        case .line, .message, .leftover, .data: return delivery(expectation)
        case .control(let isPing, let payload): return control(isPing, payload, expectation)
        case .halfClosed: return next(.halfClosed, expectation)
        case .discarded: return next(.discarded, expectation)
        case .full: return pressure(isFull: true, expectation)
        case .drained: return pressure(isFull: false, expectation)
        case .lost(let reason, let name): return lost(reason, name, expectation)
        case .attemptFailed(let reason): return attemptFailed(reason, expectation)
        case .bytes(let bytes): return data(bytes, expectation, &progress)
        case .sent(let requested): return sent(requested)
        case .accept:
            guard let next = reports.accepted.first else { return window.wait(orMissed: missing(expectation)) }
            return .satisfied(SubjectMatch(accepted: next.number), at: next.time)
        case .error(let code): return error(code)
        case .stopped(let reason, let code): return stopped(reason, code, expectation)
        case .nothing: return nothing()
        case .resource(let expectation): return resource(expectation, &progress.polling)
        }
    }

    private func resource(_ expectation: ResolvedResourceExpectation, _ progress: inout PollingProgress) -> Result {
        guard let measure else { return .pending(until: window.now) }
        return ResourceEvaluation(name: "\(name)'s adapter", measure: measure, window: window)
            .evaluate(expectation, &progress)
            .map { SubjectMatch(bindings: $0) }
    }

    // MARK: Deliveries

    /// Evaluates a delivery, which must be the subject's next event apart from `started` and `sent`.
    private func delivery(_ expectation: ResolvedSubjectExpectation) -> Result {
        guard let next = reports.pending.first, let (text, name) = expectation.delivery else {
            return waitUnlessStopped(expectation)
        }
        let payload = SubjectText.payload(next.event) ?? []
        guard Self.matchesKind(expectation, next.event) else {
            return unexpected(next.event, expectation, expected: text.value)
        }
        guard let groups = text.match(payload) else {
            return .mismatch(
                Finding(
                    .failed, "\(self.name) delivered \(ReceivedText.value(payload, expected: expectation.description))",
                    expected: text.value, actual: payload, hints: hints(text, payload)),
                "reported \(SubjectText.describe(next.event))")
        }
        let bindings = name.map { groups + [($0, .bytes(payload))] } ?? groups
        return .satisfied(SubjectMatch(deliveries: 1, bindings: bindings), at: next.time)
    }

    private static func matchesKind(_ expectation: ResolvedSubjectExpectation, _ event: SubjectReport.Event) -> Bool {
        switch (expectation, event) {
        case (.message(_, _, let kind?), .message(_, let reported)): reported == kind
        case (.message(_, _, .some), .line): false
        case (.line, .line), (.message, .message), (.message, .line), (.leftover, .leftover), (.data, .data): true
        default: false
        }
    }

    private func hints(_ text: ExpectedText, _ payload: [UInt8]) -> [String] {
        if let value = text.value, let terminator = framing.terminator, payload == value + terminator {
            return ["report lines without their terminators: the delivered line includes its terminator"]
        }
        if let value = text.value, payload == value + [13] {
            return ["remove the CR too: the transport splits the stream into lines at LF, and keeps the CR of CRLF"]
        }
        if payload.isEmpty {
            return ["check how terminators are recognized: an empty line was delivered, as if one terminator were two"]
        }
        return NearMiss.line(expected: text, actual: payload, framing: framing)
    }

    /// Evaluates `T expect "bytes"`: the delivered data, regardless of how it is divided into events.
    private func data(
        _ bytes: [UInt8], _ expectation: ResolvedSubjectExpectation, _ progress: inout SubjectProgress
    ) -> Result {
        if progress.deliveries > reports.pending.count { progress = SubjectProgress() }
        for (event, time) in reports.pending[progress.deliveries...] {
            guard case .data(let data) = event else {
                return .mismatch(
                    Finding(
                        .failed, "\(name) reported \(SubjectText.describe(event)), expected data",
                        expected: bytes, actual: progress.bytes), "reported \(SubjectText.describe(event))")
            }
            let compared = progress.bytes.count
            let common = min(compared + data.count, bytes.count)
            if compared < common, data[..<(common - compared)] != bytes[compared..<common] {
                let actual = progress.bytes + data
                return .mismatch(
                    Finding(
                        .failed, "\(name) delivered \(ReceivedText.bytes(actual, expected: bytes))", expected: bytes,
                        actual: actual),
                    "reported \(SubjectText.describe(event))")
            }
            if compared + data.count >= bytes.count {
                return .satisfied(
                    SubjectMatch(deliveries: progress.deliveries + 1, rest: Array(data[(bytes.count - compared)...])),
                    at: time)
            }
            progress.bytes += data
            progress.deliveries += 1
        }
        if reports.stopped != nil { return instead(expectation) }
        return window.wait(
            orMissed: Finding(
                .failed, "\(name) did not deliver the expected bytes within \(window.allowed)", expected: bytes,
                actual: progress.bytes))
    }

    // MARK: `half-closed`, `discarded`, `full`, `drained`

    private func next(_ event: SubjectReport.Event, _ expectation: ResolvedSubjectExpectation) -> Result {
        guard let next = reports.pending.first else { return waitUnlessStopped(expectation) }
        guard next.event == event else { return unexpected(next.event, expectation, expected: nil) }
        return .satisfied(SubjectMatch(deliveries: 1), at: next.time)
    }

    private func control(_ isPing: Bool, _ payload: [UInt8]?, _ expectation: ResolvedSubjectExpectation) -> Result {
        guard let next = reports.controls.first else { return waitUnlessStopped(expectation) }
        let actual = SubjectText.payload(next.event) ?? []
        let isSame = if case .ping = next.event { isPing } else { !isPing }
        guard isSame, payload == nil || payload == actual else {
            return unexpected(next.event, expectation, expected: payload)
        }
        return .satisfied(SubjectMatch(controls: 1), at: next.time)
    }

    private func pressure(isFull: Bool, _ expectation: ResolvedSubjectExpectation) -> Result {
        guard let next = reports.pressures.first else { return waitUnlessStopped(expectation) }
        guard next.isFull == isFull else {
            return unexpected(next.isFull ? .full : .drained, expectation, expected: nil)
        }
        return .satisfied(SubjectMatch(pressures: 1), at: next.time)
    }

    // MARK: `sent`, `error`

    private func sent(_ requested: Int) -> Result {
        // Bytes that the subject reported as dropped are included, because the subject has accounted for them.
        let reported = reports.reportedSent + reports.dropped
        if requested == 0 {
            return .mismatch(
                Finding(.error, "\(name) has not been asked to send anything, so it can't report `sent`"),
                "it was not asked to send anything")
        }
        if reported > requested {
            return .mismatch(
                Finding(
                    .failed,
                    "\(name) reported \(reports.accounted), more than the \(requested) that it was asked to send"),
                "reported \(ByteText.count(reported, "byte")) sent")
        }
        if reported == requested { return .satisfied(SubjectMatch(), at: reports.lastSentReport) }
        return window.wait(
            orMissed: Finding(
                .failed,
                "\(name) reported only \(reported) of \(ByteText.count(requested, "byte")) as sent within "
                    + "\(window.allowed)",
                hints: reported == 0
                    ? ["report each send with a `sent` event: \(name) reported none"]
                    : [
                        "include the terminators in "
                            + "the number of sent bytes"
                    ]))
    }

    private func error(_ code: String) -> Result {
        guard let refusal = reports.refusal else {
            return .mismatch(
                Finding(.failed, "\(name) accepted the last op, expected the error \(code)"), "the last op was accepted"
            )
        }
        if refusal.code == code { return .satisfied(SubjectMatch(), at: nil) }
        return .mismatch(
            Finding(
                .failed, "\(name) answered the last op with the error \(refusal.code), expected \(code)",
                expected: Array(code.utf8), actual: Array(refusal.code.utf8)),
            "the last op was answered with the error \(refusal.code)")
    }

    // MARK: `stopped`, `nothing`

    private func stopped(_ reason: String?, _ code: Int?, _ expectation: ResolvedSubjectExpectation) -> Result {
        if let first = reports.pending.first {
            // A transport may report `leftover` before it reports `stopped` with any reason other than `eof`.
            guard reason != "eof", reports.pending.count == 1, case .leftover = first.event,
                reports.stopped?.reason != .eof
            else { return unexpected(first.event, expectation, expected: nil) }
        }
        guard let stopped = reports.stopped else { return window.wait(orMissed: missing(expectation)) }
        let actual = SubjectText.word(stopped.reason)
        let expected = reason.map { $0 + (code.map { " \($0)" } ?? "") }
        guard let reason, let expected, (code == nil ? stopped.reason.word : actual) != expected else {
            return .satisfied(SubjectMatch(deliveries: reports.pending.count), at: stopped.time)
        }
        var hints: [String] = []
        if reason == "eof" && stopped.reason == .reset { hints.append(NearMiss.resetInsteadOfFin) }
        if reason == "reset" && stopped.reason == .eof {
            hints.append("treat a reset as an error: it was reported as the orderly end of the stream")
        }
        return .mismatch(
            Finding(
                .failed, "\(name) reported `stopped \(actual)`, expected `stopped \(expected)`",
                expected: Array(expected.utf8), actual: Array(actual.utf8),
                details: SubjectText.words(stopped.detail), hints: hints), "reported stopped \(actual)")
    }

    /// Returns the first event that breaks a silence: a description in the words of a report, the time of the event,
    /// and a short reason; `nil` if the silence is unbroken.
    ///
    /// `started`, `secured` and `sent` don't break a silence: they answer earlier requests, and may be reported late.
    private func protocolViolation() -> (what: String, time: MonotonicTime, reason: String)? {
        if let first = reports.pending.first {
            let what = SubjectText.describe(first.event)
            return (what, first.time, "reported \(what)")
        }
        if let first = reports.pressures.first {
            let what = first.isFull ? "full" : "drained"
            return (what, first.time, "reported \(what)")
        }
        // A `T stop` step consumes the stop that it requested, so such a stop does not break a silence.
        if let stopped = reports.stopped, !reports.stopIsConsumed {
            return ("stopped \(SubjectText.word(stopped.reason))", stopped.time, "reported stopped")
        }
        return reports.accepted.first.map { ("accept", $0.time, "reported accept") }
    }

    private func nothing() -> Result {
        guard let protocolViolation = protocolViolation() else { return window.silence(SubjectMatch()) }
        switch window.silence("\(name) reported \(protocolViolation.what)", at: protocolViolation.time) {
        case .lasted: return window.silence(SubjectMatch())
        case .isUndetermined(let finding): return .mismatch(finding, protocolViolation.reason)
        case .isBroken:
            return .mismatch(
                Finding(
                    .failed, "\(name) reported \(protocolViolation.what), expected silence for \(window.allowed)",
                    expected: reports.pending.isEmpty ? nil : [],
                    actual: reports.pending.first.flatMap { SubjectText.payload($0.event) }), protocolViolation.reason)
        }
    }

    // MARK: Findings

    func waitUnlessStopped(_ expectation: ResolvedSubjectExpectation) -> Result {
        reports.stopped == nil ? window.wait(orMissed: missing(expectation)) : instead(expectation)
    }

    func unexpected(
        _ event: SubjectReport.Event, _ expectation: ResolvedSubjectExpectation, expected: [UInt8]?
    ) -> Result {
        let what = SubjectText.describe(event)
        return .mismatch(
            Finding(
                .failed, "\(name) reported \(what), expected \(expectation.description)", expected: expected,
                actual: SubjectText.payload(event)), "reported \(what)")
    }

    private func instead(_ expectation: ResolvedSubjectExpectation) -> Result {
        let reason = reports.stopped.map { SubjectText.word($0.reason) } ?? "other"
        return .mismatch(
            Finding(
                .failed, "\(name) reported `stopped \(reason)`, expected \(expectation.description)",
                details: SubjectText.words(reports.stopped?.detail), hints: isLost(expectation) ? [Self.lost] : []),
            "reported stopped \(reason)")
    }

    /// Whether the subject was expected to deliver something that a reset of the connection may have discarded.
    private func isLost(_ expectation: ResolvedSubjectExpectation) -> Bool {
        guard expectation.delivery != nil else { return false }
        return switch reports.stopped?.reason {
        case .reset, .brokenPipe: true
        default: false
        }
    }

    private static let lost =
        "check whether the peer sent the expected data before the reset: a reset may discard received data that has "
        + "not been delivered yet (RFC 9293, section 3.10.7.4)"

    private func missing(_ expectation: ResolvedSubjectExpectation) -> Finding {
        Finding(
            .failed, "\(name) did not report \(expectation.description) within \(window.allowed)",
            expected: expectation.delivery?.text.value,
            hints: reports.wasStarted ? [] : ["add `\(name) start` before this step"])
    }
}

/// Expectations about lost connections and failed attempts to reconnect.
extension SubjectEvaluation {
    func lost(_ reason: String?, _ name: String?, _ expectation: ResolvedSubjectExpectation) -> Result {
        // A transport may report `leftover` before it reports `lost` with any reason other than `eof`.
        var ahead = 0
        if case .leftover? = reports.pending.first?.event, reason != "eof" {
            guard reports.pending.count > 1 else { return waitUnlessStopped(expectation) }
            if case .lost(let actual, _, _) = reports.pending[1].event, actual != .eof { ahead = 1 }
        }
        guard ahead < reports.pending.count else { return waitUnlessStopped(expectation) }
        let next = reports.pending[ahead]
        guard case .lost(let actual, let dropped, let detail) = next.event else {
            return unexpected(next.event, expectation, expected: nil)
        }
        guard reason == nil || reason == actual.word else {
            return otherReason(reason, actual, detail, "lost")
        }
        return .satisfied(
            SubjectMatch(deliveries: ahead + 1, bindings: name.map { [($0, .integer(dropped))] } ?? []), at: next.time)
    }

    func attemptFailed(_ reason: String?, _ expectation: ResolvedSubjectExpectation) -> Result {
        guard let next = reports.failedAttempts.first else { return waitUnlessStopped(expectation) }
        guard reason == nil || reason == next.reason.word else {
            return otherReason(reason, next.reason, nil, "attempt-failed")
        }
        return .satisfied(SubjectMatch(failedAttempts: 1), at: next.time)
    }

    private func otherReason(_ reason: String?, _ actual: StopReason, _ detail: String?, _ event: String) -> Result {
        let (expected, actual) = (reason ?? "", SubjectText.word(actual))
        return .mismatch(
            Finding(
                .failed, "\(name) reported \(event) \(actual), expected \(event) \(expected)",
                expected: Array(expected.utf8), actual: Array(actual.utf8), details: SubjectText.words(detail)),
            "reported \(event) \(actual)")
    }
}
