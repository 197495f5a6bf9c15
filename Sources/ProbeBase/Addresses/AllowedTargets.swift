/// The addresses that a script may connect to and listen on: the loopback addresses, and the hosts that
/// `--allow-target` names.
package struct AllowedTargets: Sendable {
    /// The reason why a script must not use an address, with a hint for the user.
    package struct Refusal: Sendable, Equatable {
        package let text: String
        package let hint: String
    }

    /// What a script uses an address for.
    package enum Purpose: Sendable {
        case connecting, listening
    }

    /// One `HOST` or `HOST:PORT` that was given to `--allow-target`.
    private struct Entry: Sendable {
        /// The host: a name in lower case, or an address as canonical text.
        var host: String
        /// The port; `nil` for all ports.
        var port: UInt16?
    }

    private var entries: [Entry] = []

    /// Creates the default value, which allows only loopback addresses.
    package init() {}

    /// Whether only loopback addresses are allowed.
    package var isEmpty: Bool { entries.isEmpty }

    /// Parses the values of `--allow-target`.
    ///
    /// - Parameter texts: the arguments, each `HOST` or `HOST:PORT`; an IPv6 address with a port must be in brackets.
    /// - Throws: ``Malformed`` with the first argument that has neither form.
    package init(_ texts: [String]) throws(Malformed) {
        for text in texts {
            guard let entry = Self.entry(text) else { throw Malformed(text: text) }
            entries.append(entry)
        }
    }

    /// An argument of `--allow-target` that is neither `HOST` nor `HOST:PORT`.
    package struct Malformed: Error, Sendable, Equatable {
        package let text: String
    }

    /// Returns the reason why a script must not use an address; `nil` if the script may use it. Host names are not
    /// resolved: a name is allowed only if `--allow-target` contains the name itself.
    ///
    /// - Parameters:
    ///   - host: the host as written in the script, without brackets.
    ///   - port: the port; 0 for any free port, and `nil` if the port is not known yet. A host whose port is not known
    ///     yet is allowed if at least one of its ports is allowed.
    package func refusal(of host: String, port: UInt16?, for purpose: Purpose) -> Refusal? {
        let address = IPAddress(host)?.unmapped
        if Self.isLoopback(host) { return nil }
        let name = Self.canonical(host)
        let known = entries.filter { $0.host == name }
        if known.contains(where: { $0.port == nil || port == nil || $0.port == port }) { return nil }
        let shown = Escaped.text(host.utf8)
        if !known.isEmpty, let port {
            let place = address?.family == .v6 ? "[\(name)]" : name
            return port == 0
                ? Refusal(
                    text: "--allow-target allows only some ports of \(shown), but the kernel would choose any free "
                        + "port",
                    hint: "specify one of the allowed ports, or pass `--allow-target \(name)` to allow all ports")
                : Refusal(
                    text: "--allow-target allows \(shown), but not port \(port)",
                    hint: "pass `--allow-target \(place):\(port)` to allow this port, if you are authorized to test "
                        + "the host")
        }
        if address?.isUnspecified == true {
            return purpose == .listening
                ? Refusal(
                    text: "\(shown) stands for every address of this machine, so other machines could connect",
                    hint:
                        "use 127.0.0.1 or [::1] to listen on loopback only, or pass `--allow-target \(name)` to "
                        + "allow this address"
                )
                : Refusal(
                    text: "\(shown) is not the address of a single machine",
                    hint:
                        "use 127.0.0.1 or [::1] to connect to this machine, or pass `--allow-target \(name)` to "
                        + "allow this address"
                )
        }
        return Refusal(
            text: address == nil
                ? "\(shown) may be another machine: localhost is the only name that is certain to be this machine"
                : "\(shown) is not a loopback address: it may belong to another machine",
            hint: "pass `--allow-target \(name)` to allow this host, if you are authorized to test it")
    }

    /// Returns whether a host is this machine's loopback interface, without querying a resolver.
    package static func isLoopback(_ host: String) -> Bool {
        IPAddress(host)?.unmapped.isLoopback ?? (host.lowercased() == "localhost")
    }

    private static func canonical(_ host: String) -> String {
        IPAddress(host).map { "\($0.unmapped)" } ?? host.lowercased()
    }

    private static func entry(_ text: String) -> Entry? {
        let bytes = text.utf8
        guard let first = bytes.first, !bytes.contains(where: { $0 <= 0x20 || $0 == 0x7F }) else { return nil }
        if first == UInt8(ascii: "[") {
            guard let close = text.firstIndex(of: "]") else { return nil }
            let host = String(text[text.index(after: text.startIndex)..<close])
            let rest = text[text.index(after: close)...]
            guard !host.isEmpty, !host.contains("[") else { return nil }
            if rest.isEmpty { return Entry(host: canonical(host), port: nil) }
            guard rest.first == ":", let port = port(rest.dropFirst()) else { return nil }
            return Entry(host: canonical(host), port: port)
        }
        // Text with more than one colon is an IPv6 address without a port.
        guard let colon = text.firstIndex(of: ":"), colon == text.lastIndex(of: ":") else {
            return Entry(host: canonical(text), port: nil)
        }
        guard colon > text.startIndex, let port = port(text[text.index(after: colon)...]) else { return nil }
        return Entry(host: canonical(String(text[..<colon])), port: port)
    }

    private static func port(_ text: Substring) -> UInt16? {
        guard text.utf8.allSatisfy({ (48...57).contains($0) }), let port = UInt16(text), port != 0 else { return nil }
        return port
    }
}
