/// An IPv4 or IPv6 address: 16 bytes and a family, stored without a heap allocation.
///
/// An IPv4 address and its IPv4-mapped IPv6 address are different values, as they are in packets.
package struct IPAddress: Sendable, Hashable {
    package enum Family: Sendable, Hashable { case v4, v6 }

    /// The first eight bytes of an IPv6 address in network order; 0 for IPv4.
    package let high: UInt64
    /// The last eight bytes in network order; an IPv4 address is in the lowest four bytes.
    package let low: UInt64
    package let family: Family

    @inlinable init(family: Family, high: UInt64, low: UInt64) {
        self.family = family
        self.high = high
        self.low = low
    }

    /// Creates an IPv4 address from a number in host order; for example, 127.0.0.1 is `0x7f00_0001`.
    @inlinable package init(v4 address: UInt32) {
        self.init(family: .v4, high: 0, low: UInt64(address))
    }

    @inlinable package init(v6High high: UInt64, low: UInt64) {
        self.init(family: .v6, high: high, low: low)
    }

    @inlinable @inline(__always)
    package static func == (left: IPAddress, right: IPAddress) -> Bool {
        guard left.high == right.high, left.low == right.low else { return false }
        switch (left.family, right.family) {
        case (.v4, .v4), (.v6, .v6): return true
        case (.v4, .v6), (.v6, .v4): return false
        }
    }

    /// Creates an address from 4 or 16 bytes in network order; `nil` for any other number of bytes.
    package init?(bytes: Span<UInt8>) {
        switch bytes.count {
        case 4:
            guard let address = bytes.big32(at: 0) else { return nil }
            self.init(v4: address)
        case 16:
            guard let high = bytes.big64(at: 0), let low = bytes.big64(at: 8) else { return nil }
            self.init(v6High: high, low: low)
        default:
            return nil
        }
    }

    /// The 4 or 16 bytes of the address in network order.
    package var bytes: [UInt8] {
        let count = family == .v4 ? 4 : 16
        return (16 - count..<16).map { index in
            let word = index < 8 ? high : low
            return UInt8(truncatingIfNeeded: word >> UInt64(56 - (index % 8) * 8))
        }
    }

    package static let loopbackV4 = IPAddress(v4: 0x7f00_0001)
    package static let loopbackV6 = IPAddress(v6High: 0, low: 1)

    /// The IPv4 address that an IPv4-mapped IPv6 address represents (RFC 4291, section 2.5.5.2); every other address is
    /// returned unchanged.
    package var unmapped: IPAddress {
        guard family == .v6, high == 0, low >> 32 == 0xffff else { return self }
        return IPAddress(v4: UInt32(truncatingIfNeeded: low))
    }

    /// Whether the address is in 127.0.0.0/8 or is ::1 (RFC 1122, section 3.2.1.3; RFC 4291, section 2.5.3).
    package var isLoopback: Bool {
        switch family {
        case .v4: low >> 24 == 127
        case .v6: high == 0 && low == 1
        }
    }

    /// Whether the address is 0.0.0.0 or ::.
    package var isUnspecified: Bool { high == 0 && low == 0 }
}

extension IPAddress: Comparable {
    /// Orders IPv4 addresses before IPv6 addresses, and the addresses of a family by their numeric value.
    package static func < (left: IPAddress, right: IPAddress) -> Bool {
        if left.family != right.family { return left.family == .v4 }
        return left.high != right.high ? left.high < right.high : left.low < right.low
    }
}

/// The address family that a transport tries first if a name resolves to addresses of both families. The raw values are
/// the keywords used in scripts.
public enum AddressPreference: String, Sendable, CaseIterable {
    case ipv4, ipv6
}

extension AddressPreference {
    package var family: IPAddress.Family { self == .ipv4 ? .v4 : .v6 }
}

extension IPAddress: CustomStringConvertible {
    /// The address as text, such as `127.0.0.1`; for IPv6 the canonical text of RFC 5952 (`::1`, `2001:db8::1`,
    /// `::ffff:192.0.2.1`).
    package var description: String {
        switch family {
        case .v4: Self.dotted(UInt32(truncatingIfNeeded: low))
        case .v6: v6Text
        }
    }

    /// Creates an address from any textual form that RFC 4291, section 2.2 allows; a zone, brackets and a prefix length
    /// are not accepted.
    package init?(_ text: String) {
        let bytes = Array(text.utf8)
        guard bytes.count <= 45 else { return nil }
        if bytes.contains(UInt8(ascii: ":")) {
            guard let groups = Self.parseV6(bytes[...]) else { return nil }
            let words = groups.map(UInt64.init)
            self.init(
                v6High: words[0] << 48 | words[1] << 32 | words[2] << 16 | words[3],
                low: words[4] << 48 | words[5] << 32 | words[6] << 16 | words[7]
            )
        } else {
            guard let address = Self.parseDotted(bytes[...]) else { return nil }
            self.init(v4: address)
        }
    }

    private static func dotted(_ address: UInt32) -> String {
        "\(address >> 24).\(address >> 16 & 255).\(address >> 8 & 255).\(address & 255)"
    }

    private var groups: [UInt16] {
        (0..<8).map { index in
            let word = index < 4 ? high : low
            return UInt16(truncatingIfNeeded: word >> UInt64(48 - (index % 4) * 16))
        }
    }

    private var v6Text: String {
        if high == 0, low >> 32 == 0xffff {
            // RFC 5952, section 5 recommends dotted notation after this well-known prefix.
            return "::ffff:" + Self.dotted(UInt32(truncatingIfNeeded: low))
        }
        let groups = groups
        let zeros = Self.longestZeroRun(groups)
        func joined(_ part: ArraySlice<UInt16>) -> String {
            part.map { String($0, radix: 16) }.joined(separator: ":")
        }
        guard let zeros else { return joined(groups[...]) }
        return joined(groups[..<zeros.lowerBound]) + "::" + joined(groups[zeros.upperBound...])
    }

    /// Returns the longest run of two or more zero groups; if several runs are equally long, the first of them (RFC
    /// 5952, sections 4.2.2 and 4.2.3).
    private static func longestZeroRun(_ groups: [UInt16]) -> Range<Int>? {
        var best: Range<Int>?
        var start = 0
        while start < groups.count {
            var end = start
            while end < groups.count, groups[end] == 0 { end += 1 }
            if end - start >= 2, end - start > (best?.count ?? 0) { best = start..<end }
            start = max(end, start + 1)
        }
        return best
    }

    private static func parseDotted(_ bytes: ArraySlice<UInt8>) -> UInt32? {
        let parts = bytes.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard parts.count == 4 else { return nil }
        var address: UInt32 = 0
        for part in parts {
            // A number with a leading zero is rejected, because some implementations interpret it as octal and others
            // as decimal (RFC 6943, section 3.1.1).
            guard (1...3).contains(part.count), part.count == 1 || part.first != UInt8(ascii: "0") else { return nil }
            var value: UInt32 = 0
            for digit in part {
                guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(digit) else { return nil }
                value = value * 10 + UInt32(digit - UInt8(ascii: "0"))
            }
            guard value <= 255 else { return nil }
            address = address << 8 | value
        }
        return address
    }

    private static func parseV6(_ bytes: ArraySlice<UInt8>) -> [UInt16]? {
        guard let gap = firstDoubleColon(bytes) else {
            guard let groups = parseGroups(bytes), groups.count == 8 else { return nil }
            return groups
        }
        let tail = bytes[(gap + 2)...]
        guard let left = parseGroups(bytes[..<gap], allowsDotted: false), let right = parseGroups(tail),
            left.count + right.count <= 7
        else { return nil }
        return left + Array(repeating: 0, count: 8 - left.count - right.count) + right
    }

    private static func firstDoubleColon(_ bytes: ArraySlice<UInt8>) -> Int? {
        bytes.indices.dropLast().first { bytes[$0] == UInt8(ascii: ":") && bytes[$0 + 1] == UInt8(ascii: ":") }
    }

    private static func parseGroups(_ bytes: ArraySlice<UInt8>, allowsDotted: Bool = true) -> [UInt16]? {
        if bytes.isEmpty { return [] }
        let parts = bytes.split(separator: UInt8(ascii: ":"), omittingEmptySubsequences: false)
        guard parts.count <= 8 else { return nil }
        var groups: [UInt16] = []
        for (index, part) in parts.enumerated() {
            if allowsDotted, index == parts.count - 1, part.contains(UInt8(ascii: ".")) {
                guard let address = parseDotted(part) else { return nil }
                groups.append(UInt16(truncatingIfNeeded: address >> 16))
                groups.append(UInt16(truncatingIfNeeded: address))
                continue
            }
            guard (1...4).contains(part.count) else { return nil }
            var value: UInt16 = 0
            for character in part {
                guard let digit = character.hexDigit else { return nil }
                value = value << 4 | UInt16(digit)
            }
            groups.append(value)
        }
        return groups
    }
}
