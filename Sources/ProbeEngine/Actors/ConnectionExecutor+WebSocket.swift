import ProbeBase
import ProbeEvents
import ProbeScenario

/// What is expected of frames of WebSocket.
extension ConnectionExecutor {
    /// The frame that `expect message ws.text("x")` accepts, with any key unless the script states one; nil for another value.
    func frame(of pattern: Pattern) throws(Finding) -> ExpectedInput? {
        guard case .value(let expression) = pattern else { return nil }
        guard case .webSocket(let value) = expression.kind else {
            try context.refuseFrame(expression)
            return nil
        }
        let bytes = try context.bytes(of: expression)
        guard case .frame(var frame, bytes.count) = WebSocketFrame.scan(bytes.span, limit: WebSocketMatcher.limit)
        else {
            throw Finding(
                .error, at: expression.span, "this frame can't be expected: its length is not that of its payload",
                hints: ["`expect` and its bytes take it as it is"])
        }
        let mask: WebSocketMatcher.WantedMask =
            switch value.mask {
            case nil: .asMust
            case .none?: .unmasked
            case .chosen?: .masked
            case .key?: .key(frame.key ?? [])
            }
        let description = WebSocketMatcher.described(frame)
        frame.key = nil
        return .webSocket(.frame(frame, mask), description)
    }

    /// There are no lines among frames.
    func refuseLines(_ actor: ConnectionActor, _ what: String) throws(Finding) {
        guard actor.framing == .websocket else { return }
        throw Finding(
            .error, "\(actor.name)'s framing is websocket: there are no lines for `\(what)`",
            hints: ["`expect message` takes a message, with a regex or without"])
    }

    func control(
        _ opcode: UInt8, _ payload: Expression?, code: Expression? = nil, _ actor: ConnectionActor
    ) throws(Finding) -> ExpectedInput {
        try requireWebSocket(actor, "control frames")
        let code = try code.map { (code) throws(Finding) in try context.integer(of: code) }
        let content = try payload.map { (payload) throws(Finding) in
            ExpectedText.value(try context.bytes(of: payload))
        }
        var description = WebSocketMatcher.name(of: opcode)
        if let code { description += " with the code \(code)" }
        if let value = content?.value { description += " \(Escaped.phrase(value))" }
        return .webSocket(.control(opcode: opcode, content: content, code: code), description)
    }

    func requireWebSocket(_ actor: ConnectionActor, _ what: String) throws(Finding) {
        guard actor.framing != .websocket else { return }
        throw Finding(
            .error, "\(actor.name)'s framing is \(actor.framing.rawValue), which has no \(what)",
            hints: ["write `\(actor.name) framing websocket` before this step"])
    }
}

extension CaseContext {
    /// Refuses a value that consists of whole frames, from a variable for example: it would be compared with the content of a message.
    ///
    /// Only frames without reserved bits are recognized. Their first byte continues a character of UTF-8, so that no text begins with it;
    /// with reserved bits, some text of the right length would be a frame, too.
    func refuseFrame(_ expression: Expression) throws(Finding) {
        let value = try bytes(of: expression)
        guard let first = value.first, first & 0xf0 == 0x80 else { return }
        var position = 0
        while position < value.count {
            let rest = value.span.extracting(droppingFirst: position)
            guard case .frame(_, let length) = WebSocketFrame.scan(rest, limit: WebSocketMatcher.limit) else { return }
            position += length
        }
        throw Finding(
            .error, at: expression.span, "this value is a frame, and would be compared with the content of a message",
            hints: [
                "write the frame in this step: `expect message ws.text(…)`",
                "`expect` and the value takes the frame's bytes as they are",
            ])
    }
}
