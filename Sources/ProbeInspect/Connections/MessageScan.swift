package import ProbeBase
package import ProbeWire

/// Divides one direction of a flow into messages, and finds where segments divide these.
package struct MessageScan: Sendable {
    package struct Message: Sendable, Hashable {
        /// The number in this direction, counted from 1.
        package var number: Int
        /// The offset of the whole message, with prefix and terminator.
        package var offset: Int64
        package var bytes: [UInt8]
        /// The offsets in `bytes` at which another segment begins, ascending.
        package var cuts: [Int]
        /// The number of bytes of the terminator at the end.
        package var terminatorLength: Int
        /// The number of CRs and LFs in the content of a line that end nothing.
        package var bareCount: Int
        package var isFinished: Bool
    }

    /// The content of a message, without prefix and terminator; of an unfinished one, what is there.
    package static func content(of message: Message, _ framing: Framing) -> Range<Int> {
        let end = message.bytes.count - message.terminatorLength
        guard framing != .netstring else {
            let colon = message.bytes.firstIndex(of: UInt8(ascii: ":")) ?? end - 1
            return min(colon + 1, end)..<end
        }
        guard let prefix = framing.prefix else { return 0..<end }
        let varintWidth = message.bytes.prefix(while: { $0 >= 0x80 }).count + 1
        let width: Int = prefix.width ?? varintWidth
        return min(width, end)..<end
    }

    package enum Event: Sendable, Hashable {
        case message(Message)
        case gap(StreamGap)
        /// From this offset on the stream can't be divided into messages.
        case unreadable(offset: Int64, reason: String)
    }

    /// A message that is longer is not collected.
    package static let longestMessage = 64 << 20

    private let framing: Framing
    private var decoder: FrameDecoder
    /// From `head` on, the bytes that no message has taken.
    private var bytes: [UInt8] = []
    private var head = 0
    /// The offset of the byte at `head`.
    private var base: Int64 = 0
    /// The boundaries of segments at and after `base`.
    private var edges: Set<Int64> = []
    private var count = 0
    private var isUnreadable = false

    package init(framing: Framing) {
        self.framing = framing
        decoder = FrameDecoder(framing: framing, limit: Self.longestMessage)
    }

    /// Records a segment with bytes that were sent for the first time.
    package mutating func note(segment range: Range<Int64>) {
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
            decoder.append(new)
            return frames()
        case .gap(let gap):
            let events = finish() + [.gap(gap)]
            // After a gap only a terminator shows where the next message begins: a length may be in the gap.
            decoder = FrameDecoder(framing: framing, limit: Self.longestMessage, offset: Int(clamping: gap.end))
            base = gap.end
            return events
        }
    }

    /// The stream ends or is interrupted here: returns the unfinished message.
    package mutating func finish() -> [Event] {
        guard !isUnreadable, head < bytes.count else { return [] }
        let bare = decoder.bareTerminators
        _ = decoder.finish()
        return [.message(take(bytes.count - head, terminator: 0, bare: bare, isFinished: false))]
    }

    private mutating func frames() -> [Event] {
        var events: [Event] = []
        do throws(FrameError) {
            while let frame = try decoder.next() {
                events.append(
                    .message(
                        take(
                            frame.range.count, terminator: frame.terminator.count, bare: frame.bareTerminators,
                            isFinished: framing != .none)))
            }
        } catch {
            isUnreadable = true
            events.append(.unreadable(offset: base, reason: "\(error)"))
            bytes = []
            head = 0
        }
        return events
    }

    private mutating func take(
        _ length: Int, terminator: Int, bare: BareTerminators, isFinished: Bool
    ) -> Message {
        count += 1
        let end = base + Int64(length)
        let inside = edges.filter { $0 > base && $0 < end }.sorted()
        let message = Message(
            number: count, offset: base, bytes: Array(bytes[head..<min(head + length, bytes.count)]),
            cuts: inside.map { Int($0 - base) },
            terminatorLength: terminator, bareCount: bare.carriageReturns.count + bare.lineFeeds.count,
            isFinished: isFinished)
        head = min(head + length, bytes.count)
        base = end
        if edges.contains(where: { $0 < end }) { edges = edges.filter { $0 >= end } }
        return message
    }
}
