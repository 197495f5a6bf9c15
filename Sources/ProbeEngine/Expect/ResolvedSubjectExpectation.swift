import ProbeBase
import ProbeScenario

/// The expectation of an `expect` step for a subject, with all its values computed.
enum ResolvedSubjectExpectation {
    case started
    case secured
    case line(ExpectedText, name: String?)
    /// A message delivered by the subject.
    ///
    /// - Parameter kind: the kind of message with the framing `websocket`; `nil` for either kind.
    case message(ExpectedText, name: String?, kind: WebSocketMessageKind?)
    /// A ping or pong from the peer with this payload; `nil` for any payload.
    case control(isPing: Bool, [UInt8]?)
    case leftover(ExpectedText, name: String?)
    case data(ExpectedText, name: String?)
    case halfClosed
    case discarded
    case full
    case drained
    case lost(reason: String?, name: String?)
    case attemptFailed(reason: String?)
    /// Bytes delivered in any number of events.
    case bytes([UInt8])
    /// The report that all requested bytes were sent.
    ///
    /// - Parameter requested: the number of bytes that the subject had been asked to send when the step began.
    case sent(requested: Int)
    case accept
    case error(String)
    case stopped(reason: String?, code: Int?)
    case nothing(for: Duration)
    case resource(ResolvedResourceExpectation)

    /// The expected event, as a noun phrase.
    var description: String {
        switch self {
        case .started: "started"
        case .secured: "secured"
        case .line(let text, _): text.described(as: "line")
        case .message(let text, _, let kind): text.described(as: "message" + (kind.map { " \($0.rawValue)" } ?? ""))
        case .control(let isPing, let payload):
            (isPing ? "ping" : "pong") + (payload.map { " \(Escaped.phrase($0))" } ?? "")
        case .leftover(let text, _): text.described(as: "leftover")
        case .data(let text, _): text.described(as: "data")
        case .halfClosed: "half-closed"
        case .discarded: "discarded"
        case .full: "full"
        case .drained: "drained"
        case .lost(let reason, _): "lost" + (reason.map { " \($0)" } ?? "")
        case .attemptFailed(let reason): "attempt-failed" + (reason.map { " \($0)" } ?? "")
        case .bytes(let bytes): Escaped.phrase(bytes)
        case .sent(let requested): "the report of \(ByteText.count(requested, "byte")) sent"
        case .accept: "accept"
        case .error(let code): "the error \(code)"
        case .stopped(let reason, let code):
            "stopped" + (reason.map { " \($0)" } ?? "") + (code.map { " \($0)" } ?? "")
        case .nothing(let duration): "silence for \(DurationText.script(duration))"
        case .resource(let expectation): expectation.description
        }
    }

    /// The name by which a message about timing refers to the expected event.
    var eventName: String {
        switch self {
        case .sent: "the last `sent` report"
        case .resource(let expectation): expectation.eventName
        default: description
        }
    }

    /// The text of an expected delivery, such as a line, and the name of the variable that it is bound to.
    var delivery: (text: ExpectedText, name: String?)? {
        switch self {
        case .line(let text, let name), .message(let text, let name, _), .leftover(let text, let name),
            .data(let text, let name):
            (text, name)
        case .started, .secured, .control, .halfClosed, .discarded, .full, .drained, .lost, .attemptFailed, .bytes,
            .sent, .accept, .error, .stopped, .nothing, .resource:
            nil
        }
    }
}
