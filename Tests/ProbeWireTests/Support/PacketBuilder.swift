import ProbeWire

/// Builds frames byte by byte. It shares no code with the decoder that it is used to test.
struct PacketBuilder {
    var sourcePort: UInt16 = 40_000
    var destinationPort: UInt16 = 80
    var sequence: UInt32 = 1_000
    var acknowledgment: UInt32 = 2_000
    var flags: UInt8 = 0x18
    var window: UInt16 = 512
    var tcpOptions: [UInt8] = []
    var payload: [UInt8] = []

    static func big(_ value: UInt16) -> [UInt8] { [UInt8(value >> 8), UInt8(value & 255)] }

    static func big(_ value: UInt32) -> [UInt8] {
        big(UInt16(value >> 16)) + big(UInt16(truncatingIfNeeded: value))
    }

    var tcp: [UInt8] {
        var options = tcpOptions
        while options.count % 4 != 0 { options.append(0) }
        let length = UInt8((20 + options.count) / 4)
        return Self.big(sourcePort) + Self.big(destinationPort) + Self.big(sequence) + Self.big(acknowledgment)
            + [length << 4, flags] + Self.big(window) + [0, 0, 0, 0] + options + payload
    }

    func ipv4(
        options: [UInt8] = [], totalLength: UInt16? = nil, fragment: UInt16 = 0, protocolNumber: UInt8 = 6,
        content: [UInt8]? = nil
    ) -> [UInt8] {
        let body = content ?? tcp
        let total = totalLength ?? UInt16(20 + options.count + body.count)
        return [UInt8(0x40 | (5 + options.count / 4)), 0] + Self.big(total) + [0, 7] + Self.big(fragment)
            + [64, protocolNumber, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2] + options + body
    }

    func ipv6(extensions: [UInt8] = [], next: UInt8 = 6, content: [UInt8]? = nil) -> [UInt8] {
        let body = extensions + (content ?? tcp)
        let address: [UInt8] = [0x20, 0x01, 0x0d, 0xb8] + Array(repeating: 0, count: 11)
        return [0x60, 0, 0, 0] + Self.big(UInt16(body.count)) + [next, 64] + address + [1] + address + [2] + body
    }

    static func ethernet(_ content: [UInt8], type: UInt16 = 0x0800, tags: [UInt8] = []) -> [UInt8] {
        Array(repeating: 0, count: 12) + tags + big(type) + content
    }
}

extension [UInt8] {
    /// Returns the concatenation of its arguments. This avoids long sums of array literals, which the compiler takes
    /// too long to check.
    static func joined(_ parts: [UInt8]...) -> [UInt8] { parts.flatMap(\.self) }

    static func zeros(_ count: Int) -> [UInt8] { [UInt8](repeating: 0, count: count) }

    func decoded(_ linkType: LinkType = .ethernet, originalLength: Int? = nil) throws(PacketError) -> DecodedPacket {
        try PacketDecoder.decode(span, linkType: linkType, originalLength: originalLength ?? count)
    }

    func decodedTCP(_ linkType: LinkType = .ethernet, originalLength: Int? = nil) throws -> DecodedTCP? {
        if case .tcp(let tcp) = try decoded(linkType, originalLength: originalLength) { tcp } else { nil }
    }
}

/// A deterministic generator (xorshift64*), so that a failure can be reproduced.
struct SeededRandom: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) {
        state = seed | 1
    }

    mutating func next() -> UInt64 {
        state ^= state >> 12
        state ^= state << 25
        state ^= state >> 27
        return state &* 0x2545_f491_4f6c_dd1d
    }
}
