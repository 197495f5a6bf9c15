import ProbeBase

/// A transport's framing: the decoder and encoder of ProbeWire, and the event that a message becomes.
struct BSDFraming: Sendable {
    private enum Kind { case line, message, data }

    private let framing: Framing
    private let kind: Kind
    private let limit: Int

    /// - Throws: `unsupported` for `websocket`, which no decoder below has.
    init(_ configuration: TransportConfiguration) throws(TransportError) {
        framing = configuration.framing
        limit = max(0, configuration.maxLine)
        kind =
            switch framing {
            case .crlf, .lf, .cr, .nul: .line
            case .u8, .u16, .u32, .u64, .varint: .message
            case .none: .data
            case .websocket: throw .unsupported
            }
    }

    /// A decoder for one connection. The limit holds for every framing that has messages, not only for lines.
    func makeDecoder() -> FrameDecoder {
        FrameDecoder(framing: framing, limit: kind == .data ? nil : limit)
    }

    /// - Throws: where the message contains its own terminator, or is too long for its length prefix.
    func encode(_ message: [UInt8]) throws(FrameEncoder.Failure) -> [UInt8] {
        try FrameEncoder(framing: framing).encode(message)
    }

    /// What a connection that brought such bytes stops with.
    func stop(for error: FrameError) -> (StopReason, detail: String) {
        switch error.kind {
        case .tooLong: (.tooLong, error.description)
        case .lengthOutOfRange, .varintTooLong: (.protocol, error.description)
        }
    }

    func event(_ content: [UInt8]) -> TransportEvent {
        switch kind {
        case .line: .line(content)
        case .message: .message(content)
        case .data: .data(content)
        }
    }
}
