/// Divides one direction of a connection into the units of a framing.
///
/// It does no I/O: bytes are appended as they arrive, in pieces of any size, and `next()` returns complete frames. It
/// never traps and reads each byte once. It keeps only the bytes that no frame has taken: an announced length is
/// compared with the limit and allocates nothing.
///
/// - A terminator ends a line. Its first bytes are content if another byte follows.
/// - A length precedes a message. A varint may be longer than needed, but has at most ten bytes and 64 bits.
/// - `none`, and `websocket`, which this decoder does not divide: there are no units. A frame is what has arrived since
///   the previous frame, and the limit does not apply.
package struct FrameDecoder: Sendable {
    package let framing: Framing
    /// The maximum number of payload bytes in a frame; `nil` for no limit.
    package let limit: Int?

    private let kind: Framing.Kind
    /// The reason why the stream can no longer be divided.
    private var failure: FrameError?
    private var buffer: [UInt8] = []
    /// The start of the current frame in the buffer.
    private var head = 0
    /// The search for a terminator; `nil` if there is none.
    private var search: DelimiterSearch?
    /// The index after the bytes that the search has read.
    private var searched = 0
    /// The offset in the stream of the buffer's first byte.
    private var bufferOffset: Int

    /// Creates a decoder.
    ///
    /// - Parameters:
    ///   - limit: the maximum number of payload bytes, without terminator and prefix; a negative one is 0.
    ///   - offset: the offset of the first byte that will be appended, for frames and errors that count from an earlier
    ///     byte.
    package init(framing: Framing, limit: Int?, offset: Int = 0) {
        self.framing = framing
        self.limit = limit.map { max($0, 0) }
        kind = framing.kind
        search = framing.terminator.map { DelimiterSearch($0) }
        bufferOffset = max(offset, 0)
    }

    /// The offset in the stream of the first byte that no frame has taken.
    package var offset: Int { bufferOffset + head }

    /// The bytes that no frame has taken.
    package var pending: ArraySlice<UInt8> { buffer[head...] }

    /// Appends the bytes that have arrived.
    package mutating func append(_ bytes: borrowing Span<UInt8>) {
        compact()
        for index in bytes.indices { buffer.append(bytes[index]) }
    }

    /// Appends the bytes that have arrived.
    package mutating func append(_ bytes: some Collection<UInt8>) {
        compact()
        buffer.append(contentsOf: bytes)
    }

    /// Returns the next complete frame; `nil` if more bytes are needed.
    ///
    /// - Throws: the reason why the stream can't be divided, as soon as it is certain, and again at each later call.
    ///   The bytes from the invalid frame on stay `pending`.
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

    /// Returns and removes all bytes that no frame has taken: the stream has ended, or another reader continues it.
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
        // Without an end, the bytes before those that may be a terminator are content, whatever follows.
        let count = searched - head - (end == nil ? search.matched : terminatorLength)
        if let limit, count > limit { throw FrameError(.tooLong(limit: limit, length: nil), offset: offset) }
        return end == nil ? nil : take(payload: count, terminator: terminatorLength)
    }

    /// Returns the frame at `head`, which is complete.
    ///
    /// - Parameter end: the number of bytes after the payload that are not a terminator.
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

    /// Removes the bytes of returned frames, once they are at least half of the buffer, so that each byte is moved once
    /// on average.
    private mutating func compact() {
        guard head > 0, head >= buffer.count - head else { return }
        buffer.removeFirst(head)
        bufferOffset += head
        searched -= head
        head = 0
    }
}

/// One unit of a framing, with its place in the stream. Offsets count bytes from the start of the stream.
package struct Frame: Sendable, Equatable {
    /// The payload without prefix and terminator.
    package var payload: [UInt8]
    /// The range of the whole frame, with prefix and terminator.
    package var range: Range<Int>
    /// The range of the terminator; empty, at the frame's end, if the framing has none.
    package var terminator: Range<Int>

    package init(payload: [UInt8], range: Range<Int>, terminator: Range<Int>) {
        self.payload = payload
        self.range = range
        self.terminator = terminator
    }
}
