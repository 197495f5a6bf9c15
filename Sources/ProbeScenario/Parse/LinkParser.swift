import ProbeBase

/// Parses links: the declaration in the header, and the steps.
struct LinkParser: GrammarPart {
    let cursor: TokenCursor

    var values: ValueParser { ValueParser(cursor: cursor) }

    // MARK: The header

    /// Parses what follows `link` in a declaration: `S <-> T`, `S6, S4 <-> T`.
    func parseDeclaration() throws(Abandoned) {
        let first = cursor.lastWord
        let left = try parseNames()
        try cursor.expect(.doubleArrow, "`<->`", "link S <-> T")
        let right = try parseNames()
        context.scenario.links.append(LinkDeclaration(left: left, right: right, span: cursor.span(from: first)))
    }

    private func parseNames() throws(Abandoned) -> [Name] {
        var names: [Name] = []
        repeat { names.append(try cursor.parseName("the name of an actor", "link S <-> T")) } while cursor.take(.comma)
        return names
    }

    /// Returns whether `link` begins a declaration, in which nothing follows the names of the actors. Called with the
    /// cursor at the word `link`.
    static func isDeclaration(_ cursor: TokenCursor) -> Bool {
        var ahead = 1
        var hasArrow = false
        while true {
            guard cursor.token(ahead: ahead).kind == .word else { return false }
            switch cursor.token(ahead: ahead + 1).kind {
            case .comma: break
            case .doubleArrow where !hasArrow: hasArrow = true
            case .newline, .end, .semicolon: return hasArrow
            default: return false
            }
            ahead += 2
        }
    }

    /// Returns whether `link` begins a step: `link S -> T …`.
    static func isStep(_ cursor: TokenCursor) -> Bool {
        cursor.token(ahead: 1).kind == .word && [.arrow, .doubleArrow].contains(cursor.token(ahead: 2).kind)
    }

    // MARK: Steps

    /// Parses what follows `link` in a step.
    func parseStep() throws(Abandoned) -> LinkStep {
        let example = "link S -> T drop data 3"
        let from = try cursor.parseName("a name", example)
        let isBothWays = cursor.take(.doubleArrow)
        if !isBothWays { try cursor.expect(.arrow, "`->` or `<->`", example) }
        let to = try cursor.parseName("a name", example)
        guard cursor.kind == .word else { throw cursor.expected("a link fault", example) }
        let first = cursor.token
        guard let candidate = try cursor.take(LinkPhrases.index) else {
            throw cursor.fail(
                .unknownWord(cursor.text(first), what: "a link fault", choices: LinkPhrases.choices),
                at: cursor.span(first))
        }
        return LinkStep(from: from, to: to, isBothWays: isBothWays, action: try candidate.phrase.read(self))
    }

    /// Parses a selection of packets: `data 3`, `data 2..5`, `syn all`, `data 3 again`. Without a number, the first
    /// packet is selected.
    func parseSelection() throws(Abandoned) -> PacketSelection<Parsed> {
        let first = cursor.token
        let kind = try cursor.parseChoice("a kind of packet", PacketKind.allCases)
        var ordinals = PacketOrdinals.Kind.one(Expression(.integer(1), span: cursor.span(first)))
        if cursor.take(word: "all") {
            ordinals = .all
        } else if cursor.startsExpression, !cursor.isIfNeeded,
            !["again", "by", "to"].contains(where: { cursor.isWord($0) })
        {
            let number = try values.parseExpression("a number", "drop data 3")
            ordinals =
                cursor.take(.dotDot)
                ? .range(number, try values.parseExpression("the last number", "drop data 2..5")) : .one(number)
        }
        let isAgain = cursor.take(word: "again")
        return PacketSelection(
            kind: kind, ordinals: PacketOrdinals(kind: ordinals, span: cursor.span(from: first)), isAgain: isAgain)
    }

    /// Parses what follows `delay`: `20ms jitter 5ms seed 7 reorder`, `data 2 by 40ms`.
    func parseDelay() throws(Abandoned) -> LinkCommand<Parsed> {
        guard cursor.kind == .number else {
            let selection = try parseSelection()
            try cursor.expect(word: "by", "delay data 2 by 40ms")
            return .packets(.delay(try values.parseDuration("delay data 2 by 40ms")), selection)
        }
        let example = "delay 20ms jitter 5ms seed 7"
        let delay = try values.parseDuration(example)
        var jitter = Duration.zero
        if cursor.take(word: "jitter") {
            let place = cursor.place
            let value = try values.parseDuration(example)
            if value > delay {
                cursor.report(
                    .linkFault, "the jitter is longer than the delay: a packet can't arrive before it is sent",
                    hint: "write `delay 20ms jitter 5ms` for 15 to 25 ms", at: place)
            }
            jitter = value
        }
        let seed = try parseSeed(example)
        return .delay(delay, jitter: jitter, seed: seed, mayReorder: cursor.take(word: "reorder"))
    }

    func parseTruncate() throws(Abandoned) -> LinkCommand<Parsed> {
        let example = "truncate data 2 to 40B"
        let selection = try parseSelection()
        try cursor.expect(word: "to", example)
        return .truncate(selection, to: try values.parseExpression("a size", example))
    }

    func parseReset() throws(Abandoned) -> LinkCommand<Parsed> {
        if cursor.take(word: "behind") { return .resetBehind(try parseSelection()) }
        guard cursor.take(word: "outside") else { return .reset(.now) }
        try cursor.expect(word: "window", "reset outside window")
        return .reset(.outsideWindow)
    }

    /// Parses what follows `loss`: `5% seed 7 burst 3`.
    func parseLoss() throws(Abandoned) -> LinkCommand<Parsed> {
        let example = "loss 5% seed 7"
        let place = cursor.place
        guard cursor.kind == .number, let percent = Double(cursor.word), cursor.token(ahead: 1).kind == .percent else {
            throw cursor.expected("a percentage", example)
        }
        if !(percent > 0 && percent <= 100) {
            cursor.report(
                .linkFault, "\(cursor.word)% is not a valid packet loss",
                hint: "use a percentage above 0% and up to 100%", at: place)
        }
        cursor.advance()
        cursor.advance()
        let seed = try parseSeed(example)
        guard cursor.take(word: "burst") else { return .loss(percent: percent, seed: seed, burst: nil) }
        let burst = try values.parseExpression("a number", "loss 5% seed 7 burst 3")
        return .loss(percent: percent, seed: seed, burst: burst)
    }

    private func parseSeed(_ example: String) throws(Abandoned) -> Expression? {
        cursor.take(word: "seed") ? try values.parseExpression("a number", example) : nil
    }
}
