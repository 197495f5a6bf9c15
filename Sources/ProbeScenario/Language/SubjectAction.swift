package import ProbeBase

/// An action of the transport under test.
package enum SubjectAction: LanguageElement {
    case start
    case send(SendStatement)
    /// `send early`: without waiting for the connection.
    case sendEarly(SendStatement)
    /// With framing `websocket`, where `send` sends a text message.
    case sendBinary(SendStatement)
    case ping(Expression?)
    /// `close 1000 "bye"`: a WebSocket close frame.
    case closeFrame(code: Expression?, reason: Expression?)
    case expect(SubjectExpectation)
    case operate(PlainOperation)
    /// `framing u16 behind 1 line`: takes effect after this number of further lines or messages has been delivered.
    case framing(Framing, behind: Expression?)
    case read(ReadRequest)
    /// `start tls name "chat.test"`: STARTTLS, with the options of a declaration.
    case startTLS(TLSOptions)
    case stop

    /// The reads of AsyncSocket; the `within` of the step is the timeout of the read itself.
    package enum ReadRequest: Sendable {
        case length(Expression)
        case until(Expression)
        case any
    }
}

// MARK: The table

extension SubjectAction {
    static let phrases: [Phrase<ActionParser, SubjectAction>] = [
        Phrase(
            LanguageEntry(
                "start",
                "connect (or listen); done when the operation is accepted, not when it is connected. After its stop, this is a new connection",
                example: "start")
        ) { _ throws(Abandoned) in .start },
        Phrase(sendEntry) { parser throws(Abandoned) in .send(try parser.parseSend(inBackground: false)) },
        plain(.halfClose, "write what was sent, then FIN"),
        plain(.stopReading, "at most one read already in hand is still delivered"),
        plain(.resumeReading, "it reads again, after a `stop reading`", needsAllWords: true),
        Phrase(readEntry("read", choice: "read"), when: { !$0.statementHolds("every") }) { parser throws(Abandoned) in
            let count = try parser.values.parseExpression("a number of bytes", "read 10 bytes")
            guard parser.cursor.take(word: "bytes") else { throw parser.expectedReadClause() }
            return .read(.length(count))
        },
        Phrase(readEntry("read until"), when: { $0.token(ahead: 1).kind != .newline }) { parser throws(Abandoned) in
            .read(.until(try parser.values.parseExpression("a delimiter", "read until \"\\r\\n\"")))
        },
        Phrase(readEntry("read any bytes")) { _ throws(Abandoned) in .read(.any) },
        Phrase(
            LanguageEntry(
                "stop", "write what was sent, then FIN, deliver nothing more; while connecting: abort", example: "stop",
                needs: .stop)
        ) { _ throws(Abandoned) in .stop },
        Phrase(sendEarlyEntry, when: { !$0.isVariableHere }) { parser throws(Abandoned) in
            .sendEarly(try parser.parseSend(inBackground: false))
        },
        Phrase(
            LanguageEntry(
                "framing", ["framing u16", "framing u16 behind 1 line"],
                "what is a line or a message from here on, in both directions; bytes that it has received and not delivered are divided anew. `behind`: not now, but when it has delivered this number of further lines or messages, before it divides anything after them",
                example: "framing u16", needs: .framing)
        ) { parser throws(Abandoned) in try parser.parseSubjectFraming() },
        Phrase(
            LanguageEntry(
                "start tls", ["start tls", "start tls name \"chat.test\""],
                "it begins TLS on a connection that has none: STARTTLS; done when the operation is taken. The declaration's options of `tls` can follow. Nothing received in plain text is delivered after it",
                example: "start tls", needs: .startTLS), needsAllWords: true
        ) { parser throws(Abandoned) in
            parser.context.scenario.startsTLS = true
            return .startTLS(try parser.tls.parseOptions(of: .subject, from: parser.cursor.lastWord))
        },
        Phrase(sendBinaryEntry, when: { !$0.isVariableHere }) { parser throws(Abandoned) in
            .sendBinary(try parser.parseSend(inBackground: false))
        },
        Phrase(
            LanguageEntry(
                "ping", ["ping", "ping V"], "with `framing websocket`: a ping, with that payload",
                example: "ping \"7\"",
                needs: .webSocket)
        ) { parser throws(Abandoned) in .ping(try parser.expectations.parseOptionalValue()) },
        Phrase(
            LanguageEntry(
                "close", ["close", "close 1000", "close 1000 \"bye\""],
                "with `framing websocket`: a close after everything that was sent, with that code and that reason; then as `expect stopped closed` says, or `stopped timeout` if the peer does not answer it",
                example: "close 1000 \"bye\"", needs: .webSocket)
        ) { parser throws(Abandoned) in
            let code = try parser.expectations.parseOptionalValue()
            return .closeFrame(code: code, reason: code == nil ? nil : try parser.expectations.parseOptionalValue())
        },
        plain(.reset, "RST, at once: what was sent and is still queued is dropped; then as `stop`"),
    ]
    static let entries = index(phrases)

    private static func plain(
        _ operation: PlainOperation, _ meaning: String, needsAllWords: Bool = false
    ) -> Phrase<ActionParser, SubjectAction> {
        let spelling = spelling(of: operation)
        let entry = LanguageEntry(spelling, meaning, example: spelling, needs: operation.capability)
        return Phrase(entry, needsAllWords: needsAllWords) { _ throws(Abandoned) in .operate(operation) }
    }

    private static func spelling(of operation: PlainOperation) -> String {
        switch operation {
        case .halfClose: "half-close"
        case .stopReading: "stop reading"
        case .resumeReading: "resume reading"
        case .reset: "reset"
        }
    }

    private static let sendEntry: LanguageEntry = {
        var entry = LanguageEntry(
            "send", ["send V", "send line V"], "one message; the subject frames it. It is neither cut nor paced",
            example: "send line \"text\"", timing: .send, needs: .send)
        entry.pointsAtOperand = true
        return entry
    }()

    private static let sendEarlyEntry: LanguageEntry = {
        var entry = LanguageEntry(
            "send early", ["send early V", "send early line V"],
            "the same, requested directly after `T start`, without waiting for the connection: it is queued, and sent in order once connected",
            example: "send early line \"text\"", choice: nil, timing: .send, needs: .sendEarly)
        entry.pointsAtOperand = true
        return entry
    }()

    private static let sendBinaryEntry: LanguageEntry = {
        var entry = LanguageEntry(
            "send binary", ["send binary V"],
            "with `framing websocket`: a binary message, where `send` sends a text message",
            example: "send binary hex(00 ff)", choice: nil, timing: .send, needs: .webSocket)
        entry.pointsAtOperand = true
        return entry
    }()

    private static func readEntry(_ spelling: String, choice: String? = nil) -> LanguageEntry {
        let forms = ["read 10 bytes", "read until \"\\r\\n\"", "read any bytes"]
        var entry = LanguageEntry(
            spelling, forms,
            "for subjects that read only when asked (`reads`); `within 1s` is the read's own timeout",
            example: forms.first { $0.hasPrefix(spelling) } ?? spelling, word: "read", choice: choice, timing: .read,
            needs: .reads)
        if choice == nil { entry.rows = [] }
        return entry
    }

    var spelling: String {
        switch self {
        case .start: "start"
        case .send: "send"
        case .sendEarly: "send early"
        case .sendBinary: "send binary"
        case .ping: "ping"
        case .closeFrame: "close"
        case .expect: "expect"
        case .operate(let operation): Self.spelling(of: operation)
        case .framing: "framing"
        case .read(.length): "read"
        case .read(.until): "read until"
        case .read(.any): "read any bytes"
        case .startTLS: "start tls"
        case .stop: "stop"
        }
    }

    /// Whether the action is about WebSocket frames.
    var isOfWebSocket: Bool {
        switch self {
        case .sendBinary, .ping, .closeFrame: true
        default: false
        }
    }

    var values: [ValueCheck] {
        switch self {
        case .send(let statement), .sendEarly(let statement), .sendBinary(let statement): [.send(statement, .subject)]
        case .ping(let payload): payload.map { [.bytes($0)] } ?? []
        case .closeFrame(let code, let reason):
            (code.map { [.integer($0, "a close code", 0...65_535)] } ?? []) + (reason.map { [.bytes($0)] } ?? [])
        case .expect(let expectation): expectation.values
        case .read(.length(let count)): [.integer(count, "the number of bytes", 1...Int.max)]
        case .read(.until(let delimiter)): [.delimiter(delimiter)]
        case .framing(_, let count): count.map { [.integer($0, "the number of messages", 1...1_000_000)] } ?? []
        case .startTLS(let options): options.values
        case .read(.any), .start, .operate, .stop: []
        }
    }

    var effect: ActionEffect {
        switch self {
        case .start: .startsSubject
        case .expect(.accept(let name)): .subjectAccepts(as: name)
        // About the adapter's program, which runs before the subject is started.
        case .expect(.resource): .nothing
        case .expect(.secured): .observesSubjectTLS
        case .expect: .observesSubject
        case .startTLS: .startsSubjectTLS
        case .send, .sendEarly, .sendBinary, .ping, .closeFrame, .operate, .framing, .read, .stop: .operatesSubject
        }
    }
}
