package import ProbeBase

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
