import ProbeBase

extension Parser {
    /// What follows `wire`.
    mutating func parseWire() throws(Abandoned) -> WireStatement {
        if kind == .word, token(ahead: 1).kind == .arrow { return try parseFlow() }
        guard kind == .word else { throw expected("what is seen on the wire", "wire S -> T bytes \"text\"") }
        let first = token
        advance()
        switch text(first) {
        case "fin":
            let (from, to) = try parseSender("wire fin from S")
            return .fin(from: from, to: to)
        case "rst":
            let (from, to) = try parseSender("wire rst from S")
            return .rst(from: from, to: to)
        case "no":
            if take(word: "rst") { return .noReset }
            if take(word: "retransmission") || take(word: "retransmissions") { return .noRetransmission }
            throw expected("`rst` or `retransmission`", "wire no rst")
        case "closed":
            try expect(word: "by", "wire closed by S first")
            let name = try parseName("a name", "wire closed by S first")
            try expect(word: "first", "wire closed by S first")
            return .closedFirst(by: name)
        case "handshake":
            try expect(word: "complete", "wire handshake complete")
            return .handshakeComplete
        case "packets":
            use(.packets, at: span(first))
            let (comparison, value) = try parseComparison("wire packets <= 20")
            return .packets(comparison, value)
        default: throw fail(.unknownWire(text(first), isFlow: false), at: span(first))
        }
    }

    private mutating func parseSender(_ example: String) throws(Abandoned) -> (Name, Name?) {
        try expect(word: "from", example)
        let from = try parseName("a name", example)
        guard take(word: "to") else { return (from, nil) }
        return (from, try parseName("a name", "\(example) to T"))
    }

    private mutating func parseFlow() throws(Abandoned) -> WireStatement {
        let from = try parseName("a name")
        try expect(.arrow, "`->`")
        let to = try parseName("a name", "wire S -> T bytes \"text\"")
        guard kind == .word else { throw expected("what is seen on the wire", "wire S -> T bytes \"text\"") }
        let first = token
        advance()
        return .flow(from: from, to: to, try parseFlowStatement(first))
    }

    private mutating func parseFlowStatement(_ first: Token) throws(Abandoned) -> WireStatement.FlowStatement {
        switch text(first) {
        case "bytes": return .bytes(try parseExpression("a value", "wire S -> T bytes \"text\""))
        case "segments": return try parseSegments()
        case "gap": return try parseGap()
        case "largest":
            try expect(word: "segment", "largest segment <= 1460B")
            let (comparison, value) = try parseComparison("largest segment <= 1460B")
            return .largestSegment(comparison, value)
        case "longest":
            use(.longestLine, at: span(first))
            try expect(word: "line", "longest line <= 1024")
            let (comparison, value) = try parseComparison("longest line <= 1024")
            return .longestLine(comparison, value)
        case "lines":
            let place = span(token)
            let framing = try parseFraming()
            guard [.crlf, .lf, .cr, .nul].contains(framing) else { throw fail(.linesFraming, at: place) }
            return .lines(framing)
        case "messages":
            use(.wireMessages, at: span(first))
            let (comparison, value) = try parseComparison("messages 5")
            return .messages(comparison, value)
        case "first":
            use(.firstByte, at: span(first))
            try expect(word: "byte", "first byte within 10ms")
            try expect(word: "within", "first byte within 10ms")
            return .firstByte(within: try parseDuration("first byte within 10ms"))
        case "zero":
            try expect(word: "window", "zero window")
            return .zeroWindow
        case "window":
            use(.window, at: span(first))
            let (comparison, value) = try parseComparison("window >= 4KiB")
            return .window(comparison, value)
        case "urgent":
            use(.wireUrgent, at: span(first))
            return .urgent
        case "retransmissions":
            use(.retransmissions, at: span(first))
            let (comparison, value) = try parseComparison("retransmissions 0")
            return .retransmissions(comparison, value)
        default: throw fail(.unknownWire(text(first), isFlow: true), at: span(first))
        }
    }

    private mutating func parseSegments() throws(Abandoned) -> WireStatement.FlowStatement {
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

    private mutating func parseGap() throws(Abandoned) -> WireStatement.FlowStatement {
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
