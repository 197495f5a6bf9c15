import ProbeBase
import ProbeScenario
import ProbeSystem
import ProbeTransport

/// The operations requested from a subject and the events that it reported and that no step has consumed yet.
struct SubjectReports {
    typealias Stop = (reason: StopReason, detail: String?, time: MonotonicTime)

    /// Whether the subject accepted `T start`.
    var wasStarted = false
    /// The time at which the subject was asked to start.
    var startRequestedAt: MonotonicTime?
    /// The time at which the subject was last asked to send anything.
    var lastSend: MonotonicTime?
    /// The time of the subject's last report.
    var lastReport: MonotonicTime?
    /// The time at which the subject was connected: when it reported `started`, or when its connection was accepted.
    var startedAt: MonotonicTime?
    /// Whether the subject reported `started`. A subject that accepts a connection does not report `started` for it.
    var reportedStarted = false
    /// Whether the script has executed `T stop`.
    var isStopping = false
    var stopped: Stop?
    /// Whether a step has expected the `stopped` report, or the report needs no `expect`.
    var stopIsConsumed = false
    /// The deliveries that no step has consumed.
    var pending: [(event: SubjectReport.Event, time: MonotonicTime)] = []
    /// The connections that the subject accepted and that no step has consumed.
    var accepted: [(number: Int, time: MonotonicTime)] = []
    /// The error code of the last operation, until a step expects it.
    var refusal: (code: String, step: SourceSpan)?
    /// The number of bytes, including framing, that the subject reported as handed to the kernel.
    var reportedSent = 0
    var lastSentReport: MonotonicTime?
    /// The number of bytes, including framing, that the subject was asked to send.
    var requestedBytes = 0
    /// The number of bytes that the subject reported as dropped because the connection was lost.
    var dropped = 0
    /// Whether the subject reconnects after losing a connection.
    var mayReconnect = false
    /// The reports of `attempt-failed` that no step has consumed.
    var failedAttempts: [(reason: StopReason, time: MonotonicTime)] = []
    /// Whether the subject may report `half-closed`.
    var mayHalfClose = false
    /// Whether the subject may report `discarded`.
    var mayDiscard = false
    /// Whether the subject may report `full` and `drained`.
    var hasHighWater = false
    /// The subject's progress toward TLS.
    enum Security: Equatable {
        case none
        /// The subject is being asked to begin TLS. Data that it delivers in this state may have arrived before the
        /// request.
        case requested
        /// The subject was asked to begin TLS, and must complete its handshake before it delivers anything else.
        case due
        /// The subject reported the TLS version and the protocol that were negotiated in the handshake.
        case secured(TLSVersion, protocol: [UInt8]?, at: MonotonicTime)
    }
    var security = Security.none
    /// Whether each of the subject's connections begins with TLS.
    var isSecuredAtStart = false
    /// Whether the subject has reported the peer's FIN.
    var isHalfClosed = false
    /// Whether the subject's last `full` or `drained` report was `full`.
    var isFull = false
    /// The reports of `full` and `drained` that no step has consumed.
    var pressures: [(isFull: Bool, time: MonotonicTime)] = []

    /// Whether the framing is `websocket`. If it is, the subject may report pings, pongs and a close.
    var speaksWebSocket = false
    /// The reports of `ping` and `pong` that no step has consumed.
    var controls: [(event: SubjectReport.Event, time: MonotonicTime)] = []

    var hasStarted: Bool { startedAt != nil }

    /// Records a report of the subject.
    mutating func add(_ report: SubjectReport) {
        switch report.event {
        case .started:
            startedAt = report.time
            reportedStarted = true
        case .secured(let version, let name): security = .secured(version, protocol: name, at: report.time)
        case .sent(let count):
            reportedSent += count
            lastSentReport = report.time
        case .accepted(let number): accepted.append((number, report.time))
        case .stopped(let reason, let detail): stopped = (reason, detail, report.time)
        case .line, .message, .data, .leftover, .discarded: pending.append((report.event, report.time))
        case .ping, .pong: controls.append((report.event, report.time))
        case .halfClosed:
            isHalfClosed = true
            pending.append((report.event, report.time))
        case .full, .drained:
            isFull = report.event == .full
            pressures.append((isFull, report.time))
        case .lost(_, let dropped, _):
            self.dropped += dropped
            pending.append((report.event, report.time))
            beginAgain()
        case .attemptFailed(let reason, _):
            failedAttempts.append((reason, report.time))
            beginAgain()
        case .output, .broken: break
        }
    }

    /// Resets the state for the subject's next connection, for which the subject must report every event again.
    private mutating func beginAgain() {
        (startedAt, reportedStarted) = (nil, false)
        (isHalfClosed, isFull, pressures) = (false, false, [])
        if security != .none { security = isSecuredAtStart ? .due : .none }
    }

    /// Returns the time of the last stimulus that the subject may still respond to; `nil` if there is nothing left to
    /// respond to.
    ///
    /// - Parameters:
    ///   - sent: the time at which the script last sent anything.
    ///   - ended: the time at which the script last ended a connection. The subject's report of that end is its last
    ///     report.
    func lastStimulus(sent: MonotonicTime?, ended: MonotonicTime?) -> MonotonicTime? {
        guard wasStarted, stopped == nil else { return nil }
        let toStart = hasStarted ? nil : startRequestedAt
        let unanswered = sent.flatMap { sent in lastReport.map { $0 > sent } ?? false ? nil : sent }
        return [toStart, unanswered, ended].compactMap { $0 }.max()
    }

    /// A message if the subject reported more bytes as sent than it was asked to send; `nil` otherwise.
    var excess: String? {
        guard reportedSent + dropped > requestedBytes else { return nil }
        return "reported \(accounted), more than the \(requestedBytes) that it was asked to send"
    }

    /// A description of how the subject accounted for the bytes that it was asked to send.
    var accounted: String {
        "\(ByteText.count(reportedSent, "byte")) sent" + (dropped == 0 ? "" : " and \(dropped) dropped")
    }

    /// A description of the valid order of reports, for the author of an adapter that violates this order.
    var lifecycleDescription: String {
        mayReconnect
            ? "report `started` and `lost` once for each connection, the deliveries between them, and `stopped` last"
            : "report `started` once after the start, then the deliveries, then `stopped` once"
    }

    /// Returns a message if reporting `event` now violates the valid order of reports; `nil` otherwise.
    ///
    /// - Parameter isFirstOfConnection: returns whether the given connection has not reported anything yet. Called only
    ///   for `accepted`.
    func protocolViolation(_ event: SubjectReport.Event, isFirstOfConnection: (Int) -> Bool) -> String? {
        if !wasStarted { return "before it was asked to start" }
        switch event {
        case .started:
            if security == .due { return "before its handshake was complete" }
            return reportedStarted ? "twice" : nil
        case .secured:
            switch security {
            case .none: return "without being asked to begin TLS"
            case .secured: return "twice"
            case .requested, .due: return nil
            }
        case .discarded where !mayDiscard: return "without `discard-too-long` in its declaration"
        case .ping, .pong:
            if !speaksWebSocket { return "although its framing is not websocket" }
            return hasStarted ? nil : "before it had reported `started`"
        case .stopped(.closed, _):
            if !speaksWebSocket { return "although its framing is not websocket" }
            return hasStarted ? nil : "before it had reported `started`"
        // Discarded bytes may have arrived in the clear, before TLS was requested.
        case .line, .message, .data, .discarded:
            if hasStarted && security == .due { return "before its handshake was complete" }
            if isHalfClosed { return "after it had reported half-closed" }
            return hasStarted ? nil : "before it had reported `started`"
        case .leftover:
            if isHalfClosed { return "after it had reported half-closed" }
            return hasStarted ? nil : "before it had reported `started`"
        case .sent: return hasStarted ? nil : "before it had reported `started`"
        case .halfClosed:
            if !mayHalfClose { return "without `allow-half-close` in its declaration" }
            if isHalfClosed { return "twice" }
            if hasStarted && security == .due { return "before its handshake was complete" }
            return hasStarted ? nil : "before it had reported `started`"
        case .full, .drained:
            if !hasHighWater { return "without `high-water` in its declaration" }
            if isFull == (event == .full) { return isFull ? "twice" : "without `full` before it" }
            return hasStarted ? nil : "before it had reported `started`"
        case .lost(let reason, _, _):
            if !mayReconnect { return "without `reconnect` in its declaration" }
            if !SubjectExpectation.lossReasons.contains(reason.word) {
                return "although that is not a reason to reconnect"
            }
            if case .closed = reason, !speaksWebSocket { return "although its framing is not websocket" }
            return hasStarted ? nil : "before it had reported `started`"
        case .attemptFailed(let reason, _):
            if !mayReconnect { return "without `reconnect` in its declaration" }
            if !SubjectExpectation.attemptReasons.contains(reason.word) {
                return "although that is not a reason to reconnect"
            }
            return hasStarted ? "after it had reported `started`" : nil
        case .stopped(.refused, _): return reportedStarted ? "after it had reported `started`" : nil
        case .accepted(let number):
            // Reports that arrive for a connection before its `accepted` report are queued, so the `accepted` report
            // must be the first one that is processed.
            return isFirstOfConnection(number) ? nil : "after it had reported another event of that connection"
        case .stopped, .output, .broken: return nil
        }
    }
}
