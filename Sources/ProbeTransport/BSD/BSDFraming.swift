import ProbeBase

/// A transport's framing: its decoder and encoder, and the event for a message.
struct BSDFraming: Sendable {
    private let encoder: FrameEncoder
    /// The kind of unit into which the framing divides a stream; `nil` if the stream is not divided.
    private let unit: Framing.Unit?
    private let limit: Int
    private let discardsTooLong: Bool
    /// The answer to a heartbeat; the answer is not delivered as a message.
    private var answer: [UInt8]?

    /// Creates the framing that a configuration specifies.
    ///
    /// - Throws: `unsupported` for `websocket`, for which there is no decoder.
    init(_ configuration: TransportConfiguration) throws(TransportError) {
        try self.init(
            configuration.framing, limit: max(0, configuration.maxLine), discardsTooLong: configuration.discardsTooLong)
        answer = configuration.heartbeat?.answer
    }

    private init(_ framing: Framing, limit: Int, discardsTooLong: Bool) throws(TransportError) {
        guard framing != .websocket else { throw .unsupported }
        encoder = FrameEncoder(framing: framing)
        unit = framing.unit
        self.limit = limit
        self.discardsTooLong = discardsTooLong
    }

    /// Returns another framing with the same limit and the same answer to heartbeats.
    ///
    /// - Throws: `unsupported` for `websocket`.
    func changed(to framing: Framing) throws(TransportError) -> BSDFraming {
        var changed = try BSDFraming(framing, limit: limit, discardsTooLong: discardsTooLong)
        changed.answer = answer
        return changed
    }

    /// Returns whether a message is the answer to a heartbeat. An undivided stream contains no such answers.
    func isAnswer(_ content: [UInt8]) -> Bool { unit != nil && content == answer }

    /// Returns a decoder for one connection. The limit applies to every framing that has messages.
    func makeDecoder() -> BSDDecoder {
        BSDDecoder(FrameDecoder(framing: encoder.framing, limit: limit), continues: discardsTooLong)
    }

    /// Returns the message with its framing.
    ///
    /// - Throws: an error if the message contains its own terminator, or is too long for its length prefix.
    func encode(_ message: [UInt8]) throws(FrameEncoder.Failure) -> [UInt8] { try encoder.encode(message) }

    /// Returns the reason and the detail with which a connection stops after a framing error in its input.
    func stop(for error: FrameError) -> (StopReason, detail: String) {
        if case .tooLong = error.kind { (.tooLong, error.description) } else { (.protocol, error.description) }
    }

    func event(_ content: [UInt8]) -> TransportEvent {
        switch unit {
        case .line: .line(content)
        case .message: .message(content)
        case nil: .data(content)
        }
    }
}
