import ProbeBase

/// A share of the connections in a capture. Several analyses of one capture can run in parallel, each with its own
/// share.
///
/// The share that a connection belongs to depends only on its endpoints, so the share is the same in each run.
package struct ConnectionShare: Sendable, Hashable {
    package let number: Int
    /// The total number of shares.
    package let count: Int

    package static let all = ConnectionShare(0, of: 1)

    /// Creates the share with the given number.
    ///
    /// - Parameter number: the number of the share, from 0 to `count - 1`; values outside this range are clamped.
    package init(_ number: Int, of count: Int) {
        self.count = max(1, count)
        self.number = min(max(0, number), self.count - 1)
    }

    /// Returns whether the connection between two IPv4 endpoints belongs to the share. Each endpoint is an address
    /// followed by a 16-bit port.
    @inline(__always)
    func contains(_ a: UInt64, _ b: UInt64) -> Bool {
        count == 1 || contains(hash: Self.hash(a, b))
    }

    /// Returns a hash that is the same for both directions. Each share consists of the connections in one range of
    /// hashes.
    @inline(__always)
    static func hash(_ a: UInt64, _ b: UInt64) -> UInt64 { ((a &+ b) ^ (a &* b)) &* 0x9e37_79b9_7f4a_7c15 }

    @inline(__always)
    func contains(hash: UInt64) -> Bool {
        Int(truncatingIfNeeded: ((hash >> 32) &* UInt64(truncatingIfNeeded: count)) >> 32) == number
    }

    func contains(_ a: SocketEndpoint, _ b: SocketEndpoint) -> Bool {
        count == 1 || contains(word(a), word(b))
    }

    private func word(_ endpoint: SocketEndpoint) -> UInt64 {
        let address = endpoint.address
        switch address.family {
        case .v4: return address.low << 16 | UInt64(endpoint.port)
        case .v6: return (address.high &* 31 &+ address.low) &* 0x1_0001 &+ UInt64(endpoint.port)
        }
    }
}
