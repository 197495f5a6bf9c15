package import ProbeBase

extension CrowdOrder {
    package var json: JSONValue {
        var members: [JSONValue.Member] = [
            ("role", role.json), ("first", .integer(first)), ("step", .integer(step)), ("count", .integer(count)),
            ("program", program.json),
        ]
        if let rate { members.append(("rate", .number(rate))) }
        if let receiveBuffer { members.append(("receiveBuffer", .integer(receiveBuffer))) }
        if let sources { members.append(("sources", sources.json)) }
        if let otherSources { members.append(("otherSources", otherSources.json)) }
        if let countFile { members.append(("countFile", .string(countFile))) }
        if let tls { members.append(("tls", tls.json)) }
        return .object(members)
    }

    /// Nil if it is none.
    package init?(json: JSONValue) {
        guard let role = json["role"].flatMap(Role.init(json:)), let first = json["first"]?.integer,
            let step = json["step"]?.integer, let count = json["count"]?.integer, first >= 0, step > 0, count >= 0,
            let program = json["program"].flatMap(MemberProgram.init(json:))
        else { return nil }
        self.init(role: role, first: first, step: step, count: count, program: program)
        rate = json["rate"]?.double
        receiveBuffer = json["receiveBuffer"]?.integer
        countFile = json["countFile"]?.text
        if let value = json["sources"] {
            guard let read = SourceAddresses(json: value) else { return nil }
            sources = read
        }
        if let value = json["otherSources"] {
            guard let read = SourceAddresses(json: value) else { return nil }
            otherSources = read
        }
        if let value = json["tls"] {
            guard let options = MemberTLS(json: value) else { return nil }
            tls = options
        }
    }
}

extension SourceAddresses {
    fileprivate var json: JSONValue {
        .object([
            ("first", .integer(Int(first))), ("addresses", .integer(addresses)),
            ("ports", .array([.integer(ports.lowerBound), .integer(ports.upperBound)])), ("offset", .integer(offset)),
        ])
    }

    fileprivate init?(json: JSONValue) {
        guard let address = json["first"]?.integer.flatMap(UInt32.init(exactly:)),
            let addresses = json["addresses"]?.integer, addresses > 0,
            case .array(let ports)? = json["ports"], ports.count == 2, let lowest = ports[0].integer,
            let highest = ports[1].integer, lowest < highest, 1...65535 ~= lowest, highest <= 65536,
            let offset = json["offset"]?.integer, 0..<(1 << 32) ~= offset
        else { return nil }
        self.init(first: address, addresses: addresses, ports: lowest..<highest)
        self.offset = offset
    }
}

extension CrowdOrder.Role {
    fileprivate var json: JSONValue {
        switch self {
        case .clients(let target): .object([("kind", .string("clients")), ("at", target.json)])
        case .servers(let place): .object([("kind", .string("servers")), ("at", place.json)])
        case .sink(let place, let number, let places):
            .object([
                ("kind", .string("sink")), ("at", place.json), ("place", .integer(number)),
                ("places", .integer(places)),
            ])
        }
    }

    fileprivate init?(json: JSONValue) {
        guard let place = json["at"].flatMap(SocketEndpoint.init(json:)) else { return nil }
        switch json["kind"]?.text {
        case "clients": self = .clients(to: place)
        case "servers": self = .servers(at: place)
        case "sink":
            guard let number = json["place"]?.integer, let places = json["places"]?.integer else { return nil }
            self = .sink(at: place, place: number, places: places)
        default: return nil
        }
    }
}

extension SocketEndpoint {
    fileprivate var json: JSONValue {
        .object([("address", .string("\(address)")), ("port", .integer(Int(port)))])
    }

    fileprivate init?(json: JSONValue) {
        guard let text = json["address"]?.text, let address = IPAddress(text),
            let port = json["port"]?.integer.flatMap(UInt16.init(exactly:))
        else { return nil }
        self.init(address: address, port: port)
    }
}

extension MemberTLS {
    fileprivate var json: JSONValue {
        var members: [JSONValue.Member] = [("alpn", .array(alpn.map { .string($0) }))]
        if let serverName { members.append(("serverName", .string(serverName))) }
        if let certificate { members.append(("certificate", .string(certificate))) }
        if let key { members.append(("key", .string(key))) }
        return .object(members)
    }

    fileprivate init?(json: JSONValue) {
        guard case .array(let names)? = json["alpn"] else { return nil }
        self.init()
        alpn = names.compactMap(\.text)
        serverName = json["serverName"]?.text
        certificate = json["certificate"]?.text
        key = json["key"]?.text
    }
}

extension JSONValue {
    var double: Double? {
        switch self {
        case .number(let number): number
        case .integer(let number): Double(number)
        default: nil
        }
    }
}
