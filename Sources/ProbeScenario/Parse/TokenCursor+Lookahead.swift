import ProbeBase

/// What the next words are, without stepping over them.
extension TokenCursor {
    /// `if needed` follows.
    var isIfNeeded: Bool { isWord("if") && isWord("needed", ahead: 1) }

    func takeIfNeeded() -> Bool {
        guard isIfNeeded else { return false }
        advance()
        advance()
        return true
    }

    /// The statement ends here.
    var isAtEnd: Bool {
        switch kind {
        case .newline, .semicolon, .end, .rightBrace: true
        default: false
        }
    }

    /// Whether a value can start here.
    var startsExpression: Bool {
        switch kind {
        case .string, .rawString, .number, .word, .leftParenthesis: true
        default: false
        }
    }

    /// Whether the word that stands here has a comparison behind it.
    var isCompared: Bool {
        switch token(ahead: 1).kind {
        case .equal, .notEqual, .less, .lessOrEqual, .greater, .greaterOrEqual: true
        default: false
        }
    }

    /// Whether the word that stands here has `as` and a name behind it.
    var isNamed: Bool { isWord("as", ahead: 1) && token(ahead: 2).kind == .word }

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
            case "from": return after.kind == .word && ConversationSide(word: text(after)) != nil
            case "at": return after.kind == .number
            case "cut": return after.kind == .word && text(after) == "at"
            case "in": return after.kind == .word && ["pieces", "records"].contains(text(after))
            case "bytes": return true
            default: return false
            }
        default: return true
        }
    }

    /// The word has nothing behind it that makes it something else than a keyword.
    var isAlone: Bool {
        switch token(ahead: 1).kind {
        case .leftParenthesis, .plus, .minus, .star, .dot: false
        default: isVariableHere
        }
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
}
