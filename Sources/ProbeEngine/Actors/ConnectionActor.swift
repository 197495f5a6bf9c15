import ProbeBase
import ProbeRegex
import ProbeScenario
import ProbeSystem

/// A name for a connection of the harness: a `client`, the name in `accept as NAME`, or a server after a plain
/// `accept`.
final class ConnectionActor {
    enum Role {
        case client(Target?)
        case accepted(server: String)
    }

    let name: String
    let role: Role
    var connection: Connection?
    /// The earlier connections of a client that has connected more than once.
    var earlier: [Connection] = []
    var framing: Framing
    var ignoresRest = false
    var options: [RawSocketOption] = []
    /// How a client's connections are read, as set by steps before `connect`.
    var initialReading = InitialReading()
    /// Whether a step has expected the end of the current connection. If so, the end is not reported as unexpected.
    var endIsConsumed = false
    /// The connection whose end has been reported to the case's observer.
    weak var reportedEnd: Connection?
    /// The number of events in ``TLSLayer/events`` that steps have expected or skipped.
    var consumedEventCount = 0
    /// Whether a step has expected the TLS handshake to fail.
    var handshakeFailureIsConsumed = false
    /// The TLS events of the current connection that steps have already expected.
    var consumedTLS: TLSLayer.ConsumedEvents {
        TLSLayer.ConsumedEvents(
            events: consumedEventCount, end: endIsConsumed, handshakeFailure: handshakeFailureIsConsumed)
    }
    /// Whether a step has expected a send to fail. If so, the RST that made the send fail counts as expected, too.
    var sendFailureIsConsumed = false
    /// The WebSocket opening handshake that the peer has not answered yet.
    var opening: WebSocketOpening?
    var background: SendOperation?
    var whenevers: [WheneverRule] = []
    /// How far the received lines have been searched for matches of the rules in `whenevers`.
    var wheneverProgress = WheneverEvaluation.Progress()
    /// The number of steps that are waiting for raw bytes. While there are such steps, received lines are not searched
    /// for matches of the rules in `whenevers`.
    private var rawExpectations = 0
    /// The number of steps that are waiting for the connection's end after `ignore rest`. While there are such steps,
    /// received bytes are dropped immediately.
    private var endsAfterRest = 0
    var answers: [(rule: WheneverRule, groups: [(String, Value)])] = []
    var isAnswering = false

    init(name: String, role: Role, framing: Framing) {
        self.name = name
        self.role = role
        self.framing = framing
    }

    /// Whether steps apply to a future connection, because the actor has no connection yet, a step of the actor has
    /// ended its connection, or its `connect` failed.
    var hasNoConnection: Bool {
        switch connection?.phase {
        case nil, .closed?, .connectFailed?: true
        case .connecting?, .open?: false
        }
    }

    /// Whether the peer has ended the connection and no step has expected the end.
    var hasUnconsumedEnd: Bool {
        switch connection?.readEnd {
        case nil: false
        case .reset?: !endIsConsumed && !sendFailureIsConsumed
        case .eof?, .failed?: !endIsConsumed
        }
    }

    /// Records that a step is waiting for `expectation`.
    ///
    /// - Parameter alone: whether the step waits for no other event on the connection. The branches of an `either` may
    ///   wait for several events.
    func begin(_ expectation: ConnectionExpectation<Resolved>, alone: Bool = true) {
        if expectation.isRaw { rawExpectations += 1 }
        if expectation.isAboutEnd && alone { endsAfterRest += 1 }
        dropRest()
    }

    func end(_ expectation: ConnectionExpectation<Resolved>, alone: Bool = true) {
        if expectation.isRaw { rawExpectations -= 1 }
        if expectation.isAboutEnd && alone { endsAfterRest -= 1 }
    }

    /// Drops the received bytes if a step is waiting for the connection's end after `ignore rest`.
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
    /// The loop in which the `whenever` was executed, with the values that the loop's variables had at that time.
    let loop: LoopScope?
    var uses = 0

    init(stepID: Int, span: SourceSpan, regex: ByteRegex, block: Block, loop: LoopScope?) {
        self.loop = loop
        self.stepID = stepID
        self.span = span
        self.regex = regex
        self.block = block
    }

    /// Returns whether `other` was set up by the same statement and has the same regex.
    func isSame(_ other: WheneverRule) -> Bool {
        stepID == other.stepID && regex.source == other.regex.source && regex.ignoresCase == other.regex.ignoresCase
    }
}

/// How a connection is read from its start, as set by `stop reading` or `read … every` before `connect` or `accept`.
struct InitialReading {
    private(set) var mode = Connection.Reading.atOnce
    /// The `stop reading` step, if there is one. The capture must then show that the receive window closes.
    private var stop: SourceSpan?

    /// Creates the default reading mode, in which bytes are read as soon as they arrive.
    init() {}

    init(_ mode: Connection.Reading, stop: SourceSpan? = nil) {
        self.mode = mode
        self.stop = stop
    }

    /// Records that the capture must show a closed window, if the connection starts with `stop reading`.
    func note(_ connection: Connection, of owner: ConnectionActor, in context: CaseContext) {
        if let stop { context.injected.addStop(connection, of: owner, at: stop) }
    }
}
