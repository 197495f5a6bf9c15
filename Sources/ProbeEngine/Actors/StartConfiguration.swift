import ProbeBase
import ProbeEvents
import ProbeLink
import ProbeScenario
import ProbeSystem
import ProbeTransport

/// The configuration that is passed to a subject with its `start`.
struct StartConfiguration {
    let context: CaseContext
    let subject: SubjectActor
    /// Whether steps of the case request reads.
    let readsOnDemand: Bool

    /// The endpoint that a subject connects to, with the host as it is passed to the subject.
    struct Target {
        var host = "127.0.0.1"
        var port: UInt16 = 0
        /// The path of a Unix socket.
        var path: String?
    }

    /// Returns the target that the subject connects to, and the target's endpoint if the target is a server outside the
    /// run (`nil` if the target is an actor).
    static func target(
        of subject: SubjectActor, _ context: CaseContext
    ) throws(Finding) -> (Target, outside: EndpointPattern?) {
        let addresses = AddressResolver(context: context)
        switch subject.target {
        case .address(let expression):
            if let name = expression.hostName {
                let port = try addresses.port(of: expression)
                subject.named = EndpointPattern(anyAddressPort: port)
                return (Target(host: name.value, port: port), nil)
            }
            let address = try addresses.address(of: expression)
            // The subject resolves host names itself, and may choose a different address than the harness would choose.
            let isNumeric = SocketAddress(numeric: expression.host, port: address.port) != nil
            let anywhere = EndpointPattern(anyAddressPort: address.port)
            return (
                Target(host: expression.host, port: address.port, path: address.path),
                address.endpoint.map { isNumeric ? EndpointPattern($0) : anywhere }
            )
        case .actor(let name):
            let address = try addresses.address(of: .actor(name), for: subject.name)
            return (Target(host: address.host, port: address.port, path: address.path), nil)
        case nil: return (Target(), nil)
        }
    }

    func configuration(to target: Target) throws(Finding) -> TransportConfiguration {
        let options = subject.configuration
        var configuration = TransportConfiguration(
            host: target.host, port: target.port, framing: context.scenario.framing,
            maxLine: try context.scenario.maxLine.map { (limit) throws(Finding) in try context.integer(of: limit) }
                ?? 1024,
            connectTimeout: options.connectTimeout.map(context.scaled),
            idleTimeout: options.idleTimeout.map(context.scaled))
        configuration.reads = readsOnDemand
        configuration.path = target.path
        configuration.allowsHalfClose = options.allowsHalfClose
        configuration.discardsTooLong = options.discardsTooLong
        configuration.parsesProtobuf = options.parsesProtobuf
        configuration.heartbeat = try heartbeat(options)
        // The shortest and the longest delay before a reconnection attempt are not scaled, because they are gaps rather
        // than deadlines.
        configuration.reconnect = options.reconnect.map {
            TransportReconnect(shortest: $0.shortest, longest: $0.longest)
        }
        if let mark = options.highWater {
            configuration.highWater = try context.integer(of: mark)
        }
        if let path = options.path {
            configuration.requestPath = try WebSocketExecutor(context: context).requestPath(path)
        }
        configuration.tls = try subject.tls.map { (options) throws(Finding) in try security(options) }
        try setLocalEnd(in: &configuration)
        return configuration
    }

    /// Returns the heartbeat settings. The timeout is scaled, because it is a deadline. The interval is not scaled,
    /// because it is a gap.
    private func heartbeat(_ options: SubjectOptions) throws(Finding) -> TransportHeartbeat? {
        guard options.heartbeat != nil || options.heartbeatTimeout != nil || options.heartbeatAnswer != nil else {
            return nil
        }
        return TransportHeartbeat(
            interval: options.heartbeat?.interval,
            message: try options.heartbeat.map { (beat) throws(Finding) in try context.bytes(of: beat.message) } ?? [],
            timeout: options.heartbeatTimeout.map(context.scaled),
            answer: try options.heartbeatAnswer.map { (answer) throws(Finding) in try context.bytes(of: answer) })
    }

    /// Returns the settings with which the subject starts TLS.
    func security(_ options: TLSOptions) throws(Finding) -> TransportTLS {
        let authorities =
            if case .file(let file) = options.trust {
                try context.path(ofScriptFile: file)
            } else {
                try context.authorityFile(at: options.span)
            }
        var protocols: [[UInt8]] = []
        for name in options.protocols {
            let bytes = try context.bytes(of: name)
            guard (1...255).contains(bytes.count) else {
                throw Finding(
                    .error, at: name.span, "a protocol name must be 1 to 255 bytes long (RFC 7301), not \(bytes.count)")
            }
            protocols.append(bytes)
        }
        let name = try options.name.map { (name) throws(Finding) in try serverName(name) }
        return TransportTLS(
            authorities: authorities, name: name ?? Self.runName, protocols: protocols, version: options.version)
    }

    /// The name that the run's certificates are issued for.
    static let runName = "localhost"

    private func serverName(_ expression: Expression) throws(Finding) -> String {
        let bytes = try context.bytes(of: expression)
        guard !bytes.isEmpty, bytes.allSatisfy({ (0x21...0x7e).contains($0) }) else {
            throw Finding(
                .error, at: expression.span, "\(Escaped.phrase(bytes)) is not a server name",
                hints: [
                    "use a name that consists of letters, digits, hyphens and dots, such as \"chat.test\", or a "
                        + "numeric address"
                ])
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Sets the local address, the interface and the preferred address family. For a listener, the local address is the
    /// one that it listens on.
    private func setLocalEnd(in configuration: inout TransportConfiguration) throws(Finding) {
        configuration.interface = subject.configuration.interface?.value
        configuration.preference = subject.configuration.preference
        let local = subject.configuration.local
        if subject.isListener, let end = context.links.end(of: subject.name) {
            let address = local?.link == .ipv6 ? end.ipv6 : end.ipv4
            configuration.host = address.endpoint.map { "\($0.address)" } ?? configuration.host
            subject.listeningHost = configuration.host
        }
        guard let local else { return }
        if let unix = local.unix {
            let address: SocketAddress
            switch unix {
            case .inCaseFolder: address = try context.sockets.address(for: subject.name, at: local.span)
            case .path(let path): address = try AddressResolver(context: context).unixAddress(path, at: local.span)
            }
            configuration.path = address.path
            subject.listeningSocket = address
            return
        }
        var port: UInt16 = 0
        if let expression = local.port { port = try context.integer(of: expression, as: UInt16.self) }
        if local.link != nil {
            configuration.port = port
        } else if subject.isListener {
            try AddressResolver(context: context).checkAllowed(local, port: port, for: .listening)
            (configuration.host, configuration.port) = (local.host, port)
            subject.listeningHost = local.host
        } else {
            (configuration.localHost, configuration.localPort) = (local.host, port)
        }
    }
}
