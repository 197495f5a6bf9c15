import ProbeBase

/// Reads pcap and pcapng files from chunks of any size.
///
/// The reader performs no I/O: the caller reads the file and passes its bytes to `feed`. A packet that is entirely
/// inside a chunk is passed on in place; only a packet that crosses the end of a chunk is copied. The reader never
/// traps, and holds at most one record of `longestRecord` bytes.
package struct CaptureFileReader: Sendable {
    package enum Format: Sendable, Hashable { case pcap, pcapng }

    /// The file's format; `nil` until enough bytes have been read.
    package var format: Format? {
        switch state {
        case .pcap: .pcap
        case .pcapng: .pcapng
        case .start, .failed: nil
        }
    }
    /// The interfaces of all sections, in the order in which they appear in the file.
    package private(set) var interfaces: [CaptureInterface] = []
    package private(set) var packetCount = 0
    /// The TLS key logs in the file, as lines in the NSS key log format; empty if there are none.
    package var keyLog: [UInt8] {
        if case .pcapng(let decoder) = state { decoder.keyLog } else { [] }
    }
    /// The number of packets that were captured at the ends of links and are not part of the view. `packetCount`
    /// includes them.
    package var leftOutCount: Int {
        if case .pcapng(let decoder) = state { decoder.leftOutCount } else { 0 }
    }
    /// The comments in the section headers.
    package private(set) var comments: [String] = []

    private enum State: Sendable {
        case start
        case pcap(PcapDecoder)
        case pcapng(PcapNGDecoder)
        case failed(CaptureFileError)
    }

    private let view: LinkView
    private var state = State.start
    private var rest: [UInt8] = []
    private var consumed: UInt64 = 0

    /// The length of the longest record that is accepted, which exceeds the packet length of any network. `PcapDecoder`
    /// has a lower limit: the file's snap length, but at least 256 KiB.
    package static let longestRecord = 16 << 20

    /// Creates a reader.
    ///
    /// - Parameter view: which of the packets captured at the ends of links are passed on.
    package init(view: LinkView = .received) { self.view = view }

    /// The result of trying to read the next record.
    enum Step {
        case consumed(Int)
        /// The record needs at least the given number of bytes, counted from its start.
        case needs(Int)
    }

    /// Reads the next bytes of the file and passes on the packets in them. After an error, every call throws the same
    /// error again.
    package mutating func feed(
        _ chunk: Span<UInt8>, _ packet: (CaptureRecord, Span<UInt8>) -> Void
    ) throws(CaptureFileError) {
        guard let position = try complete(with: chunk, packet) else { return }
        try walk(chunk, from: position, packet)
    }

    /// Does the same as `feed`, but first passes each packet that is entirely inside a chunk of a pcap file to
    /// `ordinary`, together with the packet's number. `packet` receives the packet only if `ordinary` does not accept
    /// it.
    @inline(__always)
    mutating func feed(
        _ chunk: Span<UInt8>, ordinary: (PcapDecoder.Record, LinkType, Int, Span<UInt8>) -> Bool,
        _ packet: (CaptureRecord, Span<UInt8>) -> Void
    ) throws(CaptureFileError) {
        guard var position = try complete(with: chunk, packet) else { return }
        while case .start = state, position < chunk.count,
            case .consumed(let count) = try step(chunk, at: position, packet)
        {
            position += count
        }
        if case .pcap(let decoder) = state {
            let start = position
            do throws(CaptureFileError.Reason) {
                while let record = try decoder.record(chunk, at: position) {
                    // `record` returns only packets that are within `chunk`.
                    let bytes = unsafe chunk.extracting(unchecked: record.packet)
                    if !ordinary(record, decoder.linkType, packetCount, bytes) {
                        packet(
                            CaptureRecord(
                                index: packetCount, time: record.time, hasTime: true,
                                originalLength: decoder.originalLength(record), linkType: decoder.linkType,
                                interface: 0,
                                comments: []),
                            bytes)
                    }
                    packetCount += 1
                    position = record.packet.upperBound
                }
                consumed += UInt64(position - start)
            } catch {
                consumed += UInt64(position - start)
                throw fail(error)
            }
        }
        try walk(chunk, from: position, packet)
    }

    /// Completes a record that began in an earlier chunk, using no more bytes of this chunk than the record needs.
    ///
    /// - Returns: the offset of the chunk's unused bytes; `nil` if all bytes were used.
    private mutating func complete(
        with chunk: Span<UInt8>, _ packet: (CaptureRecord, Span<UInt8>) -> Void
    ) throws(CaptureFileError) -> Int? {
        if case .failed(let error) = state { throw error }
        guard !rest.isEmpty else { return 0 }
        var rest = take()
        defer { self.rest = rest }
        var position = 0
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
        return rest.isEmpty ? position : nil
    }

    /// Passes on the packets that begin at or after `start`, and keeps the bytes after the last complete packet.
    private mutating func walk(
        _ chunk: Span<UInt8>, from start: Int, _ packet: (CaptureRecord, Span<UInt8>) -> Void
    ) throws(CaptureFileError) {
        var position = start
        while position < chunk.count {
            guard case .consumed(let count) = try step(chunk, at: position, packet) else {
                rest.append(span: chunk.extracting(position..<chunk.count))
                return
            }
            position += count
        }
    }

    /// Handles the end of the file; throws an error if the file ended inside a record.
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

    private mutating func take() -> [UInt8] {
        defer { rest = [] }
        return rest
    }

    private mutating func fail(_ reason: CaptureFileError.Reason) -> CaptureFileError {
        let error = CaptureFileError(offset: consumed, reason: reason)
        state = .failed(error)
        return error
    }

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
            state = .pcapng(PcapNGDecoder(view: view))
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
