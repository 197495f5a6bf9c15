package import ProbeBase

/// `name "dual.test" = S6, S4 with aaaa after 300ms, ttl 1s`: the answer that the links' resolver gives for a host
/// name. In the header, the statement applies from the start of the case; as a step, it applies from that step on.
package struct NameStatement: Sendable {
    package enum Answer: Sendable {
        /// The addresses, in the given order: IPv4 addresses are in the A answer, and IPv6 addresses in the AAAA
        /// answer.
        case addresses([NamedAddress], NameTimes)
        /// The name does not exist (NXDOMAIN).
        case nxdomain
        /// The resolver answers that it has failed (SERVFAIL).
        case fails
        /// The query is never answered.
        case timesOut
    }

    /// The host name (RFC 1123, section 2.1) as written in the script, without a trailing dot.
    package var name: Spanned<String>
    package var answer: Answer
    /// Whether the statement has the clause `if needed`, which means that the name need not be queried.
    package var isOptional: Bool
    package var span: SourceSpan

    package init(name: Spanned<String>, answer: Answer, isOptional: Bool, span: SourceSpan) {
        self.name = name
        self.answer = answer
        self.isOptional = isOptional
        self.span = span
    }

    /// Returns the key of a name. Names that differ only in case have the same key (RFC 4343).
    package static func key(of name: String) -> String { name.lowercased() }
}

extension NameStatement {
    static let entry = LanguageEntry(
        "name", ["name \"dual.test\" = S6, S4"],
        "defines what a host name resolves to in the networks of a link: the addresses of the given servers, in the given order",
        more: [
            (
                ["name \"dual.test\" = 10.77.0.9, [fd77::9], S4"],
                "an address in 10.77.0.0/16 or fd77::/16 represents a dead host: packets sent to it are never answered"
            ),
            (
                ["name \"dual.test\" = S6, S4 with aaaa after 300ms"],
                "delays the answer to a query for IPv6 addresses (AAAA) by 300 ms; `a after 300ms` delays the answer to a query for IPv4 addresses (A)"
            ),
            (
                ["name \"dual.test\" = S4 with ttl 1s"],
                "sets how long the answer may be cached, in whole seconds; the default is 0"
            ),
            (["name \"gone.test\" nxdomain"], "the resolver answers that the name does not exist"),
            (["name \"broken.test\" fails"], "the resolver answers that it failed (SERVFAIL)"),
            (["name \"slow.test\" times out"], "the resolver never answers"),
        ], example: "name \"dual.test\" = S", timing: nil
    ).ifNeeded()
}

/// An address that a name resolves to.
package enum NamedAddress: Sendable {
    /// A server, a process or a subject that listens.
    case actor(Name)
    /// An unused address in one of a link's networks.
    case nobody(IPAddress, SourceSpan)
}

/// The delays of the answers for a name, and the time for which the answers are valid.
package struct NameTimes: Sendable {
    /// The delay of the answer for IPv4 addresses (A).
    package var ipv4Delay: Duration?
    /// The delay of the answer for IPv6 addresses (AAAA).
    package var ipv6Delay: Duration?
    /// The TTL of all records; `nil` means 0, so that nothing is cached.
    package var timeToLive: Duration?

    package init() {}
}
