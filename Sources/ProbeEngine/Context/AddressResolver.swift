import Glibc
import ProbeBase
import ProbeEvents
import ProbeLink
import ProbeProxy
import ProbeScenario
import ProbeSystem

/// Resolves the addresses of a script, which may use loopback addresses and the addresses allowed by `--allow-target`.
struct AddressResolver {
    let context: CaseContext

    /// Returns the address to which a client currently connects.
    func address(of target: Target, for name: String) throws(Finding) -> SocketAddress {
        switch target {
        case .address(let expression): return try address(of: expression)
        case .actor(let actor): return try address(ofActor: actor, for: name)
        }
    }

    func address(of expression: AddressExpression) throws(Finding) -> SocketAddress {
        if case .path(let path)? = expression.unix { return try unixAddress(path, at: expression.span) }
        let port = try port(of: expression)
        try checkAllowed(expression, port: port, for: .connecting)
        return try resolve(expression.host, port: port, at: expression.span)
    }

    func port(of expression: AddressExpression) throws(Finding) -> UInt16 {
        guard let portExpression = expression.port else {
            throw Finding(.error, at: expression.span, "an address to connect to must have a port")
        }
        return try context.integer(of: portExpression, as: UInt16.self)
    }

    private func address(ofActor actor: Name, for name: String) throws(Finding) -> SocketAddress {
        switch context.actors[actor.value] {
        case .server(let server):
            guard let address = server.address else {
                throw Finding(.error, at: actor.span, "\(actor.value) has no address because it has not listened yet")
            }
            return address.reachable
        case .process(let process):
            return process.host.with(port: process.ports[0])
        case .subject(let subject):
            guard let address = subject.address else {
                throw Finding(
                    .error, at: actor.span, "\(actor.value) is not listening yet",
                    hints: ["add `\(actor.value) start` before \(name) connects"])
            }
            return address
        case .proxy(let proxy):
            guard let address = proxy.proxy?.address else {
                throw Finding(.error, at: actor.span, "\(actor.value) is not listening")
            }
            return address
        case .crowd(let crowd):
            guard let address = crowd.address else {
                throw Finding(.error, at: actor.span, "\(actor.value) has no address because it only connects")
            }
            return address
        case .connection, .proxied, nil:
            throw Finding(.error, at: actor.span, "\(actor.value) is not an actor that accepts connections")
        }
    }

    /// Returns the address of a Unix socket whose path is given in the script. The path is absolute, or relative to the
    /// script's folder.
    func unixAddress(_ expression: Expression, at span: SourceSpan) throws(Finding) -> SocketAddress {
        let text = String(decoding: try context.bytes(of: expression), as: UTF8.self)
        let path = text.hasPrefix("/") ? text : "\(context.job.folder)/\(text)"
        guard !text.isEmpty, let address = SocketAddress(unixPath: path) else {
            throw Finding(
                .error, at: span, "\(Escaped.quoted(path)) is not a valid Unix socket path",
                hints: ["use a path of 1 to \(SocketAddress.longestPath) bytes without a NUL"])
        }
        return address
    }

    /// Resolves a numeric address, `localhost`, or a name that the system resolves. ``checkAllowed(_:port:for:)``
    /// decides whether the address may be used.
    func resolve(_ host: String, port: UInt16, at span: SourceSpan) throws(Finding) -> SocketAddress {
        if let address = SocketAddress(numeric: host, port: port) { return address }
        if AllowedTargets.isLoopback(host) { return .loopback(port: port) }
        do throws(NameError) {
            return try SocketAddress.resolved(host, port: port)
        } catch {
            throw Finding(.error, at: span, error.text)
        }
    }

    /// Throws if the script may not use an address. If the port was known when the script was checked, a forbidden
    /// address has already been rejected.
    ///
    /// - Parameter port: the port; `nil` if it is not known yet, 0 if any free port is used.
    func checkAllowed(
        _ expression: AddressExpression, port: UInt16?, for purpose: AllowedTargets.Purpose
    ) throws(Finding) {
        if expression.unix != nil || expression.hostName != nil { return }
        let targets = context.settings.allowedTargets
        guard let refusal = targets.refusal(of: expression.host, port: port, for: purpose) else { return }
        throw Finding(.error, at: expression.span, refusal.text, hints: [refusal.hint])
    }
}
