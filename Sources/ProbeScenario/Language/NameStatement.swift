package import ProbeBase

/// `name "dual.test" = S6, S4 with aaaa after 300ms, ttl 1s`: the answer of the links' resolver for a host name. In the
/// header it applies from the start of the case, as a step from that step on.
package struct NameStatement: Sendable {
    package enum Answer: Sendable {
        /// The addresses in this order: IPv4 addresses in the A answer, IPv6 addresses in the AAAA answer.
        case addresses([NamedAddress], NameTimes)
        /// There is no such name.
        case nxdomain
        /// SERVFAIL.
        case fails
        /// The question is never answered.
        case timesOut
    }

    /// The host name (RFC 1123, 2.1) as it is written, without a trailing dot.
    package var name: Spanned<String>
    package var answer: Answer
    /// `if needed`: possibly, no program asks for the name.
    package var isOptional: Bool
    package var span: SourceSpan

    package init(name: Spanned<String>, answer: Answer, isOptional: Bool, span: SourceSpan) {
        self.name = name
        self.answer = answer
        self.isOptional = isOptional
        self.span = span
    }

    /// Returns the key of a name: names are compared without regard to case (RFC 4343).
    package static func key(of name: String) -> String { name.lowercased() }
}

extension NameStatement {
    static let entry = LanguageEntry(
        "name", ["name \"dual.test\" = S6, S4"],
        "what a name of a host stands for, in the networks of a link: these servers' addresses, in this order",
        more: [
            (
                ["name \"dual.test\" = 10.77.0.9, [fd77::9], S4"],
                "an address of 10.77.0.0/16 or fd77::/16 is one at which nobody is: what goes there is never answered"
            ),
            (
                ["name \"dual.test\" = S6, S4 with aaaa after 300ms"],
                "the question for IPv6 addresses (AAAA) is answered so much later; `a after 300ms`: the one for IPv4"
            ),
            (["name \"dual.test\" = S4 with ttl 1s"], "how long the answer may be kept, in whole seconds; else 0"),
            (["name \"gone.test\" nxdomain"], "the resolver answers that there is no such name"),
            (["name \"broken.test\" fails"], "it answers that it failed (SERVFAIL)"),
            (["name \"slow.test\" times out"], "it never answers"),
        ], example: "name \"dual.test\" = S", timing: nil
    ).ifNeeded()
}

/// An address that a name resolves to.
package enum NamedAddress: Sendable {
    /// A server, a process or a subject that listens.
    case actor(Name)
    /// An unused address in the networks of a link.
    case nobody(IPAddress, SourceSpan)
}

/// When a name is answered, and how long the answer is valid.
package struct NameTimes: Sendable {
    /// The delay of the answer for IPv4 addresses (A).
    package var ipv4Delay: Duration?
    /// The delay of the answer for IPv6 addresses (AAAA).
    package var ipv6Delay: Duration?
    /// The TTL of all records; `nil`: 0, so nothing is cached.
    package var timeToLive: Duration?

    package init() {}
}
