package import ProbeBase

/// An action of the transport under test.
package enum SubjectAction: LanguageElement {
    case start
    case send(SendStatement)
    /// `send early`: sends without waiting for the connection.
    case sendEarly(SendStatement)
    /// Sends a binary message with framing `websocket`; a plain `send` sends a text message.
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

    /// The kinds of reads that AsyncSocket offers. The `within` clause of the step is the timeout of the read itself.
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
                "connects (or listens); the step completes when the subject has accepted the operation, not when it is connected. After the subject has stopped, the step opens a new connection",
                example: "start")
        ) { _ throws(Abandoned) in .start },
        Phrase(sendEntry) { parser throws(Abandoned) in .send(try parser.parseSend(inBackground: false)) },
        plain(.halfClose, "writes all queued bytes, then sends a FIN"),
        plain(
            .stopReading, "stops reading; the data of at most one read that has already completed is still delivered"),
        plain(.resumeReading, "resumes reading after a `stop reading`", needsAllWords: true),
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
                "stop",
                "writes all queued bytes, then sends a FIN, and delivers nothing more; if the subject is still connecting, aborts the attempt",
                example: "stop",
                needs: .stop)
        ) { _ throws(Abandoned) in .stop },
        Phrase(sendEarlyEntry, when: { !$0.isVariableHere }) { parser throws(Abandoned) in
            .sendEarly(try parser.parseSend(inBackground: false))
        },
        Phrase(
            LanguageEntry(
                "framing", ["framing u16", "framing u16 behind 1 line"],
                "changes how bytes are divided into lines or messages from this step on, in both directions; bytes that were received but not delivered are divided again. With `behind`, the change takes effect once the subject has delivered the given number of further lines or messages, before it divides the bytes that follow",
                example: "framing u16", needs: .framing)
        ) { parser throws(Abandoned) in try parser.parseSubjectFraming() },
        Phrase(
            LanguageEntry(
                "start tls", ["start tls", "start tls name \"chat.test\""],
                "starts TLS on a connection without TLS (STARTTLS); the step completes when the subject has accepted the operation. The TLS options of a declaration can follow. Nothing that was received in plaintext is delivered afterwards",
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
                "ping", ["ping", "ping V"], "with `framing websocket`: sends a ping, with the payload V if given",
                example: "ping \"7\"",
                needs: .webSocket)
        ) { parser throws(Abandoned) in .ping(try parser.expectations.parseOptionalValue()) },
        Phrase(
            LanguageEntry(
                "close", ["close", "close 1000", "close 1000 \"bye\""],
                "with `framing websocket`: sends a close frame after all queued bytes, with the code and the reason if given; the subject then stops with the reason `closed`, or `timeout` if the peer does not answer",
                example: "close 1000 \"bye\"", needs: .webSocket)
        ) { parser throws(Abandoned) in
            let code = try parser.expectations.parseOptionalValue()
            return .closeFrame(code: code, reason: code == nil ? nil : try parser.expectations.parseOptionalValue())
        },
        plain(
            .reset,
            "sends an RST immediately, discarding bytes that are still queued; the subject then stops as after `stop`"),
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
            "send", ["send V", "send line V"],
            "sends one message, which the subject frames; the message can be neither cut nor paced",
            example: "send line \"text\"", timing: .send, needs: .send)
        entry.pointsAtOperand = true
        return entry
    }()

    private static let sendEarlyEntry: LanguageEntry = {
        var entry = LanguageEntry(
            "send early", ["send early V", "send early line V"],
            "requests a send directly after `T start`, without waiting for the connection: the message is queued, and sent in order once the subject is connected",
            example: "send early line \"text\"", choice: nil, timing: .send, needs: .sendEarly)
        entry.pointsAtOperand = true
        return entry
    }()

    private static let sendBinaryEntry: LanguageEntry = {
        var entry = LanguageEntry(
            "send binary", ["send binary V"],
            "with `framing websocket`: sends a binary message; plain `send` sends a text message",
            example: "send binary hex(00 ff)", choice: nil, timing: .send, needs: .webSocket)
        entry.pointsAtOperand = true
        return entry
    }()

    private static func readEntry(_ spelling: String, choice: String? = nil) -> LanguageEntry {
        let forms = ["read 10 bytes", "read until \"\\r\\n\"", "read any bytes"]
        var entry = LanguageEntry(
            spelling, forms,
            "requests a read, for subjects that read only on request (capability `reads`); `within 1s` is the timeout of the read itself",
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

    /// Whether the action concerns WebSocket frames.
    var isAboutWebSocket: Bool {
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
        // A resource expectation applies to the adapter's program, which runs before the subject is started.
        case .expect(.resource): .nothing
        case .expect(.secured): .observesSubjectTLS
        case .expect: .observesSubject
        case .startTLS: .startsSubjectTLS
        case .send, .sendEarly, .sendBinary, .ping, .closeFrame, .operate, .framing, .read, .stop: .operatesSubject
        }
    }
}
