import ProbeBase

/// Parses the actions of actors.
struct ActionParser: GrammarPart {
    let cursor: TokenCursor

    var values: ValueParser { ValueParser(cursor: cursor) }
    var tls: TLSParser { TLSParser(cursor: cursor) }
    var expectations: ExpectationParser { ExpectationParser(cursor: cursor) }
    var endpoints: EndpointParser { EndpointParser(cursor: cursor) }
    var proxies: ProxyParser { ProxyParser(cursor: cursor) }

    /// Parses the action of an actor, and returns it with the span to which the caret points if the action fails.
    ///
    /// - Parameter declared: the kind of the actor, if a declaration has been read.
    func parseAction(of actor: Name, _ declared: ActorKind?) throws(Abandoned) -> (Action, SourceSpan?) {
        let actorKind = declared ?? context.kindOfUndeclared(actor.value)
        let verb = cursor.token
        context.actingKind = actorKind
        if cursor.take(word: "expect") {
            let place = cursor.place
            return (try ExpectationParser(cursor: cursor).parseExpectation(of: actor, actorKind), spanFrom(place))
        }
        if let declared, declared.isConnection, cursor.isWord("read"), !cursor.statementHolds("every") {
            // A `read` without `every` exists only for subjects, not for the harness's own connections.
            throw cursor.fail(
                .unknownVerb("read", actor: actor.value, kind: declared), at: cursor.span(verb))
        }
        guard let candidate = try cursor.take(LanguageTable.verbs(of: actorKind)) else {
            throw cursor.fail(
                .unknownVerb(cursor.text(verb), actor: actor.value, kind: declared), at: cursor.span(verb))
        }
        let place = cursor.place
        let action = try candidate.phrase.read(self)
        return (action, candidate.pointsAtOperand ? spanFrom(place) : nil)
    }

    private func spanFrom(_ place: SourceSpan) -> SourceSpan {
        SourceSpan(file: place.file, start: place.start, end: max(place.end, Int(cursor.lastWord.end)))
    }

    func expectedReadClause() -> Abandoned {
        cursor.expected("`bytes` or `every`", "read 10 bytes, or read 1B every 100ms")
    }

    /// Parses what follows `framing` in a subject's step: `u16`, or `u16 behind 1 line`.
    func parseSubjectFraming() throws(Abandoned) -> SubjectAction {
        let framing = try values.parseFraming()
        guard cursor.take(word: "behind") else { return .framing(framing, behind: nil) }
        let count = try values.parseExpression("a number of messages", "framing u16 behind 1 line")
        guard ["line", "lines", "message", "messages"].contains(where: { cursor.take(word: $0) }) else {
            throw cursor.expected("`line` or `message`", "framing u16 behind 1 line")
        }
        return .framing(framing, behind: count)
    }

    // MARK: Connections

    /// Parses `as A` after `accept`; returns `nil` for a plain `accept`.
    func parseAcceptedName() throws(Abandoned) -> Name? {
        guard cursor.take(word: "as") else { return nil }
        let name = try cursor.parseNewName("a name for the connection", "accept as A")
        context.bindActor(name.value, context.actingKind == .proxy ? .proxy : .connection)
        return name
    }

    /// Parses what follows `accept`: `as A`, `without tls`, `tls failed unknown-ca`. The name can precede or follow the
    /// other clauses.
    func parseAccept() throws(Abandoned) -> ServerAction {
        var name = try parseAcceptedName()
        var mode = ServerAction.AcceptMode.asDeclared
        if cursor.take(word: "without") {
            try cursor.expect(word: "tls", "accept without tls")
            mode = .withoutTLS
        } else if cursor.isWord("tls") {
            mode = .tlsFails(alert: try parseFailedHandshake("accept tls failed unknown-ca"))
        }
        if name == nil { name = try parseAcceptedName() }
        var opening: ServerAction.WebSocketAccept?
        let fails = if case .tlsFails = mode { true } else { false }
        if !fails, cursor.take(word: "websocket") {
            opening = ServerAction.WebSocketAccept()
            if name == nil { name = try parseAcceptedName() }
            if cursor.take(word: "path") {
                try cursor.expect(word: "as", "accept websocket path as p")
                opening?.path = try cursor.parseNewName("a name", "path as p")
            }
            if name == nil { name = try parseAcceptedName() }
        }
        return .accept(as: name, mode, webSocket: opening)
    }

    func parseConnect(to address: AddressExpression?) throws(Abandoned) -> ClientAction {
        let outcome = try parseConnectOutcome()
        var path: Expression?
        switch outcome {
        case .succeeds, .withoutTLS:
            if cursor.take(word: "websocket") {
                path = try values.parseExpression("a path", "connect websocket \"/chat\"")
            }
        case .refused, .timesOut, .tlsFails: break
        }
        return .connect(to: address, outcome, webSocket: path)
    }

    private func parseConnectOutcome() throws(Abandoned) -> ClientAction.ConnectOutcome {
        if cursor.take(word: "refused") { return .refused }
        if cursor.take(word: "without") {
            try cursor.expect(word: "tls", "connect without tls")
            return .withoutTLS
        }
        if cursor.isWord("tls") { return .tlsFails(alert: try parseFailedHandshake("connect tls failed")) }
        return cursor.take(word: "timeout") ? .timesOut : .succeeds
    }

    private func parseFailedHandshake(_ example: String) throws(Abandoned) -> Expression? {
        cursor.advance()
        guard cursor.isWord("failed"), case .fails(let alert) = try tls.parseOutcome() else {
            throw cursor.expected("`failed`", example)
        }
        return alert
    }

    // MARK: Send

    func parseSend(inBackground: Bool) throws(Abandoned) -> SendStatement {
        var mode = SendStatement.Mode.bytes
        if cursor.isWord("line") || cursor.isWord("message"), !cursor.isVariableHere {
            mode = .line
            cursor.advance()
        } else if cursor.isWord("urgent"), !cursor.isVariableHere {
            mode = .urgent
            cursor.advance()
        } else if cursor.isWord("plaintext"), !cursor.isVariableHere {
            mode = .plaintext
            cursor.advance()
        }
        var pieces: [Expression] = []
        repeat {
            pieces.append(try values.parseExpression("a value to send", "send \"text\""))
        } while cursor.take(.pipe)
        var statement = SendStatement(mode: mode, inBackground: inBackground, pieces: pieces, cut: nil, pace: nil)
        while cursor.kind == .word {
            let clause = cursor.token
            switch cursor.text(clause) {
            case "in" where cursor.isWord("records", ahead: 1):
                cursor.advance()
                cursor.advance()
                try cursor.expect(word: "of", "in records of 1B")
                if statement.recordLength != nil {
                    throw cursor.fail(.clauseTwice("in records"), at: cursor.span(clause))
                }
                statement.recordLength = try values.parseExpression("a size", "in records of 1B")
                continue
            case "with":
                cursor.advance()
                try cursor.expect(word: "fin", "send \"QUIT\\r\\n\" with fin")
                if statement.carriesFIN {
                    throw cursor.fail(.clauseTwice("with fin"), at: cursor.span(clause))
                }
                if inBackground { throw cursor.fail(.carriesNoFIN("start sending"), at: cursor.span(clause)) }
                if mode == .urgent { throw cursor.fail(.carriesNoFIN("send urgent"), at: cursor.span(clause)) }
                statement.carriesFIN = true
                continue
            default:
                guard try takeClause(of: &statement.cut, &statement.pace) else { return statement }
            }
            if statement.cut != nil, pieces.count > 1 {
                throw cursor.fail(
                    .pipeAndCut, "a send with `|` can't also have `cut at` or `in pieces of`",
                    hint: "join the pieces with `+` and cut at offsets, or remove the clause", at: cursor.span(clause))
            }
        }
        return statement
    }

    /// The examples of cut and pace clauses that messages show.
    struct PieceExamples {
        var cut = "cut at 3, 7"
        var pieces = "in pieces of 2B"
        var pause = "every 30ms"
    }

    /// Parses a clause that controls how bytes are sent: `cut at 3, 7`, `in pieces of 2B`, `every 30ms`, `at 10B/s`.
    ///
    /// - Returns: whether a clause was parsed.
    func takeClause(
        of cut: inout Cut<Parsed>?, _ pace: inout Pace?, _ examples: PieceExamples = PieceExamples()
    ) throws(Abandoned) -> Bool {
        let clause = cursor.token
        switch cursor.text(clause) {
        case "cut":
            cursor.advance()
            try cursor.expect(word: "at", examples.cut)
            if cut != nil { throw cursor.fail(.clauseTwice("cut"), at: cursor.span(clause)) }
            cut = try parseCut()
        case "in":
            cursor.advance()
            try cursor.expect(word: "pieces", examples.pieces)
            try cursor.expect(word: "of", examples.pieces)
            if cut != nil { throw cursor.fail(.clauseTwice("cut"), at: cursor.span(clause)) }
            cut = .inPieces(of: try values.parseExpression("a size", examples.pieces))
        case "every":
            cursor.advance()
            if pace != nil { throw cursor.fail(.clauseTwice("every"), at: cursor.span(clause)) }
            pace = .every(try values.parseDuration(examples.pause))
        case "at":
            cursor.advance()
            if pace != nil { throw cursor.fail(.clauseTwice("at"), at: cursor.span(clause)) }
            pace = .rate(try values.parseRate())
        default: return false
        }
        return true
    }

    private func parseCut() throws(Abandoned) -> Cut<Parsed> {
        if cursor.isWord("random"), cursor.token(ahead: 1).kind == .word {
            cursor.advance()
            try cursor.expect(word: "seed", "cut at random seed 7")
            return .random(seed: try values.parseExpression("a number", "cut at random seed 7"))
        }
        var offsets: [Expression] = []
        repeat { offsets.append(try values.parseExpression("an offset", "cut at 3, 7")) } while cursor.take(.comma)
        return .at(offsets)
    }
}

extension Diagnostic.Message {
    static func unknownVerb(_ verb: String, actor: String, kind: ActorKind?) -> Self {
        guard let kind else {
            return Self(
                .unknownVerb, "unknown verb \(Escaped.quoted(verb))",
                hint: ForeignWords.verb(verb, of: actor, .connection)
                    ?? Suggestion.nearest(to: verb, among: LanguageTable.firstWordsOfVerbs.sorted()).map {
                        "did you mean `\($0)`?"
                    } ?? "write a step as an actor and a verb: `\(actor) send \"text\"`")
        }
        if let hint = ForeignWords.verb(verb, of: actor, kind) {
            return Self(
                .unknownVerb,
                verb == "read" && kind.isConnection
                    ? "a \(kind.rawValue)'s `read` requires a number of bytes and an interval"
                    : "a \(kind.rawValue) has no verb \(Escaped.quoted(verb))", hint: hint)
        }
        return Self(
            .unknownVerb, "a \(kind.rawValue) has no verb \(Escaped.quoted(verb))",
            hint: didYouMean(verb, LanguageTable.verbChoices(of: kind), "`\(actor)` can"))
    }

    static func clauseTwice(_ word: String) -> Self {
        Self(.clauseTwice, "`\(word)` is given twice", hint: "keep one of the two clauses")
    }

    /// The message for `with fin` on a send that can't carry a FIN.
    static func carriesNoFIN(_ verb: String) -> Self {
        Self(
            .expected, "`\(verb)` can't carry a FIN",
            hint: "write `send V with fin`, or add `half-close` after the `\(verb)`")
    }
}

/// Parses `start tls`.
extension ActionParser {
    /// Parses options and clauses in any order; the words `start tls` have been consumed.
    func parseStartTLS() throws(Abandoned) -> TLSStart {
        let first = cursor.lastWord
        context.scenario.startsTLS = true
        var start = TLSStart(options: try tls.parseOptions(of: context.actingKind ?? .connection, from: first))
        start.outcome = try tls.parseOutcome()
        let examples = PieceExamples(
            cut: "start tls cut at 3", pieces: "start tls in pieces of 1B", pause: "every 5ms")
        while cursor.kind == .word {
            let clause = cursor.token
            switch cursor.word {
            case "stop":
                cursor.advance()
                try cursor.expect(word: "after", "start tls stop after 100 bytes")
                if start.stopsAfter != nil { throw cursor.fail(.clauseTwice("stop"), at: cursor.span(clause)) }
                start.stopsAfter = try values.parseExpression("a number of bytes", "start tls stop after 100 bytes")
                if !cursor.take(word: "bytes") { _ = cursor.take(word: "byte") }
            default:
                guard try takeClause(of: &start.cut, &start.pace, examples) else { return start }
            }
        }
        return start
    }
}
