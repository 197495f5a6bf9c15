/// An IPv4 or IPv6 address: 16 bytes and a family, without heap memory.
///
/// An IPv4 address and its IPv4-mapped IPv6 address are different values, as they are in packets.
package struct IPAddress: Sendable, Hashable {
    package enum Family: Sendable, Hashable { case v4, v6 }

    /// The first eight bytes in network order; 0 for IPv4.
    package let high: UInt64
    /// The last eight bytes in network order; for IPv4 the address is in the lowest four.
    package let low: UInt64
    package let family: Family

    @inlinable init(family: Family, high: UInt64, low: UInt64) {
        self.family = family
        self.high = high
        self.low = low
    }

    /// In host order: 127.0.0.1 is `0x7f00_0001`.
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

    /// 4 or 16 bytes in network order; nil for any other count.
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

    /// 4 or 16 bytes in network order.
    package var bytes: [UInt8] {
        let count = family == .v4 ? 4 : 16
        return (16 - count..<16).map { index in
            let word = index < 8 ? high : low
            return UInt8(truncatingIfNeeded: word >> UInt64(56 - (index % 8) * 8))
        }
    }

    package static let loopbackV4 = IPAddress(v4: 0x7f00_0001)
    package static let loopbackV6 = IPAddress(v6High: 0, low: 1)

    /// The IPv4 address that an IPv4-mapped IPv6 address stands for (RFC 4291, section 2.5.5.2); any other as it is.
    package var unmapped: IPAddress {
        guard family == .v6, high == 0, low >> 32 == 0xffff else { return self }
        return IPAddress(v4: UInt32(truncatingIfNeeded: low))
    }

    /// 127.0.0.0/8 or ::1 (RFC 1122 3.2.1.3, RFC 4291 2.5.3).
    package var isLoopback: Bool {
        switch family {
        case .v4: low >> 24 == 127
        case .v6: high == 0 && low == 1
        }
    }

    /// 0.0.0.0 or ::
    package var isUnspecified: Bool { high == 0 && low == 0 }
}

extension IPAddress: Comparable {
    /// IPv4 before IPv6, then by number.
    package static func < (left: IPAddress, right: IPAddress) -> Bool {
        if left.family != right.family { return left.family == .v4 }
        return left.high != right.high ? left.high < right.high : left.low < right.low
    }
}

/// The addresses that a transport tries first where a name has addresses of both families, in the words of the language.
public enum AddressPreference: String, Sendable, CaseIterable {
    case ipv4, ipv6
}

extension AddressPreference {
    package var family: IPAddress.Family { self == .ipv4 ? .v4 : .v6 }
}
