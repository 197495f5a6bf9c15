/// Divides one direction of a connection into the units of a framing.
///
/// It does no I/O: bytes are appended as they arrive, in pieces of any size, and `next()` returns complete frames. It
/// never traps and reads each byte once. It keeps only the bytes that no frame has taken: an announced length is
/// compared with the limit and allocates nothing.
///
/// - `crlf`: CR LF ends a line. A CR or LF without the other is data, and is recorded (`Frame.bareTerminators`).
/// - `lf`, `cr`, `nul`: this byte ends a unit.
/// - a delimiter: these bytes end a unit. The first bytes of a delimiter are content if another byte follows.
/// - `u8`, `u16`, `u24`, `u32`, `u64`: a big-endian length precedes each unit; `u16le`, `u32le`: a little-endian one.
/// - `varint`: a length in base 128, lowest group first, as in Protocol Buffers. A longer encoding than needed is
///   accepted, more than ten bytes or 64 bits are not.
/// - `netstring`: a decimal length without unnecessary zeros, `:`, the payload, `,`.
/// - `none`, and `websocket`, which this decoder does not divide: there are no units. A frame is what has arrived since
///   the previous frame, and the limit does not apply.
package struct FrameDecoder: Sendable {
    private enum State: Sendable {
        case open
        /// The stream has an error, and can no longer be divided.
        case failed(FrameError)
    }

    package let framing: Framing
    /// The maximum number of payload bytes in a frame; `nil` for no limit.
    package let limit: Int?
    /// CRs and LFs in the unfinished frame that are not a terminator; only with `crlf`.
    package private(set) var bareTerminators = BareTerminators()

    private var state = State.open
    private var buffer: [UInt8] = []
    /// The start of the current frame in the buffer.
    private var head = 0
    /// There is no terminator between `head` and this index.
    private var scanned = 0
    /// The search for a delimiter; the input that it has read ends at `scanned`.
    private var search: DelimiterSearch?
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
        bufferOffset = max(offset, 0)
        if case .delimiter(let bytes) = framing { search = DelimiterSearch(bytes) }
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
        if case .failed(let error) = state { throw error }
        do throws(FrameError) {
            switch framing {
            case .crlf: return try nextLine()
            case .lf: return try nextUnit(endingIn: 0x0A)
            case .cr: return try nextUnit(endingIn: 0x0D)
            case .nul: return try nextUnit(endingIn: 0x00)
            case .delimiter(let bytes): return try nextDelimited(bytes.count)
            case .u8: return try nextCounted(by: .u8)
            case .u16: return try nextCounted(by: .u16)
            case .u24: return try nextCounted(by: .u24)
            case .u32: return try nextCounted(by: .u32)
            case .u64: return try nextCounted(by: .u64)
            case .u16le: return try nextCounted(by: .u16le)
            case .u32le: return try nextCounted(by: .u32le)
            case .varint: return try nextCounted(by: .varint)
            case .netstring: return try nextNetstring()
            case .websocket, .none:
                return head < buffer.count ? take(prefix: 0, payload: buffer.count - head, terminator: 0) : nil
            }
        } catch {
            state = .failed(error)
            throw error
        }
    }

    /// Returns and removes all bytes that no frame has taken: the stream has ended, or another reader continues it.
    package mutating func finish() -> [UInt8] {
        let leftover = Array(pending)
        bufferOffset += buffer.count
        buffer = []
        head = 0
        scanned = 0
        search?.reset()
        bareTerminators = BareTerminators()
        return leftover
    }

    // MARK: Terminators

    private mutating func nextLine() throws(FrameError) -> Frame? {
        while let index = buffer.span.firstIndex(of: 0x0D, or: 0x0A, from: scanned) {
            if buffer[index] == 0x0A {
                bareTerminators.lineFeeds.record(bufferOffset + index)
            } else if index + 1 == buffer.count {
                // The CR may be data or half a terminator, and is examined again when the next byte has arrived.
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

    private mutating func nextDelimited(_ length: Int) throws(FrameError) -> Frame? {
        while scanned < buffer.count, let isEnd = search?.read(buffer[scanned]) {
            scanned += 1
            if isEnd {
                try checkContent(scanned - length - head)
                return take(prefix: 0, payload: scanned - length - head, terminator: length)
            }
            // The bytes before those that may be a delimiter are content, whatever follows.
            try checkContent(scanned - (search?.matched ?? 0) - head)
        }
        return nil
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
        let count = try checkedLength(length, prefix: prefix)
        guard buffer.count - head - prefix >= count else { return nil }
        return take(prefix: prefix, payload: count, terminator: 0)
    }

    /// Returns an announced length that is within the limit, and that is possible in a stream.
    private func checkedLength(_ length: UInt64, prefix: Int) throws(FrameError) -> Int {
        if let limit, length > UInt64(limit) {
            throw FrameError(.tooLong(limit: limit, length: length), offset: offset)
        }
        // The additional byte is a netstring's comma.
        guard let count = Int(exactly: length), !count.addingReportingOverflow(offset + prefix + 1).overflow else {
            throw FrameError(.lengthOutOfRange(length), offset: offset)
        }
        return count
    }

    private mutating func nextNetstring() throws(FrameError) -> Frame? {
        let (length, width): (UInt64, Int)
        switch Netstring.read(buffer[head...]) {
        case .value(let value, let count): (length, width) = (value, count)
        case .incomplete: return nil
        case .wrong(let failure): throw FrameError(.netstring(failure), offset: offset)
        }
        let payload = try checkedLength(length, prefix: width)
        guard buffer.count - head - width > payload else { return nil }
        guard buffer[head + width + payload] == Netstring.end else {
            throw FrameError(.netstring(.noComma), offset: offset)
        }
        return take(prefix: width, payload: payload, terminator: 0, behind: 1)
    }

    // MARK: The buffer

    /// Returns the frame at `head`, which is complete.
    ///
    /// - Parameter behind: the number of bytes after the payload that are not a terminator.
    private mutating func take(prefix: Int, payload: Int, terminator: Int, behind: Int = 0) -> Frame {
        let start = head + prefix
        let content = start + payload
        let end = content + behind + terminator
        let frame = Frame(
            payload: Array(buffer[start..<content]), range: offset..<(bufferOffset + end),
            terminator: (bufferOffset + end - terminator)..<(bufferOffset + end), bareTerminators: bareTerminators
        )
        head = end
        scanned = head
        bareTerminators = BareTerminators()
        return frame
    }

    /// Removes the bytes of returned frames, once they are at least half of the buffer, so that each byte is moved once
    /// on average.
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
    /// The payload without prefix and terminator.
    package var payload: [UInt8]
    /// The range of the whole frame, with prefix and terminator.
    package var range: Range<Int>
    /// The range of the terminator; empty, at the frame's end, if the framing has none.
    package var terminator: Range<Int>
    /// CRs and LFs in the payload that are not a terminator; only with `crlf`.
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
