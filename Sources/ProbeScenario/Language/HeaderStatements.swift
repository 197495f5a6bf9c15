import ProbeBase

/// The statements of a header. Their results are stored in the parse context.
enum HeaderStatement {
    static let phrases: [Phrase<HeaderParser, Void>] = [
        Phrase(
            entry("scenario", ["scenario \"title\""], "required", example: "scenario \"a reply cut inside CRLF\"")
        ) { parser throws(Abandoned) in try parser.parseTitle() },
        Phrase(
            entry("about", ["about \"…\""], "shown in reports", example: "about \"what this shows\"")
        ) { parser throws(Abandoned) in
            parser.once()
            parser.context.scenario.about = try parser.literals.parsePlainString("a text", "about \"what this shows\"")
                .value
        },
        Phrase(
            entry("because", [], "where it comes from; shown in reports", example: "because \"owner/repo#12\"")
        ) { parser throws(Abandoned) in
            let reference = try parser.literals.parsePlainString("a reference", "because \"owner/repo#12\"")
            parser.context.scenario.because.append(reference.value)
        },
        Phrase(
            entry(
                "level", [],
                "what a failure means: `must` (default) fails the run; `should` does with `--strict`; `may` never does",
                example: "level must")
        ) { parser throws(Abandoned) in
            parser.once()
            parser.context.scenario.level = try parser.cursor.parseChoice("a level", Scenario.Level.allCases)
        },
        Phrase(entry("tag", [], "for `--tag`", example: "tag framing, partial")) { parser throws(Abandoned) in
            repeat {
                parser.context.scenario.tags.append(try parser.cursor.parseName("a tag", "tag framing, partial").value)
            } while parser.cursor.take(.comma)
        },
        Phrase(
            entry("require", ["require …"], "see below", example: "require subject half-close")
        ) { parser throws(Abandoned) in try parser.parseRequirement() },
        Phrase(
            entry("timeout", [], "deadline of each step that waits, default 5s", example: "timeout 2s")
        ) { parser throws(Abandoned) in
            parser.once()
            parser.context.scenario.timeout = try parser.values.parseDuration("timeout 2s")
        },
        Phrase(
            entry(
                "case-timeout", [], "of the whole case, default 60s; reaching it fails the case",
                example: "case-timeout 30s")
        ) { parser throws(Abandoned) in
            parser.once()
            parser.context.scenario.caseTimeout = try parser.values.parseDuration("case-timeout 30s")
        },
        Phrase(
            entry(
                "framing", [],
                "what `line` and `message` mean, see below; default `crlf`. `framing \"END\"` is a delimiter of any bytes",
                example: "framing crlf")
        ) { parser throws(Abandoned) in
            parser.once()
            parser.context.scenario.framing = try parser.values.parseFraming()
        },
        Phrase(
            entry(
                "max-line", [],
                "the subject's limit; default 1024. It does not limit the harness's own endpoints",
                example: "max-line 1024")
        ) { parser throws(Abandoned) in
            parser.once()
            parser.context.scenario.maxLine = try parser.values.parseExpression("a number of bytes", "max-line 1024")
        },
        Phrase(
            entry("each", ["each …"], "[cases](#cases)", example: "each x = 1022, 1023")
        ) { parser throws(Abandoned) in try parser.parseEach() },
        Phrase(
            entry(
                "table", ["table …"], "[cases](#cases)", example: "table replies = \"NOOP\" /^250 /, \"RSET\" /^250 /")
        ) { parser throws(Abandoned) in try parser.parseTable() },
        Phrase(
            entry(
                "let", ["let name = VALUE"], "a variable; `--set name=value` replaces it",
                example: "let body = \"a\" * 10"),
            when: { $0.context.firstStep == nil }
        ) { parser throws(Abandoned) in try parser.parseConstant() },
        Phrase(
            entry(
                "define", ["define NAME { … }"], "steps, run where `do NAME` stands",
                example: "define login { C send line \"hello\" }")
        ) { parser throws(Abandoned) in try parser.parseDefinition() },
        Phrase(
            entry(
                "include", [],
                "the header statements and definitions of another file, here. The path counts from the including file and stays in the folder of the script that is run, symbolic links included. It holds no `scenario` and no steps. A second include of one file adds nothing; a cycle is an error. An included actor may be left unused",
                example: "include \"common.scn\"")
        ) { parser throws(Abandoned) in try parser.parseInclude() },
        Phrase(
            entry(
                "server", ["server S"],
                "the harness listens on 127.0.0.1 and a free port, from the start of the case",
                more: [
                    (["server S on [::1]:8080"], "a chosen address; without `:port` a free one"),
                    (
                        ["server S on unix"],
                        "a Unix socket, at `${S.path}` in a folder of the case; also `on unix \"/run/app.sock\"`, a path of your own"
                    ),
                    (["server S backlog 0"], "the queue of the listening socket, default 128"),
                    (
                        ["server S with receive-buffer 4KiB, nodelay off"],
                        "socket options, set before it listens; its connections inherit them"
                    ),
                    (
                        ["server S tls", "server S tls cert expired alpn \"imap\""],
                        "its connections begin with TLS; the [options](tls.md) follow the word, in any order"
                    ),
                ], example: "server R on 127.0.0.1 backlog 1 with receive-buffer 4KiB")
        ) { parser throws(Abandoned) in try parser.declarations.parseServer() },
        Phrase(
            entry(
                "client", ["client C -> S"],
                "the harness connects at `connect`; also `-> P`, `-> T`, `-> 127.0.0.1:6379`, `-> unix \"/run/app.sock\"`",
                more: [
                    (["client C"], "the address is given at the step: `C connect to 127.0.0.1:6379`"),
                    (["client C -> S with send-buffer 4KiB"], "socket options, set before it connects"),
                    (["client C -> S tls", "client C -> S tls ca run name \"localhost\""], "it begins with TLS"),
                ], example: "client D -> S with send-buffer 4KiB")
        ) { parser throws(Abandoned) in try parser.declarations.parseClient() },
        Phrase(
            entry(
                "subject", ["subject T -> S"], "the transport under test connects, at `start`",
                more: [
                    (["subject T -> S with connect-timeout 500ms, idle-timeout 1s"], "its timeouts"),
                    (
                        ["subject T -> S with allow-half-close"],
                        "the peer's FIN does not stop it: it reports `half-closed`, and writes until the script ends it"
                    ),
                    (
                        ["subject T -> S with discard-too-long"],
                        "a line or message longer than `max-line` does not stop it: it reports `discarded`, and continues after it"
                    ),
                    (
                        ["subject T -> S with high-water 64KiB"],
                        "it reports `full` when this number of bytes waits to be written, and `drained` when few do"
                    ),
                    (
                        ["subject T -> S with local 127.0.0.2"],
                        "its own end of the connection; with `:port` that port too"
                    ),
                    (
                        ["subject T -> S with path \"/chat\""],
                        "what it asks for in the opening handshake of `framing websocket`; else `/`"
                    ),
                    (
                        ["subject T -> S with protobuf"],
                        "it parses each message as the `Sample` of the adapter protocol's page, and serialises it: delivered is what it has understood"
                    ),
                    (
                        ["subject T -> S with heartbeat 200ms \"PING\""],
                        "it sends this message when it has sent nothing else for 200 ms"
                    ),
                    (
                        ["subject T -> S with heartbeat-timeout 600ms"],
                        "it stops with `heartbeat` when nothing came for 600 ms, while it reads"
                    ),
                    (
                        ["subject T -> S with heartbeat-timeout 600ms, heartbeat-answer \"PONG\""],
                        "only this message counts as life, and it is not delivered"
                    ),
                    (
                        ["subject T -> S with reconnect 100ms..1s"],
                        "if a connection is lost, it makes another one 100 ms later; after each failed attempt it waits twice as long, at most 1 s"
                    ),
                    (["subject T -> S with interface lo"], "the network interface that it uses, by its name"),
                    (
                        ["subject T -> localhost:8080 with prefer ipv6"],
                        "which addresses of a name it tries first, `ipv4` or `ipv6`; the others follow"
                    ),
                    (
                        ["subject T -> \"dual.test\":8080"],
                        "for a subject on a link: it receives this name and looks it up itself; a `name` statement defines the answer"
                    ),
                    (
                        ["subject T -> S tls", "subject T -> S tls name \"chat.test\""],
                        "it begins with TLS, receives the authority's file, and must verify the certificate"
                    ),
                    (["subject T listens"], "it listens, at `start`; a client `-> T` connects to it"),
                    (
                        ["subject T listens on 127.0.0.2", "subject T listens on unix"],
                        "on a chosen address, on a Unix socket; else on 127.0.0.1, and on a free port"
                    ),
                ], example: "subject U -> S with connect-timeout 500ms")
        ) { parser throws(Abandoned) in try parser.declarations.parseSubject() },
        Phrase(
            entry(
                "proxy", ["proxy X -> S"],
                "listens on 127.0.0.1 and a free port, from the start of the case, and connects onwards for each connection that comes. Its name may be any word, `proxy` too",
                more: [
                    (["proxy X -> P"], "to the first port of a program; the program under test gets `${X.port}`"),
                    (["proxy X -> 127.0.0.1:6379"], "to an address"),
                ], example: "proxy Y -> S"),
            when: { $0.token(ahead: 1).kind == .word && $0.token(ahead: 2).kind == .arrow }
        ) { parser throws(Abandoned) in try parser.declarations.parseProxy() },
        Phrase(
            entry(
                "crowd", ["crowd W = 10000 clients -> S"],
                "this number of clients that do the same. They connect to a server, a process, a proxy, a subject that listens, or an address. Its name may be any word, `crowd` too",
                more: [
                    (
                        ["crowd V = 5000 servers"],
                        "the first connections to one port, `${V.port}`, up to this number; clients, subjects and proxies connect to it by its name"
                    ),
                    (
                        ["crowd W = 100 clients -> S with receive-buffer 4KiB"],
                        "a small window: of each member's connection"
                    ),
                    (
                        ["crowd W = 100 clients -> P from 127.0.0.2..127.0.0.9"],
                        "the members connect from these addresses in turn, or all from one; without `from` they connect from 127.0.0.1, as long as it has free ports"
                    ),
                    (
                        ["crowd W = 100 clients -> P tls name \"a.test\"", "crowd V = 100 servers tls"],
                        "each connection begins with TLS; clients have the [options](tls.md) `name` and `alpn`, servers `cert`, `key` and `alpn`"
                    ),
                ], example: "crowd V = 20 servers"),
            when: CrowdParser.isDeclaration
        ) { parser throws(Abandoned) in try parser.declarations.parseCrowd() },
        Phrase(
            entry(
                "link", ["link S <-> C"],
                "two networks private to the run, with a wire between them: each side's actors are in one of them, and see nothing else. Steps drop, change and delay what passes",
                more: [
                    (["link S, R <-> T"], "several on one side"),
                    (
                        ["server S on link", "server R on [link6]:8080"],
                        "a server with the IPv4 or the IPv6 address of its side"
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
                "process", ["process P = command args"], "a program under test",
                example: "process Q = redis-server --port ${Q.port}")
        ) { parser throws(Abandoned) in try parser.declarations.parseProcess() },
    ]
    static let phraseIndex = PhraseIndex(phrases)

    /// Returns whether words that no step precedes begin a header statement; for the layout, which has no parse
    /// context.
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
