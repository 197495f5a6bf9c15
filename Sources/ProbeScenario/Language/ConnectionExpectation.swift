package import ProbeBase

/// What a connection receives, or what happens to its own sending. `as` names are bound once the expectation is met.
package enum ConnectionExpectation: LanguageElement {
    case bytes(Expression)
    case line(Pattern, as: Name?)
    case linesInAnyOrder([(isOptional: Bool, pattern: Pattern)])
    case untilLine(Pattern, as: Name?)
    case count(Expression, as: Name?)
    case until(delimiter: Expression, as: Name?)
    case anyBytes(as: Name?)
    case integer(IntegerFormat, as: Name?)
    case urgent(Expression)
    case message(Pattern, as: Name?)
    /// A WebSocket text or binary message.
    case messageOfKind(WebSocketMessageKind, Pattern, as: Name?)
    /// WebSocket control frames.
    case ping(Expression?)
    case pong(Expression?)
    case closeFrame(code: Expression?, reason: Expression?)
    case eof
    case reset
    case closed
    /// A close_notify alert.
    case notify
    /// A FIN without close_notify.
    case truncated
    /// An alert, by its number.
    case alert(Expression)
    case nothing(for: Duration)
    case stalled(for: Duration)
    case sent
    /// `reason` is the word after `send failed`, such as `reset`.
    case sendFailed(reason: String?)
}

// MARK: The table

extension ConnectionExpectation {
    static let phrases: [Phrase<ExpectationParser, ConnectionExpectation>] =
        [
            Phrase.pattern(
                LanguageEntry(
                    "line", ["expect line V"], "the next line is V and its terminator has come",
                    more: [
                        (["expect line /re/"], "it matches; the regex sees the line without its terminator"),
                        (["expect line as x"], "any line; `as x` can follow the other forms, too"),
                    ], example: "expect line /^220 (?<host>.*)$/", timing: .both), sample: "expect line \"text\""
            ) { .line($0, as: $1) },
            Phrase(
                LanguageEntry(
                    "lines in any order",
                    "the next lines, each matching one of those still open. It is done when all but optional ones have come; optional ones that are there by then are taken too",
                    example: "expect lines in any order \"a\", /b/, optional /c/", timing: .both)
            ) { parser throws(Abandoned) in .linesInAnyOrder(try parser.parseOpenLines()) },
            Phrase.pattern(
                LanguageEntry(
                    "until line", ["expect until line /re/ as x"],
                    "lines up to and with the one that matches; `x` is all of them with their terminators",
                    example: "expect until line /^250 / as x", timing: .both), sample: "expect until line /^250 /",
                when: { !$0.isVariableHere && !$0.isWord("as", ahead: 1) }
            ) { .untilLine($0, as: $1) },
            Phrase(
                LanguageEntry(
                    "until", "up to the delimiter, which is taken and is not part of `x`",
                    example: "expect until \"\\0\" as x", timing: .both),
                when: { !$0.isAlone }
            ) { parser throws(Abandoned) in
                let delimiter = try parser.values.parseExpression("a delimiter", "expect until \"\\0\" as x")
                return .until(delimiter: delimiter, as: try parser.parseAs())
            },
            Phrase(
                LanguageEntry(
                    "any bytes",
                    "all that is unread, at least a byte. `within` and `after` are judged by the first",
                    example: "expect any bytes as x", timing: .both)
            ) { parser throws(Abandoned) in .anyBytes(as: try parser.parseAs()) },
        ] + IntegerFormat.allCases.map(integerPhrase) + [
            Phrase.pattern(
                LanguageEntry(
                    "message", ["expect message V"],
                    "as `line`, for any framing; with `framing websocket` V is the content of a text message, or one frame (`ws.…`)",
                    example: "expect message \"text\"", timing: .both)
            ) { .message($0, as: $1) },
            kind(.text), kind(.binary),
            Phrase(
                LanguageEntry(
                    "ping", ["expect ping", "expect ping V"],
                    "with `framing websocket`: the next control frame, also where it stands between the fragments of a message",
                    example: "expect ping \"7\"", after: "C framing websocket", timing: .both),
                when: { $0.isAlone || !$0.isVariableHere }
            ) { parser throws(Abandoned) in .ping(try parser.parseOptionalValue()) },
            Phrase(
                LanguageEntry(
                    "pong", ["expect pong", "expect pong V"], "with `framing websocket`: as `expect ping`",
                    example: "expect pong \"7\"", after: "C framing websocket", timing: .both),
                when: { $0.isAlone || !$0.isVariableHere }
            ) { parser throws(Abandoned) in .pong(try parser.parseOptionalValue()) },
            Phrase(
                LanguageEntry(
                    "close", ["expect close", "expect close 1000", "expect close 1000 \"bye\""],
                    "with `framing websocket`: the close frame, with that code and that reason; no FIN",
                    example: "expect close 1000 \"bye\"", after: "C framing websocket", timing: .both),
                when: { $0.isAlone || !$0.isVariableHere }
            ) { parser throws(Abandoned) in
                let code = try parser.parseOptionalValue()
                return .closeFrame(code: code, reason: code == nil ? nil : try parser.parseOptionalValue())
            },
            Phrase(
                LanguageEntry(
                    "urgent", "out-of-band bytes; they are kept apart from the others", example: "expect urgent \"!\"",
                    timing: .both),
                when: { !$0.isVariableHere }
            ) { parser throws(Abandoned) in .urgent(try parser.values.parseExpression("a value")) },
            Phrase(
                LanguageEntry(
                    "eof",
                    "the peer's FIN, as `recv` reports it; with TLS, a close_notify and the FIN after it. Bytes before it are an error, unless `ignore rest` was executed before: then unread bytes are dropped first",
                    example: "expect eof", timing: .both), when: { $0.isAlone }
            ) { _ throws(Abandoned) in .eof },
            Phrase(
                LanguageEntry(
                    "reset", "an RST, as `recv` reports it. Only `wire` sees an RST after a FIN",
                    example: "expect reset", timing: .both), when: { $0.isAlone }
            ) { _ throws(Abandoned) in .reset },
            Phrase(
                LanguageEntry(
                    "closed",
                    "either; with TLS also `notify`, `truncated` or an alert. An end that a step has expected lasts: the same step again holds at once",
                    example: "expect closed", timing: .both), when: { $0.isAlone }
            ) { _ throws(Abandoned) in .closed },
            Phrase(
                LanguageEntry(
                    "notify", "with TLS: the peer's close_notify. `expect eof` after it is the FIN",
                    example: "expect notify", timing: .both), when: { $0.isAlone }
            ) { _ throws(Abandoned) in .notify },
            Phrase(
                LanguageEntry(
                    "truncated",
                    "with TLS: a FIN without a close_notify before it, so that the stream may have been cut off",
                    example: "expect truncated", timing: .both), when: { $0.isAlone }
            ) { _ throws(Abandoned) in .truncated },
            Phrase(
                LanguageEntry(
                    "alert", ["expect alert certificate-expired", "expect alert 45"],
                    "with TLS: an alert of the peer, by its name or its number",
                    example: "expect alert certificate-expired", timing: .both), when: { !$0.isAlone }
            ) { parser throws(Abandoned) in
                let alert = try TLSParser(cursor: parser.cursor).parseAlert()
                if case .integer(0) = alert.kind {
                    throw parser.cursor.fail(
                        .expected, "close_notify is an end and not one of the alerts that are expected so",
                        hint: "write expect notify; expect eof is close_notify and the FIN behind it", at: alert.span)
                }
                return .alert(alert)
            },
            Phrase(
                LanguageEntry(
                    "nothing for",
                    "nothing is unread now, and for so long neither bytes nor a close come. An end that a step has expected counts no more",
                    example: "expect nothing for 200ms", word: "nothing", timing: .silence), needsAllWords: true
            ) { parser throws(Abandoned) in .nothing(for: try parser.values.parseDuration("expect nothing for 200ms"))
            },
            Phrase(
                LanguageEntry(
                    "stalled for",
                    "what was started has made no progress for 1 s (within `timeout` and that second)",
                    example: "expect stalled for 1s", word: "stalled", timing: .silence), needsAllWords: true
            ) { parser throws(Abandoned) in .stalled(for: try parser.values.parseDuration("expect stalled for 1s")) },
            Phrase(
                LanguageEntry(
                    "sent", "what was started has been taken by the kernel", example: "expect sent", timing: .both),
                when: { $0.isAlone }
            ) { _ throws(Abandoned) in .sent },
            Phrase(
                LanguageEntry(
                    "send failed",
                    "what was started fails; `reset`, `broken-pipe`, `timeout`, or no word for any. `reset` takes EPIPE too: Linux answers either",
                    example: "expect send failed reset", timing: .both)
            ) { parser throws(Abandoned) in .sendFailed(reason: try parser.parseReason()) },
        ]

    /// The entries that begin with a value.
    static let valueEntries = [
        LanguageEntry(
            "bytes", ["expect V"],
            "the next bytes are exactly these. The first byte that differs fails at once", example: "expect \"text\"",
            choice: nil, timing: .both),
        LanguageEntry(
            "… bytes", ["expect 10 bytes as x"], "exactly ten; also `(n * 2) bytes` and a variable: `n bytes`",
            example: "expect 10 bytes as x", choice: nil, timing: .both),
    ]
    static let entries = index(phrases, valueEntries)
    /// The entries that have no meaning on a connection without TLS.
    static var entriesOfTLS: [LanguageEntry] {
        ["notify", "truncated", "alert"].compactMap { entries[$0] }
    }

    private static func kind(_ kind: WebSocketMessageKind) -> Phrase<ExpectationParser, ConnectionExpectation> {
        let entry = LanguageEntry(
            "message \(kind.rawValue)", ["expect message \(kind.rawValue) V"],
            "with `framing websocket`: the content of a \(kind.rawValue) message",
            example: "expect message \(kind.rawValue) \"text\"", after: "C framing websocket", choice: nil,
            timing: .both)
        return Phrase(entry, when: { !$0.isVariableHere }) { parser throws(Abandoned) in
            let (pattern, name) = try parser.parsePattern(entry.example)
            return .messageOfKind(kind, pattern, as: name)
        }
    }

    private static func integerPhrase(_ format: IntegerFormat) -> Phrase<ExpectationParser, ConnectionExpectation> {
        // One row of the reference and one choice represent all integer formats.
        let isShown = format == .u16
        var entry = LanguageEntry(
            format.rawValue, ["expect u16 as n"],
            "an integer: \(IntegerFormat.fixedWidthWords), `varint`",
            example: "expect \(format.rawValue) as n",
            choice: isShown ? "u16 as" : nil, timing: .both)
        if !isShown { entry.rows = [] }
        return Phrase(entry, when: { $0.isAlone || $0.isWord("as", ahead: 1) }) { parser throws(Abandoned) in
            let name = try parser.parseAs()
            if let name { parser.context.integerNames.insert(name.value) }
            return .integer(format, as: name)
        }
    }

    var spelling: String {
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
        case .message: "message"
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

    /// Whether the expectation is the peer's end of the connection.
    var isEnd: Bool {
        switch self {
        case .eof, .reset, .closed, .truncated: true
        case .notify, .alert, .bytes, .line, .linesInAnyOrder, .untilLine, .count, .until, .anyBytes, .integer, .urgent,
            .message, .messageOfKind, .ping, .pong, .closeFrame, .nothing, .stalled, .sent, .sendFailed:
            false
        }
    }

    /// Whether the expectation is about WebSocket frames.
    var isOfWebSocket: Bool {
        switch self {
        case .ping, .pong, .closeFrame, .messageOfKind: true
        default: false
        }
    }

    /// Whether the expectation has no meaning on a connection without TLS.
    var isOfTLS: Bool {
        switch self {
        case .notify, .truncated, .alert: true
        case .eof, .reset, .closed, .bytes, .line, .linesInAnyOrder, .untilLine, .count, .until, .anyBytes, .integer,
            .urgent, .message, .messageOfKind, .ping, .pong, .closeFrame, .nothing, .stalled, .sent, .sendFailed:
            false
        }
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

    static let sendFailures = ["reset", "broken-pipe", "timeout"]

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
}
