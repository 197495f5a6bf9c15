package import ProbeBase

/// What the transport under test is expected to report.
package enum SubjectExpectation: LanguageElement {
    case started
    case secured
    case line(Pattern, as: Name?)
    case message(Pattern, as: Name?)
    /// A text or binary message, with framing `websocket`: `message binary V`.
    case messageOfKind(WebSocketMessageKind, Pattern, as: Name?)
    /// The peer's next ping or pong, with framing `websocket`.
    case ping(Expression?)
    case pong(Expression?)
    case sent
    case leftover(Pattern, as: Name?)
    case halfClosed
    case discarded
    case full
    case drained
    /// The connection has ended, and the subject will reconnect. The name is bound to the number of bytes that will
    /// never be sent.
    case lost(reason: String?, as: Name?)
    /// An attempt to connect has failed for the given reason, or for any reason if `reason` is `nil`.
    case attemptFailed(reason: String?)
    case data(Pattern, as: Name?)
    case bytes(Expression)
    case accept(as: Name)
    /// The error with which the subject answered the last operation, such as `already-started`.
    case error(String)
    /// The subject has stopped for a reason such as `eof`, `reset` or `refused`; `nil` means any reason. With `closed`,
    /// `code` is the code of the peer's close frame.
    case stopped(reason: String?, code: Expression?)
    case nothing(for: Duration)
    /// The adapter's program uses this amount of a resource.
    case resource(ResourceExpectation)
}

// MARK: The table

extension SubjectExpectation {
    private static let resources = ResourceExpectation.phrases(
        of: "the adapter's program and all its descendants", since: "the start of the case", after: nil
    ).map { phrase in phrase.map { SubjectExpectation.resource($0) } }

    private static let own: [Phrase<ExpectationParser, SubjectExpectation>] = [
        Phrase(
            LanguageEntry(
                "started",
                "expects the subject to report that it is connected; the step is needed only to check when this happens",
                example: "expect started", timing: .both),
            when: { $0.isAlone }
        ) { _ throws(Abandoned) in .started },
        Phrase(
            LanguageEntry(
                "secured",
                "expects the TLS handshake to be complete: after `start tls`, or after `start` if the subject is declared with `tls`",
                example: "expect secured", after: "T start tls", timing: .both),
            when: { $0.isAlone }
        ) { _ throws(Abandoned) in .secured },
        Phrase.pattern(
            LanguageEntry(
                "line", ["expect line V", "expect line /re/", "expect line as x"],
                "expects the next event, apart from `started`, `secured` and `sent`, to be the given line, without its terminator",
                example: "expect line \"text\"", timing: .both, needs: .lines)
        ) { .line($0, as: $1) },
        Phrase.pattern(
            LanguageEntry(
                "message", ["expect message V"],
                "like `expect line`, but for a message; a line is also accepted. With `framing websocket`, V is the content of a text message",
                example: "expect message \"text\"", timing: .both, needs: .messages)
        ) { .message($0, as: $1) },
        kind(.text, "text"),
        kind(.binary, "binary"),
        Phrase(
            LanguageEntry(
                "ping", ["expect ping", "expect ping V"],
                "with `framing websocket`: expects the next reported ping or pong of the peer to be a ping, with the payload V if given; pings and pongs are matched separately from messages",
                example: "expect ping \"7\"", timing: .both, needs: .pings), when: { $0.isAlone || !$0.isVariableHere }
        ) { parser throws(Abandoned) in .ping(try parser.parseOptionalValue()) },
        Phrase(
            LanguageEntry(
                "pong", ["expect pong", "expect pong V"],
                "with `framing websocket`: like `expect ping`, but for a pong",
                example: "expect pong \"7\"", timing: .both, needs: .pings), when: { $0.isAlone || !$0.isVariableHere }
        ) { parser throws(Abandoned) in .pong(try parser.parseOptionalValue()) },
        Phrase(
            LanguageEntry(
                "sent",
                "expects the number of bytes that the subject has reported as sent to equal the number that the script has told the subject to send so far, including terminators and length prefixes. The step fails if the number is lower at the deadline, or higher at any time",
                example: "expect sent", timing: .both, needs: .sent), when: { $0.isAlone }
        ) { _ throws(Abandoned) in .sent },
        Phrase.pattern(
            LanguageEntry(
                "leftover", ["expect leftover V"],
                "expects V to be the bytes that were left over at the end of the stream because they did not form a complete message",
                example: "expect leftover \"tw\"", timing: .both, needs: .leftover)
        ) { .leftover($0, as: $1) },
        Phrase.pattern(
            LanguageEntry(
                "data", ["expect data V"], "like `expect line`, but for the data that answers one `read`",
                example: "expect data \"text\"",
                timing: .both, needs: .data)
        ) { .data($0, as: $1) },
        Phrase(
            LanguageEntry(
                "half-closed",
                "with `allow-half-close`: expects the next event to be the peer's FIN; the subject can still write, until `T half-close` or `T stop`",
                example: "expect half-closed", timing: .both, needs: .halfClosed), when: { $0.isAlone }
        ) { _ throws(Abandoned) in .halfClosed },
        Phrase(
            LanguageEntry(
                "discarded",
                "with `discard-too-long`: expects the next event to report that a line or message longer than `max-line` was discarded",
                example: "expect discarded", timing: .both, needs: .discarded), when: { $0.isAlone }
        ) { _ throws(Abandoned) in .discarded },
        Phrase(
            LanguageEntry(
                "full",
                "with `high-water`: expects the subject to report that the configured number of bytes is waiting to be written",
                example: "expect full", timing: .both, needs: .highWater), when: { $0.isAlone }
        ) { _ throws(Abandoned) in .full },
        Phrase(
            LanguageEntry(
                "drained",
                "after `full`: expects the subject to report that only a few bytes are still waiting to be written",
                example: "expect drained",
                timing: .both,
                needs: .highWater), when: { $0.isAlone }
        ) { _ throws(Abandoned) in .drained },
        Phrase(
            LanguageEntry(
                "lost", ["expect lost eof", "expect lost reset as n"],
                "with `reconnect`: expects the next event to be the loss of the connection, for the given reason or, if no reason is given, for any reason. `n` is the number of bytes that will never be sent",
                example: "expect lost eof", timing: .both, needs: .reconnect),
            when: { $0.isAlone || $0.token(ahead: 1).kind == .word }
        ) { parser throws(Abandoned) in
            let reason = parser.cursor.isWord("as") ? nil : try parser.parseReason()
            return .lost(reason: reason, as: try parser.parseAs())
        },
        Phrase(
            LanguageEntry(
                "attempt-failed", ["expect attempt-failed refused"],
                "with `reconnect`: expects the next failed connection attempt to have the given reason; failed attempts need no `expect`",
                example: "expect attempt-failed refused", timing: .both, needs: .reconnect),
            when: { $0.isAlone || $0.token(ahead: 1).kind == .word }
        ) { parser throws(Abandoned) in .attemptFailed(reason: try parser.parseReason()) },
        Phrase(
            LanguageEntry(
                "accept as", "for a subject that listens: expects the next connection, which becomes the subject `A`",
                example: "expect accept as A", word: "accept", timing: .both), needsAllWords: true
        ) { parser throws(Abandoned) in
            let name = try parser.cursor.parseNewName("a name for the connection", "expect accept as A")
            parser.context.bindActor(name.value, .subject)
            return .accept(as: name)
        },
        Phrase(
            LanguageEntry(
                "error", "expects the previous operation to have been answered with the given error",
                example: "expect error already-started",
                timing: .answerBefore),
            when: { $0.token(ahead: 1).kind == .word && !$0.isVariableHere }
        ) { parser throws(Abandoned) in
            .error(try parser.cursor.parseName("an error", "expect error already-started").value)
        },
        Phrase(stoppedEntry, when: { $0.isAlone || $0.token(ahead: 1).kind == .word }) { parser throws(Abandoned) in
            let reason = try parser.parseReason()
            return .stopped(reason: reason, code: reason == "closed" ? try parser.parseOptionalValue() : nil)
        },
        Phrase(
            LanguageEntry(
                "nothing for",
                "expects no event during the given time, apart from `started`, `secured` and `sent`, which may be late",
                example: "expect nothing for 200ms", word: "nothing",
                timing: .silence), needsAllWords: true
        ) { parser throws(Abandoned) in .nothing(for: try parser.values.parseDuration("expect nothing for 200ms")) },
    ]
    static let phrases = own + resources

    private static func kind(_ kind: WebSocketMessageKind, _ word: String) -> Phrase<
        ExpectationParser, SubjectExpectation
    > {
        let entry = LanguageEntry(
            "message \(word)", ["expect message \(word) V"],
            "with `framing websocket`: like `expect message`, but the message must be reported as \(word)",
            example: "expect message \(word) \"text\"", choice: nil, timing: .both, needs: .webSocket)
        return Phrase(entry, when: { !$0.isVariableHere }) { parser throws(Abandoned) in
            let (pattern, name) = try parser.parsePattern(entry.example)
            return .messageOfKind(kind, pattern, as: name)
        }
    }

    static let valueEntries: [LanguageEntry] = [
        LanguageEntry(
            "bytes", ["expect \"bytes\""],
            "with `framing none` only: expects the next delivered bytes to be exactly the given bytes, in any number of events",
            example: "expect \"text\"",
            choice: nil, timing: .both, needs: .data),
        tooLongEntry,
    ]
    static let entries = index(phrases, valueEntries)

    private static let stoppedEntry = LanguageEntry(
        "stopped", ["expect stopped eof", "expect stopped closed 1001"],
        "expects the subject to stop for the given reason or, if no reason is given, for any reason. `closed` expects a WebSocket close frame from the peer, with the given status code if there is one. An earlier event that no step expected fails the step",
        example: "expect stopped eof", timing: .both)
    /// The entry for `stopped too-long`, which requires the capability for a line limit even if the scenario uses the
    /// default limit.
    private static let tooLongEntry: LanguageEntry = {
        var entry = LanguageEntry(
            "stopped too-long", "", example: "expect stopped too-long", word: "stopped", choice: nil, timing: .both,
            needs: .maxLine)
        entry.rows = []
        return entry
    }()

    static let stopReasons = [
        "eof", "reset", "refused", "timeout", "too-long", "tls-truncated", "tls-failed", "heartbeat", "broken-pipe",
        "closed",
        "protocol", "stopped", "other",
    ]

    /// The reasons for which a subject reconnects. A subject does not reconnect after a violation of the protocol.
    package static let lossReasons = stopReasons.filter {
        !["refused", "too-long", "protocol", "tls-failed", "stopped"].contains($0)
    }
    package static let attemptReasons = stopReasons.filter {
        !["too-long", "protocol", "tls-failed", "stopped"].contains($0)
    }

    var spelling: String {
        switch self {
        case .started: "started"
        case .secured: "secured"
        case .line: "line"
        case .message: "message"
        case .messageOfKind(let kind, _, _): "message \(kind.rawValue)"
        case .ping: "ping"
        case .pong: "pong"
        case .sent: "sent"
        case .leftover: "leftover"
        case .halfClosed: "half-closed"
        case .discarded: "discarded"
        case .full: "full"
        case .drained: "drained"
        case .lost: "lost"
        case .attemptFailed: "attempt-failed"
        case .data: "data"
        case .bytes: "bytes"
        case .accept: "accept as"
        case .error: "error"
        case .stopped("too-long", _): "stopped too-long"
        case .stopped: "stopped"
        case .nothing: "nothing for"
        case .resource(let expectation): expectation.resource.rawValue
        }
    }

    /// Whether the expectation concerns WebSocket frames.
    var isAboutWebSocket: Bool {
        switch self {
        case .ping, .pong, .messageOfKind, .stopped("closed", _): true
        default: false
        }
    }

    /// Whether the expectation concerns reconnecting.
    var isAboutReconnecting: Bool {
        switch self {
        case .lost, .attemptFailed: true
        default: false
        }
    }

    var values: [ValueCheck] {
        switch self {
        case .line(let pattern, _), .message(let pattern, _), .messageOfKind(_, let pattern, _):
            [.pattern(pattern, allowsEmpty: true)]
        case .leftover(let pattern, _), .data(let pattern, _): [.pattern(pattern, allowsEmpty: false)]
        case .bytes(let value): [.expectedBytes(value), .unframedBytes(value)]
        case .stopped(let reason?, let code):
            [.reason(reason, Self.stopReasons, "a reason to stop")]
                + (code.map { [.integer($0, "a close code", 0...65_535)] } ?? [])
        case .lost(let reason?, _): [.reason(reason, Self.lossReasons, "a reason for a loss")]
        case .attemptFailed(let reason?): [.reason(reason, Self.attemptReasons, "a reason for a failed attempt")]
        case .ping(let payload?), .pong(let payload?): [.bytes(payload)]
        case .resource(let expectation): expectation.values
        case .started, .secured, .ping(nil), .pong(nil), .sent, .halfClosed, .discarded, .full, .drained, .accept,
            .error, .lost(nil, _), .attemptFailed(nil), .stopped(nil, _), .nothing:
            []
        }
    }

    var bindings: Bindings {
        switch self {
        case .line(let pattern, let name), .message(let pattern, let name), .messageOfKind(_, let pattern, let name),
            .leftover(let pattern, let name),
            .data(let pattern, let name):
            Bindings(groups: pattern, name: name)
        case .lost(_, let name): Bindings(name: name, type: .integer)
        case .resource(let expectation): expectation.bindings
        case .started, .secured, .ping, .pong, .sent, .halfClosed, .discarded, .full, .drained, .bytes, .accept, .error,
            .attemptFailed, .stopped, .nothing:
            Bindings()
        }
    }
}
