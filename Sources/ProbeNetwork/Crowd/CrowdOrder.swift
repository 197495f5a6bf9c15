package import ProbeBase

/// What a worker of a crowd is told: one object of JSON, the first line of its stdin.
package struct CrowdOrder: Sendable {
    package enum Role: Sendable {
        /// Members connect to this address.
        case clients(to: SocketEndpoint)
        /// Members are the connections that come to this address, which several workers share (SO_REUSEPORT). Port 0: any free one.
        case servers(at: SocketEndpoint)
        /// What a crowd connects to where that is a server of the harness: connections from the crowd, whose bytes are dropped. It listens
        /// on the server's own address, in its group of SO_REUSEPORT, in which `place` is this one's and `places` their number without the
        /// server, which is first.
        case sink(at: SocketEndpoint, place: Int, places: Int)
    }

    package var role: Role
    /// The members of this worker are `first`, `first + step`, … below `count`, which is that of the crowd.
    package var first: Int
    package var step: Int
    package var count: Int
    /// Members of the whole crowd that start in a second; nil: as fast as they can.
    package var rate: Double?
    package var program: MemberProgram
    package var receiveBuffer: Int?
    package var sources: SourceAddresses?
    /// Where `sources` has no free port.
    package var otherSources: SourceAddresses?
    package var tls: MemberTLS?
    /// A file by which workers of `servers` share the number of their members; nil: there is one worker.
    package var countFile: String?

    package init(role: Role, first: Int, step: Int, count: Int, program: MemberProgram) {
        (self.role, self.first, self.step, self.count, self.program) = (role, first, step, count, program)
    }

    /// How many members this worker has.
    package var members: Int { first < count ? (count - first + step - 1) / step : 0 }
}

/// The ends of a crowd's own: member `i` has address `first + i % addresses`, and of `ports` the one `i / addresses` after `offset`, in a circle.
package struct SourceAddresses: Sendable, Equatable {
    /// As a number: 127.64.0.1 is 0x7f400001.
    package var first: UInt32
    package var addresses: Int
    package var ports: Range<Int>
    /// Crowds that connect to one server begin at different ports.
    package var offset = 0

    package init(first: UInt32, addresses: Int, ports: Range<Int>) {
        (self.first, self.addresses, self.ports) = (first, addresses, ports)
    }

    /// 127.0.0.1, the one address that every server takes for local.
    package static func localhost(offset: Int) -> SourceAddresses {
        var sources = SourceAddresses(first: 0x7f00_0001, addresses: 1, ports: ports)
        sources.offset = offset
        return sources
    }

    /// `127.0.0.2`, `127.0.0.2 to 127.0.0.9`
    package static func text(of addresses: ClosedRange<UInt32>) -> String {
        let first = "\(IPAddress(v4: addresses.lowerBound))"
        return addresses.count == 1 ? first : "\(first) to \(IPAddress(v4: addresses.upperBound))"
    }

    package var text: String { Self.text(of: first...first + UInt32(addresses - 1)) }

    /// Whether the member has an end that no other member has.
    package func suffices(for member: Int) -> Bool { member / addresses < ports.count }

    /// 127.64.0.0/10 belongs to crowds: the capture leaves its packets out, and a server of the harness knows crowds by it.
    package static let network: (address: UInt32, mask: UInt32) = (0x7f40_0000, 0xffc0_0000)
    /// Below those that the system gives away by itself (ip_local_port_range begins at 32768).
    package static let ports = 10000..<32768
    private static let most = 4096

    /// For a crowd on loopback; `seed` chooses where in the network it begins, so that crowds of one machine do not meet.
    package init(members: Int, seed: UInt64) {
        addresses = max(1, min(Self.most, members / 16))
        let room = ~Self.network.mask - UInt32(Self.most) - 2
        first = Self.network.address + 1 + UInt32(seed % UInt64(room))
        ports = Self.ports
    }

    /// - Parameter round: 0 for a member's first connection. Each later one has another port: the peer may still have the one before it.
    package func endpoint(of member: Int, round: Int = 0) -> (address: UInt32, port: UInt16) {
        let place = offset + member / addresses + round * Self.stride
        return (first + UInt32(member % addresses), UInt16(ports.lowerBound + place % ports.count))
    }

    /// A prime: further than the members of one address are apart.
    private static let stride = 997
}

/// TLS of members that connect: as a client, or of members of `servers`: as a server.
package struct MemberTLS: Sendable, Equatable {
    /// SNI; nil: none.
    package var serverName: String?
    package var alpn: [String] = []
    /// Files of PEM: of servers.
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
