import ProbeBase
import ProbeScenario
import ProbeSystem
import ProbeTransport

/// What a subject was told and what it said, as far as no step has taken it.
struct SubjectReports {
    typealias Stop = (reason: StopReason, detail: String?, time: MonotonicTime)

    /// `T start` was taken.
    var wasStarted = false
    /// When it was told to start.
    var toldToStart: MonotonicTime?
    /// When it was last told to send anything.
    var lastSend: MonotonicTime?
    /// When it last reported anything.
    var lastReport: MonotonicTime?
    /// When it was connected: when it said so, or when it was accepted.
    var startedAt: MonotonicTime?
    /// It said so; a connection that it accepted has started without a word.
    var reportedStarted = false
    /// `T stop` was given.
    var isStopping = false
    var stopped: Stop?
    /// The `stopped` has been expected, or needed no `expect`.
    var stopIsTaken = false
    /// What it delivered and nobody has taken.
    var pending: [(event: SubjectReport.Event, time: MonotonicTime)] = []
    /// Connections that it accepted and no step has taken.
    var accepted: [(number: Int, time: MonotonicTime)] = []
    /// The code that the last operation answered, until a step expects it.
    var refusal: (code: String, step: SourceSpan)?
    /// Bytes that it said it handed to the kernel, and that it was told to send (framed).
    var reportedSent = 0
    var lastSentReport: MonotonicTime?
    var toldToSend = 0
    /// Bytes that it said it will never send, as their connection was lost.
    var dropped = 0
    /// It makes another connection where one is lost.
    var mayReconnect = false
    /// Reports of `attempt-failed` that no step has taken.
    var failedAttempts: [(reason: StopReason, time: MonotonicTime)] = []
    /// It may report `half-closed`; it may report `full` and `drained`.
    var mayHalfClose = false
    /// It may report `discarded`.
    var mayDiscard = false
    var hasHighWater = false
    /// Where it is on its way to TLS.
    enum Security: Equatable {
        case none
        /// It is being told to begin: what it delivers may have come before.
        case told
        /// It was told to begin, and its handshake is to be done before anything else is delivered.
        case due
        /// What it says that the handshake has agreed on.
        case secured(TLSVersion, protocol: [UInt8]?, at: MonotonicTime)
    }
    var security = Security.none
    /// Each of its connections begins with TLS.
    var isSecuredAtStart = false
    /// It has reported the peer's FIN.
    var isHalfClosed = false
    /// The last report of the two was `full`.
    var isFull = false
    /// Reports of `full` and `drained` that no step has taken.
    var pressures: [(isFull: Bool, time: MonotonicTime)] = []

    /// Its framing is `websocket`: it may report pings, pongs and a close.
    var speaksWebSocket = false
    /// Reports of `ping` and `pong` that no step has taken.
    var controls: [(event: SubjectReport.Event, time: MonotonicTime)] = []

    var hasStarted: Bool { startedAt != nil }

    /// Takes in what the subject reports.
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

    /// The next connection is to start, and to do all that one does.
    private mutating func beginAgain() {
        (startedAt, reportedStarted) = (nil, false)
        (isHalfClosed, isFull, pressures) = (false, false, [])
        if security != .none { security = isSecuredAtStart ? .due : .none }
    }

    /// The moment from which a subject's next report may still be on its way; nil if it has answered, or has nothing to answer.
    ///
    /// - Parameters:
    ///   - sent: when the script last sent anything.
    ///   - ended: when the script last ended a connection. The report of that is the subject's last.
    func lastStimulus(sent: MonotonicTime?, ended: MonotonicTime?) -> MonotonicTime? {
        guard wasStarted, stopped == nil else { return nil }
        let toStart = hasStarted ? nil : toldToStart
        let unanswered = sent.flatMap { sent in lastReport.map { $0 > sent } ?? false ? nil : sent }
        return [toStart, unanswered, ended].compactMap { $0 }.max()
    }

    /// It has said that it sent more than it was told to.
    var excess: String? {
        guard reportedSent + dropped > toldToSend else { return nil }
        return "reported \(accounted), more than the \(toldToSend) that it was told to"
    }

    /// What it has said of the bytes that it was told to send.
    var accounted: String { "\(reportedSent) bytes sent" + (dropped == 0 ? "" : " and \(dropped) dropped") }

    /// Which reports there are, for who gave them in another order.
    var lifeInWords: String {
        mayReconnect
            ? "each connection is started and lost once, with what it delivers in between; stopped is the end of all"
            : "a transport's life is: start, started, what it delivers, stopped; each of the three once"
    }

    /// What is wrong with the order of the reports if `event` comes next; nil when nothing is.
    ///
    /// - Parameter isFirstOfConnection: for an `accepted`: nothing was reported of that connection before.
    func protocolViolation(_ event: SubjectReport.Event, isFirstOfConnection: (Int) -> Bool) -> String? {
        if !wasStarted { return "before it was told to start" }
        switch event {
        case .started:
            if security == .due { return "before its handshake was done" }
            return reportedStarted ? "twice" : nil
        case .secured:
            switch security {
            case .none: return "though nobody had told it to begin TLS"
            case .secured: return "twice"
            case .told, .due: return nil
            }
        case .discarded where !mayDiscard: return "though nobody had set `discard-too-long`"
        case .ping, .pong:
            if !speaksWebSocket { return "though its framing is not websocket" }
            return hasStarted ? nil : "before it had reported started"
        case .stopped(.closed, _):
            if !speaksWebSocket { return "though its framing is not websocket" }
            return hasStarted ? nil : "before it had reported started"
        // A leftover may be what came in the clear and is thrown away.
        case .line, .message, .data, .discarded:
            if hasStarted && security == .due { return "before its handshake was done" }
            if isHalfClosed { return "after it had reported half-closed" }
            return hasStarted ? nil : "before it had reported started"
        case .leftover:
            if isHalfClosed { return "after it had reported half-closed" }
            return hasStarted ? nil : "before it had reported started"
        case .sent: return hasStarted ? nil : "before it had reported started"
        case .halfClosed:
            if !mayHalfClose { return "though nobody had asked it to stay open" }
            if isHalfClosed { return "twice" }
            if hasStarted && security == .due { return "before its handshake was done" }
            return hasStarted ? nil : "before it had reported started"
        case .full, .drained:
            if !hasHighWater { return "though nobody had set `high-water`" }
            if isFull == (event == .full) { return isFull ? "twice" : "without a full before it" }
            return hasStarted ? nil : "before it had reported started"
        case .lost(let reason, _, _):
            if !mayReconnect { return "though nobody had set `reconnect`" }
            if !SubjectExpectation.lossReasons.contains(reason.word) { return "though that is no reason to come back" }
            if case .closed = reason, !speaksWebSocket { return "though its framing is not websocket" }
            return hasStarted ? nil : "before it had reported started"
        case .attemptFailed(let reason, _):
            if !mayReconnect { return "though nobody had set `reconnect`" }
            if !SubjectExpectation.attemptReasons.contains(reason.word) {
                return "though that is no reason to come back"
            }
            return hasStarted ? "after it had reported started" : nil
        case .stopped(.refused, _): return reportedStarted ? "after it had reported started" : nil
        case .accepted(let number):
            // What comes from a connection whose `accept` is still to come waits for it.
            return isFirstOfConnection(number) ? nil : "after it had reported something of that connection"
        case .stopped, .output, .broken: return nil
        }
    }
}
