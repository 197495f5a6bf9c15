import ProbeBase

/// `start tls`.
extension ActionParser {
    /// Options and clauses, in any order; the words `start tls` were taken.
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
