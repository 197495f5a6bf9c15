package import ProbeBase

/// A parsed and checked scenario, including the contents of the files that it includes.
package struct Scenario: Sendable {
    package var title: Spanned<String>
    package var about: String?
    package var because: [String] = []
    package var level: Level = .must
    package var tags: [String] = []
    package var requirements: [Requirement] = []
    /// The deadline of each step that waits.
    package var timeout: Duration = .seconds(5)
    /// The allowed ranges of the integers that can be computed only during the run, keyed by the spans of their
    /// expressions.
    package var integerRanges: [SourceSpan: IntegerRange] = [:]
    package var caseTimeout: Duration = .seconds(60)
    package var framing: Framing = .crlf
    /// The maximum length of a line that the subject accepts; `nil` means the default of 1024.
    package var maxLine: Expression?
    package var actors: [ActorDeclaration] = []
    package var links: [LinkDeclaration] = []
    /// The `name` statements of the header, which apply from the start of the case.
    package var names: [NameStatement] = []
    /// The `each` statements in order. Each combination of their values is a case; the last statement varies fastest.
    package var parameters: [Parameter] = []
    package var tables: [String: Table] = [:]
    /// The `let`s of the header, in order.
    package var constants: [(name: Name, value: Expression)] = []
    package var definitions: [String: Block] = [:]
    package var steps: [Step] = []
    /// Whether a string interpolates `${ca}`, the file of the run's certificate authority.
    package var namesAuthority = false
    /// Whether any step is a `start tls`.
    package var startsTLS = false

    package init(title: Spanned<String>) {
        self.title = title
    }

    /// Whether the scenario tests a transport.
    package var hasSubject: Bool {
        actors.contains { if case .subject = $0.kind { true } else { false } }
    }

    /// Whether an endpoint of the harness or the subject speaks TLS, from the start or later.
    package var speaksTLS: Bool {
        actors.contains { $0.tls != nil } || startsTLS
    }

    /// Whether the scenario tests a transport, or requires a capability of a transport.
    package var needsSubject: Bool {
        hasSubject || requirements.contains { if case .subject = $0.kind { true } else { false } }
    }

    /// Whether the scenario mentions TLS anywhere: for an actor, in a requirement or in a step. The programs under test
    /// may then also speak TLS.
    package var usesTLS: Bool {
        speaksTLS || requirements.contains { $0.kind == .tls } || Self.useTLS(steps)
            || definitions.values.contains { Self.useTLS($0.steps) }
    }

    /// The first step in which a simulated machine loses its connections and comes up again. Simulating such a machine
    /// requires privileges.
    package var firstVanish: SourceSpan? {
        Self.firstVanish(in: steps) ?? definitions.values.lazy.compactMap { Self.firstVanish(in: $0.steps) }.first
    }

    private static func firstVanish(in steps: [Step]) -> SourceSpan? {
        for step in steps {
            if case .act(_, .connection(.vanish(silently: false)), _) = step.kind { return step.focus }
            if case .act(_, .proxy(.vanish), _) = step.kind { return step.focus }
            if case .act(_, .server(.reboot), _) = step.kind { return step.focus }
            if let found = step.kind.blocks.lazy.compactMap({ firstVanish(in: $0.steps) }).first { return found }
        }
        return nil
    }

    /// Whether any step observes the bytes that pass through a proxy.
    package var watchesProxies: Bool {
        Self.watchProxies(steps) || definitions.values.contains { Self.watchProxies($0.steps) }
    }

    private static func watchProxies(_ steps: [Step]) -> Bool {
        steps.contains { step in
            if case .act(_, .proxy(.expect), _) = step.kind { return true }
            return step.kind.blocks.contains { watchProxies($0.steps) }
        }
    }

    private static func useTLS(_ steps: [Step]) -> Bool {
        steps.contains { step in
            switch step.kind {
            case .wire(.halfConnection(_, _, .records), _), .wire(.halfConnection(_, _, .tls), _): true
            default: step.kind.blocks.contains { useTLS($0.steps) }
            }
        }
    }

    /// The first place in the script that names an address to connect to. Such an address may belong to a server
    /// outside the run. If the address is given by a client's steps, the place is the client's declaration. `nil` if
    /// every target is an actor or an address with the port of an actor.
    package var addressOutside: SourceSpan? {
        for actor in actors {
            switch actor.kind {
            case .subject(.address(let address)?, _) where address.hostName != nil: continue
            case .client(.address(let address)?, _) where address.isWithinRun: continue
            case .subject(.address(let address)?, _) where address.isWithinRun: continue
            case .proxy(.address(let address)) where address.isWithinRun: continue
            case .client(.address(let address)?, _), .subject(.address(let address)?, _): return address.span
            case .client(nil, _): return actor.span
            case .proxy(.address(let address)): return address.span
            case .crowd(let crowd):
                if case .clients(.address(let address)) = crowd.role, !address.isWithinRun {
                    return address.span
                }
            case .server, .client, .subject, .process, .proxy: continue
            }
        }
        return nil
    }

    package enum Level: String, Sendable, CaseIterable {
        case must, should, may
    }
}

/// A prerequisite of the scenario: `require …`.
package struct Requirement: Sendable {
    package var kind: Kind
    package var span: SourceSpan

    package init(kind: Kind, span: SourceSpan) {
        self.kind = kind
        self.span = span
    }

    package enum Kind: Sendable, Equatable {
        case capture, ipv6, link, tls, root
        /// The host name `localhost` resolves to both 127.0.0.1 and ::1.
        case localhostIPv6
        case command(String)
        case subject(capability: TransportCapability)
    }
}

/// A parameter of the cases: `each a, b in table`, `each x = 1, 2`, `each n = 1..13`, `each piece = cuts(V)`.
package struct Parameter: Sendable {
    package var names: [Name]
    package var source: Source
    package var span: SourceSpan

    package init(names: [Name], source: Source, span: SourceSpan) {
        self.names = names
        self.source = source
        self.span = span
    }

    package enum Source: Sendable {
        case list([Expression])
        case range(Expression, Expression)
        case table(Name)
        case cuts(Expression, count: Int)
    }
}

/// A `table`: rows of cells, over which `each` and `for` iterate.
package struct Table: Sendable {
    package var name: Name
    package var rows: [[Cell]]

    package init(name: Name, rows: [[Cell]]) {
        self.name = name
        self.rows = rows
    }

    package enum Cell: Sendable {
        case value(Expression)
        case regex(RegexLiteral)
    }
}

/// The declaration of an actor in the header.
package struct ActorDeclaration: Sendable {
    package var name: Name
    package var kind: Kind
    package var span: SourceSpan
    /// The `tls` options of a server, a client, a subject or a crowd.
    package var tls: TLSOptions?

    package init(name: Name, kind: Kind, span: SourceSpan) {
        self.name = name
        self.kind = kind
        self.span = span
    }

    package enum Kind: Sendable {
        /// A server, with the values of its clauses `on`, `backlog` and `with …`.
        case server(address: AddressExpression?, backlog: Expression?, options: [SocketOption])
        /// A client. If the target is `nil`, a `connect to` step gives the address.
        case client(target: Target?, options: [SocketOption])
        /// A subject. If the target is `nil`, the subject listens.
        case subject(target: Target?, options: SubjectOptions)
        case process(ProcessCommand)
        case proxy(target: Target)
        case crowd(CrowdDeclaration)
    }
}

/// The target to which a client or a subject connects.
package enum Target: Sendable {
    case actor(Name)
    case address(AddressExpression)
}

/// An address in a script: `127.0.0.1:6379`, `[::1]:8080`, `localhost:(n + 1)`, `unix`, `unix "/run/app.sock"`.
package struct AddressExpression: Sendable {
    package enum UnixSocket: Sendable {
        /// `on unix`: the path is in a folder of the case.
        case inCaseFolder
        /// The path is relative to the script's folder, or absolute.
        case path(Expression)
    }

    /// The host, without brackets; empty for a Unix socket.
    package var host: String
    /// The port; `nil` means any free port (only after `on`).
    package var port: Expression?
    package var span: SourceSpan
    /// The path of a Unix socket; `nil` for an IP address.
    package var unix: UnixSocket?
    /// The address family, if the address belongs to a side of a link; `host` is then empty.
    package var link: LinkFamily?
    /// A host name that a `name` statement defines. The subject receives this name, and `host` is empty.
    package var hostName: Spanned<String>?

    package init(host: String, port: Expression?, span: SourceSpan) {
        self.host = host
        self.port = port
        self.span = span
    }

    package init(unix: UnixSocket, span: SourceSpan) {
        self.init(host: "", port: nil, span: span)
        self.unix = unix
    }
}

/// The options of a subject: `connect-timeout 500ms, idle-timeout 1s, allow-half-close, discard-too-long, high-water
/// 64KiB, local 127.0.0.2, interface lo, prefer ipv6, path "/chat", protobuf`
package struct SubjectOptions: Sendable {
    package var connectTimeout: Duration?
    package var idleTimeout: Duration?
    /// Whether the connection stays open after the peer's FIN.
    package var allowsHalfClose = false
    package var discardsTooLong = false
    /// Whether the subject parses received bytes as protobuf, with the schema of the adapter protocol, and serializes
    /// them again.
    package var parsesProtobuf = false
    package var highWater: Expression?
    /// The message that the subject sends when it has sent nothing else for the given interval.
    package var heartbeat: (interval: Duration, message: Expression)?
    /// The time without received bytes after which the subject stops.
    package var heartbeatTimeout: Duration?
    /// The only message that counts as a sign of life from the peer.
    package var heartbeatAnswer: Expression?
    /// The shortest and the longest delay before the subject reconnects after it has lost its connection.
    package var reconnect: (shortest: Duration, longest: Duration)?
    /// The local address, with or without a port; for a subject that listens, the address that it listens on.
    package var local: AddressExpression?
    /// The network interface that the subject is bound to.
    package var interface: Name?
    /// The path that the subject requests in the WebSocket opening handshake.
    package var path: Expression?
    /// The address family that the subject tries first if a name has addresses of both families.
    package var preference: AddressPreference?

    package init(connectTimeout: Duration? = nil, idleTimeout: Duration? = nil) {
        self.connectTimeout = connectTimeout
        self.idleTimeout = idleTimeout
    }
}

/// A socket option: `receive-buffer 4KiB`, `send-buffer 4KiB`, `nodelay off`, `keepalive on` or `keepalive 5s`.
package enum SocketOption: Sendable {
    case receiveBuffer(Expression)
    case sendBuffer(Expression)
    case noDelay(Bool)
    case keepAlive(Bool)
    /// Enables keep-alive probes, with this time as both the idle time before the first probe and the interval between
    /// probes.
    case keepAliveEvery(Duration)

    /// The option as written in a script.
    package var word: String {
        switch self {
        case .receiveBuffer: "receive-buffer"
        case .sendBuffer: "send-buffer"
        case .noDelay: "nodelay"
        case .keepAlive, .keepAliveEvery: "keepalive"
        }
    }

    /// Whether only TCP sockets have the option.
    package var isTCPOnly: Bool {
        switch self {
        case .receiveBuffer, .sendBuffer: false
        case .noDelay, .keepAlive, .keepAliveEvery: true
        }
    }
}

/// The words of a `process` line, split by the shell's quoting rules. Each word is a list of pieces to join.
package struct ProcessCommand: Sendable {
    package var words: [Spanned<[StringPiece]>]
    /// The number of ports of this process that the scenario names: 1 for `${P.port}`, 2 for `${P.port.2}`, and so on.
    package var portCount: Int

    package init(words: [Spanned<[StringPiece]>], portCount: Int) {
        self.words = words
        self.portCount = portCount
    }
}

/// The host names that a script defines.
extension Scenario {
    /// The `name` statements in the header and among all steps, including the steps in blocks.
    private var nameStatements: [NameStatement] {
        names + ([steps] + definitions.values.map(\.steps)).flatMap(Self.nameStatements)
    }

    private static func nameStatements(in steps: [Step]) -> [NameStatement] {
        steps.flatMap { step -> [NameStatement] in
            if case .name(let statement) = step.kind { return [statement] }
            return step.kind.blocks.flatMap { nameStatements(in: $0.steps) }
        }
    }

    /// The first statement that defines a name. Defining a name requires a resolver that programs can query.
    package var firstName: SourceSpan? { nameStatements.first?.span }

    /// Whether programs in the networks of the scenario's links resolve names with the run's own resolver.
    package var usesNames: Bool { firstName != nil }

    /// The actors that links and `name` statements refer to. These actors must not be removed from the script, because
    /// the references would become invalid.
    package var actorsOfNetworks: Set<String> {
        var actors = Set(links.flatMap(\.names).map(\.value))
        for case .addresses(let addresses, _) in nameStatements.map(\.answer) {
            for case .actor(let name) in addresses { actors.insert(name.value) }
        }
        return actors
    }
}
