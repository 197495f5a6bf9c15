import Glibc
import ProbeBase
import ProbeEvents
import ProbeLink
import ProbeScenario
import ProbeSystem
import ProbeWire

/// Creates the sockets of servers, with the socket options given in the script.
struct ServerSetup {
    let context: CaseContext

    /// Makes a server listen on its declared address or, if it has none, on a free port.
    func listen(_ server: ServerActor) throws(Finding) {
        try open(server)
        try TLSAcceptor(context: context).watchListener(server)
    }

    private func open(_ server: ServerActor) throws(Finding) {
        if let declared = server.declared, let unix = declared.unix {
            try listen(server, on: unix, at: declared.span)
            return
        }
        var host = SocketAddress.loopback(port: 0)
        var fixedPort: UInt16?
        let addresses = AddressResolver(context: context)
        if let declared = server.declared {
            if let port = declared.port { fixedPort = try context.integer(of: port, as: UInt16.self) }
            if declared.link == nil {
                try addresses.checkAllowed(declared, port: fixedPort ?? 0, for: .listening)
                host = try addresses.resolve(declared.host, port: 0, at: declared.span)
            }
        }
        if let end = context.links.end(of: server.name) {
            host = server.declared?.link == .ipv6 ? end.ipv6 : end.ipv4
        }
        // A server that listens again uses the same port, which may already have been passed to other actors.
        if let earlier = server.address { fixedPort = earlier.port }
        for attempt in 0..<2000 {
            let address = host.with(port: fixedPort ?? context.settings.ports.candidate())
            guard let ends = address.endpoint else { return }
            let endpoint = EndpointPattern(ends)
            let isNew = !server.endpoints.contains(endpoint)
            do throws(SystemError) {
                context.capture.addListener(endpoint)
                let listener = try context.links.inNetwork(of: server.name) { () throws(SystemError) in
                    try Listener(
                        address: address, backlog: server.backlog, options: server.options,
                        sharesAddress: server.sinks.places > 0)
                }
                try CrowdSinks(context: context).steer(listener, of: server)
                server.listener = listener
                server.address = listener.address
                server.endpoints.insert(endpoint)
                return
            } catch {
                if isNew { context.capture.removeListener(endpoint) }
                if error.code == EADDRINUSE && fixedPort == nil && attempt < 1999 { continue }
                throw Finding(
                    .error, "\(server.name) can't listen on \(address): \(error.reason)", details: error.resourcesLeft,
                    hints: error.code == EADDRINUSE
                        ? ["find the program that uses the port with `ss -ltnp`, or omit `on` to use a free port"]
                        : error.code == EACCES
                            ? ["run as root, or use a port of 1024 or above"] : error.advice)
            }
        }
    }
}

extension ServerSetup {
    /// Makes a server listen on a Unix socket. The capture isn't involved, because a Unix socket has no packets.
    private func listen(
        _ server: ServerActor, on unix: AddressExpression.UnixSocket, at span: SourceSpan
    ) throws(Finding) {
        let address: SocketAddress
        switch unix {
        case .inCaseFolder: address = try context.sockets.address(for: server.name, at: span)
        case .path(let path): address = try AddressResolver(context: context).unixAddress(path, at: span)
        }
        do throws(SystemError) {
            server.listener = try Listener(address: address, backlog: server.backlog, options: server.options)
            server.address = address
            if case .path = unix, let path = address.path { SocketFile.bound(path) }
        } catch {
            throw Finding(
                .error, at: span, "\(server.name) can't listen on \(address): \(error.reason)",
                details: error.resourcesLeft,
                hints: error.code == EADDRINUSE
                    ? [
                        "a file already exists at that path, and a program may be listening on it: remove the "
                            + "file, or use another path"
                    ] : error.advice)
        }
    }
}

extension CaseContext {
    /// Computes the values of socket options in the header or in a `set` step.
    func rawOptions(_ options: [SocketOption]) throws(Finding) -> [RawSocketOption] {
        var raw: [RawSocketOption] = []
        for option in options { raw.append(try rawOption(option)) }
        return raw
    }

    func rawOption(_ option: SocketOption) throws(Finding) -> RawSocketOption {
        switch option {
        case .receiveBuffer(let size): .receiveBuffer(Int32(clamping: try integer(of: size)))
        case .sendBuffer(let size): .sendBuffer(Int32(clamping: try integer(of: size)))
        case .noDelay(let on): .noDelay(on)
        case .keepAlive(let on): .keepAlive(on)
        case .keepAliveEvery(let interval):
            .keepAliveEvery(Int32(clamping: max(1, (interval.nanoseconds + 999_999_999) / 1_000_000_000)))
        }
    }
}
