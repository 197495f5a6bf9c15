import ProbeBase

/// Parses the declarations of actors.
struct DeclarationParser: GrammarPart {
    let cursor: TokenCursor

    private var values: ValueParser { ValueParser(cursor: cursor) }
    private var literals: LiteralParser { LiteralParser(cursor: cursor) }
    private var endpoints: EndpointParser { EndpointParser(cursor: cursor) }

    private func add(
        _ name: Name, _ kind: ActorDeclaration.Kind, _ actorKind: ActorKind, tls: TLSOptions? = nil, from first: Token
    ) {
        context.declare(name, as: "actor")
        context.actorKinds[name.value] = actorKind
        var declaration = ActorDeclaration(name: name, kind: kind, span: cursor.span(from: first))
        declaration.tls = tls
        context.scenario.actors.append(declaration)
    }

    /// Parses `tls` with its options; returns `nil` if the next word is not `tls`.
    private func parseTLS(of kind: ActorKind, after earlier: TLSOptions?) throws(Abandoned) -> TLSOptions? {
        let first = cursor.token
        guard cursor.take(word: "tls") else { return nil }
        if earlier != nil { throw cursor.fail(.clauseTwice("tls"), at: cursor.span(first)) }
        return try TLSParser(cursor: cursor).parseOptions(of: kind, from: first)
    }

    /// Returns the words with which a declaration can continue.
    private func clauses(_ own: [String], _ tls: TLSOptions?, of kind: ActorKind) -> [String] {
        own + (tls == nil ? ["tls"] : TLSParser.options(of: kind))
    }

    func parseServer() throws(Abandoned) {
        let first = cursor.lastWord
        let name = try cursor.parseNewName("a name", "server S")
        var address: AddressExpression?
        var backlog: Expression?
        var options: [SocketOption] = []
        var tls: TLSOptions?
        while !cursor.isAtEnd {
            if cursor.isWord("on"), !cursor.isWord("port", ahead: 1), cursor.take(word: "on") {
                address = try endpoints.parseAddress(needsPort: false)
            } else if cursor.take(word: "backlog") {
                backlog = try values.parseExpression("a number", "backlog 0")
            } else if cursor.take(word: "with") {
                repeat { options.append(try endpoints.parseSocketOption()) } while cursor.take(.comma)
            } else if let options = try parseTLS(of: .server, after: tls) {
                tls = options
            } else if tls == nil, let clause = portWithoutAddress(of: name) {
                throw clause
            } else {
                throw unknownClause(
                    clauses(["on", "backlog", "with"], tls, of: .server),
                    "server S on 127.0.0.1:8080 backlog 1 with receive-buffer 4KiB")
            }
        }
        add(name, .server(address: address, backlog: backlog, options: options), .server, tls: tls, from: first)
    }

    /// Reports a port without an address: `port 8080`, `on port 8080`, `listens on 8080`, `8080`, `:8080`.
    private func portWithoutAddress(of name: Name) -> Abandoned? {
        var ahead = 0
        while cursor.token(ahead: ahead).kind == .word,
            ["on", "port", "at", "listen", "listens", "listening", "address", "host", "bind"].contains(
                cursor.text(cursor.token(ahead: ahead)))
        {
            ahead += 1
        }
        while [.colon, .assign].contains(cursor.token(ahead: ahead).kind) { ahead += 1 }
        let value = cursor.token(ahead: ahead)
        guard ahead > 0 || value.kind == .number, [.number, .newline, .end].contains(value.kind) else { return nil }
        let port = value.kind == .number ? cursor.text(value) : "8080"
        let address = port.utf8.contains(UInt8(ascii: ".")) ? "\(port):8080" : "127.0.0.1:\(port)"
        let hint = "write `server \(name.value) on \(address)`; without `on`, the server listens on a free port"
        return cursor.fail(
            cursor.word == "on"
                ? .init(.unknownWord, "expected an address after `on`, found `port`", hint: hint)
                : .foreignClause(cursor.word, hint: hint),
            at: cursor.place)
    }

    /// Reports a target without an arrow: `to S`, `connects to S`, `S`, `= S`.
    private func targetWithoutArrow(of name: Name) -> Abandoned? {
        var ahead = 0
        while cursor.token(ahead: ahead).kind == .word,
            ["to", "connect", "connects", "at", "on", "target", "server", "of", "for"].contains(
                cursor.text(cursor.token(ahead: ahead)))
        {
            ahead += 1
        }
        while [.colon, .assign, .equal, .minus, .greater, .greaterOrEqual].contains(cursor.token(ahead: ahead).kind) {
            ahead += 1
        }
        let value = cursor.token(ahead: ahead)
        let isActor =
            value.kind == .word
            && (context.actorKinds[cursor.text(value)] != nil || context.doubtful.contains(cursor.text(value)))
        guard ahead > 0 || isActor || value.kind == .number else { return nil }
        let target =
            isActor ? cursor.text(value) : value.kind == .number || value.kind == .word ? "127.0.0.1:8080" : "S"
        return cursor.fail(
            .foreignClause(cursor.word, hint: "write `client \(name.value) -> \(target)`"), at: cursor.place)
    }

    private func unknownClause(_ choices: [String], _ example: String) -> Abandoned {
        guard cursor.kind == .word else { return cursor.expected("the end of the line", example) }
        return cursor.fail(
            .unknownWord(cursor.word, what: "a valid clause of this declaration", choices: choices), at: cursor.place)
    }

    func parseClient() throws(Abandoned) {
        let first = cursor.lastWord
        let name = try cursor.parseNewName("a name", "client C -> S")
        var target: Target?
        var options: [SocketOption] = []
        var tls: TLSOptions?
        if cursor.take(.arrow) { target = try endpoints.parseTarget() }
        while !cursor.isAtEnd {
            if cursor.take(word: "with") {
                repeat { options.append(try endpoints.parseSocketOption()) } while cursor.take(.comma)
            } else if let options = try parseTLS(of: .client, after: tls) {
                tls = options
            } else if target == nil, tls == nil, let clause = targetWithoutArrow(of: name) {
                throw clause
            } else {
                throw unknownClause(clauses(["with"], tls, of: .client), "client C -> S with receive-buffer 4KiB")
            }
        }
        add(name, .client(target: target, options: options), .client, tls: tls, from: first)
    }

    func parseSubject() throws(Abandoned) {
        let first = cursor.lastWord
        let name = try cursor.parseNewName("a name", "subject T -> S")
        var target: Target?
        var options = SubjectOptions()
        if cursor.take(word: "listens") {
            if cursor.take(word: "on") { options.local = try parseLocal(isListening: true) }
        } else if cursor.take(.arrow) {
            target = try endpoints.parseTarget(allowsName: true)
        } else {
            throw cursor.expected("`-> S` or `listens`", "subject T -> S")
        }
        var tls: TLSOptions?
        while !cursor.isAtEnd {
            if cursor.take(word: "with") {
                repeat { try parseSubjectOption(into: &options, isListening: target == nil) } while cursor.take(.comma)
            } else if target != nil, let options = try parseTLS(of: .subject, after: tls) {
                tls = options
            } else {
                throw unknownClause(
                    target == nil ? ["with"] : clauses(["with"], tls, of: .subject),
                    "subject T -> S with connect-timeout 500ms")
            }
        }
        add(name, .subject(target: target, options: options), .subject, tls: tls, from: first)
    }

    /// Parses a numeric address, or the address of a Unix socket if the subject listens.
    private func parseLocal(isListening: Bool) throws(Abandoned) -> AddressExpression {
        let address = try endpoints.parseAddress(needsPort: false)
        if address.link != nil, isListening { return address }
        if address.unix == nil ? IPAddress(address.host) == nil : !isListening {
            throw cursor.fail(
                .badAddress,
                address.host.isEmpty
                    ? "a Unix socket has no local address"
                    : "\(Escaped.quoted(address.host)) is not a numeric address",
                hint: isListening
                    ? "write `listens on 127.0.0.2`, `listens on [::1]:8080` or `listens on unix`"
                    : "write `local 127.0.0.2`, `local [::1]` or `local 127.0.0.2:5000`; "
                        + "for an interface, write `interface lo`",
                at: address.span)
        }
        return address
    }

    private func parseSubjectOption(into options: inout SubjectOptions, isListening: Bool) throws(Abandoned) {
        let choices = [
            "connect-timeout", "idle-timeout", "allow-half-close", "discard-too-long", "high-water", "local",
            "interface", "prefer", "path", "protobuf", "heartbeat", "heartbeat-timeout", "heartbeat-answer",
            "reconnect",
        ]
        let option = try cursor.parseName("an option (\(choices.joined(separator: ", ")))")
        switch option.value {
        case "connect-timeout": options.connectTimeout = try values.parseDuration("connect-timeout 500ms")
        case "idle-timeout": options.idleTimeout = try values.parseDuration("idle-timeout 1s")
        case "allow-half-close": options.allowsHalfClose = true
        case "discard-too-long": options.discardsTooLong = true
        case "high-water": options.highWater = try values.parseExpression("a size", "high-water 64KiB")
        case "heartbeat":
            let example = "heartbeat 200ms \"PING\""
            options.heartbeat = (try values.parseDuration(example), try values.parseExpression("a message", example))
        case "heartbeat-timeout":
            options.heartbeatTimeout = try values.parseDuration("heartbeat-timeout 600ms")
        case "heartbeat-answer":
            options.heartbeatAnswer = try values.parseExpression("a message", "heartbeat-answer \"PONG\"")
        case "reconnect":
            if isListening {
                throw cursor.fail(
                    .unknownWord, "`reconnect` is only for a subject that connects",
                    hint: "remove `reconnect`: a subject that listens accepts clients that connect "
                        + "again", at: option.span)
            }
            options.reconnect = try parseReconnect()
        case "protobuf": options.parsesProtobuf = true
        case "local":
            if isListening {
                throw cursor.fail(
                    .unknownWord, "`local` is only for a subject that connects: it sets the address to connect from",
                    hint: "write `listens on 127.0.0.2`", at: option.span)
            }
            options.local = try parseLocal(isListening: false)
        case "interface":
            options.interface = try literals.parseSolidText("the name of a network interface", "interface lo")
        case "path":
            if isListening {
                throw cursor.fail(
                    .unknownWord,
                    "`path` is only for a subject that connects: it is the path that the subject requests",
                    hint: "remove `path`: a subject that listens accepts any path; its client requests one with "
                        + "`connect websocket \"/chat\"`", at: option.span)
            }
            options.path = try values.parseExpression("a path", "path \"/chat\"")
        case "prefer":
            guard cursor.kind == .word, let preference = AddressPreference(rawValue: cursor.word) else {
                throw cursor.expected("`ipv4` or `ipv6`", "prefer ipv6")
            }
            cursor.advance()
            options.preference = preference
        default:
            throw cursor.fail(
                .unknownWord(option.value, what: "an option of a subject", choices: choices), at: option.span)
        }
    }

    /// Parses what follows `reconnect`: `100ms..1s`.
    private func parseReconnect() throws(Abandoned) -> (shortest: Duration, longest: Duration) {
        let example = "reconnect 100ms..1s"
        let first = cursor.token
        let shortest = try values.parseDuration(example)
        try cursor.expect(.dotDot, "`..` and the longest wait", example)
        let longest = try values.parseDuration(example)
        if longest < shortest {
            throw cursor.fail(
                .emptyRange, "the longest wait is shorter than the first one",
                hint: "write the first wait, `..` and the longest wait: `reconnect 100ms..1s`",
                at: cursor.span(from: first))
        }
        return (shortest, longest)
    }

    func parseProxy() throws(Abandoned) {
        let first = cursor.lastWord
        let name = try cursor.parseNewName("a name", "proxy X -> S")
        try cursor.expect(.arrow, "`->` and a target", "proxy X -> S")
        let target = try endpoints.parseTarget()
        add(name, .proxy(target: target), .proxy, from: first)
    }

    func parseCrowd() throws(Abandoned) {
        let first = cursor.lastWord
        let example = "crowd W = 10000 clients -> S"
        let name = try cursor.parseNewName("a name", example)
        try cursor.expect(.assign, "`=`", example)
        let count = try values.parseExpression("a number of members", example)
        let role: CrowdRole
        if cursor.take(word: "clients") {
            try cursor.expect(.arrow, "`->` and a target", example)
            role = .clients(try endpoints.parseTarget())
        } else {
            guard cursor.take(word: "servers") else {
                throw cursor.expected("`clients` or `servers`", "\(example), or crowd V = 5000 servers")
            }
            role = .servers
        }
        var crowd = CrowdDeclaration(count: count, role: role)
        var tls: TLSOptions?
        while !cursor.isAtEnd {
            let clause = cursor.token
            if cursor.take(word: "with") {
                try cursor.expect(word: "receive-buffer", "with receive-buffer 4KiB")
                if crowd.receiveBuffer != nil {
                    throw cursor.fail(.clauseTwice("with"), at: cursor.span(clause))
                }
                crowd.receiveBuffer = try values.parseExpression("a size", "with receive-buffer 4KiB")
            } else if case .clients = role, cursor.take(word: "from") {
                if crowd.sources != nil { throw cursor.fail(.clauseTwice("from"), at: cursor.span(clause)) }
                crowd.sources = try parseSources()
            } else if cursor.take(word: "tls") {
                if tls != nil { throw cursor.fail(.clauseTwice("tls"), at: cursor.span(clause)) }
                tls = try TLSParser(cursor: cursor).parseOptions(of: .crowd, from: clause, role: role)
            } else {
                var clauses = ["with"] + (tls == nil ? ["tls"] : TLSParser.options(of: role))
                if case .clients = role { clauses.append("from") }
                throw unknownClause(clauses, example)
            }
        }
        add(name, .crowd(crowd), .crowd, tls: tls, from: first)
    }

    /// Parses the source addresses of a crowd: `127.0.0.2..127.0.0.9`, or one address.
    private func parseSources() throws(Abandoned) -> (ClosedRange<UInt32>, SourceSpan) {
        let first = cursor.token
        let lowest = try parseSource()
        let highest = cursor.take(.dotDot) ? try parseSource() : lowest
        let span = cursor.span(from: first)
        guard lowest <= highest else {
            cursor.report(
                .emptyRange, "the first address is higher than the last one",
                hint: "write the lower address first: `from 127.0.0.2..127.0.0.9`", at: span)
            throw Abandoned()
        }
        return (lowest...highest, span)
    }

    private func parseSource() throws(Abandoned) -> UInt32 {
        let host = try endpoints.parseHost("from 127.0.0.2..127.0.0.9")
        guard let address = IPAddress(host.text), address.family == .v4, address.isLoopback else {
            cursor.report(
                .badAddress, "a crowd can't connect from \(Escaped.text(host.text.utf8)), which is not in 127.0.0.0/8",
                hint: "write a loopback address or a range of loopback addresses: `from "
                    + "127.0.0.2..127.0.0.9`", at: host.span)
            throw Abandoned()
        }
        return UInt32(truncatingIfNeeded: address.low)
    }

    func parseProcess() throws(Abandoned) {
        let first = cursor.lastWord
        let example = "process P = redis-server --port ${P.port}"
        let name = try cursor.parseNewName("a name", example)
        try cursor.expect(.assign, "`=`", example)
        let words = try literals.parseCommandWords()
        // The ports of the process are counted later, when the whole scenario has been parsed.
        add(name, .process(ProcessCommand(words: words, portCount: 0)), .process, from: first)
    }
}

extension Diagnostic.Message {
    /// The message for a declaration that states its address or target in the syntax of another language.
    static func foreignClause(_ word: String, hint: String) -> Self {
        Self(.unknownWord, "\(Escaped.quoted(word)) is not a valid clause of this declaration", hint: hint)
    }
}
