import ProbeBase
import ProbeScenario
import ProbeSystem

/// A name for a connection of the harness: a `client`, what a server accepted `as` it, or a server after its plain `accept`.
final class ConnectionActor {
    enum Role {
        case client(Target?)
        case accepted(server: String)
    }

    let name: String
    let role: Role
    var connection: Connection?
    /// Those that the name stood for before (a client that connected again).
    var earlier: [Connection] = []
    var framing: Framing
    var ignoresRest = false
    var options: [RawSocketOption] = []
    /// For the connections of a client, from steps before `connect`.
    var readingToCome = ReadingToCome()
    /// The script reset it, or closed it: what happens to it is no news.
    var wasReset = false
    /// A step has expected the end of its present connection: the end is no news from there on.
    var endIsTaken = false
    /// The connection whose end was told to who watches the case.
    weak var toldEnd: Connection?
    /// How much of ``TLSLayer/news`` steps have expected or passed over.
    var takenNews = 0
    /// A step has expected that its handshake fails.
    var handshakeFailureIsTaken = false
    /// What steps have expected of its present connection's TLS.
    var takenOfTLS: TLSLayer.Taken {
        TLSLayer.Taken(news: takenNews, end: endIsTaken, handshakeFailure: handshakeFailureIsTaken)
    }
    /// A step has expected that a send fails: the RST that made it fail is no news either.
    var sendFailureIsTaken = false
    /// The opening handshake of WebSocket that its peer has not answered.
    var opening: WebSocketOpening?
    var background: SendOperation?
    var whenevers: [WheneverRule] = []
    /// How far lines were looked at for them.
    var wheneverProgress = WheneverEvaluation.Progress()
    /// How many steps wait for raw bytes: lines are not looked at meanwhile.
    private var rawExpectations = 0
    /// How many steps wait for its end after `ignore rest`: what comes meanwhile is dropped at once.
    private var endsBehindRest = 0
    var answers: [(rule: WheneverRule, groups: [(String, Value)])] = []
    var isAnswering = false

    init(name: String, role: Role, framing: Framing) {
        self.name = name
        self.role = role
        self.framing = framing
    }

    /// Steps are about a connection to come: there is none, or it has ended by a step of this actor, or its `connect` did not succeed.
    var hasNoConnection: Bool {
        switch connection?.phase {
        case nil, .closed?, .connectFailed?: true
        case .connecting?, .open?: false
        }
    }

    /// The peer has ended the connection, and no step has expected that.
    var hasUntakenEnd: Bool {
        switch connection?.readEnd {
        case nil: false
        case .reset?: !endIsTaken && !sendFailureIsTaken
        case .eof?, .failed?: !endIsTaken
        }
    }

    /// A step waits for this.
    ///
    /// - Parameter alone: nothing else of the connection is waited for beside it, as in another branch of an `either`.
    func begin(_ wanted: ResolvedConnectionExpectation, alone: Bool = true) {
        if wanted.isRaw { rawExpectations += 1 }
        if wanted.isEnd && alone { endsBehindRest += 1 }
        dropRest()
    }

    func end(_ wanted: ResolvedConnectionExpectation, alone: Bool = true) {
        if wanted.isRaw { rawExpectations -= 1 }
        if wanted.isEnd && alone { endsBehindRest -= 1 }
    }

    /// After `ignore rest` what comes while the end is waited for matters to nobody.
    func dropRest() {
        if ignoresRest, endsBehindRest > 0, let connection {
            connection.receiveBuffer.drop(connection.receiveBuffer.count)
        }
    }

    /// An `expect` of raw bytes waits.
    var waitsForRawBytes: Bool { rawExpectations > 0 }

    var isClient: Bool {
        if case .client = role { true } else { false }
    }
}

/// `whenever C gets line /re/ { … }`
final class WheneverRule {
    let stepID: Int
    let span: SourceSpan
    let regex: ByteRegex
    let block: Block
    /// The loop in which it was set up, with the variables as they are then.
    let loop: LoopScope?
    var uses = 0

    init(stepID: Int, span: SourceSpan, regex: ByteRegex, block: Block, loop: LoopScope?) {
        self.loop = loop
        self.stepID = stepID
        self.span = span
        self.regex = regex
        self.block = block
    }

    /// Whether it comes from the same statement and answers the same lines.
    func isSame(_ other: WheneverRule) -> Bool {
        stepID == other.stepID && regex.source == other.regex.source && regex.ignoresCase == other.regex.ignoresCase
    }
}

/// How connections are read from their beginning: `stop reading` and `read … every` before `connect` or `accept`.
struct ReadingToCome {
    private(set) var mode = Connection.Reading.atOnce
    /// The step that said `stop reading`: the window has to shut.
    private var stop: SourceSpan?

    /// Reads at once.
    init() {}

    init(_ mode: Connection.Reading, stop: SourceSpan? = nil) {
        self.mode = mode
        self.stop = stop
    }

    /// Notes what has to be seen of a connection that began so.
    func note(_ connection: Connection, of owner: ConnectionActor, in context: CaseContext) {
        if let stop { context.injected.addStop(connection, of: owner, at: stop) }
    }
}
