import ProbeBase

/// The table of what a member of a crowd can do.
extension CrowdStatement {
    static let phrases: [Phrase<CrowdParser, CrowdStatement.Kind>] = [
        Phrase(
            LanguageEntry(
                "connect", ["connect", "connect within 2s"],
                "of `clients`: to what the crowd is declared for, with the handshake of TLS where it has `tls`. A member of `servers` is connected when it begins",
                example: "connect", timing: .member)
        ) { _ throws(Abandoned) in .connect },
        Phrase(sendEntry) { parser throws(Abandoned) in try parser.parseSend() },
        Phrase(
            LanguageEntry(
                "expect line", ["expect line", "expect line \"x\"", "expect line /re/ within 1s"],
                "the next line, whatever it is; or this one, or one that the regex matches. Another line is a failure of the member",
                example: "expect line \"a\" within 1s", timing: .member)
        ) { parser throws(Abandoned) in try parser.parseLine() },
        Phrase(
            LanguageEntry(
                "expect until", ["expect until \"x\""], "up to the first `x`, and with it",
                example: "expect until \"\\n\\n\"",
                timing: .member)
        ) { parser throws(Abandoned) in
            .expect(.until(delimiter: try parser.values.parseExpression("a value", "expect until \"x\"")))
        },
        Phrase(
            LanguageEntry("expect eof", "the peer's FIN", example: "expect eof", timing: .member)
        ) { _ throws(Abandoned) in .expect(.eof) },
        Phrase(
            LanguageEntry(
                "expect … bytes", ["expect 10 bytes"],
                "the next ten",
                example: "expect 10 bytes", timing: .member), words: "expect"
        ) { parser throws(Abandoned) in try parser.parseByteCount() },
        Phrase(
            LanguageEntry("wait", "then it goes on", example: "wait 20ms")
        ) { parser throws(Abandoned) in .wait(try parser.values.parseDuration("wait 20ms")) },
        Phrase(LanguageEntry("close", "FIN; `connect` can follow", example: "close")) { _ throws(Abandoned) in
            .close
        },
        Phrase(LanguageEntry("reset", "RST; `connect` can follow", example: "reset")) { _ throws(Abandoned) in
            .reset
        },
        Phrase(
            LanguageEntry("stop reading", "it takes nothing more: the window shuts", example: "stop reading"),
            needsAllWords: true
        ) { _ throws(Abandoned) in .stopReading },
        Phrase(
            LanguageEntry(
                "read … every", ["read 1B every 1s"], "from here on it takes no more than that",
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
                "bytes that no statement consumes on this connection do not fail the case, and `expect eof` skips them",
                example: "ignore rest"),
            needsAllWords: true
        ) { _ throws(Abandoned) in .acceptRest },
        Phrase(
            LanguageEntry(
                "repeat", ["repeat { … }"], "repeatedly, until the crowd stops: nothing can follow it",
                example: "repeat { send \"a\\r\\n\"; wait 20ms }")
        ) { parser throws(Abandoned) in .repeats(try parser.parseBlock().statements) },
    ]
    static let phraseIndex = PhraseIndex(phrases)
    /// The choices that messages list.
    static let choices = phrases.map(\.entry.spelling)

    private static let sendEntry = LanguageEntry(
        "send", ["send V", "send line V"],
        "as a connection [sends](connections.md): with `\\|`, `cut at`, `in pieces of 2B`, `every 30ms`, `at 10B/s`",
        more: [
            (
                ["send V every 10s"],
                "in one piece: V now, and again every 10 s until the crowd stops. Nothing can follow it"
            )
        ], example: "send \"X-a: b\\r\\n\" every 10s")

    /// The largest N of `expect N bytes`.
    package static let mostExpected = 64 << 20
    /// The largest N of `read N every D`.
    package static let mostRead = 1 << 30

    var values: [ValueCheck] {
        switch kind {
        case .send(let statement, _): [.send(statement, .connection)]
        case .expect(.line(let pattern)): [.pattern(pattern, allowsEmpty: true)]
        case .expect(.count(let count)): [.integer(count, "the number of bytes", 1...Self.mostExpected)]
        case .expect(.until(let delimiter)): [.delimiter(delimiter)]
        case .read(let count, _): [.integer(count, "the number of bytes", 1...Self.mostRead)]
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
    /// Creates the wait that a statement is measured as; `nil` if the statement waits for nothing.
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
