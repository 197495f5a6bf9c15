/// Divides one direction of a connection into the units of a framing.
///
/// The decoder does no I/O: bytes are appended as they arrive, in pieces of any size, and `next()` returns complete
/// frames. The decoder never traps, and reads each byte once. It stores only bytes that are not yet part of a returned
/// frame. An announced length is compared with the limit, but no memory is allocated in advance.
///
/// - A framing by terminator: the terminator ends a line. The first bytes of a terminator are content unless the rest
///   of the terminator follows them.
/// - A framing by length: a length precedes each message. A varint may have more bytes than its value requires, but at
///   most 10 bytes and 64 bits.
/// - `none`, and `websocket`, whose frames this decoder does not parse: the stream has no units. A frame contains the
///   bytes that have arrived since the previous frame, and the limit does not apply.
package struct FrameDecoder: Sendable {
    package let framing: Framing
    /// The maximum number of payload bytes in a frame; `nil` for no limit.
    package let limit: Int?

    private let kind: Framing.Kind
    /// The reason why the stream can no longer be divided into frames.
    private var failure: FrameError?
    private var buffer: [UInt8] = []
    /// The start of the current frame in the buffer.
    private var head = 0
    /// The search for the terminator; `nil` if the framing has no terminator.
    private var search: DelimiterSearch?
    /// The index in the buffer after the last byte that the search has read.
    private var searched = 0
    /// The offset of the buffer's first byte in the stream.
    private var bufferOffset: Int

    /// Creates a decoder.
    ///
    /// - Parameters:
    ///   - limit: the maximum number of payload bytes, excluding the terminator and the length; a negative limit is
    ///     treated as 0.
    ///   - offset: the stream offset of the first byte that will be appended. The offsets of frames and errors are also
    ///     counted from the start of the stream.
    package init(framing: Framing, limit: Int?, offset: Int = 0) {
        self.framing = framing
        self.limit = limit.map { max($0, 0) }
        kind = framing.kind
        search = framing.terminator.map { DelimiterSearch($0) }
        bufferOffset = max(offset, 0)
    }

    /// The stream offset of the first byte that is not part of a returned frame.
    package var offset: Int { bufferOffset + head }

    /// The bytes that are not part of a returned frame.
    package var pending: ArraySlice<UInt8> { buffer[head...] }

    /// Appends received bytes.
    package mutating func append(_ bytes: borrowing Span<UInt8>) {
        compact()
        for index in bytes.indices { buffer.append(bytes[index]) }
    }

    /// Appends received bytes.
    package mutating func append(_ bytes: some Collection<UInt8>) {
        compact()
        buffer.append(contentsOf: bytes)
    }

    /// Returns the next complete frame; `nil` if more bytes are needed.
    ///
    /// - Throws: the reason why the stream can't be divided, as soon as it is certain, and again on each later call.
    ///   The invalid frame and all bytes after it remain `pending`.
    package mutating func next() throws(FrameError) -> Frame? {
        if let failure { throw failure }
        do throws(FrameError) {
            switch kind {
            case .lines(let terminator): return try nextLine(terminator.count)
            case .counted(let prefix):
                guard let (width, count) = try prefix.unit(in: pending, at: offset, limit: limit) else { return nil }
                return take(prefix: width, payload: count, end: prefix.end == nil ? 0 : 1)
            case .webSocket, .undivided: return head < buffer.count ? take(payload: buffer.count - head) : nil
            }
        } catch {
            failure = error
            throw error
        }
    }

    /// Returns and removes all bytes that are not part of a returned frame, for use when the stream has ended or when
    /// another reader takes over.
    package mutating func finish() -> [UInt8] {
        let leftover = Array(pending)
        bufferOffset += buffer.count
        buffer = []
        head = 0
        searched = 0
        search?.reset()
        return leftover
    }

    private mutating func nextLine(_ terminatorLength: Int) throws(FrameError) -> Frame? {
        guard var search else { return nil }
        let end = search.end(in: buffer.span, from: searched)
        self.search = search
        searched = end ?? buffer.count
        // If no terminator was found, all bytes are content, except bytes at the end that may begin a terminator.
        let count = searched - head - (end == nil ? search.matched : terminatorLength)
        if let limit, count > limit { throw FrameError(.tooLong(limit: limit, length: nil), offset: offset) }
        return end == nil ? nil : take(payload: count, terminator: terminatorLength)
    }

    /// Returns the frame at `head`, which must be complete.
    ///
    /// - Parameter end: the number of bytes after the payload that belong to the frame but are not a terminator, such
    ///   as a netstring's comma.
    private mutating func take(prefix: Int = 0, payload: Int, end: Int = 0, terminator: Int = 0) -> Frame {
        let content = (head + prefix)..<(head + prefix + payload)
        let next = content.upperBound + end + terminator
        let frame = Frame(
            payload: Array(buffer[content]), range: offset..<(bufferOffset + next),
            terminator: (bufferOffset + next - terminator)..<(bufferOffset + next))
        head = next
        searched = next
        return frame
    }

    /// Removes the bytes of returned frames when they fill at least half of the buffer, so each byte is moved only once
    /// on average.
    private mutating func compact() {
        guard head > 0, head >= buffer.count - head else { return }
        buffer.removeFirst(head)
        bufferOffset += head
        searched -= head
        head = 0
    }
}

/// One unit of a framing, with its position in the stream. All ranges are offsets from the start of the stream.
package struct Frame: Sendable, Equatable {
    /// The payload, excluding the length and the terminator.
    package var payload: [UInt8]
    /// The range of the entire frame, including the length and the terminator.
    package var range: Range<Int>
    /// The range of the terminator. If the framing has no terminator, the range is empty and at the frame's end.
    package var terminator: Range<Int>

    package init(payload: [UInt8], range: Range<Int>, terminator: Range<Int>) {
        self.payload = payload
        self.range = range
        self.terminator = terminator
    }
}
