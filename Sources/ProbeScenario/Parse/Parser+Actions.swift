extension Parser {
    /// What an actor is told to do, and where a caret points when it fails.
    mutating func parseAction(of actor: Name) throws(Abandoned) -> (Action, SourceSpan?) {
        let actorKind = context.kindOfActs(actor.value)
        let verb = token
        let name = text(verb)
        advance()
        // What another kind of actor has is read as that one's: the checker says so.
        let isSubject = actorKind == .subject
        switch name {
        case "accept": return (.server(.accept(as: try parseAcceptedName())), nil)
        case "listen":
            use(.stopListening, at: span(verb))
            return (.server(.listen), nil)
        case "stop":
            if take(word: "listening") {
                use(.stopListening, at: span(verb))
                return (.server(.stopListening), nil)
            }
            if take(word: "reading") { return (isSubject ? .subject(.stopReading) : .connection(.stopReading), nil) }
            return (actorKind == .process ? .process(.stop) : .subject(.stop), nil)
        case "connect": return (.client(try parseConnect(verb)), nil)
        case "send":
            let place = span(token)
            let statement = try parseSend(inBackground: false)
            let action: Action =
                switch actorKind {
                case .subject: .subject(.send(statement))
                case .process: .process(.send(statement))
                case .server, .client, .connection, .crowd, .link, nil: .connection(.send(statement))
                }
            return (action, span(place, upTo: index))
        case "start":
            if isWord("sending") {
                use(.startSending, at: span(verb))
                advance()
                return (.connection(.send(try parseSend(inBackground: true))), nil)
            }
            return (actorKind == .process ? .process(.start) : .subject(.start), nil)
        case "expect":
            let start = token
            let action = try parseExpectation(of: actor, actorKind)
            let end = tokens[max(0, index - 1)]
            return (
                action,
                SourceSpan(file: file, start: Int(start.start), end: max(Int(start.end), Int(end.end)))
            )
        case "close":
            if isWord("without") {
                notBuilt(.closeWithoutNotify, at: span(token))
                skipStatement()
            }
            return (.connection(.close), nil)
        case "half-close": return (isSubject ? .subject(.halfClose) : .connection(.halfClose), nil)
        case "reset": return (.connection(.reset), nil)
        case "resume":
            try expect(word: "reading", "resume reading")
            return (isSubject ? .subject(.resumeReading) : .connection(.resumeReading), nil)
        case "read": return (try parseRead(verb), nil)
        case "set": return (.connection(.set(try parseSocketOption())), nil)
        case "ignore":
            try expect(word: "rest", "ignore rest")
            return (.connection(.ignoreRest), nil)
        case "framing": return (.connection(.framing(try parseFraming())), nil)
        case "signal": return (.process(.signal(try parseSignal())), nil)
        default:
            throw fail(
                .unknownVerb(name, actor: actor.value, kind: context.actorKinds[actor.value].map(ActorWord.init)),
                at: span(verb))
        }
    }

    private func span(_ place: SourceSpan, upTo index: Int) -> SourceSpan {
        let end = index > 0 ? Int(tokens[index - 1].end) : place.end
        return SourceSpan(file: file, start: place.start, end: max(place.end, end))
    }

    private mutating func parseAcceptedName() throws(Abandoned) -> Name? {
        guard take(word: "as") else { return nil }
        let name = try parseNewName("a name for the connection", "accept as A")
        context.bindActor(name.value, .connection)
        return name
    }

    private mutating func parseConnect(_ verb: Token) throws(Abandoned) -> ClientAction {
        var address: AddressExpression?
        if isWord("to") {
            use(.connectTo, at: span(verb))
            advance()
            address = try parseAddress(needsPort: true)
        }
        if take(word: "refused") { return .connect(to: address, .refused) }
        if take(word: "timeout") { return .connect(to: address, .timesOut) }
        return .connect(to: address, .succeeds)
    }

    private mutating func parseRead(_ verb: Token) throws(Abandoned) -> Action {
        let example = "read 10 bytes"
        if take(word: "any") {
            use(.subjectReads, at: span(verb))
            try expect(word: "bytes", "read any bytes")
            return .subject(.read(.any))
        }
        if isWord("until"), token(ahead: 1).kind != .newline {
            use(.subjectReads, at: span(verb))
            advance()
            return .subject(.read(.until(try parseExpression("a delimiter", "read until \"\\r\\n\""))))
        }
        let count = try parseExpression("a number of bytes", example)
        if take(word: "bytes") {
            use(.subjectReads, at: span(verb))
            return .subject(.read(.length(count)))
        }
        if take(word: "every") {
            return .connection(.readSlowly(bytes: count, every: try parseDuration("read 1B every 100ms")))
        }
        throw expected("`bytes` or `every`", "read 10 bytes, or read 1B every 100ms")
    }

    mutating func parseSignal() throws(Abandoned) -> ProcessSignal {
        guard kind == .word else { throw expected("a signal", "signal TERM") }
        var name = text(token)
        if name.utf8.starts(with: "SIG".utf8) { name = String(name.dropFirst(3)) }
        guard let signal = ProcessSignal.all.first(where: { $0.name == name }) else {
            throw fail(
                .unknownWord(text(token), what: "a signal", choices: ProcessSignal.all.map(\.name)), at: span(token))
        }
        advance()
        return signal
    }

    // MARK: Send

    private mutating func parseSend(inBackground: Bool) throws(Abandoned) -> SendStatement {
        var mode = SendStatement.Mode.bytes
        if isWord("line"), !isVariableHere {
            mode = .line
            advance()
        } else if isWord("urgent"), !isVariableHere {
            use(.urgent, at: span(token))
            mode = .urgent
            advance()
        }
        var pieces: [Expression] = []
        repeat { pieces.append(try parseExpression("a value to send", "send \"text\"")) } while take(.pipe)
        var statement = SendStatement(mode: mode, inBackground: inBackground, pieces: pieces, cut: nil, pace: nil)
        while kind == .word {
            let clause = token
            switch text(clause) {
            case "cut":
                advance()
                try expect(word: "at", "cut at 3, 7")
                if statement.cut != nil { throw fail(.clauseTwice("cut"), at: span(clause)) }
                statement.cut = try parseCut()
            case "in":
                advance()
                try expect(word: "pieces", "in pieces of 2B")
                try expect(word: "of", "in pieces of 2B")
                if statement.cut != nil { throw fail(.clauseTwice("cut"), at: span(clause)) }
                statement.cut = .inPieces(of: try parseExpression("a size", "in pieces of 2B"))
            case "every":
                advance()
                if statement.pace != nil { throw fail(.clauseTwice("every"), at: span(clause)) }
                statement.pace = .every(try parseDuration("every 30ms"))
            case "at":
                advance()
                if statement.pace != nil { throw fail(.clauseTwice("at"), at: span(clause)) }
                statement.pace = .rate(try parseRate())
            default: return statement
            }
            if statement.cut != nil, pieces.count > 1 { throw fail(.pipeAndCut, at: span(clause)) }
        }
        return statement
    }

    private mutating func parseCut() throws(Abandoned) -> SendStatement.Cut {
        if isWord("random"), token(ahead: 1).kind == .word {
            advance()
            try expect(word: "seed", "cut at random seed 7")
            return .random(seed: try parseExpression("a number", "cut at random seed 7"))
        }
        var offsets: [Expression] = []
        repeat { offsets.append(try parseExpression("an offset", "cut at 3, 7")) } while take(.comma)
        return .at(offsets)
    }

    /// `line` and its like are contextual: with nothing of their own behind them they are the name of a variable.
    var isVariableHere: Bool {
        let next = token(ahead: 1)
        switch next.kind {
        case .string, .rawString, .regex: return false
        case .number, .hexDigits, .bracketedHost: return false
        case .leftParenthesis: return true
        case .word:
            let after = token(ahead: 2)
            switch text(next) {
            case "within", "after", "every": return after.kind == .number
            case "at": return after.kind == .number
            case "cut": return after.kind == .word && text(after) == "at"
            case "in": return after.kind == .word && text(after) == "pieces"
            case "bytes": return true
            default: return false
            }
        default: return true
        }
    }
}

extension ProcessSignal {
    /// The signals that a script can name, with their numbers on Linux.
    static let all: [ProcessSignal] = [
        ProcessSignal(name: "HUP", number: 1), ProcessSignal(name: "INT", number: 2),
        ProcessSignal(name: "QUIT", number: 3),
        ProcessSignal(name: "ILL", number: 4), ProcessSignal(name: "TRAP", number: 5),
        ProcessSignal(name: "ABRT", number: 6),
        ProcessSignal(name: "BUS", number: 7), ProcessSignal(name: "FPE", number: 8),
        ProcessSignal(name: "KILL", number: 9),
        ProcessSignal(name: "USR1", number: 10), ProcessSignal(name: "SEGV", number: 11),
        ProcessSignal(name: "USR2", number: 12), ProcessSignal(name: "PIPE", number: 13),
        ProcessSignal(name: "ALRM", number: 14), ProcessSignal(name: "TERM", number: 15),
        ProcessSignal(name: "CHLD", number: 17), ProcessSignal(name: "CONT", number: 18),
        ProcessSignal(name: "STOP", number: 19), ProcessSignal(name: "TSTP", number: 20),
        ProcessSignal(name: "WINCH", number: 28), ProcessSignal(name: "SYS", number: 31),
    ]
}
