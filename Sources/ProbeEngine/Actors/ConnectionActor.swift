import ProbeBase
import ProbeRegex
import ProbeScenario
import ProbeSystem

/// A name for a connection of the harness: a `client`, a connection accepted `as` the name, or a server after a plain
/// `accept`.
final class ConnectionActor {
    enum Role {
        case client(Target?)
        case accepted(server: String)
    }

    let name: String
    let role: Role
    var connection: Connection?
    /// The connections that the name referred to before, if a client has connected again.
    var earlier: [Connection] = []
    var framing: Framing
    var ignoresRest = false
    var options: [RawSocketOption] = []
    /// How the connections of a client are read, from steps before `connect`.
    var initialReading = InitialReading()
    /// Whether a step has expected the end of the present connection. After that, the end is no longer unexpected.
    var endIsConsumed = false
    /// The connection whose end was reported to the observer of the case.
    weak var reportedEnd: Connection?
    /// The number of items of ``TLSLayer/events`` that steps have expected or skipped.
    var consumedEventCount = 0
    /// Whether a step has expected that the handshake fails.
    var handshakeFailureIsConsumed = false
    /// What steps have expected of the present connection's TLS.
    var consumedTLS: TLSLayer.ConsumedEvents {
        TLSLayer.ConsumedEvents(
            events: consumedEventCount, end: endIsConsumed, handshakeFailure: handshakeFailureIsConsumed)
    }
    /// Whether a step has expected that a send fails. The RST that made it fail is then expected, too.
    var sendFailureIsConsumed = false
    /// The WebSocket opening handshake that the peer has not answered yet.
    var opening: WebSocketOpening?
    var background: SendOperation?
    var whenevers: [WheneverRule] = []
    /// How far the received lines have been searched for `whenevers`.
    var wheneverProgress = WheneverEvaluation.Progress()
    /// The number of steps that wait for raw bytes. Lines are not searched meanwhile.
    private var rawExpectations = 0
    /// The number of steps that wait for the connection's end after `ignore rest`. Bytes received meanwhile are dropped
    /// at once.
    private var endsAfterRest = 0
    var answers: [(rule: WheneverRule, groups: [(String, Value)])] = []
    var isAnswering = false

    init(name: String, role: Role, framing: Framing) {
        self.name = name
        self.role = role
        self.framing = framing
    }

    /// Whether steps apply to a future connection: there is none yet, a step of this actor has ended it, or its
    /// `connect` failed.
    var hasNoConnection: Bool {
        switch connection?.phase {
        case nil, .closed?, .connectFailed?: true
        case .connecting?, .open?: false
        }
    }

    /// Whether the peer has ended the connection and no step has expected that.
    var hasUnconsumedEnd: Bool {
        switch connection?.readEnd {
        case nil: false
        case .reset?: !endIsConsumed && !sendFailureIsConsumed
        case .eof?, .failed?: !endIsConsumed
        }
    }

    /// Notes that a step waits for `wanted`.
    ///
    /// - Parameter alone: whether the step waits for nothing else of the connection, such as another branch of an
    ///   `either`.
    func begin(_ expectation: ConnectionExpectation<Resolved>, alone: Bool = true) {
        if expectation.isRaw { rawExpectations += 1 }
        if expectation.isAboutEnd && alone { endsAfterRest += 1 }
        dropRest()
    }

    func end(_ expectation: ConnectionExpectation<Resolved>, alone: Bool = true) {
        if expectation.isRaw { rawExpectations -= 1 }
        if expectation.isAboutEnd && alone { endsAfterRest -= 1 }
    }

    /// Drops the received bytes if a step waits for the end after `ignore rest`.
    func dropRest() {
        if ignoresRest, endsAfterRest > 0, let connection {
            connection.receiveBuffer.drop(connection.receiveBuffer.count)
        }
    }

    /// Whether an `expect` of raw bytes is waiting.
    var waitsForRawBytes: Bool { rawExpectations > 0 }

    var isClient: Bool {
        if case .client = role { true } else { false }
    }
}

/// A rule that a `whenever` sets up: `whenever C gets line /re/ { … }`.
final class WheneverRule {
    let stepID: Int
    let span: SourceSpan
    let regex: ByteRegex
    let block: Block
    /// The loop in which the rule was set up, with the variables as they were then.
    let loop: LoopScope?
    var uses = 0

    init(stepID: Int, span: SourceSpan, regex: ByteRegex, block: Block, loop: LoopScope?) {
        self.loop = loop
        self.stepID = stepID
        self.span = span
        self.regex = regex
        self.block = block
    }

    /// Returns whether `other` comes from the same statement and answers the same lines.
    func isSame(_ other: WheneverRule) -> Bool {
        stepID == other.stepID && regex.source == other.regex.source && regex.ignoresCase == other.regex.ignoresCase
    }
}

/// How connections are read from the start: `stop reading` and `read … every` before `connect` or `accept`.
struct InitialReading {
    private(set) var mode = Connection.Reading.atOnce
    /// The `stop reading` step, which requires that the window closes.
    private var stop: SourceSpan?

    /// Creates the default, which reads at once.
    init() {}

    init(_ mode: Connection.Reading, stop: SourceSpan? = nil) {
        self.mode = mode
        self.stop = stop
    }

    /// Notes what the capture must show of a connection that starts this way.
    func note(_ connection: Connection, of owner: ConnectionActor, in context: CaseContext) {
        if let stop { context.injected.addStop(connection, of: owner, at: stop) }
    }
}
