/// An expression for the bytes of a WebSocket frame, such as `ws.text("x")`.
package struct WebSocketExpression: Sendable, Equatable {
    package enum Kind: String, Sendable, CaseIterable {
        case text, binary, ping, pong, close, frame, accept

        /// The name as written in a script.
        package var name: String { "ws.\(rawValue)" }
    }

    package enum Mask: Sendable, Equatable {
        case none
        /// A key derived from the payload's length and the seed.
        case chosen
        /// A key of these four bytes.
        case key(Expression)
    }

    package var kind: Kind
    /// The arguments in order. Depending on the kind, these are a payload, the code and reason of a close, the opcode
    /// and payload of a frame, or a key.
    package var arguments: [Expression]
    package var isFinal: Bool?
    package var mask: Mask?
    package var reserved: Expression?
    package var length: Expression?
    package var lengthForm: Expression?
    package var opcode: Expression?

    /// All values that the expression contains.
    package var values: [Expression] {
        var values = arguments + [reserved, length, lengthForm, opcode].compactMap(\.self)
        if case .key(let key) = mask { values.append(key) }
        return values
    }
}

extension WebSocketExpression.Kind {
    /// The number of arguments that the expression accepts.
    var arity: ClosedRange<Int> {
        switch self {
        case .text, .binary, .accept: 1...1
        case .ping, .pong: 0...1
        case .close: 0...2
        case .frame: 1...2
        }
    }

    var entry: LanguageEntry {
        switch self {
        case .text: Self.entry(#"ws.text("hello")"#, "a text message in one unmasked frame")
        case .binary: Self.entry(#"ws.binary(hex(00 ff))"#, forms: ["ws.binary(V)"], "a binary message in one frame")
        case .ping:
            Self.entry(#"ws.ping("7")"#, forms: ["ws.ping(V)", "ws.ping()"], "a ping frame, with or without a payload")
        case .pong:
            Self.entry(#"ws.pong("7")"#, forms: ["ws.pong(V)", "ws.pong()"], "a pong frame, with or without a payload")
        case .close:
            Self.entry(
                #"ws.close(1000, "bye")"#, forms: [#"ws.close(1000, "bye")"#, "ws.close(1000)", "ws.close()"],
                "a close frame, with or without a code and a reason")
        case .frame:
            Self.entry(
                #"ws.frame(3, "x")"#, forms: ["ws.frame(opcode, V)"],
                "a frame with any opcode from 0 to 15. The arguments of any frame can be followed by `fin: no`, `mask: yes` or `mask: hex(01 02 03 04)`, `rsv: 4` (RSV1 is 4, RSV2 is 2, RSV3 is 1), `opcode: 0`, `length: 70000` (the length that the header states) and `length-form: 8` (the size of the length field: 1, 2 or 8 bytes)"
            )
        case .accept:
            Self.entry(
                #"ws.accept("dGhlIHNhbXBsZSBub25jZQ==")"#, forms: ["ws.accept(key)"],
                "the `Sec-WebSocket-Accept` value that answers a `Sec-WebSocket-Key` (RFC 6455, section 4.2.2)")
        }
    }

    private static func entry(_ example: String, forms: [String] = [], _ meaning: String) -> LanguageEntry {
        let name = String(example.prefix { $0 != "(" })
        return LanguageEntry(
            name, forms.isEmpty ? [example] : forms, meaning, example: example, timing: nil)
    }
}
