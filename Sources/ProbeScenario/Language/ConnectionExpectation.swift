package import ProbeBase

/// What a connection is expected to receive, or the expected outcome of its own sends. The names after `as` are bound
/// when the expectation succeeds.
package enum ConnectionExpectation<Stage: ExpectationStage>: Sendable {
    case bytes(Stage.Bytes)
    case line(Stage.Text, as: Name?)
    case linesInAnyOrder([(isOptional: Bool, pattern: Stage.Text)])
    case untilLine(Stage.Text, as: Name?)
    case count(Stage.Number, as: Name?)
    case until(delimiter: Stage.Bytes, as: Name?)
    case anyBytes(as: Name?)
    case integer(IntegerFormat, as: Name?)
    case urgent(Stage.Bytes)
    case message(Stage.Text, as: Name?)
    /// A WebSocket text or binary message.
    case messageOfKind(WebSocketMessageKind, Stage.Text, as: Name?)
    /// A WebSocket frame of any kind: `message ws.text("x")`.
    case frame(Stage.Frame)
    /// WebSocket control frames.
    case ping(Stage.Bytes?)
    case pong(Stage.Bytes?)
    case closeFrame(code: Stage.Number?, reason: Stage.Bytes?)
    case eof
    case reset
    case closed
    /// A close_notify alert.
    case notify
    /// A FIN without close_notify.
    case truncated
    /// An alert, identified by its number.
    case alert(Stage.Number)
    case nothing(for: Duration)
    case stalled(for: Duration)
    case sent
    /// The background send has failed. `reason` is the word after `send failed`, such as `reset`.
    case sendFailed(reason: String?)
}

/// A stage of an expectation: as parsed from the script, or with computed values.
package protocol ExpectationStage: StatementStage {
    /// The text that a line or a message must match.
    associatedtype Text: Sendable
    /// A WebSocket frame. The parser treats a frame as the value of a message, because the framing is known only at run
    /// time.
    associatedtype Frame: Sendable
}

extension Parsed: ExpectationStage {
    package typealias Text = Pattern
    package typealias Frame = Never
}

extension Resolved: ExpectationStage {
    package typealias Text = ExpectedText
    package typealias Frame = ExpectedFrame
}

// MARK: The table

/// The phrases of a connection's expectations.
enum ConnectionExpectationPhrases {
    static let all: [Phrase<ExpectationParser, ConnectionExpectation<Parsed>>] =
        [
            Phrase.pattern(
                LanguageEntry(
                    "line", ["expect line V"],
                    "expects the next line to be V, followed by the terminator of the framing",
                    more: [
                        (
                            ["expect line /re/"],
                            "expects the next line, without its terminator, to match the regex"
                        ),
                        (
                            ["expect line as x"],
                            "expects any line and binds it to `x`; `as x` can also follow the other forms of `expect`"
                        ),
                    ], example: "expect line /^220 (?<host>.*)$/", timing: .both), sample: "expect line \"text\""
            ) { .line($0, as: $1) },
            Phrase(
                LanguageEntry(
                    "lines in any order",
                    "expects each of the next lines to match an item of the list that has not been matched yet. The step is complete when all items that are not optional have been matched; optional lines that have arrived by then are also consumed",
                    example: "expect lines in any order \"a\", /b/, optional /c/", timing: .both)
            ) { parser throws(Abandoned) in .linesInAnyOrder(try parser.parseOpenLines()) },
            Phrase.pattern(
                LanguageEntry(
                    "until line", ["expect until line /re/ as x"],
                    "consumes lines up to and including the first line that matches; `x` contains all consumed lines, with their terminators",
                    example: "expect until line /^250 / as x", timing: .both), sample: "expect until line /^250 /",
                when: { !$0.isVariableHere && !$0.isWord("as", ahead: 1) }
            ) { .untilLine($0, as: $1) },
            Phrase(
                LanguageEntry(
                    "until",
                    "consumes the bytes up to and including the given delimiter; `x` does not contain the delimiter",
                    example: "expect until \"\\0\" as x", timing: .both),
                when: { !$0.isAlone }
            ) { parser throws(Abandoned) in
                let delimiter = try parser.values.parseExpression("a delimiter", "expect until \"\\0\" as x")
                return .until(delimiter: delimiter, as: try parser.parseAs())
            },
            Phrase(
                LanguageEntry(
                    "any bytes",
                    "consumes all unread bytes, at least one byte. `within` and `after` apply to the first byte",
                    example: "expect any bytes as x", timing: .both)
            ) { parser throws(Abandoned) in .anyBytes(as: try parser.parseAs()) },
        ] + IntegerFormat.allCases.map(integerPhrase) + [
            Phrase.pattern(
                LanguageEntry(
                    "message", ["expect message V"],
                    "like `expect line`, but for any framing; with `framing websocket`, V is the content of a text message or a single frame (`ws.…`)",
                    example: "expect message \"text\"", timing: .both)
            ) { .message($0, as: $1) },
            kind(.text), kind(.binary),
            Phrase(
                LanguageEntry(
                    "ping", ["expect ping", "expect ping V"],
                    "with `framing websocket`: expects the next control frame to be a ping, with the payload V if given. A control frame may arrive between the fragments of a message",
                    example: "expect ping \"7\"", after: "C framing websocket", timing: .both),
                when: { $0.isAlone || !$0.isVariableHere }
            ) { parser throws(Abandoned) in .ping(try parser.parseOptionalValue()) },
            Phrase(
                LanguageEntry(
                    "pong", ["expect pong", "expect pong V"],
                    "with `framing websocket`: like `expect ping`, but for a pong",
                    example: "expect pong \"7\"", after: "C framing websocket", timing: .both),
                when: { $0.isAlone || !$0.isVariableHere }
            ) { parser throws(Abandoned) in .pong(try parser.parseOptionalValue()) },
            Phrase(
                LanguageEntry(
                    "close", ["expect close", "expect close 1000", "expect close 1000 \"bye\""],
                    "with `framing websocket`: expects a close frame, with the code and the reason if given; the FIN that follows the close frame is not consumed",
                    example: "expect close 1000 \"bye\"", after: "C framing websocket", timing: .both),
                when: { $0.isAlone || !$0.isVariableHere }
            ) { parser throws(Abandoned) in
                let code = try parser.parseOptionalValue()
                return .closeFrame(code: code, reason: code == nil ? nil : try parser.parseOptionalValue())
            },
            Phrase(
                LanguageEntry(
                    "urgent", "expects out-of-band bytes, which are kept separate from the other bytes",
                    example: "expect urgent \"!\"",
                    timing: .both),
                when: { !$0.isVariableHere }
            ) { parser throws(Abandoned) in .urgent(try parser.values.parseExpression("a value")) },
            Phrase(
                LanguageEntry(
                    "eof",
                    "expects the peer's FIN, as `recv` reports it; with TLS, a close_notify and the FIN after it. Unread bytes before the FIN are an error, unless `ignore rest` was executed earlier: in that case, they are discarded",
                    example: "expect eof", timing: .both), when: { $0.isAlone }
            ) { _ throws(Abandoned) in .eof },
            Phrase(
                LanguageEntry(
                    "reset", "expects an RST, as `recv` reports it. Only `wire` steps can detect an RST after a FIN",
                    example: "expect reset", timing: .both), when: { $0.isAlone }
            ) { _ throws(Abandoned) in .reset },
            Phrase(
                LanguageEntry(
                    "closed",
                    "expects a FIN or an RST; with TLS, also a close_notify, a truncated stream or an alert. Once this step has succeeded, repeating it succeeds immediately",
                    example: "expect closed", timing: .both), when: { $0.isAlone }
            ) { _ throws(Abandoned) in .closed },
            Phrase(
                LanguageEntry(
                    "notify", "with TLS: expects the peer's close_notify. A later `expect eof` expects the FIN",
                    example: "expect notify", timing: .both), when: { $0.isAlone }
            ) { _ throws(Abandoned) in .notify },
            Phrase(
                LanguageEntry(
                    "truncated",
                    "with TLS: expects a FIN without a preceding close_notify; the stream may have been truncated",
                    example: "expect truncated", timing: .both), when: { $0.isAlone }
            ) { _ throws(Abandoned) in .truncated },
            Phrase(
                LanguageEntry(
                    "alert", ["expect alert certificate-expired", "expect alert 45"],
                    "with TLS: expects an alert from the peer, given by name or number",
                    example: "expect alert certificate-expired", timing: .both), when: { !$0.isAlone }
            ) { parser throws(Abandoned) in
                let alert = try TLSParser(cursor: parser.cursor).parseAlert()
                if case .integer(0) = alert.kind {
                    throw parser.cursor.fail(
                        .expected, "`expect alert` does not accept close_notify, which is an end of the stream",
                        hint: "use `expect notify`, or `expect eof` for close_notify and the FIN after it",
                        at: alert.span)
                }
                return .alert(alert)
            },
            Phrase(
                LanguageEntry(
                    "nothing for",
                    "expects that no bytes are unread, and that neither data nor the end of the connection arrives during the given time. The end of a connection is ignored if an earlier step has expected it",
                    example: "expect nothing for 200ms", word: "nothing", timing: .silence), needsAllWords: true
            ) { parser throws(Abandoned) in .nothing(for: try parser.values.parseDuration("expect nothing for 200ms"))
            },
            Phrase(
                LanguageEntry(
                    "stalled for",
                    "expects the background send to make no progress for 1 s; the deadline of the step is `timeout` plus the given time",
                    example: "expect stalled for 1s", word: "stalled", timing: .silence), needsAllWords: true
            ) { parser throws(Abandoned) in .stalled(for: try parser.values.parseDuration("expect stalled for 1s")) },
            Phrase(
                LanguageEntry(
                    "sent", "expects that the kernel has accepted all bytes of the background send",
                    example: "expect sent", timing: .both),
                when: { $0.isAlone }
            ) { _ throws(Abandoned) in .sent },
            Phrase(
                LanguageEntry(
                    "send failed",
                    "expects the background send to fail for the given reason (`reset`, `broken-pipe` or `timeout`) or, if no reason is given, for any reason. `reset` also accepts EPIPE, because Linux reports a reset as either ECONNRESET or EPIPE",
                    example: "expect send failed reset", timing: .both)
            ) { parser throws(Abandoned) in .sendFailed(reason: try parser.parseReason()) },
        ]

    /// The entries of expectations that begin with a value rather than a word.
    static let values = [
        LanguageEntry(
            "bytes", ["expect V"],
            "expects the next bytes to be exactly V. The first byte that differs fails the step immediately",
            example: "expect \"text\"",
            choice: nil, timing: .both),
        LanguageEntry(
            "… bytes", ["expect 10 bytes as x"],
            "expects the next ten bytes, whatever they are, and binds them to `x`; the number can also be an expression, as in `(n * 2) bytes`, or a variable, as in `n bytes`",
            example: "expect 10 bytes as x", choice: nil, timing: .both),
    ]
    static let entries = ConnectionExpectation<Parsed>.index(all, values)

    private static func kind(_ kind: WebSocketMessageKind) -> Phrase<ExpectationParser, ConnectionExpectation<Parsed>> {
        let entry = LanguageEntry(
            "message \(kind.rawValue)", ["expect message \(kind.rawValue) V"],
            "with `framing websocket`: expects a \(kind.rawValue) message with the content V",
            example: "expect message \(kind.rawValue) \"text\"", after: "C framing websocket", choice: nil,
            timing: .both)
        return Phrase(entry, when: { !$0.isVariableHere }) { parser throws(Abandoned) in
            let (pattern, name) = try parser.parsePattern(entry.example)
            return .messageOfKind(kind, pattern, as: name)
        }
    }

    private static func integerPhrase(_ format: IntegerFormat) -> Phrase<
        ExpectationParser, ConnectionExpectation<Parsed>
    > {
        // All integer formats share one row of the reference and one choice in messages.
        let isShown = format == .u16
        var entry = LanguageEntry(
            format.rawValue, ["expect u16 as n"],
            "expects an integer in the given format and binds it to `n`. The formats are \(IntegerFormat.fixedWidthWords) and `varint`",
            example: "expect \(format.rawValue) as n",
            choice: isShown ? "u16 as" : nil, timing: .both)
        if !isShown { entry.rows = [] }
        return Phrase(entry, when: { $0.isAlone || $0.isWord("as", ahead: 1) }) { parser throws(Abandoned) in
            let name = try parser.parseAs()
            if let name { parser.context.integerNames.insert(name.value) }
            return .integer(format, as: name)
        }
    }
}

extension ConnectionExpectation {
    package var spelling: String {
        switch self {
        case .bytes: "bytes"
        case .line: "line"
        case .linesInAnyOrder: "lines in any order"
        case .untilLine: "until line"
        case .count: "… bytes"
        case .until: "until"
        case .anyBytes: "any bytes"
        case .integer(let format, _): format.rawValue
        case .urgent: "urgent"
        case .message, .frame: "message"
        case .messageOfKind(let kind, _, _): "message \(kind.rawValue)"
        case .ping: "ping"
        case .pong: "pong"
        case .closeFrame: "close"
        case .eof: "eof"
        case .reset: "reset"
        case .closed: "closed"
        case .notify: "notify"
        case .truncated: "truncated"
        case .alert: "alert"
        case .nothing: "nothing for"
        case .stalled: "stalled for"
        case .sent: "sent"
        case .sendFailed: "send failed"
        }
    }

    /// Whether the peer is expected to end the connection.
    var isEnd: Bool {
        switch self {
        case .eof, .reset, .closed, .truncated: true
        case .notify, .alert, .bytes, .line, .linesInAnyOrder, .untilLine, .count, .until, .anyBytes, .integer, .urgent,
            .message, .messageOfKind, .frame, .ping, .pong, .closeFrame, .nothing, .stalled, .sent, .sendFailed:
            false
        }
    }

    /// Whether the expectation is meaningful only on a connection with TLS.
    package var requiresTLS: Bool {
        switch self {
        case .notify, .truncated, .alert: true
        case .eof, .reset, .closed, .bytes, .line, .linesInAnyOrder, .untilLine, .count, .until, .anyBytes, .integer,
            .urgent, .message, .messageOfKind, .frame, .ping, .pong, .closeFrame, .nothing, .stalled, .sent,
            .sendFailed:
            false
        }
    }

    /// Whether the expectation concerns the end of the connection, or the messages that TLS sends before the end.
    package var isAboutEnd: Bool { isEnd || requiresTLS }

    /// Whether the outcome of the expectation depends on received bytes or on the end of the connection.
    package var isInput: Bool {
        switch self {
        case .urgent, .nothing, .stalled, .sent, .sendFailed: false
        case .eof, .reset, .closed, .notify, .truncated, .alert, .bytes, .line, .linesInAnyOrder, .untilLine, .count,
            .until, .anyBytes, .integer, .message, .messageOfKind, .frame, .ping, .pong, .closeFrame:
            true
        }
    }

    /// Whether the expectation concerns raw bytes rather than units of the framing.
    package var isRaw: Bool {
        switch self {
        case .bytes, .count, .until, .anyBytes, .integer: true
        default: false
        }
    }

    /// A description of the WebSocket feature that the expectation requires; `nil` if the expectation requires no such
    /// feature.
    package var webSocketFeature: String? {
        switch self {
        case .ping, .pong, .closeFrame: "control frames"
        case .messageOfKind: "text and binary messages"
        default: nil
        }
    }

    /// Whether the expectation concerns several lines. The framing `websocket` has no lines.
    package var needsLines: Bool {
        switch self {
        case .untilLine, .linesInAnyOrder: true
        default: false
        }
    }
}

extension ConnectionExpectation<Parsed>: LanguageElement {
    static var phrases: [Phrase<ExpectationParser, Self>] { ConnectionExpectationPhrases.all }
    static var valueEntries: [LanguageEntry] { ConnectionExpectationPhrases.values }
    static var entries: [String: LanguageEntry] { ConnectionExpectationPhrases.entries }
    /// The entries that are meaningful only on a connection with TLS.
    static var tlsEntries: [LanguageEntry] {
        ["notify", "truncated", "alert"].compactMap { entries[$0] }
    }

    var values: [ValueCheck] {
        switch self {
        case .bytes(let value): [.expectedBytes(value)]
        case .line(let pattern, _), .untilLine(let pattern, _), .message(let pattern, _),
            .messageOfKind(_, let pattern, _):
            [.pattern(pattern, allowsEmpty: true)]
        case .linesInAnyOrder(let lines): lines.map { .pattern($0.pattern, allowsEmpty: true) }
        case .count(let count, _): [.integer(count, "the number of bytes", 1...Evaluator.largestValue)]
        case .until(let delimiter, _): [.delimiter(delimiter)]
        case .urgent(let value): [.bytes(value)]
        case .ping(let value?), .pong(let value?): [.bytes(value)]
        case .closeFrame(let code?, let reason):
            [.integer(code, "a close code", 0...65_535)] + (reason.map { [.bytes($0)] } ?? [])
        case .sendFailed(let reason?): [.reason(reason, Self.sendFailures, "a reason why a send fails")]
        case .alert(let alert): [.integer(alert, "an alert", 0...255)]
        case .anyBytes, .integer, .ping(nil), .pong(nil), .closeFrame(nil, _), .eof, .reset, .closed, .notify,
            .truncated, .nothing, .stalled, .sent, .sendFailed(nil):
            []
        }
    }

    static var sendFailures: [String] { ["reset", "broken-pipe", "timeout"] }

    var bindings: Bindings {
        switch self {
        case .line(let pattern, let name), .untilLine(let pattern, let name), .message(let pattern, let name),
            .messageOfKind(_, let pattern, let name):
            Bindings(groups: pattern, name: name)
        case .linesInAnyOrder(let lines): Bindings(patterns: lines)
        case .count(_, let name), .until(_, let name), .anyBytes(let name): Bindings(name: name)
        case .integer(_, let name): Bindings(name: name, type: .integer)
        case .bytes, .urgent, .ping, .pong, .closeFrame, .eof, .reset, .closed, .notify, .truncated, .alert, .nothing,
            .stalled, .sent, .sendFailed:
            Bindings()
        }
    }

    /// Returns the expectation with its values computed.
    package func resolved(by evaluator: Evaluator) throws(EvaluationError) -> ConnectionExpectation<Resolved> {
        switch self {
        case .bytes(let value): return .bytes(try evaluator.bytes(of: value))
        case .line(let pattern, let name): return .line(try evaluator.text(of: pattern), as: name)
        case .linesInAnyOrder(let lines):
            var texts: [(isOptional: Bool, pattern: ExpectedText)] = []
            for line in lines { texts.append((line.isOptional, try evaluator.text(of: line.pattern))) }
            return .linesInAnyOrder(texts)
        case .untilLine(let pattern, let name): return .untilLine(try evaluator.text(of: pattern), as: name)
        case .count(let count, let name): return .count(try evaluator.integer(of: count), as: name)
        case .until(let delimiter, let name):
            let bytes = try evaluator.bytes(of: delimiter)
            if bytes.isEmpty { throw EvaluationError(.emptyDelimiter, span: delimiter.span) }
            return .until(delimiter: bytes, as: name)
        case .anyBytes(let name): return .anyBytes(as: name)
        case .integer(let format, let name): return .integer(format, as: name)
        case .urgent(let value): return .urgent(try evaluator.bytes(of: value))
        case .message(let pattern, let name): return .message(try evaluator.text(of: pattern), as: name)
        case .messageOfKind(let kind, let pattern, let name):
            return .messageOfKind(kind, try evaluator.text(of: pattern), as: name)
        case .ping(let payload): return .ping(try evaluator.bytes(ofOptional: payload))
        case .pong(let payload): return .pong(try evaluator.bytes(ofOptional: payload))
        case .closeFrame(let code, let reason):
            return .closeFrame(
                code: try evaluator.integer(ofOptional: code), reason: try evaluator.bytes(ofOptional: reason))
        case .eof: return .eof
        case .reset: return .reset
        case .closed: return .closed
        case .notify: return .notify
        case .truncated: return .truncated
        case .alert(let code): return .alert(try evaluator.integer(of: code))
        case .nothing(let duration): return .nothing(for: duration)
        case .stalled(let duration): return .stalled(for: duration)
        case .sent: return .sent
        case .sendFailed(let reason): return .sendFailed(reason: reason)
        }
    }
}

extension ConnectionExpectation<Resolved> {
    /// A description of what is expected, such as `line "x"`.
    package var description: String {
        switch self {
        case .bytes(let bytes): Escaped.phrase(bytes)
        case .line(let text, _): text.described(as: "line")
        case .linesInAnyOrder(let texts): ByteText.count(texts.count, "line") + " in any order"
        case .untilLine(let text, _): text.described(as: "the line")
        case .count(let count, _): ByteText.count(count, "byte")
        case .until(let delimiter, _): "bytes until \(Escaped.phrase(delimiter))"
        case .anyBytes: "any bytes"
        case .integer(let format, _): "a \(format.rawValue)"
        case .urgent(let bytes): "urgent \(Escaped.phrase(bytes))"
        case .message(let text, _): text.described(as: "message")
        case .messageOfKind(let kind, let text, _): text.described(as: "\(kind.rawValue) message")
        case .frame(let expected): expected.frame.description
        case .ping(let payload): Self.control(WebSocketFrame.Opcode.ping, payload: payload)
        case .pong(let payload): Self.control(WebSocketFrame.Opcode.pong, payload: payload)
        case .closeFrame(let code, let reason):
            Self.control(WebSocketFrame.Opcode.close, code: code, payload: reason)
        case .eof: "eof (FIN)"
        case .reset: "reset (RST)"
        case .closed: "the end of the connection (FIN or RST)"
        case .notify: "close_notify"
        case .truncated: "a FIN without close_notify"
        case .alert(let code): "the alert \(TLSAlert(level: 2, code: UInt8(clamping: code)))"
        case .nothing(let duration): "silence for \(DurationText.script(duration))"
        case .stalled(let duration): "the send to stall for \(DurationText.script(duration))"
        case .sent: "the end of the send"
        case .sendFailed: "the send to fail"
        }
    }

    /// The name by which a finding refers to the event whose time is judged.
    package var eventName: String { if case .sendFailed = self { "the failure of the send" } else { description } }

    private static func control(_ opcode: UInt8, code: Int? = nil, payload: [UInt8]?) -> String {
        WebSocketFrame.name(of: opcode) + (code.map { " with code \($0)" } ?? "")
            + (payload.map { " \(Escaped.phrase($0))" } ?? "")
    }
}
