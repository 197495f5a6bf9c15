/// A property of an actor that a string can interpolate: `${S.port}`.
package struct ActorProperty: Sendable {
    /// The forms of the property as the reference shows them.
    var forms: [String]
    var separator = " "
    var meaning: String

    static let all = [
        ActorProperty(forms: ["${S.port}", "${S.address}"], meaning: "a server: where it listens"),
        ActorProperty(
            forms: ["${C.port}", "${C.address}"], meaning: "a client or an accepted connection: its own end"),
        ActorProperty(
            forms: ["${C.peer.port}", "${C.peer.address}"], meaning: "a client or an accepted connection: the other end"
        ),
        ActorProperty(
            forms: ["${C.tls.version}", "${C.tls.cipher}", "${C.tls.alpn}", "${C.tls.sni}", "${C.tls.resumed}"],
            meaning:
                "a client or an accepted connection with TLS: what its handshake agreed on; empty without ALPN or SNI, `resumed` is `yes` or `no`"
        ),
        ActorProperty(forms: ["${T.port}", "${T.address}"], meaning: "a subject that listens"),
        ActorProperty(forms: ["${X.port}", "${X.address}"], meaning: "a proxy: where it listens"),
        ActorProperty(
            forms: ["${V.port}", "${V.address}"], meaning: "a crowd of `servers`: where it listens once it is started"),
        ActorProperty(
            forms: ["${S.path}", "${T.path}"], meaning: "a server or a subject that listens on a Unix socket"),
        ActorProperty(
            forms: ["${P.port}", "${P.port.2}` … `${P.port.64}"],
            meaning: "a process: ports that are free when the case begins, held for nobody"),
        ActorProperty(
            forms: ["${P.address}"],
            meaning: "a process: where its clients look for it, 127.0.0.1 or the address of its side of a link"),
        ActorProperty(forms: ["${dir}"], meaning: "in a `process` line: the script's folder"),
        ActorProperty(
            forms: ["${ca}"],
            meaning: "the file with the certificate (PEM) of the run's authority, which signs those of `tls`"),
    ]

    /// Returns the properties of an actor of this kind, for messages and editors.
    package static func choices(of kind: ActorKind) -> [String] {
        switch kind {
        case .process: ["port", "address", "port.2", "… up to port.\(mostPorts)"]
        // A server's name refers to the connection that it has accepted.
        case .server: ["port", "address", "path", "peer.port", "peer.address"] + ofTLS
        case .client, .connection: ["port", "address", "peer.port", "peer.address"] + ofTLS
        case .subject: ["port", "address", "path"]
        case .proxy, .crowd, .link: ["port", "address"]
        }
    }

    private static let ofTLS = ["tls.version", "tls.cipher", "tls.alpn", "tls.sni", "tls.resumed"]

    static let mostPorts = 64

    /// Returns the number of the port that `property` names: 1 for `port`, 2 for `port.2`.
    static func portNumber(_ property: String) -> Int? {
        if property == "port" { return 1 }
        guard property.utf8.starts(with: "port.".utf8), let number = Int(property.dropFirst(5)),
            (1...mostPorts).contains(number)
        else { return nil }
        return number
    }
}
