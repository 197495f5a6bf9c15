package import ProbeBase

/// `name "dual.test" = S6, S4 with aaaa after 300ms, ttl 1s`: what the resolver of the links answers for a name. In the header from the
/// start of the case on, as a step from there on.
package struct NameStatement: Sendable {
    package enum Answer: Sendable {
        /// In this order; those of IPv4 answer A, those of IPv6 AAAA.
        case addresses([NamedAddress], NameTimes)
        /// There is no such name.
        case nxdomain
        /// SERVFAIL.
        case fails
        /// Nothing is ever answered.
        case timesOut
    }

    /// Of a host (RFC 1123, 2.1), without a dot at its end, as it is written.
    package var name: Spanned<String>
    package var answer: Answer
    /// `if needed`: perhaps nobody asks.
    package var isOptional: Bool
    package var span: SourceSpan

    package init(name: Spanned<String>, answer: Answer, isOptional: Bool, span: SourceSpan) {
        self.name = name
        self.answer = answer
        self.isOptional = isOptional
        self.span = span
    }

    /// Names are compared without regard to case (RFC 4343).
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

/// What a name stands for.
package enum NamedAddress: Sendable {
    /// A server, a process or a subject that listens.
    case actor(Name)
    /// An address of a link's networks at which nobody is.
    case nobody(IPAddress, SourceSpan)
}

/// When a name is answered, and for how long that holds.
package struct NameTimes: Sendable {
    /// Of the question for IPv4 addresses (A).
    package var ipv4Delay: Duration?
    /// Of the question for IPv6 addresses (AAAA).
    package var ipv6Delay: Duration?
    /// Of all records; nil: 0, nothing is kept.
    package var timeToLive: Duration?

    package init() {}
}
