/// An action of a server, in addition to the actions of a connection.
package enum ServerAction: LanguageElement {
    /// Accepts a connection. If `webSocket` is given, the step includes the opening handshake.
    case accept(as: Name?, AcceptMode, webSocket: WebSocketAccept?)
    case listen
    case stopListening
    case reboot
    case expect(ServerExpectation)

    /// The WebSocket opening handshake, which the server answers.
    package struct WebSocketAccept: Sendable {
        /// The variable for the path that the client requests.
        package var path: Name?
    }

    package enum AcceptMode: Sendable {
        /// Performs the TLS handshake if the server was declared with `tls`.
        case asDeclared
        /// Performs no TLS handshake, although the server was declared with `tls`.
        case withoutTLS
        case tlsFails(alert: Expression?)
    }
}

/// What a server is expected to do, in addition to what its connection receives.
package enum ServerExpectation: LanguageElement {
    case noConnection(for: Duration)
}

/// An action of a client, in addition to the actions of a connection.
package enum ClientAction: LanguageElement {
    /// Opens the connection. `webSocket` is the path that the opening handshake requests.
    case connect(to: AddressExpression?, ConnectOutcome, webSocket: Expression?)

    package enum ConnectOutcome: Sendable {
        case succeeds, refused, timesOut
        /// Connects without a TLS handshake, although the client was declared with `tls`.
        case withoutTLS
        case tlsFails(alert: Expression?)
    }
}

// MARK: The table

extension ServerAction {
    static let phrases: [Phrase<ActionParser, ServerAction>] = [
        Phrase(
            LanguageEntry(
                "accept", "accepts the next connection. From this step on, `S` refers to that connection",
                more: [
                    (
                        ["accept as A"],
                        "accepts the next connection as the new actor `A`; this form is required for a second connection"
                    ),
                    (["accept without tls"], "for a server with `tls`: accepts the connection without a TLS handshake"),
                    (
                        ["accept tls failed", "accept tls failed unknown-ca"],
                        "expects the TLS handshake to fail and, if an alert is named, that alert to be received or sent"
                    ),
                    (
                        ["accept websocket", "accept as A websocket path as p"],
                        "accepts the next connection and answers its WebSocket opening handshake; `p` is bound to the requested path. From this step on, the framing is `websocket`"
                    ),
                ],
                example: "accept", timing: .both)
        ) { parser throws(Abandoned) in try parser.parseAccept() },
        Phrase(
            LanguageEntry(
                "listen", "listens again on the same port",
                example: "listen", after: "S stop listening")
        ) { _ throws(Abandoned) in .listen },
        Phrase(
            LanguageEntry(
                "stop listening",
                "closes the listening socket, so that new connections are refused; existing connections stay open",
                example: "stop listening")
        ) { _ throws(Abandoned) in .stopListening },
        Phrase(
            LanguageEntry(
                "reboot",
                "simulates a reboot of the server's machine: all connections of the server disappear without a FIN or an RST, as with `vanish`, and the server listens again on the same port. Requires CAP_NET_ADMIN; without it, the case is skipped",
                example: "reboot")
        ) { _ throws(Abandoned) in .reboot },
    ]
    static let entries = index(phrases)

    var spelling: String {
        switch self {
        case .accept: "accept"
        case .listen: "listen"
        case .stopListening: "stop listening"
        case .reboot: "reboot"
        case .expect: "expect"
        }
    }

    var values: [ValueCheck] {
        if case .accept(_, .tlsFails(let alert), _) = self { TLSOutcome.fails(alert: alert).values } else { [] }
    }

    var bindings: Bindings {
        if case .accept(_, _, let opening?) = self { Bindings(name: opening.path) } else { Bindings() }
    }

    var effect: ActionEffect {
        switch self {
        case .accept(let name, let mode, _): .accepts(as: name, mode)
        case .listen: .listens
        case .stopListening: .stopsListening
        case .reboot: .reboots
        case .expect(.noConnection): .nothing
        }
    }
}

extension ServerExpectation {
    static let phrases: [Phrase<ExpectationParser, ServerExpectation>] = [
        Phrase(
            LanguageEntry(
                "no connection", "expects no connection to be waiting and none to arrive during the given time",
                example: "expect no connection for 500ms",
                timing: .silence),
            needsAllWords: true
        ) { parser throws(Abandoned) in .noConnection(for: try parser.parseFor("expect no connection for 500ms")) }
    ]
    static let entries = index(phrases)

    var spelling: String {
        switch self {
        case .noConnection: "no connection"
        }
    }

    var values: [ValueCheck] { [] }
}

extension ClientAction {
    static let phrases: [Phrase<ActionParser, ClientAction>] = [
        Phrase(
            LanguageEntry(
                "connect", "opens the connection, which must succeed",
                more: [
                    (["connect without tls"], "for a client with `tls`: connects without a TLS handshake"),
                    (
                        ["connect tls failed", "connect tls failed certificate-expired"],
                        "expects the TLS handshake to fail and, if an alert is named, that alert to be received or sent"
                    ),
                    (
                        ["connect websocket \"/chat\""],
                        "connects and requests the given path in the WebSocket opening handshake, which must succeed. From this step on, the framing is `websocket`. If the server belongs to the script, the next step of the client or the server waits for the answer to the handshake"
                    ),
                ], example: "connect", timing: .both)
        ) { parser throws(Abandoned) in try parser.parseConnect(to: nil) },
        Phrase(
            LanguageEntry(
                "connect refused", "expects the connection attempt to be answered with an RST",
                example: "connect refused",
                word: "connect",
                choice: nil, timing: .both)
        ) { _ throws(Abandoned) in .connect(to: nil, .refused, webSocket: nil) },
        Phrase(
            LanguageEntry(
                "connect timeout", "expects the connection attempt to be unanswered at the step's deadline",
                example: "connect timeout",
                word: "connect", choice: nil, timing: .silentConnect)
        ) { _ throws(Abandoned) in .connect(to: nil, .timesOut, webSocket: nil) },
        Phrase(
            LanguageEntry(
                "connect to", ["connect to 127.0.0.1:(port)"],
                "connects to the given address, for a client that was declared without an address; an outcome such as `refused` can follow",
                example: "connect to 127.0.0.1:8080", word: "connect", choice: nil, timing: .both)
        ) { parser throws(Abandoned) in
            let address = try parser.endpoints.parseAddress(needsPort: true)
            return try parser.parseConnect(to: address)
        },
    ]
    static let entries = index(phrases)

    var spelling: String {
        switch self {
        case .connect(_, .refused, _): "connect refused"
        case .connect(_, .timesOut, _): "connect timeout"
        case .connect(nil, _, _): "connect"
        case .connect(.some, _, _): "connect to"
        }
    }

    var values: [ValueCheck] {
        switch self {
        case .connect(let address, .tlsFails(let alert), _):
            (address.map { [.address($0)] } ?? []) + TLSOutcome.fails(alert: alert).values
        case .connect(let address, _, let path):
            (address.map { [.address($0)] } ?? []) + (path.map { [.name($0, "a path", 1...8192)] } ?? [])
        }
    }

    var effect: ActionEffect {
        switch self {
        case .connect(let address, let outcome, _): .connects(to: address, outcome)
        }
    }
}
