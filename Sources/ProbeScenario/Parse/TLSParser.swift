import ProbeBase

/// Parses what follows `tls`.
struct TLSParser: GrammarPart {
    let cursor: TokenCursor

    private var values: ValueParser { ValueParser(cursor: cursor) }

    /// Returns the `tls` options that an actor of this kind accepts.
    static func options(of kind: ActorKind) -> [String] {
        switch kind {
        case .client: ["ca", "name", "version", "alpn", "cert", "key"]
        case .subject: ["ca", "name", "version", "alpn"]
        case .server, .connection, .process, .proxy, .crowd, .link:
            ["cert", "key", "version", "alpn", "tickets", "client-cert"]
        }
    }

    /// Returns the `tls` options that a crowd with this role accepts.
    static func options(of role: CrowdRole) -> [String] {
        switch role {
        case .clients: ["name", "alpn"]
        case .servers: ["cert", "key", "alpn"]
        }
    }

    private static let all = ["ca", "name", "version", "alpn", "cert", "key", "tickets", "client-cert"]

    /// Parses `tls` options in any order, up to a word that is not an option.
    ///
    /// - Parameters:
    ///   - first: the word `tls`.
    ///   - role: the role of the members, if the actor is a crowd.
    func parseOptions(
        of kind: ActorKind, from first: Token, role: CrowdRole? = nil
    ) throws(Abandoned) -> TLSOptions {
        var options = TLSOptions(span: cursor.span(first))
        let own = role.map(Self.options) ?? Self.options(of: kind)
        var seen: Set<String> = []
        var key: (value: Expression, place: SourceSpan)?
        while cursor.kind == .word, Self.all.contains(cursor.word) {
            let (word, place) = (cursor.word, cursor.place)
            guard own.contains(word) else {
                let owner = kind == .subject || kind == .client || kind == .crowd ? kind.rawValue : "server"
                throw cursor.fail(
                    .unknownWord(word, what: "a `tls` option of a \(owner)", choices: own), at: place)
            }
            if !seen.insert(word).inserted { throw cursor.fail(.clauseTwice(word), at: place) }
            cursor.advance()
            switch word {
            case "cert": options.certificate = try parseCertificate(of: kind)
            case "key": key = (try values.parseExpression("a file", "cert \"a.pem\" key \"a.key\""), place)
            case "version": options.version = try parseVersion()
            case "alpn": options.protocols = try parseProtocols()
            case "tickets": options.tickets = try values.parseExpression("a number", "tickets 0")
            case "client-cert":
                options.clientCertificate = try cursor.parseChoice(
                    "a policy for client certificates", TLSOptions.ClientCertificate.allCases)
            case "ca":
                options.trust =
                    cursor.take(word: "run")
                    ? .run : .file(try values.parseExpression("`run` or a file", "ca \"a.pem\""))
            default: options.name = try values.parseExpression("a name", "name \"chat.test\"")
            }
        }
        if let key {
            guard case .file(let file, _) = options.certificate else {
                throw cursor.fail(
                    .expected, "`key` requires a certificate from a file",
                    hint: "write `cert \"a.pem\" key \"a.key\"`; a certificate generated for the case has its own key",
                    at: key.place)
            }
            options.certificate = .file(file, key: key.value)
        }
        options.span = cursor.span(from: first)
        return options
    }

    private func parseCertificate(of kind: ActorKind) throws(Abandoned) -> TLSOptions.Certificate {
        if cursor.kind == .string || cursor.kind == .rawString {
            return .file(try values.parseExpression("a file", "cert \"a.pem\" key \"a.key\""), key: nil)
        }
        if kind == .client {
            guard cursor.take(word: "run") else {
                throw cursor.expected("`run` or a file", "cert run, or cert \"a.pem\" key \"a.key\"")
            }
            return .issuedByRun
        }
        if cursor.take(word: "for") {
            return .named(try values.parseExpression("a name", "cert for \"other.test\""))
        }
        let choices = TLSOptions.Flaw.allCases
        guard cursor.kind == .word else {
            throw cursor.expected(
                "\(choices.map { "`\($0.rawValue)`" }.joined(separator: ", ")), `for` and a name, or a file",
                "cert expired")
        }
        return .flawed(try cursor.parseChoice("a certificate flaw", choices))
    }

    private func parseVersion() throws(Abandoned) -> TLSVersion {
        let place = cursor.place
        var text = ""
        while [.number, .dot].contains(cursor.kind), text.isEmpty || !cursor.token.isSpaced {
            text += cursor.word
            cursor.advance()
        }
        guard let version = TLSVersion(rawValue: text) else {
            if text.isEmpty { throw cursor.expected("`1.2` or `1.3`", "version 1.3") }
            throw cursor.fail(
                .unknownWord(text, what: "a TLS version", choices: TLSVersion.allCases.map(\.rawValue)),
                at: place)
        }
        return version
    }

    private func parseProtocols() throws(Abandoned) -> [Expression] {
        var protocols: [Expression] = []
        repeat {
            protocols.append(try values.parseExpression("a protocol name", "alpn \"imap\" \"smtp\""))
        } while cursor.kind == .string || cursor.kind == .rawString
        return protocols
    }

    // MARK: Handshakes and alerts

    /// Parses the expected outcome of a handshake: `failed`, `failed unknown-ca`, or nothing.
    func parseOutcome() throws(Abandoned) -> TLSOutcome {
        guard cursor.take(word: "failed") else { return .succeeds }
        let isNamed = cursor.kind == .word && TLSAlert.code(named: cursor.word) != nil
        guard isNamed || cursor.kind == .number || cursor.kind == .leftParenthesis else {
            // A word that is not a clause of the step must be a misspelled alert.
            guard cursor.kind == .word,
                !["within", "after", "as", "cut", "in", "every", "at", "stop"].contains(cursor.word)
            else { return .fails(alert: nil) }
            throw unknownAlert()
        }
        return .fails(alert: try parseAlert())
    }

    /// Parses an alert by its name or its number.
    ///
    /// - Parameter example: a step with an alert.
    func parseAlert(_ example: String = "expect alert unknown-ca") throws(Abandoned) -> Expression {
        let place = cursor.place
        guard cursor.kind == .word else {
            return try values.parseExpression("the name or number of an alert", example)
        }
        guard let code = TLSAlert.code(named: cursor.word) else { throw unknownAlert() }
        cursor.advance()
        return Expression(.integer(Int(code)), span: place)
    }

    private func unknownAlert() -> Abandoned {
        cursor.fail(
            .unknownWord(cursor.word, what: "a TLS alert", choices: TLSAlert.names.values.sorted()),
            at: cursor.place)
    }

    /// Parses the level of an alert: `fatal`, `warning`, or a number.
    func parseAlertLevel() throws(Abandoned) -> Expression {
        let place = cursor.place
        if cursor.take(word: "warning") { return Expression(.integer(1), span: place) }
        if cursor.take(word: "fatal") { return Expression(.integer(2), span: place) }
        return try values.parseExpression("`fatal` or `warning`", "send alert fatal 40")
    }
}

extension Diagnostic.Message {
    static func unknownWord(_ word: String, what: String, choices: [String]) -> Self {
        Self(.unknownWord, "\(Escaped.quoted(word)) is not \(what)", hint: didYouMean(word, choices, "use one of:"))
    }
}
