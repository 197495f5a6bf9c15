import ProbeBase

extension Evaluator {
    func bytes(of value: WebSocketExpression, span: SourceSpan) throws(EvaluationError) -> [UInt8] {
        if value.kind == .accept {
            return Array(WebSocketHandshake.accept(try bytes(of: value.arguments[0])).utf8)
        }
        var frame = try frame(value)
        if let isFinal = value.isFinal { frame.isFinal = isFinal }
        if let reserved = value.reserved { frame.reserved = UInt8(try number(reserved, "rsv", 0...7)) }
        if let opcode = value.opcode { frame.opcode = UInt8(try number(opcode, "opcode", 0...15)) }
        if let length = value.length { frame.statedLength = UInt64(try number(length, "length", 0...Int.max)) }
        if let form = value.lengthForm {
            let width = try integer(of: form)
            guard let form = WebSocketFrame.LengthForm(rawValue: width) else {
                throw EvaluationError(.badLengthForm(width), span: form.span)
            }
            frame.lengthForm = form
        }
        switch value.mask {
        case .chosen:
            // The same frame of the same seed has the same key.
            var generator = SplitMix64(seed: seedOffset &+ frame.payload.count)
            frame.key = generator.bytes(4)
        case .key(let key):
            let bytes = try bytes(of: key)
            guard bytes.count == 4 else { throw EvaluationError(.badMaskingKey(bytes.count), span: key.span) }
            frame.key = bytes
        case .none?, nil: break
        }
        guard let bytes = frame.encoded() else {
            throw EvaluationError(
                .lengthAboveForm(frame.statedLength ?? UInt64(frame.payload.count)),
                span: value.lengthForm?.span ?? span)
        }
        try checkSize(bytes.count, span)
        return bytes
    }

    private func frame(_ value: WebSocketExpression) throws(EvaluationError) -> WebSocketFrame {
        let arguments = value.arguments
        func payload(_ index: Int) throws(EvaluationError) -> [UInt8] {
            index < arguments.count ? try bytes(of: arguments[index]) : []
        }
        switch value.kind {
        case .text: return WebSocketFrame(WebSocketFrame.Opcode.text, try payload(0))
        case .binary: return WebSocketFrame(WebSocketFrame.Opcode.binary, try payload(0))
        case .ping: return WebSocketFrame(WebSocketFrame.Opcode.ping, try payload(0))
        case .pong, .accept: return WebSocketFrame(WebSocketFrame.Opcode.pong, try payload(0))
        case .close:
            guard let code = arguments.first else { return .close(nil) }
            return .close(UInt16(try number(code, "code", 0...65_535)), try payload(1))
        case .frame:
            return WebSocketFrame(UInt8(try number(arguments[0], "opcode", 0...15)), try payload(1))
        }
    }

    private func number(
        _ expression: Expression, _ what: String, _ range: ClosedRange<Int>
    ) throws(EvaluationError) -> Int {
        let value = try integer(of: expression)
        guard range.contains(value) else {
            throw EvaluationError(.outOfRange(value, what, range), span: expression.span)
        }
        return value
    }
}
