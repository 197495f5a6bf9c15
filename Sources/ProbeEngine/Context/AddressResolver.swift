import Glibc
import ProbeBase
import ProbeEvents
import ProbeScenario
import ProbeSystem

/// The addresses that a script names: loopback ones, and those that `--allow-target` allows.
struct AddressResolver {
    let context: CaseContext

    /// Where a client connects to, as of now.
    func address(of target: Target, for name: String) throws(Finding) -> SocketAddress {
        switch target {
        case .address(let expression): return try address(of: expression)
        case .actor(let actor): return try address(ofActor: actor, for: name)
        }
    }

    func address(of expression: AddressExpression) throws(Finding) -> SocketAddress {
        guard let portExpression = expression.port else {
            throw Finding(.error, at: expression.span, "an address to connect to needs a port")
        }
        let number = try context.integer(of: portExpression)
        guard let port = UInt16(exactly: number), port != 0 else {
            throw Finding(.error, at: expression.span, "\(number) is no port: ports are 1 to 65535")
        }
        let address = try resolve(expression.host, port: port, at: expression.span)
        guard address.isLoopback || isAllowed(address, name: expression.host) else {
            throw notLocal(expression, address)
        }
        return address
    }

    private func address(ofActor actor: Name, for name: String) throws(Finding) -> SocketAddress {
        switch context.actors[actor.value] {
        case .server(let server):
            guard var address = server.address else {
                throw Finding(.error, at: actor.span, "\(actor.value) has no address: it has never listened")
            }
            if address.isUnspecified {
                address = SocketAddress(address.isIPv6 ? .loopbackV6 : .loopbackV4, port: address.port)
            }
            return address
        case .process(let process): return .loopback(port: process.ports[0])
        case .subject(let subject):
            guard let port = subject.port else {
                throw Finding(
                    .error, at: actor.span, "\(actor.value) does not listen yet",
                    hints: ["`\(actor.value) start` comes before \(name) connects"])
            }
            return .loopback(port: port)
        case .connection, nil: throw Finding(.error, at: actor.span, "\(actor.value) is nothing to connect to")
        }
    }

    /// A numeric address, `localhost`, or a name that the system resolves.
    func resolve(_ host: String, port: UInt16, at span: SourceSpan) throws(Finding) -> SocketAddress {
        if let address = SocketAddress(numeric: host, port: port) { return address }
        if host == "localhost" { return .loopback(port: port) }
        guard context.settings.allowedTargets.contains(where: { $0 == host || $0.hasPrefix("\(host):") }) else {
            throw Finding(
                .error, at: span, "\(host) is neither a loopback address nor localhost",
                hints: ["`--allow-target \(host)` allows it, and a connection to it"])
        }
        var hints = addrinfo()
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        var list: UnsafeMutablePointer<addrinfo>?
        let code = getaddrinfo(host, nil, &hints, &list)
        defer { if let list { freeaddrinfo(list) } }
        guard code == 0, let first = list?.pointee.ai_addr else {
            throw Finding(.error, at: span, "\(host) can't be resolved: \(String(cString: gai_strerror(code)))")
        }
        var text = [CChar](repeating: 0, count: 256)
        getnameinfo(first, list?.pointee.ai_addrlen ?? 0, &text, 256, nil, 0, NI_NUMERICHOST)
        let numeric = String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        guard let address = SocketAddress(numeric: numeric, port: port) else {
            throw Finding(.error, at: span, "\(host) resolves to \(numeric), which is no IP address")
        }
        return address
    }

    /// An address of the header that may not be used is told before anything runs.
    func checkAllowed(_ expression: AddressExpression, at span: SourceSpan) throws(Finding) {
        let address = try resolve(expression.host, port: 0, at: span)
        if !address.isLoopback && !isAllowed(address, name: expression.host) { throw notLocal(expression, address) }
    }

    func isAllowed(_ address: SocketAddress, name: String) -> Bool {
        context.settings.allowedTargets.contains { allowed in
            allowed == address.host || allowed == name || allowed == address.description
                || allowed == "\(name):\(address.port)"
        }
    }

    func notLocal(_ expression: AddressExpression, _ address: SocketAddress) -> Finding {
        if address.isUnspecified {
            return Finding(
                .error, at: expression.span,
                "\(expression.host) is every address of this machine: whoever reaches it could connect",
                hints: [
                    "127.0.0.1 or [::1] listens on loopback only; `--allow-target \(address.host)` allows it"
                ])
        }
        return Finding(
            .error, at: expression.span,
            "\(expression.host) is neither a loopback address nor inside the run's own namespaces",
            hints: ["`--allow-target \(address.host)` allows it; be sure that the host is yours to test"])
    }
}
