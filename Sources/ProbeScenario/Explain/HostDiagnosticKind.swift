import ProbeBase

/// What can be wrong with names of hosts: with the name, with what it stands for, and with who is told it.
package enum HostDiagnosticKind: Sendable {
    case noName(String, why: String)
    case twice(String)
    /// With the names that there are.
    case unknown(String, [String])
    /// A client or a proxy is to connect to a name.
    case onlyOfSubjects
    case subjectBesideLinks(String, host: String)
    case noLink
    case notOnLink(String)
    /// What a name stands for is not on one side of one link.
    case apart(String, String)
    case otherAddress(String)
    case addressOfActor(String)
    case addressTwice(String)
    case timeToLive

    var message: Diagnostic.Message {
        switch self {
        case .noName(let name, let why):
            .init(
                .hostName, "\(Escaped.quoted(name)) is no name of a host: \(why)",
                hint: "names have letters, digits and hyphens between dots: \"dual.test\"")
        case .twice(let name):
            .init(
                .hostName, "the name \(Escaped.quoted(name)) is given twice",
                hint: "write all that it stands for in one statement; a step can give it another meaning later")
        case .unknown(let name, let names):
            .init(
                .hostName, "nothing says what \(Escaped.quoted(name)) stands for",
                hint: Suggestion.nearest(to: name, among: names).map { "did you mean \"\($0)\"?" }
                    ?? "write name \(Escaped.quoted(name)) = S, with a server of the other side of the link")
        case .onlyOfSubjects:
            .init(
                .hostName, "only a subject is told a name",
                hint:
                    "connect it to an actor: client C -> S; what a name does is shown by subject T -> \"dual.test\":8080, "
                    + "or by a program")
        case .subjectBesideLinks(let name, let host):
            .init(
                .hostName,
                "`\(name)` is told the name \(Escaped.quoted(host)), and is on no link: names are answered there",
                hint: "write link S <-> \(name)")
        case .noLink:
            .init(
                .hostAddress, "names are answered in the networks of a link, and the script has none",
                hint: "write link S <-> T, with who asks on one side and who is found on the other")
        case .notOnLink(let name):
            .init(
                .hostAddress, "`\(name)` is on no link, so that a name can't stand for it",
                hint: "write link \(name) <-> T, with who asks on the other side")
        case .apart(let name, let other):
            .init(
                .hostAddress, "`\(other)` and `\(name)` are not on one side of one link: nobody could reach both",
                hint: "write link \(other), \(name) <-> T")
        case .otherAddress(let address):
            .init(
                .hostAddress, "\(Escaped.text(address.utf8)) is no address that a link may have for a host",
                hint: "write a server's name; 10.77.0.9 and [fd77::9] are addresses of links at which nobody is")
        case .addressOfActor(let address):
            .init(
                .hostAddress, "\(Escaped.text(address.utf8)) may be the address of an actor",
                hint: "write the actor's name; for an address at which nobody is: 10.77.0.9, or [fd77::9]")
        case .addressTwice(let text):
            .init(.hostAddress, "\(Escaped.text(text.utf8)) stands here twice", hint: "leave one out")
        case .timeToLive:
            .init(
                .outOfRange, "the time to live of a name is said in whole seconds, up to 2147483647",
                hint: "for example: ttl 1s")
        }
    }

    /// What the kinds mean, by their names.
    static let explanations: [DiagnosticID: DiagnosticExplanation] = [
        .hostName: DiagnosticExplanation(
            meaning:
                "The names of hosts that a script answers for are those of its `name` statements, one statement a name. A subject "
                + "on a link is told one, and looks it up by itself; a program on a link may look up any of them.",
            wrong: #"""
                scenario "example"
                server S on link:8080
                subject T -> "chat.test":8080
                link S <-> T
                name "chta.test" = S
                T start
                S accept
                T expect started
                """#,
            right: #"""
                scenario "example"
                server S on link:8080
                subject T -> "chat.test":8080
                link S <-> T
                name "chat.test" = S
                T start
                S accept
                T expect started
                """#
        ),
        .hostAddress: DiagnosticExplanation(
            meaning:
                "A name stands for servers, processes and subjects that listen, on one side of one link: whoever asks for it is on "
                + "the other side. An address of 10.77.0.0/16 or of fd77::/16 that no actor has stands for a host that is away.",
            wrong: #"""
                scenario "example"
                server S on link:8080
                server R
                subject T -> "chat.test":8080
                link S <-> T
                name "chat.test" = R, S
                T start
                S accept
                T expect started
                R expect no connection for 10ms
                """#,
            right: #"""
                scenario "example"
                server S on link:8080
                server R on link:8081
                subject T -> "chat.test":8080
                link S, R <-> T
                name "chat.test" = R, S
                T start
                S accept
                T expect started
                R expect no connection for 10ms
                """#
        ),
    ]
}
