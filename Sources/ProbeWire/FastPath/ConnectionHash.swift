import ProbeBase

/// Hashes the two endpoints of a connection, in either order.
///
/// The hash is keyed with random numbers, so that nobody can craft a capture in which all connections collide.
struct ConnectionHash: Sendable {
    private let seed: UInt64
    private let otherSeed: UInt64

    init() {
        var random = SystemRandomNumberGenerator()
        seed = random.next()
        otherSeed = random.next() | 1
    }

    /// Returns an IPv4 endpoint as a 48-bit number: the address, followed by the port.
    @inline(__always)
    static func word(address: UInt32, port: UInt16) -> UInt64 {
        UInt64(address) << 16 | UInt64(port)
    }

    /// Hashes the words of two endpoints. The result is the same if the endpoints are swapped.
    @inline(__always)
    func callAsFunction(_ a: UInt64, _ b: UInt64) -> UInt64 {
        let isOrdered = a < b
        return mix((isOrdered ? a : b) ^ seed, (isOrdered ? b : a) &+ otherSeed)
    }

    func callAsFunction(_ a: SocketEndpoint, _ b: SocketEndpoint) -> UInt64 {
        self(word(a), word(b))
    }

    private func word(_ endpoint: SocketEndpoint) -> UInt64 {
        let address = endpoint.address
        switch address.family {
        case .v4: return Self.word(address: UInt32(truncatingIfNeeded: address.low), port: endpoint.port)
        case .v6: return mix(address.high ^ seed, address.low &+ otherSeed) &+ UInt64(endpoint.port)
        }
    }

    @inline(__always)
    private func mix(_ a: UInt64, _ b: UInt64) -> UInt64 {
        let first = a.multipliedFullWidth(by: 0x9e37_79b9_7f4a_7c15)
        let second = (first.high ^ first.low ^ b).multipliedFullWidth(by: otherSeed)
        let third = (second.high ^ second.low &+ seed).multipliedFullWidth(by: 0xd6e8_feb8_6659_fd93)
        return third.high ^ third.low
    }
}
