import ProbeBase

/// A transport's framing: its decoder and encoder, and the event for a message.
struct BSDFraming: Sendable {
    private enum Kind { case line, message, data }

    private let framing: Framing
    private let kind: Kind
    private let limit: Int
    private let discardsTooLong: Bool
    /// The answer to a heartbeat, which is not delivered.
    private var answer: [UInt8]?

    /// Creates the framing of a configuration.
    ///
    /// - Throws: `unsupported` for `websocket`, for which there is no decoder.
    init(_ configuration: TransportConfiguration) throws(TransportError) {
        try self.init(
            configuration.framing, limit: max(0, configuration.maxLine), discardsTooLong: configuration.discardsTooLong)
        answer = configuration.heartbeat?.answer
    }

    private init(_ framing: Framing, limit: Int, discardsTooLong: Bool) throws(TransportError) {
        self.framing = framing
        self.limit = limit
        self.discardsTooLong = discardsTooLong
        kind =
            switch framing {
            case .crlf, .lf, .cr, .nul, .delimiter: .line
            case .u8, .u16, .u24, .u32, .u64, .u16le, .u32le, .varint, .netstring: .message
            case .none: .data
            case .websocket: throw .unsupported
            }
    }

    /// Returns another framing with the same limit.
    ///
    /// - Throws: `unsupported` for `websocket`.
    func changed(to framing: Framing) throws(TransportError) -> BSDFraming {
        var changed = try BSDFraming(framing, limit: limit, discardsTooLong: discardsTooLong)
        changed.answer = answer
        return changed
    }

    /// Whether a message is the answer to a heartbeat. A stream without messages has none.
    func isAnswer(_ content: [UInt8]) -> Bool { kind != .data && content == answer }

    /// Returns a decoder for one connection. The limit applies to every framing that has messages.
    func makeDecoder() -> BSDDecoder {
        BSDDecoder(FrameDecoder(framing: framing, limit: kind == .data ? nil : limit), goesOn: discardsTooLong)
    }

    /// Returns the message with its framing.
    ///
    /// - Throws: an error if the message contains its own terminator, or is too long for its length prefix.
    func encode(_ message: [UInt8]) throws(FrameEncoder.Failure) -> [UInt8] {
        try FrameEncoder(framing: framing).encode(message)
    }

    /// Returns the reason with which a connection stops if its input has this error.
    func stop(for error: FrameError) -> (StopReason, detail: String) {
        switch error.kind {
        case .tooLong: (.tooLong, error.description)
        case .lengthOutOfRange, .varintTooLong, .netstring: (.protocol, error.description)
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
