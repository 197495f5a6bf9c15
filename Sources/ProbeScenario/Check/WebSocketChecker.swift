import ProbeBase

/// Reports steps about frames of WebSocket in a script without it.
struct WebSocketChecker {
    let names: NameScope

    func follow(_ name: Name, _ action: Action, _ step: Step) {
        if case .subject(.framing(.websocket, _)) = action {
            names.report(.order(.subjectChangesToWebSocket(name.value)), at: step.focus)
        }
        if case .subject(.expect(let expectation)) = action, case .value(let value)? = expectation.messagePattern,
            case .webSocket = value.kind
        {
            names.report(.order(.frameOfSubject(name.value)), at: value.span)
        }
        if case .connection(.expect(.messageOfKind(let kind, .value(let value), _))) = action,
            case .webSocket = value.kind
        {
            names.report(.order(.frameOfKind(kind)), at: value.span)
        }
        // Nil: a step changes the framing, perhaps to WebSocket.
        guard let framing = names.constants.framing, framing != .websocket, !names.place.isOrderUnknown else { return }
        let what: String? =
            switch action {
            case .connection(.expect(let expectation)) where expectation.isOfWebSocket: "expect \(expectation.spelling)"
            case .subject(.expect(.stopped("closed", _))): "expect stopped closed"
            case .subject(.expect(let expectation)) where expectation.isOfWebSocket: "expect \(expectation.spelling)"
            case .subject(let action) where action.isOfWebSocket: action.spelling
            default: nil
            }
        let isOfSubject = if case .subject = action { true } else { false }
        if let what {
            names.report(.order(.needsWebSocket(what, actor: isOfSubject ? nil : name.value)), at: step.focus)
        }
    }
}

extension SubjectExpectation {
    /// What a message must be.
    fileprivate var messagePattern: Pattern? {
        switch self {
        case .message(let pattern, _), .messageOfKind(_, let pattern, _): pattern
        default: nil
        }
    }
}
