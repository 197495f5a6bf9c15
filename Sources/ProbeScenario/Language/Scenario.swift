package import ProbeBase

/// One parsed and checked scenario file, with its includes folded in.
package struct Scenario: Sendable {
    package var title: Spanned<String>
    package var about: String?
    package var because: [String] = []
    package var level: Level = .must
    package var tags: [String] = []
    package var requirements: [Requirement] = []
    /// Deadline of each waiting step.
    package var timeout: Duration = .seconds(5)
    /// What the integers that only the run can compute may be, by their expressions.
    package var integerRanges: [SourceSpan: IntegerRange] = [:]
    package var caseTimeout: Duration = .seconds(60)
    package var framing: Framing = .crlf
    /// Handed to the subject as its limit; nil: the default of 1024.
    package var maxLine: Expression?
    package var actors: [ActorDeclaration] = []
    package var links: [LinkDeclaration] = []
    /// What names mean from the start of the case on.
    package var names: [NameStatement] = []
    /// The `each` statements in order; several multiply, the last one varies fastest.
    package var parameters: [Parameter] = []
    package var tables: [String: Table] = [:]
    /// Header `let`s, in order.
    package var constants: [(name: Name, value: Expression)] = []
    package var definitions: [String: Block] = [:]
    package var steps: [Step] = []
    /// A string names `${ca}`: the file of the run's authority.
    package var namesAuthority = false
    /// A step is `start tls`.
    package var startsTLS = false

    package init(title: Spanned<String>) {
        self.title = title
    }

    /// Whether it tests a transport.
    package var hasSubject: Bool {
        actors.contains { if case .subject = $0.kind { true } else { false } }
    }

    /// Whether an endpoint of the harness or the subject speaks TLS, from its beginning or later.
    package var speaksTLS: Bool {
        actors.contains { $0.tls != nil } || startsTLS
    }

    /// Whether it tests a transport, or requires something of it.
    package var needsSubject: Bool {
        hasSubject || requirements.contains { if case .subject = $0.kind { true } else { false } }
    }

    /// Whether it says TLS anywhere: of an actor, in a requirement or in a step. Its programs may speak TLS then, too.
    package var usesTLS: Bool {
        speaksTLS || requirements.contains { $0.kind == .tls } || Self.useTLS(steps)
            || definitions.values.contains { Self.useTLS($0.steps) }
    }

    /// The first step by which a connection vanishes, and its machine is up again: it takes a privilege.
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

    /// Whether a step looks at what passes through a proxy.
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

    /// The first place that names an address to connect to: it may be that of a server outside of the run. Of a client whose steps say
    /// where it connects to, its declaration. Nil where everything that is connected to is an actor, or an address with the port of one.
    package var addressOutside: SourceSpan? {
        for actor in actors {
            switch actor.kind {
            case .subject(.address(let address)?, _) where address.hostName != nil: continue
            case .client(.address(let address)?, _) where address.isOfThisRun: continue
            case .subject(.address(let address)?, _) where address.isOfThisRun: continue
            case .proxy(.address(let address)) where address.isOfThisRun: continue
            case .client(.address(let address)?, _), .subject(.address(let address)?, _): return address.span
            case .client(nil, _): return actor.span
            case .proxy(.address(let address)): return address.span
            case .crowd(let crowd):
                if case .clients(.address(let address)) = crowd.role, !address.isOfThisRun {
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

/// `require …`
package struct Requirement: Sendable {
    package var kind: Kind
    package var span: SourceSpan

    package init(kind: Kind, span: SourceSpan) {
        self.kind = kind
        self.span = span
    }

    package enum Kind: Sendable, Equatable {
        case capture, ipv6, link, tls, root
        /// The name localhost stands for 127.0.0.1 and for ::1.
        case localhostIPv6
        case command(String)
        case subject(capability: TransportCapability)
    }
}

/// `each a, b in table`, `each x = 1, 2`, `each n = 1..13`, `each piece = cuts(V)`
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

package struct ActorDeclaration: Sendable {
    package var name: Name
    package var kind: Kind
    package var span: SourceSpan
    /// `tls`, of a server, a client, a subject or a crowd.
    package var tls: TLSOptions?

    package init(name: Name, kind: Kind, span: SourceSpan) {
        self.name = name
        self.kind = kind
        self.span = span
    }

    package enum Kind: Sendable {
        /// `on`, `backlog`, `with …`
        case server(address: AddressExpression?, backlog: Expression?, options: [SocketOption])
        /// nil target: the address is given at `connect to`.
        case client(target: Target?, options: [SocketOption])
        /// nil target: `listens`.
        case subject(target: Target?, options: SubjectOptions)
        case process(ProcessCommand)
        case proxy(target: Target)
        case crowd(CrowdDeclaration)
    }
}

/// Where a client or a subject connects to.
package enum Target: Sendable {
    case actor(Name)
    case address(AddressExpression)
}

/// `127.0.0.1:6379`, `[::1]:8080`, `localhost:(n + 1)`, `unix`, `unix "/run/app.sock"`
package struct AddressExpression: Sendable {
    package enum UnixSocket: Sendable {
        /// `on unix`: a path in a folder of the case.
        case ofTheCase
        /// Relative to the script's folder, or absolute.
        case path(Expression)
    }

    /// Without the brackets; empty of a Unix socket.
    package var host: String
    /// nil: any free port (only after `on`).
    package var port: Expression?
    package var span: SourceSpan
    /// nil: of IP.
    package var unix: UnixSocket?
    /// The address of a side of a link: there is no host.
    package var link: LinkFamily?
    /// A name that a `name` statement gives: the subject is told it, and there is no host.
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

/// `connect-timeout 500ms, idle-timeout 1s, allow-half-close, discard-too-long, high-water 64KiB, local 127.0.0.2, interface lo, prefer ipv6, path "/chat", protobuf`
package struct SubjectOptions: Sendable {
    package var connectTimeout: Duration?
    package var idleTimeout: Duration?
    /// The connection stays open behind the peer's FIN.
    package var allowsHalfClose = false
    package var discardsTooLong = false
    /// It parses what comes as protobuf, by the schema of the adapter protocol, and serialises it.
    package var parsesProtobuf = false
    package var highWater: Expression?
    /// It sends the value when it has sent nothing else for this time.
    package var heartbeat: (interval: Duration, message: Expression)?
    /// It stops when nothing came for this time.
    package var heartbeatTimeout: Duration?
    /// What alone counts as life of the peer.
    package var heartbeatAnswer: Expression?
    /// It makes another connection where one is lost, after a wait of these lengths.
    package var reconnect: (shortest: Duration, longest: Duration)?
    /// Its own end: an address, with a port or without. Of one that listens: where.
    package var local: AddressExpression?
    /// The network interface that it is bound to.
    package var interface: Name?
    /// What it asks for in the opening handshake of WebSocket.
    package var path: Expression?
    /// Which address of a name it tries first.
    package var preference: AddressPreference?

    package init(connectTimeout: Duration? = nil, idleTimeout: Duration? = nil) {
        self.connectTimeout = connectTimeout
        self.idleTimeout = idleTimeout
    }
}

/// `receive-buffer 4KiB`, `send-buffer 4KiB`, `nodelay off`, `keepalive on` / `keepalive 5s`
package enum SocketOption: Sendable {
    case receiveBuffer(Expression)
    case sendBuffer(Expression)
    case noDelay(Bool)
    case keepAlive(Bool)
    /// On, with this idle time before the first probe and this interval between probes.
    case keepAliveEvery(Duration)

    /// As it is written.
    package var word: String {
        switch self {
        case .receiveBuffer: "receive-buffer"
        case .sendBuffer: "send-buffer"
        case .noDelay: "nodelay"
        case .keepAlive, .keepAliveEvery: "keepalive"
        }
    }

    /// A Unix socket does not have it.
    package var isOfTCP: Bool {
        switch self {
        case .receiveBuffer, .sendBuffer: false
        case .noDelay, .keepAlive, .keepAliveEvery: true
        }
    }
}

/// The words of a `process` line after the shell's rules; each is a list of pieces to be joined.
package struct ProcessCommand: Sendable {
    package var words: [Spanned<[StringPiece]>]
    /// The highest of `${P.port}` (1), `${P.port.2}` (2), … in the whole scenario that name this process.
    package var portCount: Int

    package init(words: [Spanned<[StringPiece]>], portCount: Int) {
        self.words = words
        self.portCount = portCount
    }
}

/// What a script says of names of hosts.
extension Scenario {
    /// Statements of the header and steps, wherever they stand.
    private var nameStatements: [NameStatement] {
        names + ([steps] + definitions.values.map(\.steps)).flatMap(Self.nameStatements)
    }

    private static func nameStatements(in steps: [Step]) -> [NameStatement] {
        steps.flatMap { step -> [NameStatement] in
            if case .name(let statement) = step.kind { return [statement] }
            return step.kind.blocks.flatMap { nameStatements(in: $0.steps) }
        }
    }

    /// The first statement that says what a name stands for: it takes a resolver that programs ask.
    package var firstName: SourceSpan? { nameStatements.first?.span }

    /// Whether programs in the networks of its links look names up by the run's own resolver.
    package var usesNames: Bool { firstName != nil }

    /// The actors that links and names name: what the script says of them holds only while they are there.
    package var actorsOfNetworks: Set<String> {
        var actors = Set(links.flatMap(\.names).map(\.value))
        for case .addresses(let addresses, _) in nameStatements.map(\.answer) {
            for case .actor(let name) in addresses { actors.insert(name.value) }
        }
        return actors
    }
}
