import ProbeBase

/// Reports steps that concern WebSocket frames if the script does not use WebSocket.
struct WebSocketChecker {
    let names: NameScope

    func follow(_ name: Name, _ action: Action, _ step: Step) {
        if case .subject(.framing(.websocket, _)) = action {
            names.report(
                .unknownVerb,
                "`\(name.value)` can't change to WebSocket, because a WebSocket connection begins with "
                    + "an opening handshake",
                hint: "add `framing websocket` to the header: the subject then uses WebSocket from the start",
                at: step.focus)
        }
        if case .subject(.expect(let expectation)) = action, case .value(let value)? = expectation.messagePattern,
            case .webSocket = value.kind
        {
            names.report(
                .wrongType,
                "`\(name.value)` is a subject, which reports messages without their frames, so it never reports a frame",
                hint:
                    "write what the message contains: `\(name.value) expect message text \"x\"` or `\(name.value) expect message binary V`",
                at: value.span)
        }
        if case .connection(.expect(.messageOfKind(let kind, .value(let value), _))) = action,
            case .webSocket = value.kind
        {
            names.report(
                .wrongType, "a frame can't be the content of a \(kind.rawValue) message",
                hint: "write only the content, or remove `\(kind.rawValue)`: the frame states its own type",
                at: value.span)
        }
        // The framing is `nil` if a step changes it, possibly to WebSocket.
        guard let framing = names.constants.framing, framing != .websocket, !names.place.isOrderUnknown else { return }
        let what: String? =
            switch action {
            case .connection(.expect(let expectation)) where expectation.webSocketFeature != nil:
                "expect \(expectation.spelling)"
            case .subject(.expect(.stopped("closed", _))): "expect stopped closed"
            case .subject(.expect(let expectation)) where expectation.isAboutWebSocket: "expect \(expectation.spelling)"
            case .subject(let action) where action.isAboutWebSocket: action.spelling
            default: nil
            }
        let isSubjectAction = if case .subject = action { true } else { false }
        if let what {
            names.report(.needsWebSocket(what, actor: isSubjectAction ? nil : name.value), at: step.focus)
        }
    }
}

extension SubjectExpectation {
    /// The pattern that a message must match; `nil` for other expectations.
    fileprivate var messagePattern: Pattern? {
        switch self {
        case .message(let pattern, _), .messageOfKind(_, let pattern, _): pattern
        default: nil
        }
    }
}

extension Diagnostic.Message {
    /// The message for a step that requires WebSocket, if the script never uses the framing `websocket`.
    ///
    /// - Parameter actor: the actor of a connection; `nil` for a subject, whose framing applies from its start.
    static func needsWebSocket(_ what: String, actor: String?) -> Self {
        Self(
            .unknownExpectation, "`\(what)` requires WebSocket, but the script never uses `framing websocket`",
            hint: actor.map { actor in
                "add `\(actor) framing websocket` before this step, or an opening handshake: `connect websocket "
                    + "\"/\"` or `accept websocket`"
            } ?? "add `framing websocket` to the header: the subject then uses WebSocket from the start")
    }
}
