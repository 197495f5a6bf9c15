import ProbeBase

/// The statements of a header. The parsers store their results in the parse context.
enum HeaderStatement {
    static let phrases: [Phrase<HeaderParser, Void>] = [
        Phrase(
            entry(
                "scenario", ["scenario \"title\""], "the title of the scenario; required",
                example: "scenario \"a reply that is cut inside its CRLF\"")
        ) { parser throws(Abandoned) in try parser.parseTitle() },
        Phrase(
            entry("about", ["about \"…\""], "a description that reports show", example: "about \"what this shows\"")
        ) { parser throws(Abandoned) in
            parser.once()
            parser.context.scenario.about = try parser.literals.parsePlainString("a text", "about \"what this shows\"")
                .value
        },
        Phrase(
            entry(
                "because", [],
                "a reference to the origin of the scenario, such as an issue; reports show the reference",
                example: "because \"owner/repo#12\"")
        ) { parser throws(Abandoned) in
            let reference = try parser.literals.parsePlainString("a reference", "because \"owner/repo#12\"")
            parser.context.scenario.because.append(reference.value)
        },
        Phrase(
            entry(
                "level", [],
                "the weight of a failure: `must` (the default) fails the run, `should` fails it only with `--strict`, and `may` never fails it",
                example: "level must")
        ) { parser throws(Abandoned) in
            parser.once()
            parser.context.scenario.level = try parser.cursor.parseChoice("a level", Scenario.Level.allCases)
        },
        Phrase(entry("tag", [], "tags by which `--tag` selects scenarios", example: "tag framing, partial")) {
            parser throws(Abandoned) in
            repeat {
                parser.context.scenario.tags.append(try parser.cursor.parseName("a tag", "tag framing, partial").value)
            } while parser.cursor.take(.comma)
        },
        Phrase(
            entry(
                "require", ["require …"],
                "a prerequisite. If it is not met, the scenario's cases are skipped; if the subject lacks a required capability, the cases are unsupported",
                example: "require subject half-close")
        ) { parser throws(Abandoned) in try parser.parseRequirement() },
        Phrase(
            entry("timeout", [], "the deadline of each step that waits; the default is 5s", example: "timeout 2s")
        ) { parser throws(Abandoned) in
            parser.once()
            parser.context.scenario.timeout = try parser.values.parseDuration("timeout 2s")
        },
        Phrase(
            entry(
                "case-timeout", [],
                "the deadline of the whole case; the default is 60s. A case that reaches this deadline fails",
                example: "case-timeout 30s")
        ) { parser throws(Abandoned) in
            parser.once()
            parser.context.scenario.caseTimeout = try parser.values.parseDuration("case-timeout 30s")
        },
        Phrase(
            entry(
                "framing", [],
                "how the bytes of a connection are divided into the lines or messages to which `line` and `message` refer; the default is `crlf`. `framing \"END\"` sets a delimiter of arbitrary bytes",
                example: "framing crlf")
        ) { parser throws(Abandoned) in
            parser.once()
            parser.context.scenario.framing = try parser.values.parseFraming()
        },
        Phrase(
            entry(
                "max-line", [],
                "the length in bytes of the longest line or message that the subject accepts; the default is 1024. It does not limit the harness's own endpoints",
                example: "max-line 1024")
        ) { parser throws(Abandoned) in
            parser.once()
            parser.context.scenario.maxLine = try parser.values.parseExpression("a number of bytes", "max-line 1024")
        },
        Phrase(
            entry("each", ["each …"], "runs the scenario as one case for each value", example: "each x = 1022, 1023")
        ) { parser throws(Abandoned) in try parser.parseEach() },
        Phrase(
            entry(
                "table", ["table …"], "a table of values, whose rows `each` and `for` iterate over",
                example: "table replies = \"NOOP\" /^250 /, \"RSET\" /^250 /")
        ) { parser throws(Abandoned) in try parser.parseTable() },
        Phrase(
            entry(
                "let", ["let name = VALUE"], "defines a variable; `--set name=value` overrides its value",
                example: "let body = \"a\" * 10"),
            when: { $0.context.firstStep == nil }
        ) { parser throws(Abandoned) in try parser.parseConstant() },
        Phrase(
            entry(
                "define", ["define NAME { … }"], "defines a block of steps, which `do NAME` runs",
                example: "define login { C send line \"hello\" }")
        ) { parser throws(Abandoned) in try parser.parseDefinition() },
        Phrase(
            entry(
                "include", [],
                "inserts the header statements and definitions of another file at this position. The path is relative to the including file. The path must lead to a file in the folder of the script that is run, even if the path contains symbolic links. The included file must not contain `scenario` or steps. Including a file again has no effect; a cycle of includes is an error. An actor that is declared in an included file may remain unused",
                example: "include \"common.scn\"")
        ) { parser throws(Abandoned) in try parser.parseInclude() },
        Phrase(
            entry(
                "server", ["server S"],
                "the harness listens on a free port of 127.0.0.1 from the start of the case",
                more: [
                    (
                        ["server S on [::1]:8080"],
                        "the server listens on the given address; without `:port`, on a free port"
                    ),
                    (
                        ["server S on unix"],
                        "the server listens on a Unix socket at `${S.path}`, in a folder of the case; `on unix \"/run/app.sock\"` chooses the path"
                    ),
                    (["server S backlog 0"], "the length of the listening socket's queue; the default is 128"),
                    (
                        ["server S with receive-buffer 4KiB, nodelay off"],
                        "socket options that are set before the server listens; the server's connections inherit these options"
                    ),
                    (
                        ["server S tls", "server S tls cert expired alpn \"imap\""],
                        "each connection to the server begins with TLS; TLS options can follow, in any order"
                    ),
                ], example: "server R on 127.0.0.1 backlog 1 with receive-buffer 4KiB")
        ) { parser throws(Abandoned) in try parser.declarations.parseServer() },
        Phrase(
            entry(
                "client", ["client C -> S"],
                "the harness connects to S at the step `connect`; the target can also be `-> P`, `-> T`, `-> 127.0.0.1:6379` or `-> unix \"/run/app.sock\"`",
                more: [
                    (
                        ["client C"],
                        "a client without a target; a step specifies the address, as in `C connect to 127.0.0.1:6379`"
                    ),
                    (["client C -> S with send-buffer 4KiB"], "socket options that are set before the client connects"),
                    (
                        ["client C -> S tls", "client C -> S tls ca run name \"localhost\""],
                        "the connection begins with TLS; TLS options can follow, in any order"
                    ),
                ], example: "client D -> S with send-buffer 4KiB")
        ) { parser throws(Abandoned) in try parser.declarations.parseClient() },
        Phrase(
            entry(
                "subject", ["subject T -> S"], "the transport under test connects to S at the step `start`",
                more: [
                    (
                        ["subject T -> S with connect-timeout 500ms, idle-timeout 1s"],
                        "the subject's timeouts for connecting and for an idle connection"
                    ),
                    (
                        ["subject T -> S with allow-half-close"],
                        "the peer's FIN does not stop the subject, which reports `half-closed` and can write until the script ends the connection"
                    ),
                    (
                        ["subject T -> S with discard-too-long"],
                        "a line or message longer than `max-line` does not stop the subject, which reports `discarded` and continues with the bytes that follow"
                    ),
                    (
                        ["subject T -> S with high-water 64KiB"],
                        "the subject reports `full` when the given number of bytes is waiting to be written, and `drained` when only a few bytes are left"
                    ),
                    (
                        ["subject T -> S with local 127.0.0.2"],
                        "the local address of the subject's connection; with `:port`, also its local port"
                    ),
                    (
                        ["subject T -> S with path \"/chat\""],
                        "the path that the subject requests in the opening handshake of `framing websocket`; the default is `/`"
                    ),
                    (
                        ["subject T -> S with protobuf"],
                        "the subject parses each message as the `Sample` that the adapter protocol defines, serializes it again, and delivers the result"
                    ),
                    (
                        ["subject T -> S with heartbeat 200ms \"PING\""],
                        "the subject sends the given message when it has sent nothing else for 200 ms"
                    ),
                    (
                        ["subject T -> S with heartbeat-timeout 600ms"],
                        "the subject stops with the reason `heartbeat` if it has received nothing for 600 ms while reading"
                    ),
                    (
                        ["subject T -> S with heartbeat-timeout 600ms, heartbeat-answer \"PONG\""],
                        "only the given message restarts the heartbeat timeout, and the subject does not deliver this message"
                    ),
                    (
                        ["subject T -> S with reconnect 100ms..1s"],
                        "if a connection is lost, the subject reconnects 100 ms later; after each failed attempt it waits twice as long as before, up to 1 s"
                    ),
                    (["subject T -> S with interface lo"], "the name of the network interface that the subject uses"),
                    (
                        ["subject T -> localhost:8080 with prefer ipv6"],
                        "the address family, `ipv4` or `ipv6`, that the subject tries first if a name has addresses of both families; the other family follows"
                    ),
                    (
                        ["subject T -> \"dual.test\":8080"],
                        "for a subject on a link: the subject receives the given name and looks it up itself; a `name` statement defines the answer"
                    ),
                    (
                        ["subject T -> S tls", "subject T -> S tls name \"chat.test\""],
                        "the connection begins with TLS; the subject is given a CA certificate file and must verify the server's certificate"
                    ),
                    (
                        ["subject T listens"],
                        "the transport under test listens from the step `start` on; a client that is declared with `-> T` connects to it"
                    ),
                    (
                        ["subject T listens on 127.0.0.2", "subject T listens on unix"],
                        "the subject listens on the given address, or on a Unix socket; the default is a free port of 127.0.0.1"
                    ),
                ], example: "subject U -> S with connect-timeout 500ms")
        ) { parser throws(Abandoned) in try parser.declarations.parseSubject() },
        Phrase(
            entry(
                "proxy", ["proxy X -> S"],
                "a proxy that listens on a free port of 127.0.0.1 from the start of the case, and opens a connection to S for each incoming connection. The proxy may have any name, even `proxy`",
                more: [
                    (
                        ["proxy X -> P"],
                        "the proxy connects to the first port of the process P; pass `${X.port}` to the client whose connections the proxy forwards"
                    ),
                    (["proxy X -> 127.0.0.1:6379"], "the proxy connects to an address"),
                ], example: "proxy Y -> S"),
            when: { $0.token(ahead: 1).kind == .word && $0.token(ahead: 2).kind == .arrow }
        ) { parser throws(Abandoned) in try parser.declarations.parseProxy() },
        Phrase(
            entry(
                "crowd", ["crowd W = 10000 clients -> S"],
                "the given number of clients, which all run the same script and connect to a server, a process, a proxy, a subject that listens, or an address. A crowd may have any name, even `crowd`",
                more: [
                    (
                        ["crowd V = 5000 servers"],
                        "at most the given number of members, each of which is the accepting end of a connection to the port `${V.port}`; clients, subjects and proxies connect to the crowd by its name"
                    ),
                    (
                        ["crowd W = 100 clients -> S with receive-buffer 4KiB"],
                        "gives each member's connection a small receive window"
                    ),
                    (
                        ["crowd W = 100 clients -> P from 127.0.0.2..127.0.0.9"],
                        "the members connect from the given addresses in turn, or from a single given address; without `from`, they connect from 127.0.0.1 as long as that address has free ports"
                    ),
                    (
                        ["crowd W = 100 clients -> P tls name \"a.test\"", "crowd V = 100 servers tls"],
                        "each connection begins with TLS; the TLS options of clients are `name` and `alpn`, and the TLS options of servers are `cert`, `key` and `alpn`"
                    ),
                ], example: "crowd V = 20 servers"),
            when: CrowdParser.isDeclaration
        ) { parser throws(Abandoned) in try parser.declarations.parseCrowd() },
        Phrase(
            entry(
                "link", ["link S <-> C"],
                "two networks that are private to the run, connected by a wire. The actors on each side are in one of the networks, and can reach only the actors on the other side. `link` steps drop, change and delay the packets between the two sides",
                more: [
                    (["link S, R <-> T"], "several actors on one side"),
                    (
                        ["server S on link", "server R on [link6]:8080"],
                        "a server that listens on the IPv4 address (`link`) or the IPv6 address (`[link6]`) of its side"
                    ),
                ], example: "link S <-> C"),
            when: LinkParser.isDeclaration
        ) { parser throws(Abandoned) in try LinkParser(cursor: parser.cursor).parseDeclaration() },
        Phrase(
            NameStatement.entry,
            when: { NameParser.isStatement($0) && $0.context.firstStep == nil }
        ) { parser throws(Abandoned) in
            parser.context.scenario.names.append(try NameParser(cursor: parser.cursor).parseStatement())
        },
        Phrase(
            entry(
                "process", ["process P = command args"], "a program under test, with its command line",
                example: "process Q = redis-server --port ${Q.port}")
        ) { parser throws(Abandoned) in try parser.declarations.parseProcess() },
    ]
    static let phraseIndex = PhraseIndex(phrases)

    /// Returns whether the words begin a header statement, assuming that no step precedes them. Used by the layout,
    /// which has no parse context.
    static func begins(_ tokens: ArraySlice<Token>, of bytes: [UInt8]) -> Bool {
        let words = Array(tokens.prefix { ![.newline, .semicolon, .end].contains($0.kind) })
        guard let first = words.first else { return false }
        let second = words.count > 1 ? words[1].kind : .end
        switch bytes.text(Int(first.start)..<Int(first.end)) {
        case "proxy": return second == .word && words.count > 2 && words[2].kind == .arrow
        case "link":
            let names = words.dropFirst().map(\.kind)
            return names.contains(.doubleArrow)
                && !zip(names, names.dropFirst()).contains { $0 == .word && $1 == .word }
        case "name": return [.string, .rawString].contains(second)
        case "crowd": return second == .word && words.count > 2 && words[2].kind == .assign
        case let word: return phrases.contains { $0.entry.spelling == word }
        }
    }

    private static func entry(
        _ spelling: String, _ forms: [String], _ meaning: String,
        more: [(forms: [String], meaning: String)] = [], example: String
    ) -> LanguageEntry {
        LanguageEntry(
            spelling, forms.isEmpty ? [example] : forms, meaning, more: more, example: example,
            timing: nil)
    }
}
