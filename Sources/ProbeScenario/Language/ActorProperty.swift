/// A property of an actor that a string can interpolate: `${S.port}`.
package struct ActorProperty: Sendable {
    /// The forms of the property as they appear in the reference.
    var forms: [String]
    var separator = " "
    var meaning: String

    static let all = [
        ActorProperty(
            forms: ["${S.port}", "${S.address}"], meaning: "the port and the address on which a server listens"),
        ActorProperty(
            forms: ["${C.port}", "${C.address}"],
            meaning: "the local port and address of a client or an accepted connection"),
        ActorProperty(
            forms: ["${C.peer.port}", "${C.peer.address}"],
            meaning: "the port and address of the peer of a client or an accepted connection"
        ),
        ActorProperty(
            forms: ["${C.tls.version}", "${C.tls.cipher}", "${C.tls.alpn}", "${C.tls.sni}", "${C.tls.resumed}"],
            meaning:
                "the parameters that the TLS handshake of a client or an accepted connection negotiated. `alpn` and `sni` are empty if they were not used; `resumed` is `yes` or `no`"
        ),
        ActorProperty(
            forms: ["${T.port}", "${T.address}"], meaning: "the port and the address on which a subject listens"),
        ActorProperty(
            forms: ["${X.port}", "${X.address}"], meaning: "the port and the address on which a proxy listens"),
        ActorProperty(
            forms: ["${V.port}", "${V.address}"],
            meaning: "the port and the address on which a crowd of `servers` listens once it is started"),
        ActorProperty(
            forms: ["${S.path}", "${T.path}"],
            meaning: "the path of the Unix socket on which a server or a subject listens"),
        ActorProperty(
            forms: ["${P.port}", "${P.port.2}` … `${P.port.64}"],
            meaning:
                "free ports for a process to listen on, chosen when the case begins and not reserved; `${P.port}` is the first one"
        ),
        ActorProperty(
            forms: ["${P.address}"],
            meaning:
                "the address at which clients connect to a process: 127.0.0.1, or the address of the process's side of a link"
        ),
        ActorProperty(forms: ["${dir}"], meaning: "in a `process` line: the path of the script's folder"),
        ActorProperty(
            forms: ["${ca}"],
            meaning:
                "the path of the CA certificate file (PEM) of the run; this CA issues the certificates for `tls`"
        ),
    ]

    /// Returns the properties of an actor of this kind, for messages and editors.
    package static func choices(of kind: ActorKind) -> [String] {
        switch kind {
        case .process: ["port", "address", "port.2", "… up to port.\(maxPorts)"]
        // The name of a server also refers to the connection that the server has accepted.
        case .server: ["port", "address", "path", "peer.port", "peer.address"] + tlsProperties
        case .client, .connection: ["port", "address", "peer.port", "peer.address"] + tlsProperties
        case .subject: ["port", "address", "path"]
        case .proxy, .crowd, .link: ["port", "address"]
        }
    }

    private static let tlsProperties = ["tls.version", "tls.cipher", "tls.alpn", "tls.sni", "tls.resumed"]

    static let maxPorts = 64

    /// Returns the index of the port that `property` names: 1 for `port`, 2 for `port.2`; `nil` if it names no port.
    static func portNumber(_ property: String) -> Int? {
        if property == "port" { return 1 }
        guard property.utf8.starts(with: "port.".utf8), let number = Int(property.dropFirst(5)),
            (1...maxPorts).contains(number)
        else { return nil }
        return number
    }
}
