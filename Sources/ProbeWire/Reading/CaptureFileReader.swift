/// Reads pcap and pcapng files from bytes that come in chunks of any size.
///
/// Sans-IO: whoever has the file feeds it. A packet that lies whole in a chunk is handed out where it lies; only one that a
/// chunk's end cuts is copied. Never traps; holds at most one record of `longestRecord` bytes.
package struct CaptureFileReader: Sendable {
    package enum Format: Sendable, Hashable { case pcap, pcapng }

    /// Nil until enough bytes have come.
    package var format: Format? {
        switch state {
        case .pcap: .pcap
        case .pcapng: .pcapng
        case .start, .failed: nil
        }
    }
    /// Of all sections, in the order of the file.
    package private(set) var interfaces: [CaptureInterface] = []
    package private(set) var packetCount = 0
    /// Comments of the sections.
    package private(set) var comments: [String] = []

    private enum State: Sendable {
        case start
        case pcap(PcapDecoder)
        case pcapng(PcapNGDecoder)
        case failed(CaptureFileError)
    }

    private var state = State.start
    private var rest: [UInt8] = []
    private var consumed: UInt64 = 0

    /// More than any link's packet; `PcapDecoder` takes the file's snap length for a limit where that is higher.
    package static let longestRecord = 16 << 20

    package init() {}

    /// What one step over the bytes came to.
    enum Step {
        case consumed(Int)
        /// So many bytes from the record's start, at least.
        case needs(Int)
    }

    /// A packet's bytes, and the record behind it.
    struct Extent {
        var start: Int
        var end: Int
        var next: Int
    }

    private static let mostAhead = 16

    /// Takes the next bytes of the file and hands out the packets in them. After an error every call throws it again.
    package mutating func feed(
        _ chunk: Span<UInt8>, _ packet: (CaptureRecord, Span<UInt8>) -> Void
    ) throws(CaptureFileError) {
        try feed(chunk, looksAhead: false, ahead: { _ in }, packet)
    }

    /// As `feed`; where `looksAhead` says so, `ahead` sees the bytes of up to `mostAhead` packets before they are handed out, and then those of the next ones: a hint, for
    /// fetching what they will need. Not every packet is shown to it, and what it sees may turn out to be damaged.
    mutating func feed(
        _ chunk: Span<UInt8>, looksAhead: Bool, ahead: (Span<UInt8>) -> Void,
        _ packet: (CaptureRecord, Span<UInt8>) -> Void
    ) throws(CaptureFileError) {
        var rest = take()
        defer { self.rest = rest }
        var position = 0
        // A record that began in an earlier chunk is completed first, with no more bytes than it needs.
        while !rest.isEmpty, position < chunk.count {
            var needed = 0
            switch try step(rest.span, at: 0, packet) {
            case .consumed(let count):
                rest.removeFirst(count)
                continue
            case .needs(let count): needed = count - rest.count
            }
            let taken = min(max(needed, 1), chunk.count - position)
            rest.append(span: chunk.extracting(position..<position + taken))
            position += taken
        }
        while !rest.isEmpty, case .consumed(let count) = try step(rest.span, at: 0, packet) { rest.removeFirst(count) }
        guard rest.isEmpty else { return }
        var shownAhead = position
        while position < chunk.count {
            if looksAhead, position >= shownAhead { shownAhead = show(chunk, from: position, ahead) }
            guard case .consumed(let count) = try step(chunk, at: position, packet) else {
                rest.append(span: chunk.extracting(position..<chunk.count))
                return
            }
            position += count
        }
    }

    /// The file has ended: throws where it ended inside a record.
    package mutating func finish() throws(CaptureFileError) {
        if case .failed(let error) = state { throw error }
        if rest.isEmpty {
            guard case .start = state else { return }
            throw fail(.endsInside(length: 24, present: 0))
        }
        let rest = take()
        var length = rest.count
        if case .needs(let count) = try step(rest.span, at: 0, { _, _ in }) { length = count }
        throw fail(.endsInside(length: length, present: rest.count))
    }

    /// Gives where it stopped.
    private func show(_ chunk: Span<UInt8>, from position: Int, _ ahead: (Span<UInt8>) -> Void) -> Int {
        var next = position
        for _ in 0..<Self.mostAhead {
            let extent: Extent?
            switch state {
            case .pcap(let decoder): extent = decoder.extent(chunk, at: next)
            case .pcapng(let decoder): extent = decoder.extent(chunk, at: next)
            case .start, .failed: extent = nil
            }
            guard let extent else { break }
            ahead(chunk.extracting(extent.start..<extent.end))
            next = extent.next
        }
        return max(next, position + 1)
    }

    private mutating func take() -> [UInt8] {
        defer { rest = [] }
        return rest
    }

    private mutating func fail(_ reason: CaptureFileError.Reason) -> CaptureFileError {
        let error = CaptureFileError(offset: consumed, reason: reason)
        state = .failed(error)
        return error
    }

    @inline(__always)
    private mutating func step(
        _ bytes: Span<UInt8>, at offset: Int, _ packet: (CaptureRecord, Span<UInt8>) -> Void
    ) throws(CaptureFileError) -> Step {
        if case .failed(let error) = state { throw error }
        let step: Step
        do throws(CaptureFileError.Reason) {
            step = try decode(bytes, at: offset, packet)
        } catch {
            throw fail(error)
        }
        if case .consumed(let count) = step { consumed += UInt64(count) }
        return step
    }

    @inline(__always)
    private mutating func decode(
        _ bytes: Span<UInt8>, at offset: Int, _ packet: (CaptureRecord, Span<UInt8>) -> Void
    ) throws(CaptureFileError.Reason) -> Step {
        switch state {
        case .pcap(let decoder):
            let step = try decoder.step(bytes, at: offset, index: packetCount, packet)
            if case .consumed = step { packetCount += 1 }
            return step
        case .pcapng(var decoder):
            let step = try decoder.step(
                bytes, at: offset, interfaces: &interfaces, comments: &comments, count: &packetCount, packet)
            state = .pcapng(decoder)
            return step
        case .start:
            return try start(bytes, at: offset)
        case .failed:
            return .needs(1)
        }
    }

    private mutating func start(_ bytes: Span<UInt8>, at offset: Int) throws(CaptureFileError.Reason) -> Step {
        guard let magic = bytes.big32(at: offset) else { return .needs(4) }
        if magic == PcapNGDecoder.sectionType {
            state = .pcapng(PcapNGDecoder())
            return .consumed(0)
        }
        guard let variant = PcapDecoder.Variant(magic: magic) else { throw .notACapture(magic: magic) }
        guard bytes.count - offset >= variant.headerLength else { return .needs(variant.headerLength) }
        let decoder = try PcapDecoder(variant, header: bytes, at: offset)
        interfaces = [decoder.interface]
        state = .pcap(decoder)
        return .consumed(variant.headerLength)
    }
}
