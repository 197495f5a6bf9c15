import ProbeBase

extension Parser {
    /// What follows `wire`.
    mutating func parseWire() throws(Abandoned) -> WireStatement {
        guard kind == .word else { throw expected("what is seen on the wire", "wire S -> T bytes \"text\"") }
        if token(ahead: 1).kind == .arrow { return try parseHalfConnection() }
        let first = token
        guard let candidate = try take(WireStatement.phraseIndex) else {
            throw fail(.unknownWire(text(first), choices: WireStatement.choices), at: span(first))
        }
        return try candidate.phrase.read(&self)
    }

    private mutating func parseHalfConnection() throws(Abandoned) -> WireStatement {
        let from = try parseName("a name")
        try expect(.arrow, "`->`")
        let to = try parseName("a name", "wire S -> T bytes \"text\"")
        guard kind == .word else { throw expected("what is seen on the wire", "wire S -> T bytes \"text\"") }
        let first = token
        guard let candidate = try take(HalfConnectionStatement.phraseIndex) else {
            throw fail(.unknownWire(text(first), choices: HalfConnectionStatement.choices), at: span(first))
        }
        return .halfConnection(from: from, to: to, try candidate.phrase.read(&self))
    }

    mutating func parseSender(_ example: String) throws(Abandoned) -> (Name, Name?) {
        let from = try parseName("a name", example)
        guard take(word: "to") else { return (from, nil) }
        return (from, try parseName("a name", "\(example) to T"))
    }

    mutating func parseSegments() throws(Abandoned) -> HalfConnectionStatement {
        if let comparison = takeComparison() {
            return .segmentCount(comparison, try parseExpression("a number", "segments >= 3"))
        }
        let first = try parseExpression(
            "a number of segments, or the segments", "segments \"220 rea\", \"dy\\r\", \"\\n\"")
        if kind != .comma, isIntegerLike(first) { return .segmentCount(.equal, first) }
        var segments = [first]
        while take(.comma) { segments.append(try parseExpression("a value behind the comma")) }
        return .segments(segments)
    }

    mutating func parseGap() throws(Abandoned) -> HalfConnectionStatement {
        var number: Int?
        if kind == .number, token(ahead: 1).kind != .newline {
            let place = span(token)
            number = try parseNumber()
            if number == 0 { throw fail(.gapNumber, at: place) }
        }
        guard let comparison = takeComparison() else { throw expected("`>=` or another comparison", "gap >= 25ms") }
        return .gap(index: number, comparison, try parseDuration("gap >= 25ms", allowsZero: true))
    }
}
