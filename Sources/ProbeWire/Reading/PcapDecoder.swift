/// The classic format (draft-ietf-opsawg-pcap) and what grew beside it: both byte orders, micro- and nanoseconds, Kuznetzov's
/// longer record headers, IXIA's longer file header, and the old versions with two lengths in the other order.
struct PcapDecoder: Sendable {
    struct Variant: Sendable {
        var isLittleEndian: Bool
        var isNanoseconds: Bool
        var headerLength = 24
        var recordHeaderLength = 16

        /// The first four bytes, read as big-endian.
        init?(magic: UInt32) {
            let plain: UInt32
            switch magic {
            case 0xa1b2_c3d4, 0xa1b2_3c4d, 0xa1b2_cd34, 0x1c00_01ac, 0x1c00_01ab:
                isLittleEndian = false
                plain = magic
            case 0xd4c3_b2a1, 0x4d3c_b2a1, 0x34cd_b2a1, 0xac01_001c, 0xab01_001c:
                isLittleEndian = true
                plain = magic.byteSwapped
            default:
                return nil
            }
            isNanoseconds = plain == 0xa1b2_3c4d || plain == 0x1c00_01ac || plain == 0x1c00_01ab
            if plain == 0xa1b2_cd34 { recordHeaderLength = 24 }
            if plain == 0x1c00_01ac || plain == 0x1c00_01ab { headerLength = 28 }
        }
    }

    let interface: CaptureInterface
    private let variant: Variant
    private let version: (major: UInt16, minor: UInt16)
    private let longestRecord: Int

    init(_ variant: Variant, header bytes: Span<UInt8>, at offset: Int) throws(CaptureFileError.Reason) {
        self.variant = variant
        func word(_ position: Int) -> UInt32 {
            let value = bytes.big32(at: offset + position) ?? 0
            return variant.isLittleEndian ? value.byteSwapped : value
        }
        let both = word(4)
        // Two fields of 16 bits: the first one is in the lower half of a little-endian word.
        let first = UInt16(truncatingIfNeeded: variant.isLittleEndian ? both : both >> 16)
        let second = UInt16(truncatingIfNeeded: variant.isLittleEndian ? both >> 16 : both)
        version = (first, second)
        guard first == 2 || (first, second) == (543, 0) else {
            throw .unsupportedVersion(major: first, minor: second)
        }
        let snapLength = word(16)
        let link = word(20)
        // The upper bits: whether the length of the frame check sequence is given, and that length in words of 16 bits.
        let checkLength = link & 0x0400_0000 != 0 ? Int(link >> 28) * 2 : 0
        interface = CaptureInterface(
            linkType: LinkType(rawValue: link & 0x03ff_ffff), snapLength: snapLength,
            resolution: variant.isNanoseconds ? .decimal(9) : .decimal(6), timeOffset: 0, checkLength: checkLength)
        longestRecord = min(max(Int(snapLength), 262_144), CaptureFileReader.longestRecord)
    }

    @inline(__always)
    func step(
        _ bytes: Span<UInt8>, at offset: Int, index: Int, _ packet: (CaptureRecord, Span<UInt8>) -> Void
    ) throws(CaptureFileError.Reason) -> CaptureFileReader.Step {
        guard bytes.count - offset >= variant.recordHeaderLength, let seconds = word(bytes, offset),
            let fraction = word(bytes, offset + 4), var captured = word(bytes, offset + 8),
            var original = word(bytes, offset + 12)
        else { return .needs(variant.recordHeaderLength) }
        // Before 2.3 the lengths stood the other way round; in 2.3 it depends on who wrote it, as libpcap found.
        let isOld = version.major == 543 || version.minor < 3
        if isOld || (version.minor == 3 && captured > original) { swap(&captured, &original) }
        guard captured <= UInt32(longestRecord) else {
            throw .recordTooLong(length: Int(captured), limit: longestRecord)
        }
        let start = offset + variant.recordHeaderLength
        let end = start + Int(captured)
        guard end <= bytes.count else { return .needs(end - offset) }
        let time = UInt64(seconds) * 1_000_000_000 + UInt64(fraction) * (variant.isNanoseconds ? 1 : 1_000)
        packet(
            CaptureRecord(
                index: index, time: time, hasTime: true, originalLength: max(0, Int(original) - interface.checkLength),
                linkType: interface.linkType, interface: 0, comments: []),
            bytes.extracting(start..<end))
        return .consumed(end - offset)
    }

    /// Where the packet of a record lies, as far as that can be told without reading the record; nil where the bytes do not hold all
    /// of it.
    @inline(__always)
    func extent(_ bytes: Span<UInt8>, at offset: Int) -> CaptureFileReader.Extent? {
        let start = offset + variant.recordHeaderLength
        guard start <= bytes.count, let captured = word(bytes, offset + 8) else { return nil }
        let end = start + Int(captured)
        return end <= bytes.count ? CaptureFileReader.Extent(start: start, end: end, next: end) : nil
    }

    @inline(__always)
    private func word(_ bytes: Span<UInt8>, _ offset: Int) -> UInt32? {
        variant.isLittleEndian ? bytes.little32(at: offset) : bytes.big32(at: offset)
    }
}
