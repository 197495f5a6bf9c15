import ProbeBase
import ProbeSystem

/// Parses the addresses on the command line of `tcpprobe proxy`.
enum ProxyAddress {
    /// Parses the address on which to listen, such as `7000`, `127.0.0.1:7000` or `[::1]:0`.
    static func listening(_ text: String, _ allowed: AllowedTargets) throws -> SocketAddress {
        if let port = UInt16(text) { return .loopback(port: port) }
        let (host, port) = try split(text, allowsZero: true, "7000, 127.0.0.1:7000 or [::1]:7000")
        return try address(host, port, text, allowed, for: .listening)
    }

    /// Parses the address to which to connect, such as `127.0.0.1:6379` or `localhost:6379`.
    static func target(_ text: String, _ allowed: AllowedTargets) throws -> SocketAddress {
        if let port = UInt16(text), port > 0 {
            throw Failure.invalidUsage(
                "\(text) is only a port: expected a host and a port, such as 127.0.0.1:\(port)")
        }
        let (host, port) = try split(text, allowsZero: false, "127.0.0.1:6379 or [::1]:6379")
        return try address(host, port, text, allowed, for: .connecting)
    }

    private static func split(
        _ text: String, allowsZero: Bool, _ example: String
    ) throws -> (host: String, port: UInt16) {
        guard let colon = text.lastIndex(of: ":"), let port = UInt16(text[text.index(after: colon)...]),
            port > 0 || allowsZero
        else { throw Failure.invalidUsage("\(Escaped.text(text)) is not an address with a port, such as \(example)") }
        var host = String(text[..<colon])
        if host.hasPrefix("["), host.hasSuffix("]") {
            host = String(host.dropFirst().dropLast())
        } else if host.contains(":") {
            throw Failure.invalidUsage("\(Escaped.text(text)): an IPv6 address must be in brackets, as in [::1]:7000")
        }
        if host.isEmpty {
            throw Failure.invalidUsage("\(Escaped.text(text)) has no host: expected an address such as \(example)")
        }
        return (host, port)
    }

    private static func address(
        _ host: String, _ port: UInt16, _ text: String, _ allowed: AllowedTargets, for purpose: AllowedTargets.Purpose
    ) throws -> SocketAddress {
        if let refusal = allowed.refusal(of: host, port: port, for: purpose) {
            throw Failure.invalidUsage("\(refusal.text)\n  hint: \(refusal.hint)")
        }
        if let address = SocketAddress(numeric: host, port: port) { return address }
        if AllowedTargets.isLoopback(host) { return .loopback(port: port) }
        do throws(NameError) {
            return try SocketAddress.resolved(host, port: port)
        } catch {
            throw Failure.invalidUsage(error.text)
        }
    }
}
