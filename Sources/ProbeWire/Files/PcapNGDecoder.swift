import ProbeBase

/// Decodes pcapng files (draft-ietf-opsawg-pcapng). Sections may have either byte order, and each has its own
/// interfaces.
///
/// Packets are read from enhanced, simple and obsolete packet blocks. Interface statistics and TLS key logs are kept.
/// Name resolution blocks, other secrets, custom blocks and unknown blocks are skipped.
struct PcapNGDecoder: Sendable {
    static let sectionType: UInt32 = 0x0a0d_0d0a
    /// The secrets type of a TLS key log: `TLSK`.
    static let keyLogType: UInt32 = 0x544c_534b
    /// The maximum total size of the key logs in a file, in bytes; key logs beyond this limit are skipped.
    private static let maxKeyLogBytes = 16 << 20

    /// The lines of all TLS key logs in the file.
    private(set) var keyLog: [UInt8] = []
    /// The number of packets that were captured at the ends of links and are not part of the view.
    private(set) var leftOutCount = 0
    private let view: LinkView

    private var isLittleEndian = true
    /// The index of the current section's first interface.
    private var firstInterface = 0

    init(view: LinkView = .received) { self.view = view }

    private struct Body {
        var start: Int
        var end: Int
    }

    mutating func step(
        _ bytes: Span<UInt8>, at offset: Int, interfaces: inout [CaptureInterface], comments: inout [String],
        count: inout Int, _ packet: (CaptureRecord, Span<UInt8>) -> Void
    ) throws(CaptureFileError.Reason) -> CaptureFileReader.Step {
        guard let rawType = bytes.big32(at: offset), bytes.count - offset >= 12 else { return .needs(12) }
        if rawType == Self.sectionType {
            // The byte order must be known before the block's length can be read.
            switch bytes.big32(at: offset + 8) {
            case 0x1a2b_3c4d: isLittleEndian = false
            case 0x4d3c_2b1a: isLittleEndian = true
            default: throw .notASection
            }
        }
        guard let length = word(bytes, offset + 4).map(Int.init) else { return .needs(12) }
        guard length >= 12, length % 4 == 0 else { throw .badBlockLength(length) }
        guard length <= CaptureFileReader.longestRecord else {
            throw .recordTooLong(length: length, limit: CaptureFileReader.longestRecord)
        }
        guard bytes.count - offset >= length else { return .needs(length) }
        guard word(bytes, offset + length - 4).map(Int.init) == length else { throw .badBlockLength(length) }
        let body = Body(start: offset + 8, end: offset + length - 4)
        switch isLittleEndian ? rawType.byteSwapped : rawType {
        case Self.sectionType:
            try section(bytes, body, &comments)
            firstInterface = interfaces.count
        case 1: interfaces.append(try interface(bytes, body))
        case 2: try packetBlock(bytes, body, isObsolete: true, interfaces, &count, packet)
        case 3: try simplePacket(bytes, body, interfaces, &count, packet)
        case 5: try statistics(bytes, body, &interfaces)
        case 6: try packetBlock(bytes, body, isObsolete: false, interfaces, &count, packet)
        case 10: try secrets(bytes, body)
        default: break
        }
        return .consumed(length)
    }

    // MARK: Blocks

    private func section(
        _ bytes: Span<UInt8>, _ body: Body, _ comments: inout [String]
    ) throws(CaptureFileError.Reason) {
        guard body.end - body.start >= 16, let major = half(bytes, body.start + 4),
            let minor = half(bytes, body.start + 6)
        else { throw .badBlockLength(body.end - body.start + 12) }
        // Some programs write version 1.2 instead of 1.0; the draft requires readers to treat 1.2 as 1.0.
        guard major == 1, minor == 0 || minor == 2 else { throw .unsupportedVersion(major: major, minor: minor) }
        try options(bytes, from: body.start + 16, to: body.end) { code, range in
            if code == 1 { comments.append(text(bytes, range)) }
        }
    }

    private func interface(_ bytes: Span<UInt8>, _ body: Body) throws(CaptureFileError.Reason) -> CaptureInterface {
        guard body.end - body.start >= 8, let link = half(bytes, body.start), let snap = word(bytes, body.start + 4)
        else { throw .badBlockLength(body.end - body.start + 12) }
        var interface = CaptureInterface(
            linkType: LinkType(rawValue: UInt32(link)), snapLength: snap, resolution: .decimal(6), timeOffset: 0,
            checkLength: 0)
        try options(bytes, from: body.start + 8, to: body.end) { code, range in
            switch (code, range.count) {
            case (2, _): interface.name = text(bytes, range)
            case (3, _): interface.linkEnd = CaptureLinkEnd(description: text(bytes, range))
            case (9, 1): interface.resolution = TimestampResolution(option: bytes[range.lowerBound])
            case (13, 1): interface.checkLength = Int(bytes[range.lowerBound])
            case (14, 8): interface.timeOffset = Int64(bitPattern: long(bytes, range.lowerBound) ?? 0)
            default: break
            }
        }
        return interface
    }

    private mutating func secrets(_ bytes: Span<UInt8>, _ body: Body) throws(CaptureFileError.Reason) {
        guard body.end - body.start >= 8, let type = word(bytes, body.start),
            let length = word(bytes, body.start + 4).map(Int.init)
        else { throw .badBlockLength(body.end - body.start + 12) }
        guard type == Self.keyLogType else { return }
        let start = body.start + 8
        guard length <= body.end - start else { throw .lengthBeyondBlock(length) }
        guard length <= Self.maxKeyLogBytes - keyLog.count else { return }
        keyLog.append(span: bytes.extracting(start..<start + length))
        // Some programs omit the line terminator of the last line.
        if let last = keyLog.last, last != 0x0a { keyLog.append(0x0a) }
    }

    private func statistics(
        _ bytes: Span<UInt8>, _ body: Body, _ interfaces: inout [CaptureInterface]
    ) throws(CaptureFileError.Reason) {
        guard body.end - body.start >= 12, let number = word(bytes, body.start) else {
            throw .badBlockLength(body.end - body.start + 12)
        }
        let index = firstInterface + Int(number)
        guard index < interfaces.count else { throw .unknownInterface(Int(number)) }
        var received = interfaces[index].received
        var dropped = interfaces[index].dropped
        try options(bytes, from: body.start + 12, to: body.end) { code, range in
            guard range.count == 8 else { return }
            if code == 4 { received = long(bytes, range.lowerBound) }
            if code == 5 { dropped = long(bytes, range.lowerBound) }
        }
        interfaces[index].received = received
        interfaces[index].dropped = dropped
    }

    /// Decodes an enhanced or obsolete packet block. The first word of an enhanced block is an interface number. The
    /// first word of an obsolete block consists of a 16-bit interface number and a drop count.
    private mutating func packetBlock(
        _ bytes: Span<UInt8>, _ body: Body, isObsolete: Bool, _ interfaces: [CaptureInterface], _ count: inout Int,
        _ packet: (CaptureRecord, Span<UInt8>) -> Void
    ) throws(CaptureFileError.Reason) {
        guard body.end - body.start >= 20, let first = word(bytes, body.start), let short = half(bytes, body.start),
            let high = word(bytes, body.start + 4), let low = word(bytes, body.start + 8),
            let captured = word(bytes, body.start + 12).map(Int.init),
            let original = word(bytes, body.start + 16).map(Int.init)
        else { throw .badBlockLength(body.end - body.start + 12) }
        let number = isObsolete ? Int(short) : Int(first)
        let index = firstInterface + number
        guard index < interfaces.count else { throw .unknownInterface(number) }
        let start = body.start + 20
        guard captured <= body.end - start else { throw .lengthBeyondBlock(captured) }
        var comments: [String] = []
        var direction: PacketDirection?
        try options(bytes, from: start + (captured + 3) / 4 * 4, to: body.end) { code, range in
            if code == 1 { comments.append(text(bytes, range)) }
            if code == 2, range.count == 4, let flags = word(bytes, range.lowerBound) {
                direction = PacketDirection(rawValue: UInt8(flags & 3))
            }
        }
        let interface = interfaces[index]
        if let end = interface.linkEnd, !view.includes(end, direction, comments) {
            count += 1
            leftOutCount += 1
            return
        }
        let stamp = UInt64(high) << 32 | UInt64(low)
        packet(
            CaptureRecord(
                index: count, time: time(stamp, interface), hasTime: true,
                originalLength: max(0, original - interface.checkLength), linkType: interface.linkType,
                interface: index, comments: comments),
            bytes.extracting(start..<start + captured))
        count += 1
    }

    /// Decodes a simple packet block. The block contains neither a time nor the captured length, which is the original
    /// length, limited by the snap length and by the block's length.
    private func simplePacket(
        _ bytes: Span<UInt8>, _ body: Body, _ interfaces: [CaptureInterface], _ count: inout Int,
        _ packet: (CaptureRecord, Span<UInt8>) -> Void
    ) throws(CaptureFileError.Reason) {
        guard let original = word(bytes, body.start).map(Int.init), body.end - body.start >= 4 else {
            throw .badBlockLength(body.end - body.start + 12)
        }
        guard firstInterface < interfaces.count else { throw .unknownInterface(0) }
        let interface = interfaces[firstInterface]
        let start = body.start + 4
        let limit = interface.snapLength == 0 ? Int.max : Int(interface.snapLength)
        let captured = min(original, limit, body.end - start)
        packet(
            CaptureRecord(
                index: count, time: 0, hasTime: false, originalLength: max(0, original - interface.checkLength),
                linkType: interface.linkType, interface: firstInterface, comments: []),
            bytes.extracting(start..<start + captured))
        count += 1
    }

    /// Converts a timestamp of an interface to nanoseconds since 1970, clamped to the range of UInt64.
    private func time(_ stamp: UInt64, _ interface: CaptureInterface) -> UInt64 {
        let time = interface.resolution.nanoseconds(stamp)
        if interface.timeOffset == 0 { return time }
        let shift = interface.timeOffset.magnitude.multipliedReportingOverflow(by: 1_000_000_000)
        let distance = shift.overflow ? UInt64.max : shift.partialValue
        let moved =
            interface.timeOffset < 0
            ? time.subtractingReportingOverflow(distance) : time.addingReportingOverflow(distance)
        return moved.overflow ? (interface.timeOffset < 0 ? 0 : UInt64.max) : moved.partialValue
    }

    // MARK: Options and integers

    private func options(
        _ bytes: Span<UInt8>, from start: Int, to end: Int, _ option: (UInt16, Range<Int>) -> Void
    ) throws(CaptureFileError.Reason) {
        var offset = start
        while offset + 4 <= end, let code = half(bytes, offset), let length = half(bytes, offset + 2) {
            if code == 0 { return }
            let stop = offset + 4 + Int(length)
            guard stop <= end else { throw .lengthBeyondBlock(Int(length)) }
            option(code, offset + 4..<stop)
            offset += 4 + (Int(length) + 3) / 4 * 4
        }
    }

    /// Returns the value of a text option. Invalid UTF-8 is repaired, and the NUL that some programs append is removed.
    private func text(_ bytes: Span<UInt8>, _ range: Range<Int>) -> String {
        var content = bytes.extracting(range).array
        while content.last == 0 { content.removeLast() }
        return String(decoding: content, as: UTF8.self)
    }

    private func half(_ bytes: Span<UInt8>, _ offset: Int) -> UInt16? {
        isLittleEndian ? bytes.little16(at: offset) : bytes.big16(at: offset)
    }

    private func word(_ bytes: Span<UInt8>, _ offset: Int) -> UInt32? {
        isLittleEndian ? bytes.little32(at: offset) : bytes.big32(at: offset)
    }

    private func long(_ bytes: Span<UInt8>, _ offset: Int) -> UInt64? {
        isLittleEndian ? bytes.little64(at: offset) : bytes.big64(at: offset)
    }
}
