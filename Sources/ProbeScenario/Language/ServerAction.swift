package enum ServerAction: LanguageElement {
    case accept(as: Name?, AcceptMode)
    case listen
    case stopListening
    case expect(ServerExpectation)

    package enum AcceptMode: Sendable {
        /// With the handshake, if the server was declared with `tls`.
        case asDeclared
        /// TCP only.
        case withoutTLS
        case tlsFails(alert: Expression?)
    }
}

package enum ServerExpectation: LanguageElement {
    case noConnection(for: Duration)
}

package enum ClientAction: LanguageElement {
    case connect(to: AddressExpression?, ConnectOutcome)

    package enum ConnectOutcome: Sendable {
        case succeeds, refused, timesOut
        /// TCP only, of one that was declared with `tls`.
        case withoutTLS
        case tlsFails(alert: Expression?)
    }
}

// MARK: The table

extension ServerAction {
    static let phrases: [Phrase<ActionParser, ServerAction>] = [
        Phrase(
            LanguageEntry(
                "accept", "the next connection. From here on `S` is that connection",
                more: [
                    (["accept as A"], "the next connection; `A` is a new actor. A second connection needs it"),
                    (["accept without tls"], "of a server with `tls`: TCP only"),
                    (
                        ["accept tls failed", "accept tls failed unknown-ca"],
                        "its handshake must fail; with that alert, received or sent"
                    ),
                ],
                example: "accept", timing: .both)
        ) { parser throws(Abandoned) in try parser.parseAccept() },
        Phrase(
            LanguageEntry(
                "listen", "it listens again: on its declared port, else on a free one, which `${S.port}` then is",
                example: "listen", after: "S stop listening")
        ) { _ throws(Abandoned) in .listen },
        Phrase(
            LanguageEntry(
                "stop listening", "the listening socket is closed: connecting is refused. Connections stay",
                example: "stop listening")
        ) { _ throws(Abandoned) in .stopListening },
    ]
    static let entries = index(phrases)

    var spelling: String {
        switch self {
        case .accept: "accept"
        case .listen: "listen"
        case .stopListening: "stop listening"
        case .expect: "expect"
        }
    }

    var values: [ValueCheck] {
        if case .accept(_, .tlsFails(let alert)) = self { TLSOutcome.fails(alert: alert).values } else { [] }
    }

    var effect: ActionEffect {
        switch self {
        case .accept(let name, let mode): .accepts(as: name, mode)
        case .listen: .listens
        case .stopListening: .stopsListening
        case .expect(.noConnection): .nothing
        }
    }
}

extension ServerExpectation {
    static let phrases: [Phrase<ExpectationParser, ServerExpectation>] = [
        Phrase(
            LanguageEntry(
                "no connection", "none waits, and none comes", example: "expect no connection for 500ms",
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
                "connect", "must succeed",
                more: [
                    (["connect without tls"], "of a client with `tls`: TCP only"),
                    (
                        ["connect tls failed", "connect tls failed certificate-expired"],
                        "its handshake must fail; with that alert, received or sent"
                    ),
                ], example: "connect", timing: .both)
        ) { parser throws(Abandoned) in .connect(to: nil, try parser.parseConnectOutcome()) },
        Phrase(
            LanguageEntry(
                "connect refused", "must be answered by an RST", example: "connect refused", word: "connect",
                choice: nil, timing: .both)
        ) { _ throws(Abandoned) in .connect(to: nil, .refused) },
        Phrase(
            LanguageEntry(
                "connect timeout", "passes when, at its deadline, no answer has come", example: "connect timeout",
                word: "connect", choice: nil, timing: .silentConnect)
        ) { _ throws(Abandoned) in .connect(to: nil, .timesOut) },
        Phrase(
            LanguageEntry(
                "connect to", ["connect to 127.0.0.1:(port)"],
                "for a client that was declared without an address; the outcome may stand behind it",
                example: "connect to 127.0.0.1:8080", word: "connect", choice: nil, timing: .both)
        ) { parser throws(Abandoned) in
            let address = try parser.endpoints.parseAddress(needsPort: true)
            return .connect(to: address, try parser.parseConnectOutcome())
        },
    ]
    static let entries = index(phrases)

    var spelling: String {
        switch self {
        case .connect(_, .refused): "connect refused"
        case .connect(_, .timesOut): "connect timeout"
        case .connect(nil, .succeeds), .connect(nil, .withoutTLS), .connect(nil, .tlsFails): "connect"
        case .connect(.some, .succeeds), .connect(.some, .withoutTLS), .connect(.some, .tlsFails): "connect to"
        }
    }

    var values: [ValueCheck] {
        switch self {
        case .connect(let address, .tlsFails(let alert)):
            (address.map { [.address($0)] } ?? []) + TLSOutcome.fails(alert: alert).values
        case .connect(let address, _): address.map { [.address($0)] } ?? []
        }
    }

    var effect: ActionEffect {
        switch self {
        case .connect(let address, let outcome): .connects(to: address, outcome)
        }
    }
}
