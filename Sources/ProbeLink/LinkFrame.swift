import ProbeBase

/// The positions of the headers in a frame: Ethernet, IPv4 or IPv6, and TCP.
///
/// Parsing never traps, whatever the frame contains. ``tcp`` is `nil` unless the frame contains a complete TCP segment.
package struct LinkFrame: Sendable, Equatable {
    /// A TCP segment in a frame; offsets are relative to the start of the frame.
    package struct TCP: Sendable, Equatable {
        var start: Int
        var payload: Int
        var end: Int
        var flags: UInt8
        var sequence: UInt32
        var acknowledgment: UInt32
        var window: UInt16
        var ports: UInt32

        var payloadLength: Int { end - payload }
        var isSYN: Bool { flags & LinkFrame.syn != 0 && flags & LinkFrame.ack == 0 }
        var isSYNACK: Bool { flags & LinkFrame.syn != 0 && flags & LinkFrame.ack != 0 }
        var hasSYN: Bool { flags & LinkFrame.syn != 0 }
        var hasFIN: Bool { flags & LinkFrame.fin != 0 }
        var hasRST: Bool { flags & LinkFrame.rst != 0 }
        var hasACK: Bool { flags & LinkFrame.ack != 0 }
        /// The amount of sequence space that the segment occupies; SYN and FIN count as one byte each.
        var span: UInt32 { UInt32(payloadLength) &+ (hasSYN ? 1 : 0) &+ (hasFIN ? 1 : 0) }
    }

    static let fin: UInt8 = 1
    static let syn: UInt8 = 2
    static let rst: UInt8 = 4
    static let push: UInt8 = 8
    static let ack: UInt8 = 16
    /// The offset of the IP header, equal to the length of the Ethernet header.
    static let ip = 14

    /// The IP version, 4 or 6; 0 if the frame is not an IP packet.
    private(set) var version: UInt8 = 0
    /// The length of the IP packet according to its header.
    private(set) var length = 0
    /// Whether the packet may be fragmented: IPv4 without DF.
    private(set) var mayFragment = false
    private(set) var tcp: TCP?
    /// Whether the frame is an IP packet sent on behalf of a program. Other frames are ARP packets, and the packets
    /// that the kernel sends about neighbors and groups (IGMP, MLD and neighbor discovery).
    private(set) var isTraffic = false

    init(_ frame: [UInt8]) {
        frame.withUnsafeBufferPointer { read($0) }
    }

    private mutating func read(_ bytes: UnsafeBufferPointer<UInt8>) {
        guard bytes.count >= Self.ip + 20 else { return }
        func short(_ at: Int) -> Int { Int(bytes[at]) << 8 | Int(bytes[at + 1]) }
        func word(_ at: Int) -> UInt32 { UInt32(short(at)) << 16 | UInt32(short(at + 2)) }
        let start: Int
        switch (short(12), bytes[Self.ip] >> 4) {
        case (0x0800, 4):
            let header = Int(bytes[Self.ip] & 15) * 4
            length = short(Self.ip + 2)
            guard header >= 20, length >= header, Self.ip + length <= bytes.count else { return }
            version = 4
            mayFragment = bytes[Self.ip + 6] & 0x40 == 0
            isTraffic = bytes[Self.ip + 9] != Self.igmp
            // A fragment is not a complete segment.
            guard bytes[Self.ip + 9] == 6, short(Self.ip + 6) & 0x3fff == 0 else { return }
            start = Self.ip + header
        case (0x86dd, 6):
            guard bytes.count >= Self.ip + 40 else { return }
            length = 40 + short(Self.ip + 4)
            guard Self.ip + length <= bytes.count else { return }
            version = 6
            isTraffic = Self.isTraffic(next: bytes[Self.ip + 6], type: length > 40 ? bytes[Self.ip + 40] : 0)
            guard bytes[Self.ip + 6] == 6 else { return }
            start = Self.ip + 40
        default: return
        }
        let end = Self.ip + length
        guard end - start >= 20 else { return }
        let header = Int(bytes[start + 12] >> 4) * 4
        guard header >= 20, start + header <= end else { return }
        tcp = TCP(
            start: start, payload: start + header, end: end, flags: bytes[start + 13], sequence: word(start + 4),
            acknowledgment: word(start + 8), window: UInt16(short(start + 14)), ports: word(start))
    }

    private static let igmp: UInt8 = 2

    /// Returns whether an IPv6 packet was sent on behalf of a program.
    ///
    /// MLD messages are preceded by a hop-by-hop options header (RFC 3810, section 5), and neighbor discovery uses
    /// the ICMPv6 types 133 to 137 (RFC 4861, section 4).
    private static func isTraffic(next: UInt8, type: UInt8) -> Bool {
        switch next {
        case 0: false
        case 58: !(130...137 ~= type) && type != 143
        default: true
        }
    }

    /// Returns whether the segment is a SYN or SYN-ACK with the MSS option.
    static func hasMSS(_ tcp: TCP, in bytes: [UInt8]) -> Bool {
        tcp.hasSYN && options(of: tcp, in: bytes).contains { $0.kind == StrippedOption.mss.number }
    }

    /// The range of the source and destination addresses in the IP header.
    var addresses: Range<Int> {
        version == 4 ? Self.ip + 12..<Self.ip + 20 : Self.ip + 8..<Self.ip + 40
    }

    /// Returns the options in a TCP header: the kind of each option, and its range including the kind and length bytes.
    static func options(of tcp: TCP, in bytes: [UInt8]) -> [(kind: UInt8, place: Range<Int>)] {
        var found: [(kind: UInt8, place: Range<Int>)] = []
        var at = tcp.start + 20
        while at < tcp.payload {
            switch bytes[at] {
            case 0: return found
            case 1: at += 1
            default:
                guard at + 1 < tcp.payload, bytes[at + 1] >= 2, at + Int(bytes[at + 1]) <= tcp.payload else {
                    return found
                }
                let place = at..<at + Int(bytes[at + 1])
                found.append((bytes[at], place))
                at = place.upperBound
            }
        }
        return found
    }
}

extension StrippedOption {
    /// The option's kind number in the TCP header.
    var number: UInt8 {
        switch self {
        case .mss: 2
        case .wscale: 3
        case .sack: 4
        case .timestamps: 8
        }
    }
}
