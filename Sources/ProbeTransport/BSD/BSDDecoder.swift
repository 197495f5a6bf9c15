import ProbeBase

/// Divides a connection's stream into messages. If the connection must continue after a message that is too long, the
/// decoder discards that message without storing its bytes.
struct BSDDecoder: Sendable {
    enum Next: Sendable, Equatable {
        case message([UInt8])
        /// A message was too long. The event is reported as soon as the limit is known to be exceeded, even before the
        /// end of the message has arrived.
        case discarded
    }

    /// The remaining part of the message that is being discarded.
    private enum Skipping: Sendable {
        case bytes(UInt64)
        /// The byte that must follow the payload to end the message.
        case end(UInt8)
        case terminator(DelimiterSearch)
    }

    private var frames: FrameDecoder
    private let continues: Bool
    private var skipping: Skipping?
    /// The error found at the end of a discarded message.
    private var failure: FrameError?
    /// The total number of bytes that have been appended.
    private var position = 0

    init(_ frames: FrameDecoder, continues: Bool) {
        self.frames = frames
        self.continues = continues
    }

    mutating func append(_ bytes: some Collection<UInt8>) {
        position += bytes.count
        if skipping == nil { frames.append(bytes) } else { skip(Array(bytes)[...]) }
    }

    /// Returns the next message; `nil` if more bytes are needed.
    mutating func next() throws(FrameError) -> Next? {
        if let failure { throw failure }
        if skipping != nil { return nil }
        do throws(FrameError) {
            return try frames.next().map { .message($0.payload) }
        } catch {
            guard continues, case .tooLong(_, let length) = error.kind, let rest = rest(length) else { throw error }
            skipping = rest
            skip(frames.finish()[...])
            return .discarded
        }
    }

    /// Returns the bytes of an incomplete message. The bytes of a message that is being discarded are not included.
    mutating func finish() -> [UInt8] { frames.finish() }

    /// Returns how much to discard for the message at the head of the decoder's input; `nil` if the length overflows.
    private func rest(_ length: UInt64?) -> Skipping? {
        guard let length else { return frames.framing.terminator.map { .terminator(DelimiterSearch($0)) } }
        // `read` does not throw, because the decoder has already read the same length.
        guard let (_, width) = try? frames.framing.prefix?.read(frames.pending) else { return nil }
        let (count, overflow) = length.addingReportingOverflow(UInt64(width))
        return overflow ? nil : .bytes(count)
    }

    /// Discards the bytes that belong to the message being skipped. The bytes after that message are passed to a new
    /// decoder.
    private mutating func skip(_ bytes: ArraySlice<UInt8>) {
        var bytes = bytes
        while let rest = skipping {
            switch rest {
            case .bytes(let count):
                let skipped = Int(min(count, UInt64(bytes.count)))
                bytes = bytes.dropFirst(skipped)
                guard UInt64(skipped) == count else {
                    skipping = .bytes(count - UInt64(skipped))
                    return
                }
                skipping = frames.framing.prefix?.end.map { .end($0) }
            case .end(let end):
                guard let last = bytes.popFirst() else { return }
                if last != end {
                    failure = FrameError(.netstring(.noComma), offset: position - bytes.count - 1)
                }
                skipping = nil
            case .terminator(var search):
                guard let end = search.end(in: bytes.span) else {
                    skipping = .terminator(search)
                    return
                }
                bytes = bytes.dropFirst(end)
                skipping = nil
            }
        }
        frames = FrameDecoder(framing: frames.framing, limit: frames.limit, offset: position - bytes.count)
        frames.append(bytes)
    }
}
