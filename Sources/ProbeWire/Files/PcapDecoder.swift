import ProbeBase

/// Decodes the classic format (draft-ietf-opsawg-pcap) and its variants: both byte orders, micro- and nanoseconds,
/// Kuznetzov's longer record headers, IXIA's longer file header, and the old versions with the two lengths in reverse
/// order.
struct PcapDecoder: Sendable {
    struct Variant: Sendable {
        var isLittleEndian: Bool
        var isNanoseconds: Bool
        var headerLength = 24
        var recordHeaderLength = 16

        /// Creates the variant from the file's first four bytes, read as a big-endian number; `nil` if they are not a
        /// pcap magic number.
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

    let linkType: LinkType
    let snapLength: UInt32
    /// The length of the frame check sequence at the end of each packet, in bytes.
    private let checkLength: Int
    private let variant: Variant
    /// Whether the two lengths of a record are in reverse order, as before version 2.3.
    private let swapsLengths: Bool
    private let mayHaveSwapped: Bool
    /// The unit of a time's fractional part, in nanoseconds.
    private let fractionUnit: UInt64
    private let longestRecord: UInt32

    var interface: CaptureInterface {
        CaptureInterface(
            linkType: linkType, snapLength: snapLength, resolution: variant.isNanoseconds ? .decimal(9) : .decimal(6),
            timeOffset: 0, checkLength: checkLength)
    }

    init(_ variant: Variant, header bytes: Span<UInt8>, at offset: Int) throws(CaptureFileError.Reason) {
        self.variant = variant
        func word(_ position: Int) -> UInt32 {
            let value = bytes.big32(at: offset + position) ?? 0
            return variant.isLittleEndian ? value.byteSwapped : value
        }
        let both = word(4)
        // The version is a word with two 16-bit fields. The first field is in the lower half if the word is
        // little-endian.
        let first = UInt16(truncatingIfNeeded: variant.isLittleEndian ? both : both >> 16)
        let second = UInt16(truncatingIfNeeded: variant.isLittleEndian ? both >> 16 : both)
        swapsLengths = first == 543 || second < 3
        mayHaveSwapped = swapsLengths || second == 3
        fractionUnit = variant.isNanoseconds ? 1 : 1_000
        guard first == 2 || (first, second) == (543, 0) else {
            throw .unsupportedVersion(major: first, minor: second)
        }
        snapLength = word(16)
        let link = word(20)
        linkType = LinkType(rawValue: link & 0x03ff_ffff)
        // The upper bits of the link type indicate whether the length of the frame check sequence is given, and contain
        // that length in 16-bit words.
        checkLength = link & 0x0400_0000 != 0 ? Int(link >> 28) * 2 : 0
        longestRecord = min(max(snapLength, 262_144), UInt32(CaptureFileReader.longestRecord))
    }

    /// The values in a record's header, and the range of the record's packet.
    struct Record {
        var time: UInt64
        /// The packet's length on the wire, including a frame check sequence.
        fileprivate var original: UInt32
        /// The range of the packet in the bytes from which the record was read.
        var packet: Range<Int>
    }

    /// Returns the record at `offset`; `nil` if it is incomplete.
    @inline(__always)
    func record(_ bytes: Span<UInt8>, at offset: Int) throws(CaptureFileError.Reason) -> Record? {
        guard bytes.count &- offset >= variant.recordHeaderLength else { return nil }
        // The bounds have already been checked, and no record header is shorter than 16 bytes.
        let header = unsafe bytes.extracting(unchecked: offset..<offset &+ 16)
        guard let seconds = word(header, 0), let fraction = word(header, 4), var captured = word(header, 8),
            var original = word(header, 12)
        else { return nil }
        if mayHaveSwapped {
            // In version 2.3, the order of the two lengths depends on the program that wrote the file. The check below
            // is the one that libpcap uses.
            if swapsLengths || captured > original { swap(&captured, &original) }
        }
        guard captured <= longestRecord else {
            throw .recordTooLong(length: Int(captured), limit: Int(longestRecord))
        }
        let start = offset &+ variant.recordHeaderLength
        let end = start &+ Int(captured)
        guard end <= bytes.count else { return nil }
        return Record(
            time: UInt64(seconds) &* 1_000_000_000 &+ UInt64(fraction) &* fractionUnit,
            original: original, packet: Range(uncheckedBounds: (start, end)))
    }

    /// Returns the length on the wire of a record's packet, excluding a frame check sequence.
    func originalLength(_ record: Record) -> Int { max(0, Int(record.original) - checkLength) }

    func step(
        _ bytes: Span<UInt8>, at offset: Int, index: Int, _ packet: (CaptureRecord, Span<UInt8>) -> Void
    ) throws(CaptureFileError.Reason) -> CaptureFileReader.Step {
        guard let record = try record(bytes, at: offset) else { return .needs(needed(bytes, at: offset)) }
        packet(
            CaptureRecord(
                index: index, time: record.time, hasTime: true, originalLength: originalLength(record),
                linkType: linkType, interface: 0, comments: []),
            bytes.extracting(record.packet))
        return .consumed(record.packet.upperBound - offset)
    }

    /// Returns the minimum length of a record that is not complete yet, based on the bytes read so far.
    private func needed(_ bytes: Span<UInt8>, at offset: Int) -> Int {
        guard bytes.count - offset >= variant.recordHeaderLength, let first = word(bytes, offset + 8),
            let second = word(bytes, offset + 12)
        else { return variant.recordHeaderLength }
        let captured = swapsLengths || (mayHaveSwapped && first > second) ? second : first
        return variant.recordHeaderLength + Int(captured)
    }

    @inline(__always)
    private func word(_ bytes: Span<UInt8>, _ offset: Int) -> UInt32? {
        variant.isLittleEndian ? bytes.little32(at: offset) : bytes.big32(at: offset)
    }
}
