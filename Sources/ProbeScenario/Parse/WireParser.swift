import ProbeBase

/// Parses wire statements, which are assertions about the captured packets.
struct WireParser: GrammarPart {
    let cursor: TokenCursor

    var values: ValueParser { ValueParser(cursor: cursor) }

    /// Parses what follows `wire`.
    func parseWire() throws(Abandoned) -> WireStatement<Parsed> {
        let statement = try parseStatement()
        // `arrived` can appear only as the last word of a statement.
        guard cursor.isWord("arrived") else { return statement }
        switch statement {
        case .halfConnection, .fin, .rst:
            cursor.advance()
            return .arrived(statement)
        default: return statement
        }
    }

    private func parseStatement() throws(Abandoned) -> WireStatement<Parsed> {
        guard cursor.kind == .word else {
            throw cursor.expected("a wire statement", "wire S -> T bytes \"text\"")
        }
        if cursor.token(ahead: 1).kind == .arrow { return try parseHalfConnection() }
        let first = cursor.token
        guard let candidate = try cursor.take(WirePhrases.index) else {
            throw cursor.fail(
                .unknownWire(cursor.text(first), choices: WirePhrases.choices), at: cursor.span(first))
        }
        return try candidate.phrase.read(self)
    }

    private func parseHalfConnection() throws(Abandoned) -> WireStatement<Parsed> {
        let from = try cursor.parseName("a name")
        try cursor.expect(.arrow, "`->`")
        let to = try cursor.parseName("a name", "wire S -> T bytes \"text\"")
        guard cursor.kind == .word else {
            throw cursor.expected("a wire statement", "wire S -> T bytes \"text\"")
        }
        let first = cursor.token
        guard let candidate = try cursor.take(WirePhrases.halfConnectionIndex) else {
            // A wire statement with this name may exist, but without a direction such as `S -> T`.
            let isUndirected = try cursor.take(WirePhrases.index) != nil
            throw cursor.fail(
                isUndirected
                    ? .unexpectedDirection(cursor.bytes.text(Int(first.start)..<Int(cursor.lastWord.end)))
                    : .unknownWire(cursor.text(first), choices: WirePhrases.halfConnectionChoices),
                at: cursor.span(first))
        }
        return .halfConnection(from: from, to: to, try candidate.phrase.read(self))
    }

    func parseSender(_ example: String) throws(Abandoned) -> (Name, Name?) {
        let from = try cursor.parseName("a name", example)
        guard cursor.take(word: "to") else { return (from, nil) }
        return (from, try cursor.parseName("a name", "\(example) to T"))
    }

    func parseSegments() throws(Abandoned) -> HalfConnectionStatement<Parsed> {
        if let comparison = values.takeComparison() {
            return .segmentCount(comparison, try values.parseExpression("a number", "segments >= 3"))
        }
        let first = try values.parseExpression(
            "a number of segments, or their contents", "segments \"220 rea\", \"dy\\r\", \"\\n\"")
        if cursor.kind != .comma, values.isIntegerLike(first) { return .segmentCount(.equal, first) }
        var segments = [first]
        while cursor.take(.comma) { segments.append(try values.parseExpression("a value after the comma")) }
        return .segments(segments)
    }

    func parseGap() throws(Abandoned) -> HalfConnectionStatement<Parsed> {
        var number: Int?
        if cursor.kind == .number, cursor.token(ahead: 1).kind != .newline {
            let place = cursor.place
            number = try values.parseNumber()
            if number == 0 {
                throw cursor.fail(
                    .badNumber, "gaps are numbered from 1",
                    hint: "write `gap 1 >= 25ms`, or `gap >= 25ms` for every gap", at: place)
            }
        }
        let (comparison, time) = try values.parseTimeComparison(
            "gap >= 25ms", usual: .greaterOrEqual, allowsZero: true)
        return .gap(index: number, comparison, time)
    }
}

extension Diagnostic.Message {
    static func unknownWire(_ word: String, choices: [String]) -> Self {
        Self(
            .unknownWire, "unknown wire statement \(Escaped.quoted(word))",
            hint: didYouMean(word, choices, "use one of:"))
    }

    /// Reports a direction, `C -> S`, before a statement that applies to a connection as a whole.
    static func unexpectedDirection(_ statement: String) -> Self {
        Self(
            .unknownWire, "\(Escaped.quoted(statement)) is not a wire statement about one direction",
            hint: "remove the direction: `wire \(statement)`")
    }
}
