/// Cuts one direction of a connection into the units of a framing.
///
/// It does no I/O: bytes are appended as they come, however they were cut, and `next()` gives the frames that are whole.
/// It never traps, reads each byte once, and holds what has come and was not yet given, never more: an announced length
/// is compared with the limit and allocates nothing.
///
/// - `crlf`: CR LF ends a line. A CR or LF alone is data, and is recorded (`Frame.bareTerminators`).
/// - `lf`, `cr`, `nul`: this byte ends a unit.
/// - `u8`, `u16`, `u32`, `u64`: a big-endian length comes first.
/// - `varint`: a length in base 128, lowest group first, as Protocol Buffers write it; a longer form than needed is
///   accepted as it is there, more than ten bytes or 64 bits are not.
/// - `none`, and `websocket`, which is not cut here: there are no units. A frame is whatever has come since the one before; the limit does not apply.
package struct FrameDecoder: Sendable {
    private enum State: Sendable {
        case open
        /// A stream that can't be cut once can't be cut again.
        case failed(FrameError)
    }

    package let framing: Framing
    /// Payload bytes that a frame may have; nil for any number.
    package let limit: Int?
    /// What the unfinished frame holds so far that looks like half a terminator; of `crlf` only.
    package private(set) var bareTerminators = BareTerminators()

    private var state = State.open
    private var buffer: [UInt8] = []
    /// Where in the buffer the current frame starts.
    private var head = 0
    /// Between `head` and here there is no terminator.
    private var scanned = 0
    /// The stream's offset of the buffer's first byte.
    private var bufferOffset: Int

    /// - Parameters:
    ///   - limit: Payload bytes, terminator and prefix not counted; a negative one is 0.
    ///   - offset: Of the first byte that will be appended, where frames and errors are to count from further up.
    package init(framing: Framing, limit: Int?, offset: Int = 0) {
        self.framing = framing
        self.limit = limit.map { max($0, 0) }
        bufferOffset = max(offset, 0)
    }

    /// The stream's offset of the first byte that no frame has taken yet.
    package var offset: Int { bufferOffset + head }

    /// The bytes that no frame has taken yet.
    package var pending: ArraySlice<UInt8> { buffer[head...] }

    /// What has come.
    package mutating func append(_ bytes: borrowing Span<UInt8>) {
        compact()
        for index in bytes.indices { buffer.append(bytes[index]) }
    }

    /// What has come.
    package mutating func append(_ bytes: some Collection<UInt8>) {
        compact()
        buffer.append(contentsOf: bytes)
    }

    /// The next whole frame; nil while more bytes are needed.
    ///
    /// - Throws: What makes the stream unreadable, as soon as it is sure, and again at each later call. The bytes from
    ///   the bad frame on stay `pending`.
    package mutating func next() throws(FrameError) -> Frame? {
        if case .failed(let error) = state { throw error }
        do throws(FrameError) {
            switch framing {
            case .crlf: return try nextLine()
            case .lf: return try nextUnit(endingIn: 0x0A)
            case .cr: return try nextUnit(endingIn: 0x0D)
            case .nul: return try nextUnit(endingIn: 0x00)
            case .u8: return try nextCounted(width: 1)
            case .u16: return try nextCounted(width: 2)
            case .u32: return try nextCounted(width: 4)
            case .u64: return try nextCounted(width: 8)
            case .varint: return try nextVarint()
            case .websocket, .none:
                return head < buffer.count ? take(prefix: 0, payload: buffer.count - head, terminator: 0) : nil
            }
        } catch {
            state = .failed(error)
            throw error
        }
    }

    /// The stream has ended, or is to be read in another way from here on: takes what no frame has taken.
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
                // It may be content or half a terminator: it is looked at again, alone, when more has come.
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

    private mutating func nextCounted(width: Int) throws(FrameError) -> Frame? {
        guard buffer.count - head >= width else { return nil }
        let length = buffer[head..<(head + width)].reduce(0 as UInt64) { $0 << 8 | UInt64($1) }
        return try nextCounted(prefix: width, length: length)
    }

    private mutating func nextVarint() throws(FrameError) -> Frame? {
        var length: UInt64 = 0
        for (index, byte) in buffer[head...].prefix(10).enumerated() {
            // The tenth byte has room for one bit.
            guard index < 9 || byte <= 1 else { throw FrameError(.varintTooLong, offset: offset) }
            length |= UInt64(byte & 0x7F) << UInt64(7 * index)
            if byte & 0x80 == 0 { return try nextCounted(prefix: index + 1, length: length) }
        }
        return nil
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

    /// The frame at the head, all of which is there.
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

    /// Drops what was given, once that is at least as much as what is kept: each byte is moved once on average.
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
    /// Without prefix or terminator.
    package var payload: [UInt8]
    /// All of it, prefix and terminator included.
    package var range: Range<Int>
    /// Empty, and at the end, where the framing has none.
    package var terminator: Range<Int>
    /// What in the payload looks like half a terminator; of `crlf` only.
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
