import ProbeBase

/// `start tls`.
extension ActionParser {
    /// Options and clauses, in any order; the words `start tls` were taken.
    func parseStartTLS() throws(Abandoned) -> TLSStart {
        let first = cursor.lastWord
        context.scenario.startsTLS = true
        var start = TLSStart(options: try tls.parseOptions(of: context.actingKind ?? .connection, from: first))
        start.outcome = try tls.parseOutcome()
        while cursor.kind == .word {
            let clause = cursor.token
            switch cursor.word {
            case "cut":
                cursor.advance()
                try cursor.expect(word: "at", "start tls cut at 3")
                if start.cut != nil { throw cursor.fail(.clauseTwice("cut"), at: cursor.span(clause)) }
                start.cut = try parseCut()
            case "in":
                cursor.advance()
                try cursor.expect(word: "pieces", "start tls in pieces of 1B")
                try cursor.expect(word: "of", "start tls in pieces of 1B")
                if start.cut != nil { throw cursor.fail(.clauseTwice("cut"), at: cursor.span(clause)) }
                start.cut = .inPieces(of: try values.parseExpression("a size", "start tls in pieces of 1B"))
            case "every":
                cursor.advance()
                if start.pace != nil { throw cursor.fail(.clauseTwice("every"), at: cursor.span(clause)) }
                start.pace = .every(try values.parseDuration("every 5ms"))
            case "at":
                cursor.advance()
                if start.pace != nil { throw cursor.fail(.clauseTwice("at"), at: cursor.span(clause)) }
                start.pace = .rate(try values.parseRate())
            case "stop":
                cursor.advance()
                try cursor.expect(word: "after", "start tls stop after 100 bytes")
                if start.stopsAfter != nil { throw cursor.fail(.clauseTwice("stop"), at: cursor.span(clause)) }
                start.stopsAfter = try values.parseExpression("a number of bytes", "start tls stop after 100 bytes")
                if !cursor.take(word: "bytes") { _ = cursor.take(word: "byte") }
            default: return start
            }
        }
        return start
    }
}
