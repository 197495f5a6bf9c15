/// What RFC 6455 forbids of a frame.
extension WebSocketFrame {
    /// What is wrong with it, as `came unmasked: a client masks every frame (RFC 6455, 5.1)`; nil if nothing is.
    ///
    /// No extension is in use: the reserved bits have no meaning. Whether a text is UTF-8 is known of a whole message only.
    ///
    /// - Parameter isOfClient: a client has sent it.
    package func violation(isOfClient: Bool) -> String? {
        if isOfClient, key == nil { return "came unmasked: a client masks every frame (RFC 6455, 5.1)" }
        if !isOfClient, key != nil { return "came masked: a server masks no frame (RFC 6455, 5.1)" }
        if reserved != 0 { return "has reserved bits, and no extension was agreed on (RFC 6455, 5.2)" }
        if let form = lengthForm {
            return "has its length in \(form.rawValue) bytes, and fewer are enough (RFC 6455, 5.2)"
        }
        switch opcode {
        case Opcode.continuation, Opcode.text, Opcode.binary: return nil
        case Opcode.close, Opcode.ping, Opcode.pong: return violationOfControl
        default: return "has a reserved opcode (RFC 6455, 5.2)"
        }
    }

    private var violationOfControl: String? {
        if !isFinal { return "has no FIN: a control frame is not fragmented (RFC 6455, 5.5)" }
        if payload.count > 125 {
            return "carries \(payload.count) bytes: a control frame has 125 at most (RFC 6455, 5.5)"
        }
        guard opcode == Opcode.close, !payload.isEmpty else { return nil }
        guard let code = closeCode else {
            return "carries one byte: a close has a code of two, or nothing (RFC 6455, 5.5.1)"
        }
        guard Self.mayBeSent(code: code) else { return "has the code \(code), which is never sent (RFC 6455, 7.4)" }
        if String(validating: payload.dropFirst(2), as: UTF8.self) == nil {
            return "has a reason that is no UTF-8 (RFC 6455, 5.5.1)"
        }
        return nil
    }

    /// Of a close that has one.
    package var closeCode: UInt16? {
        opcode == Opcode.close && payload.count >= 2 ? UInt16(payload[0]) << 8 | UInt16(payload[1]) : nil
    }

    /// 1000 to 2999 are those of the protocol and its registry, the others are for frameworks and applications (RFC 6455, 7.4.2).
    package static func mayBeSent(code: UInt16) -> Bool {
        switch code {
        case 1004, 1005, 1006, 1015: false
        case 1000...1014, 3000...4999: true
        default: false
        }
    }
}
