/// Divides one direction of a connection into the units of a framing.
///
/// It does no I/O: bytes are appended as they arrive, in pieces of any size, and `next()` returns complete frames. It
/// never traps and reads each byte once. It holds only the bytes that no frame has taken: an announced length is
/// compared with the limit and allocates nothing.
///
/// - `crlf`: CR LF ends a line. A CR or LF without the other is data, and is recorded (`Frame.bareTerminators`).
/// - `lf`, `cr`, `nul`: this byte ends a unit.
/// - `u8`, `u16`, `u32`, `u64`: a big-endian length comes first.
/// - `varint`: a length in base 128, lowest group first, as in Protocol Buffers. A longer encoding than needed is
///   accepted, more than ten bytes or 64 bits are not.
/// - `none`, and `websocket`, which this decoder does not divide: there are no units. A frame is what has arrived since
///   the previous frame, and the limit does not apply.
package struct FrameDecoder: Sendable {
    private enum State: Sendable {
        case open
        /// A stream with an error can't be divided any further.
        case failed(FrameError)
    }

    package let framing: Framing
    /// The most payload bytes of a frame; nil for no limit.
    package let limit: Int?
    /// CRs and LFs in the unfinished frame that are no terminator; of `crlf` only.
    package private(set) var bareTerminators = BareTerminators()

    private var state = State.open
    private var buffer: [UInt8] = []
    /// The start of the current frame in the buffer.
    private var head = 0
    /// There is no terminator between `head` and this index.
    private var scanned = 0
    /// The offset in the stream of the buffer's first byte.
    private var bufferOffset: Int

    /// - Parameters:
    /// - limit: payload bytes, without terminator and prefix; a negative one is 0.
    ///   - offset: the offset of the first byte that will be appended, for frames and errors that count from an earlier
    ///     byte.
    package init(framing: Framing, limit: Int?, offset: Int = 0) {
        self.framing = framing
        self.limit = limit.map { max($0, 0) }
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

    /// The next complete frame; nil if more bytes are needed.
    ///
    /// - Throws: the reason why the stream can't be divided, as soon as it is certain, and again at each later call.
    ///   The bytes from the bad frame on stay `pending`.
    package mutating func next() throws(FrameError) -> Frame? {
        if case .failed(let error) = state { throw error }
        do throws(FrameError) {
            switch framing {
            case .crlf: return try nextLine()
            case .lf: return try nextUnit(endingIn: 0x0A)
            case .cr: return try nextUnit(endingIn: 0x0D)
            case .nul: return try nextUnit(endingIn: 0x00)
            case .u8: return try nextCounted(by: .u8)
            case .u16: return try nextCounted(by: .u16)
            case .u32: return try nextCounted(by: .u32)
            case .u64: return try nextCounted(by: .u64)
            case .varint: return try nextCounted(by: .varint)
            case .websocket, .none:
                return head < buffer.count ? take(prefix: 0, payload: buffer.count - head, terminator: 0) : nil
            }
        } catch {
            state = .failed(error)
            throw error
        }
    }

    /// Takes all bytes that no frame has taken: the stream has ended, or another reader continues it.
    package mutating func finish() -> [UInt8] {
        let leftover = Array(pending)
        bufferOffset += buffer.count
        buffer = []
        head = 0
        scanned = 0
        bareTerminators = BareTerminators()
        return leftover
    }

    // MARK: Terminators

    private mutating func nextLine() throws(FrameError) -> Frame? {
        while let index = buffer.span.firstIndex(of: 0x0D, or: 0x0A, from: scanned) {
            if buffer[index] == 0x0A {
                bareTerminators.lineFeeds.record(bufferOffset + index)
            } else if index + 1 == buffer.count {
                // The CR may be data or half a terminator: it is examined again when the next byte has arrived.
                scanned = index
                try checkContent(index - head)
                return nil
            } else if buffer[index + 1] == 0x0A {
                try checkContent(index - head)
                return take(prefix: 0, payload: index - head, terminator: 2)
            } else {
                bareTerminators.carriageReturns.record(bufferOffset + index)
            }
            scanned = index + 1
            try checkContent(scanned - head)
        }
        scanned = buffer.count
        try checkContent(scanned - head)
        return nil
    }

    private mutating func nextUnit(endingIn terminator: UInt8) throws(FrameError) -> Frame? {
        guard let index = buffer.span.firstIndex(of: terminator, from: scanned) else {
            scanned = buffer.count
            try checkContent(scanned - head)
            return nil
        }
        try checkContent(index - head)
        return take(prefix: 0, payload: index - head, terminator: 1)
    }

    private func checkContent(_ count: Int) throws(FrameError) {
        guard let limit, count > limit else { return }
        throw FrameError(.tooLong(limit: limit, length: nil), offset: offset)
    }

    // MARK: Lengths

    private mutating func nextCounted(by format: IntegerFormat) throws(FrameError) -> Frame? {
        switch format.read(buffer[head...]) {
        case .value(let length, let width): return try nextCounted(prefix: width, length: length)
        case .incomplete: return nil
        case .tooLong: throw FrameError(.varintTooLong, offset: offset)
        }
    }

    private mutating func nextCounted(prefix: Int, length: UInt64) throws(FrameError) -> Frame? {
        if let limit, length > UInt64(limit) {
            throw FrameError(.tooLong(limit: limit, length: length), offset: offset)
        }
        guard let count = Int(exactly: length), !count.addingReportingOverflow(offset + prefix).overflow else {
            throw FrameError(.lengthOutOfRange(length), offset: offset)
        }
        guard buffer.count - head - prefix >= count else { return nil }
        return take(prefix: prefix, payload: count, terminator: 0)
    }

    // MARK: The buffer

    /// The frame at `head`, which is complete.
    private mutating func take(prefix: Int, payload: Int, terminator: Int) -> Frame {
        let start = head + prefix
        let end = start + payload
        let frame = Frame(
            payload: Array(buffer[start..<end]), range: offset..<(bufferOffset + end + terminator),
            terminator: (bufferOffset + end)..<(bufferOffset + end + terminator), bareTerminators: bareTerminators
        )
        head = end + terminator
        scanned = head
        bareTerminators = BareTerminators()
        return frame
    }

    /// Removes the bytes of frames that were returned, once they are at least half of the buffer: so each byte is moved
    /// once on average.
    private mutating func compact() {
        guard head > 0, head >= buffer.count - head else { return }
        buffer.removeFirst(head)
        bufferOffset += head
        scanned -= head
        head = 0
    }
}

/// One unit of a framing, with its place in the stream. Offsets count bytes from the start of the stream.
package struct Frame: Sendable, Equatable {
    /// Without prefix and terminator.
    package var payload: [UInt8]
    /// The whole frame, with prefix and terminator.
    package var range: Range<Int>
    /// Empty, at the frame's end, if the framing has no terminator.
    package var terminator: Range<Int>
    /// CRs and LFs in the payload that are no terminator; of `crlf` only.
    package var bareTerminators: BareTerminators

    package init(
        payload: [UInt8], range: Range<Int>, terminator: Range<Int>, bareTerminators: BareTerminators = .init()
    ) {
        self.payload = payload
        self.range = range
        self.terminator = terminator
        self.bareTerminators = bareTerminators
    }
}
