extension Parser {
    /// What an actor is told to do, and where a caret points when it fails.
    mutating func parseAction(of actor: Name) throws(Abandoned) -> (Action, SourceSpan?) {
        let actorKind = context.kindOfActs(actor.value)
        let verb = token
        if take(word: "expect") {
            let place = span(token)
            return (try parseExpectation(of: actor, actorKind), span(place, upTo: index))
        }
        guard let candidate = try take(LanguageTable.verbs(of: actorKind)) else {
            let kind = context.actorKinds[actor.value].map(ActorWord.init)
            throw fail(.unknownVerb(text(verb), actor: actor.value, kind: kind), at: span(verb))
        }
        let place = span(token)
        let action = try candidate.phrase.read(&self)
        return (action, candidate.pointsAtOperand ? span(place, upTo: index) : nil)
    }

    private func span(_ place: SourceSpan, upTo index: Int) -> SourceSpan {
        let end = index > 0 ? Int(tokens[index - 1].end) : place.end
        return SourceSpan(file: file, start: place.start, end: max(place.end, end))
    }

    /// Whether a word stands in the rest of the statement, behind the next word.
    func statementHolds(_ word: StaticString) -> Bool {
        var ahead = 2
        while true {
            switch token(ahead: ahead).kind {
            case .newline, .semicolon, .end, .rightBrace: return false
            case .word where isWord(word, ahead: ahead): return true
            default: ahead += 1
            }
        }
    }

    func expectedReadClause() -> Abandoned { expected("`bytes` or `every`", "read 10 bytes, or read 1B every 100ms") }

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

    mutating func parseSend(inBackground: Bool) throws(Abandoned) -> SendStatement {
        var mode = SendStatement.Mode.bytes
        if isWord("line"), !isVariableHere {
            mode = .line
            advance()
        } else if isWord("urgent"), !isVariableHere {
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
