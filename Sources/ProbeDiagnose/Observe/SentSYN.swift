import ProbeWire

/// The first SYN of a side, and the options in it.
struct SentSYN: Sendable {
    var time: Int64
    var packet: Int
    var sequence: SequenceNumber
    var maximumSegmentSize: Int?
    var hasWindowScale: Bool
    var isSACKPermitted: Bool
    /// The length of the data in the SYN. Without the Fast Open option, only captured data counts.
    var payloadLength: Int
    var hasTimestamp: Bool
    var hopLimit: UInt8

    /// Whether the SYN may only be a probe of the route: hardly any system begins with such a low hop limit.
    var isProbe: Bool { hopLimit < 32 }
}
