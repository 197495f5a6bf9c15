package import ProbeBase

/// A selection of a capture's flows, which is used to read only their packets.
package struct FlowSelection: Sendable {
    private struct Pair: Hashable, Sendable {
        let client: SocketEndpoint
        let server: SocketEndpoint
    }

    private var pairs: Set<Pair> = []
    /// A bit for each possible value of `place`: most packets of other flows are recognized by their bit, without a
    /// search.
    private var places = [UInt64](repeating: 0, count: 1 << (placeBits - 6))
    private static let placeBits = 18

    package init() {}

    package var isEmpty: Bool { pairs.isEmpty }

    /// Selects all flows between two endpoints, whichever of them is the client.
    package mutating func insert(_ a: SocketEndpoint, _ b: SocketEndpoint) {
        pairs.insert(Pair(client: a, server: b))
        pairs.insert(Pair(client: b, server: a))
        guard a.address.family == .v4, b.address.family == .v4 else { return }
        let place = Self.place(ConnectionShare.hash(Self.word(a), Self.word(b)))
        places[place >> 6] |= 1 << UInt64(place & 63)
    }

    package func contains(_ a: SocketEndpoint, _ b: SocketEndpoint) -> Bool {
        pairs.contains(Pair(client: a, server: b))
    }

    /// Returns whether a packet may belong to a selected flow. Packets that are not ordinary TCP segments may always
    /// belong to one.
    @inline(__always)
    func mayContain(_ bytes: Span<UInt8>, linkType: LinkType) -> Bool {
        guard let ends = FastPathSegment.Ends(bytes, linkType: linkType) else { return true }
        let place = Self.place(ends.hash)
        return places[place >> 6] & 1 << UInt64(place & 63) != 0
    }

    @inline(__always)
    private static func place(_ hash: UInt64) -> Int { Int(truncatingIfNeeded: hash >> UInt64(64 - placeBits)) }

    private static func word(_ endpoint: SocketEndpoint) -> UInt64 {
        ConnectionHash.word(address: UInt32(truncatingIfNeeded: endpoint.address.low), port: endpoint.port)
    }
}
