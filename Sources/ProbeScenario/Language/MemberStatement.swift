import ProbeBase

/// The table of the statements that a member of a crowd can execute.
extension CrowdStatement {
    static let phrases: [Phrase<CrowdParser, CrowdStatement.Kind>] = [
        Phrase(
            LanguageEntry(
                "connect", ["connect", "connect within 2s"],
                "connects a member of `clients` to the target of the crowd, and performs the TLS handshake if the crowd has `tls`. A member of `servers` is already connected when its script begins",
                example: "connect", timing: .member)
        ) { _ throws(Abandoned) in .connect },
        Phrase(sendEntry) { parser throws(Abandoned) in try parser.parseSend() },
        Phrase(
            LanguageEntry(
                "expect line", ["expect line", "expect line \"x\"", "expect line /re/ within 1s"],
                "expects any line, the given line, or a line that the regex matches. A different line fails the member",
                example: "expect line \"a\" within 1s", timing: .member)
        ) { parser throws(Abandoned) in try parser.parseLine() },
        Phrase(
            LanguageEntry(
                "expect until", ["expect until \"x\""], "consumes the bytes up to and including the first `x`",
                example: "expect until \"\\n\\n\"",
                timing: .member)
        ) { parser throws(Abandoned) in
            .expect(.until(delimiter: try parser.values.parseExpression("a value", "expect until \"x\"")))
        },
        Phrase(
            LanguageEntry("expect eof", "expects the peer's FIN", example: "expect eof", timing: .member)
        ) { _ throws(Abandoned) in .expect(.eof) },
        Phrase(
            LanguageEntry(
                "expect … bytes", ["expect 10 bytes"],
                "expects the next ten bytes",
                example: "expect 10 bytes", timing: .member), words: "expect"
        ) { parser throws(Abandoned) in try parser.parseByteCount() },
        Phrase(
            LanguageEntry("wait", "waits for the given time, then continues", example: "wait 20ms")
        ) { parser throws(Abandoned) in .wait(try parser.values.parseDuration("wait 20ms")) },
        Phrase(LanguageEntry("close", "closes the connection with a FIN; `connect` can follow", example: "close")) {
            _ throws(Abandoned) in
            .close
        },
        Phrase(LanguageEntry("reset", "resets the connection with an RST; `connect` can follow", example: "reset")) {
            _ throws(Abandoned) in
            .reset
        },
        Phrase(
            LanguageEntry("stop reading", "stops reading, so that the receive window closes", example: "stop reading"),
            needsAllWords: true
        ) { _ throws(Abandoned) in .stopReading },
        Phrase(
            LanguageEntry(
                "read … every", ["read 1B every 1s"], "from this statement on, reads no faster than the given rate",
                example: "read 1B every 1s"),
            words: "read"
        ) { parser throws(Abandoned) in
            let count = try parser.values.parseExpression("a number of bytes", "read 1B every 1s")
            try parser.cursor.expect(word: "every", "read 1B every 1s")
            return .read(count: count, every: try parser.values.parseDuration("read 1B every 1s"))
        },
        Phrase(
            LanguageEntry(
                "ignore rest",
                "allows bytes on the connection that no statement consumes: they do not fail the case, and `expect eof` skips them",
                example: "ignore rest"),
            needsAllWords: true
        ) { _ throws(Abandoned) in .acceptRest },
        Phrase(
            LanguageEntry(
                "repeat", ["repeat { … }"], "repeats the block until the crowd stops; no other statement can follow",
                example: "repeat { send \"a\\r\\n\"; wait 20ms }")
        ) { parser throws(Abandoned) in .repeats(try parser.parseBlock().statements) },
    ]
    static let phraseIndex = PhraseIndex(phrases)
    /// The statements that messages list as choices.
    static let choices = phrases.map(\.entry.spelling)

    private static let sendEntry = LanguageEntry(
        "send", ["send V", "send line V"],
        "sends V as the same step of a client does; the available clauses are `\\|`, `cut at`, `in pieces of 2B`, `every 30ms` and `at 10B/s`",
        more: [
            (
                ["send V every 10s"],
                "sends V in one piece now, and again every 10 s until the crowd stops; no other statement can follow"
            )
        ], example: "send \"X-a: b\\r\\n\" every 10s")

    /// The maximum N in `expect N bytes`.
    package static let maxExpectedBytes = 64 << 20
    /// The maximum N in `read N every D`.
    package static let maxReadBytes = 1 << 30

    var values: [ValueCheck] {
        switch kind {
        case .send(let statement, _): [.send(statement, .connection)]
        case .expect(.line(let pattern)): [.pattern(pattern, allowsEmpty: true)]
        case .expect(.count(let count)): [.integer(count, "the number of bytes", 1...Self.maxExpectedBytes)]
        case .expect(.until(let delimiter)): [.delimiter(delimiter)]
        case .read(let count, _): [.integer(count, "the number of bytes", 1...Self.maxReadBytes)]
        case .connect, .expect(.eof), .wait, .close, .reset, .stopReading, .acceptRest, .repeats: []
        }
    }
}

extension CrowdStatement.Kind {
    /// The verb, for messages.
    package var word: String {
        switch self {
        case .connect: "connect"
        case .send: "send"
        case .expect: "expect"
        case .wait: "wait"
        case .close: "close"
        case .reset: "reset"
        case .stopReading: "stop reading"
        case .acceptRest: "ignore rest"
        case .read: "read"
        case .repeats: "repeat"
        }
    }

    /// Whether the statement continues until the crowd stops.
    package var isEndless: Bool {
        switch self {
        case .send(_, let isEndless): isEndless
        case .repeats: true
        default: false
        }
    }
}

extension MemberWait {
    /// Creates the kind of wait for which a statement's duration is recorded; `nil` if the statement does not wait.
    package init?(_ kind: CrowdStatement.Kind) {
        switch kind {
        case .connect: self = .connect
        case .expect(.line): self = .line
        case .expect(.count): self = .bytes
        case .expect(.until): self = .until
        case .expect(.eof): self = .eof
        case .send, .wait, .close, .reset, .stopReading, .read, .acceptRest, .repeats: return nil
        }
    }
}
