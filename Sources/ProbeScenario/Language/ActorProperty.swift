/// What a string can take of an actor: `${S.port}`.
struct ActorProperty: Sendable {
    /// As the reference shows them.
    var forms: [String]
    var separator = " "
    var meaning: String

    static let all = [
        ActorProperty(forms: ["${S.port}", "${S.address}"], meaning: "a server: where it listens"),
        ActorProperty(
            forms: ["${C.port}", "${C.address}"], meaning: "a client or an accepted connection: its own end"),
        ActorProperty(forms: ["${T.port}"], meaning: "a subject that listens"),
        ActorProperty(
            forms: ["${P.port}", "${P.port.2}` … `${P.port.64}"],
            meaning: "a process: ports that are free when the case begins, held for nobody"),
        ActorProperty(forms: ["${dir}"], meaning: "in a `process` line: the script's folder"),
    ]

    /// The properties of such an actor, for messages.
    static func choices(of kind: ActorKind) -> [String] {
        switch kind {
        case .process: ["port", "port.2", "… up to port.\(mostPorts)"]
        case .server, .client, .subject, .connection, .crowd, .link: ["port", "address"]
        }
    }

    static let mostPorts = 64

    /// 1 for `port`, 2 for `port.2`.
    static func portNumber(_ property: String) -> Int? {
        if property == "port" { return 1 }
        guard property.utf8.starts(with: "port.".utf8), let number = Int(property.dropFirst(5)),
            (1...mostPorts).contains(number)
        else { return nil }
        return number
    }
}
