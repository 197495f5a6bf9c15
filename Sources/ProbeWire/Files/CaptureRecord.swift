/// The metadata of one packet in a capture file. The packet's bytes are passed separately.
package struct CaptureRecord: Sendable, Hashable {
    /// The number of the packet in the file, counting from 0.
    package var index: Int
    /// The time in nanoseconds since 1970; 0 if the file does not contain the packet's time (simple packet blocks).
    package var time: UInt64
    package var hasTime: Bool
    /// The packet's length on the wire, excluding a frame check sequence.
    package var originalLength: Int
    package var linkType: LinkType
    /// The index of the packet's interface in `CaptureFileReader.interfaces`.
    package var interface: Int
    /// The comments on the packet (pcapng's opt_comment), in order.
    package var comments: [String]

    package init(
        index: Int, time: UInt64, hasTime: Bool = true, originalLength: Int, linkType: LinkType, interface: Int = 0,
        comments: [String] = []
    ) {
        self.index = index
        self.time = time
        self.hasTime = hasTime
        self.originalLength = originalLength
        self.linkType = linkType
        self.interface = interface
        self.comments = comments
    }
}

/// An interface of a capture file. A pcap file has exactly one interface.
package struct CaptureInterface: Sendable, Hashable {
    package var linkType: LinkType
    /// The snap length; 0 if it is unlimited.
    package var snapLength: UInt32
    package var name: String?
    package var resolution: TimestampResolution
    /// The number of seconds to add to each packet's time.
    package var timeOffset: Int64
    /// The length of the frame check sequence at the end of each packet, in bytes.
    package var checkLength: Int
    /// The number of received packets according to the last statistics block, if the file has one.
    package var received: UInt64?
    package var dropped: UInt64?
    /// The end of a link at which the packets were captured. Present only in captures that a run wrote.
    package var linkEnd: CaptureLinkEnd?
}

/// The unit of a timestamp.
package enum TimestampResolution: Sendable, Hashable {
    /// The unit is 10^-n s.
    case decimal(UInt8)
    /// The unit is 2^-n s.
    case binary(UInt8)

    /// Creates a resolution from pcapng's if_tsresol.
    init(option: UInt8) {
        self = option & 0x80 == 0 ? .decimal(option) : .binary(option & 0x7f)
    }

    /// Converts a timestamp to nanoseconds, clamped to the range of UInt64.
    func nanoseconds(_ stamp: UInt64) -> UInt64 {
        switch self {
        case .decimal(9): return stamp
        case .decimal(let digits) where digits < 9:
            return Self.product(stamp, Self.power(of: 10, Int(9 - digits)))
        case .decimal(let digits):
            return digits - 9 > 19 ? 0 : stamp / Self.power(of: 10, Int(digits - 9))
        case .binary(let bits):
            let seconds = bits > 63 ? 0 : stamp >> UInt64(bits)
            let fraction = bits > 63 ? stamp : stamp & (1 << UInt64(bits) &- 1)
            let wide = fraction.multipliedFullWidth(by: 1_000_000_000)
            let low = bits > 63 ? 0 : wide.low >> UInt64(bits)
            let high =
                bits == 0 ? 0 : bits > 63 ? wide.high >> UInt64(min(bits - 64, 63)) : wide.high << UInt64(64 - bits)
            let whole = Self.product(seconds, 1_000_000_000)
            let sum = whole.addingReportingOverflow(low | high)
            return sum.overflow ? UInt64.max : sum.partialValue
        }
    }

    private static func power(of base: UInt64, _ exponent: Int) -> UInt64 {
        (0..<exponent).reduce(1) { result, _ in result &* base }
    }

    private static func product(_ left: UInt64, _ right: UInt64) -> UInt64 {
        let result = left.multipliedReportingOverflow(by: right)
        return result.overflow ? UInt64.max : result.partialValue
    }
}
