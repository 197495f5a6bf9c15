package import ProbeBase
package import ProbeWire

/// Splits one direction of a flow into messages, and finds the segment boundaries within each message.
package struct MessageScan: Sendable {
    package struct Message: Sendable, Equatable {
        /// The number of the message in its direction, counting from 1.
        package var number: Int
        /// The offset at which the message begins, including its prefix.
        package var offset: Int64
        package var bytes: [UInt8]
        /// The offsets in `bytes` at which another segment begins, in ascending order.
        package var cuts: [Int]
        /// The length of the terminator at the end of `bytes`.
        package var terminatorLength: Int
        /// The number of bare CRs and LFs in the content, if the message is a line that ends with CRLF.
        package var bareCount: Int
        package var isFinished: Bool
        /// The WebSocket frame; `nil` for the head of an opening handshake, and for an unfinished message.
        package var frame: WebSocketFrame?
        /// The length of the prefix or frame header before the content.
        package var headerLength = 0
    }

    /// Returns the content of a message. For WebSocket, returns the unmasked payload if the message is a binary frame,
    /// otherwise `nil`.
    package static func body(of message: Message, _ framing: Framing) -> ArraySlice<UInt8>? {
        guard framing == .websocket else { return message.bytes[content(of: message, framing)] }
        guard let frame = message.frame, frame.opcode == WebSocketFrame.Opcode.binary else { return nil }
        return frame.payload[...]
    }

    /// Returns the range of a message's content, excluding prefix and terminator. For an unfinished message, returns
    /// the range of the content received so far.
    package static func content(of message: Message, _ framing: Framing) -> Range<Int> {
        let end = message.bytes.count - message.terminatorLength
        guard let prefix = framing.prefix else { return 0..<end }
        // Errors are ignored, because the length of a message is either valid or incomplete.
        guard let (_, width) = try? prefix.read(message.bytes[...]) else { return end..<end }
        return width..<(message.isFinished && prefix.end != nil ? end - 1 : end)
    }

    package enum Event: Sendable, Equatable {
        case message(Message)
        case gap(StreamGap)
        /// The stream can't be split into messages from this offset on.
        case unreadable(offset: Int64, reason: String)
    }

    /// The maximum length of a message, in bytes.
    package static let longestMessage = 64 << 20
    /// The maximum total length of the HTTP heads in one direction of the opening handshake.
    private static let longestOpening = 1 << 20

    private let framing: Framing
    private var decoder: FrameDecoder
    /// The buffered bytes of the stream. The bytes from `head` on do not belong to a message yet.
    private var bytes: [UInt8] = []
    private var head = 0
    /// The offset in the stream of the byte at `head`.
    private var base: Int64 = 0
    /// The offsets of the segment boundaries at and after `base`.
    private var edges: Set<Int64> = []
    private var count = 0
    private var isUnreadable = false
    /// Whether the opening handshake of a WebSocket connection is complete.
    private var isOpen = false

    package init(framing: Framing) {
        self.framing = framing
        decoder = FrameDecoder(framing: framing, limit: Self.longestMessage)
    }

    /// Records the range of a segment that contains bytes sent for the first time.
    package mutating func note(segment range: Range<Int64>) {
        // Once the stream can't be split into messages, segment boundaries are not needed.
        if isUnreadable { return }
        for edge in [range.lowerBound, range.upperBound] where edge >= base { edges.insert(edge) }
    }

    package mutating func add(_ part: StreamPart) -> [Event] {
        if isUnreadable { return [] }
        switch part.content {
        case .bytes(let new):
            if head * 2 >= bytes.count {
                bytes.removeFirst(head)
                head = 0
            }
            if bytes.isEmpty { base = part.offset }
            bytes += new
            guard framing != .websocket else { return webSocketFrames() }
            decoder.append(new)
            return frames()
        case .gap(let gap):
            let events = finish() + [.gap(gap)]
            guard framing != .websocket else {
                isUnreadable = true
                return events + [.unreadable(offset: gap.end, reason: "the start of the next frame is unknown")]
            }
            // After a gap, only a terminator shows where the next message begins, because a length prefix may be in the
            // gap.
            decoder = FrameDecoder(framing: framing, limit: Self.longestMessage, offset: Int(clamping: gap.end))
            base = gap.end
            return events
        }
    }

    /// Returns the unfinished message, if any, at the end of the stream or before a gap.
    package mutating func finish() -> [Event] {
        guard !isUnreadable, head < bytes.count else { return [] }
        _ = decoder.finish()
        return [.message(take(bytes.count - head, isFinished: false))]
    }

    private mutating func frames() -> [Event] {
        var events: [Event] = []
        do throws(FrameError) {
            while let frame = try decoder.next() {
                events.append(
                    .message(
                        take(frame.range.count, terminator: frame.terminator.count, isFinished: framing != .none)))
            }
        } catch {
            events.append(unreadable("\(error)"))
        }
        return events
    }

    private mutating func webSocketFrames() -> [Event] {
        var events: [Event] = []
        if !isOpen {
            guard case .frames(let start) = WebSocketStart(bytes.span.extracting(head..<bytes.count)) else {
                return bytes.count - head > Self.longestOpening
                    ? [unreadable("its opening handshake is incomplete")] : []
            }
            isOpen = true
            if start > 0 {
                events.append(.message(take(start, isFinished: true)))
            }
        }
        while head < bytes.count {
            let scan = WebSocketFrame.scan(bytes.span.extracting(head..<bytes.count), limit: Self.longestMessage)
            switch scan {
            case .incomplete: return events
            case .tooLong(let length):
                return events + [
                    unreadable("a frame of \(length) bytes is too long: at most \(Self.longestMessage) bytes are kept")
                ]
            case .frame(let frame, let length):
                var message = take(length, isFinished: true)
                message.frame = frame
                message.headerLength = length - frame.payload.count
                events.append(.message(message))
            }
        }
        return events
    }

    private mutating func unreadable(_ reason: String) -> Event {
        isUnreadable = true
        bytes = []
        head = 0
        return .unreadable(offset: base, reason: reason)
    }

    private mutating func take(_ length: Int, terminator: Int = 0, isFinished: Bool) -> Message {
        count += 1
        let end = base + Int64(length)
        let inside = edges.filter { $0 > base && $0 < end }.sorted()
        let whole = bytes[head..<min(head + length, bytes.count)]
        let message = Message(
            number: count, offset: base, bytes: Array(whole), cuts: inside.map { Int($0 - base) },
            terminatorLength: terminator,
            bareCount: framing == .crlf ? Self.bareCount(whole.dropLast(terminator), isFinished) : 0,
            isFinished: isFinished)
        head = whole.endIndex
        base = end
        if edges.contains(where: { $0 < end }) { edges = edges.filter { $0 >= end } }
        return message
    }

    /// Returns the number of CRs and LFs in the content of a line that ends with CRLF. A CR at the end of an unfinished
    /// line may be the first half of a terminator, so it is not counted.
    private static func bareCount(_ content: ArraySlice<UInt8>, _ isFinished: Bool) -> Int {
        let count = content.count { $0 == 0x0D || $0 == 0x0A }
        return !isFinished && content.last == 0x0D ? count - 1 : count
    }
}
