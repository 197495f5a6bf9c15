package import ProbeBase

/// The order that a worker of a crowd receives as one JSON object, on the first line of its stdin.
package struct CrowdOrder: Sendable {
    package enum Role: Sendable {
        /// Members connect to the given address.
        case clients(to: SocketEndpoint)
        /// Members are the connections to the given address, which several workers share (SO_REUSEPORT). If the port is
        /// 0, the kernel chooses a free port.
        case servers(at: SocketEndpoint)
        /// Members are a crowd's connections to a server of the harness; the bytes that they receive are dropped.
        ///
        /// The worker listens on the server's own address, in the server's SO_REUSEPORT group. `place` is the worker's
        /// index in the group, and `places` is the number of workers, not counting the server, which has the first
        /// index.
        case sink(at: SocketEndpoint, place: Int, places: Int)
    }

    package var role: Role
    /// The number of this worker's first member. The worker's members are `first`, `first + step`, … below `count`,
    /// which is the number of members of the whole crowd.
    package var first: Int
    package var step: Int
    package var count: Int
    /// The number of members of the whole crowd that start per second; `nil` to start them as fast as possible.
    package var rate: Double?
    package var program: MemberProgram
    package var receiveBuffer: Int?
    package var sources: SourceAddresses?
    /// The addresses to use if none of the addresses in `sources` has a free port.
    package var otherSources: SourceAddresses?
    package var tls: MemberTLS?
    /// A file through which the workers of `servers` share their member count; `nil` if there is only one worker.
    package var countFile: String?

    package init(role: Role, first: Int, step: Int, count: Int, program: MemberProgram) {
        (self.role, self.first, self.step, self.count, self.program) = (role, first, step, count, program)
    }

    /// The number of members of this worker.
    package var members: Int { first < count ? (count - first + step - 1) / step : 0 }
}

/// The source addresses and ports of a crowd.
///
/// Member `i` has the address `first + i % addresses` and the port at index `offset + i / addresses` of `ports`, modulo
/// the number of ports.
package struct SourceAddresses: Sendable, Equatable {
    /// The first address as a number: 127.64.0.1 is 0x7f400001.
    package var first: UInt32
    package var addresses: Int
    package var ports: Range<Int>
    /// The offset of the first port in `ports`. It differs between crowds that connect to the same server.
    package var offset = 0

    package init(first: UInt32, addresses: Int, ports: Range<Int>) {
        (self.first, self.addresses, self.ports) = (first, addresses, ports)
    }

    /// Returns the source address 127.0.0.1, the only address that every server considers local.
    package static func localhost(offset: Int) -> SourceAddresses {
        var sources = SourceAddresses(first: 0x7f00_0001, addresses: 1, ports: ports)
        sources.offset = offset
        return sources
    }

    /// Returns a range of addresses as text, such as `127.0.0.2` or `127.0.0.2 to 127.0.0.9`.
    package static func text(of addresses: ClosedRange<UInt32>) -> String {
        let first = "\(IPAddress(v4: addresses.lowerBound))"
        return addresses.count == 1 ? first : "\(first) to \(IPAddress(v4: addresses.upperBound))"
    }

    package var text: String { Self.text(of: first...first + UInt32(addresses - 1)) }

    /// Returns whether the member's address and port differ from those of all other members.
    package func suffices(for member: Int) -> Bool { member / addresses < ports.count }

    /// The network that is reserved for crowds, 127.64.0.0/10. The capture excludes packets of this network. A source
    /// address in the network identifies a connection from a crowd to a server of the harness.
    package static let network: (address: UInt32, mask: UInt32) = (0x7f40_0000, 0xffc0_0000)
    /// The source ports of crowds, which are below the ports that the system assigns (ip_local_port_range begins at
    /// 32768).
    package static let ports = 10000..<32768
    private static let most = 4096

    /// Creates the source addresses of a crowd on loopback. `seed` determines the first address within the network, so
    /// that crowds on the same machine use different addresses.
    package init(members: Int, seed: UInt64) {
        addresses = max(1, min(Self.most, members / 16))
        let room = ~Self.network.mask - UInt32(Self.most) - 2
        first = Self.network.address + 1 + UInt32(seed % UInt64(room))
        ports = Self.ports
    }

    /// Returns the source address and port of a member's connection.
    ///
    /// - Parameter round: 0 for a member's first connection. Each later connection has a different port, because the
    ///   peer may not have released the previous connection yet.
    package func endpoint(of member: Int, round: Int = 0) -> (address: UInt32, port: UInt16) {
        let place = offset + member / addresses + round * Self.stride
        return (first + UInt32(member % addresses), UInt16(ports.lowerBound + place % ports.count))
    }

    /// The distance between the ports of successive rounds: a prime that is larger than the distance between the ports
    /// of members that share an address.
    private static let stride = 997
}

/// The TLS settings of members: members that connect are TLS clients, and members of `servers` are TLS servers.
package struct MemberTLS: Sendable, Equatable {
    /// The name to send as SNI; `nil` for none.
    package var serverName: String?
    package var alpn: [String] = []
    /// The PEM files of a server's certificate and key.
    package var certificate: String?
    package var key: String?

    package init() {}
}

extension CrowdOrder: JSONConvertible {
    package static let codec = JSONCodec.object(
        CrowdOrder(
            role: .servers(at: SocketEndpoint(address: .loopbackV4, port: 0)), first: 0, step: 1, count: 0,
            program: MemberProgram(instructions: [], terminator: [])),
        [
            .required("role", \.role, Role.codec), .required("first", \.first, .integer(in: 0...Int.max)),
            .required("step", \.step, .integer(in: 1...Int.max)),
            .required("count", \.count, .integer(in: 0...Int.max)),
            .required("program", \.program, MemberProgram.codec), .optional("rate", \.rate, .number),
            .optional("receiveBuffer", \.receiveBuffer, .integer),
            .optional("sources", \.sources, SourceAddresses.codec),
            .optional("otherSources", \.otherSources, SourceAddresses.codec),
            .optional("countFile", \.countFile, .text), .optional("tls", \.tls, MemberTLS.codec),
        ])
}

extension SourceAddresses {
    fileprivate static let codec = JSONCodec.object(
        SourceAddresses(first: 0, addresses: 1, ports: ports),
        [
            .required("first", \.first, .integer), .required("addresses", \.addresses, .integer(in: 1...Int.max)),
            .required("ports", \.ports, portRange), .required("offset", \.offset, .integer(in: 0...Int(UInt32.max))),
        ])

    private static let portRange = JSONCodec<Range<Int>>(
        "an array", encode: { .array([.integer($0.lowerBound), .integer($0.upperBound)]) }
    ) { value, _ in
        guard case .array(let ends) = value, ends.count == 2, let lowest = ends[0].integer, let end = ends[1].integer,
            lowest < end, 1...65535 ~= lowest, end <= 65536
        else { return nil }
        return lowest..<end
    }
}

extension CrowdOrder.Role {
    fileprivate static let codec = JSONCodec<Self>("an object") { role in
        switch role {
        case .clients(let target): .object([("kind", .string("clients")), ("at", endpoint.encode(target))])
        case .servers(let place): .object([("kind", .string("servers")), ("at", endpoint.encode(place))])
        case .sink(let place, let number, let places):
            .object([
                ("kind", .string("sink")), ("at", endpoint.encode(place)), ("place", .integer(number)),
                ("places", .integer(places)),
            ])
        }
    } decode: { (value, _) throws(JSONContentError) in
        let place = try value.required("at", endpoint)
        switch value["kind"]?.text {
        case "clients": return .clients(to: place)
        case "servers": return .servers(at: place)
        case "sink":
            return .sink(
                at: place, place: try value.required("place", .integer), places: try value.required("places", .integer))
        default: return nil
        }
    }

    private static let endpoint = JSONCodec.object(
        SocketEndpoint(address: .loopbackV4, port: 0),
        [.required("address", \.address, address), .required("port", \.port, .integer)])

    private static let address = JSONCodec<IPAddress>(
        "an address", encode: { .string("\($0)") }, decode: { value, _ in value.text.flatMap { IPAddress($0) } })
}

extension MemberTLS {
    fileprivate static let codec = JSONCodec.object(
        MemberTLS(),
        [
            .required("alpn", \.alpn, .texts), .optional("serverName", \.serverName, .text),
            .optional("certificate", \.certificate, .text), .optional("key", \.key, .text),
        ])
}
