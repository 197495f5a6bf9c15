import ProbeBase

/// The statement can't be read any further; why was reported.
struct Abandoned: Error {}

extension TokenCursor {
    func report(
        _ id: DiagnosticID, _ text: String, hint: String? = nil, at span: SourceSpan, notes: [Diagnostic.Note] = []
    ) {
        context.report(id, text, hint: hint, at: span, notes: notes)
    }

    func report(_ message: @autoclosure () -> Diagnostic.Message, at span: SourceSpan, notes: [Diagnostic.Note] = []) {
        context.report(message(), at: span, notes: notes)
    }

    /// Reports what should stand here instead.
    func expected(_ what: String, _ example: String? = nil) -> Abandoned {
        // What the lexer reported needs no second report.
        if kind != .invalid {
            report(.expected(what, found: described, example: example), at: spanForReport)
        }
        return Abandoned()
    }

    func fail(_ id: DiagnosticID, _ text: String, hint: String? = nil, at span: SourceSpan) -> Abandoned {
        report(id, text, hint: hint, at: span)
        return Abandoned()
    }

    func fail(_ message: @autoclosure () -> Diagnostic.Message, at span: SourceSpan) -> Abandoned {
        report(message(), at: span)
        return Abandoned()
    }

    /// Where a caret points that says "here": the end of the line is the place behind its last word.
    private var spanForReport: SourceSpan {
        guard kind == .newline || kind == .end, index > 0 else { return span(token) }
        let end = Int(tokens[index - 1].end)
        return SourceSpan(file: file, start: end, end: end)
    }

    var described: String {
        switch kind {
        case .newline, .end: "the end of the line"
        case .invalid: "something unreadable"
        default: Escaped.quoted(String(text(token).prefix(40)))
        }
    }

    // MARK: What can't be read

    /// Notes the words from `start` up to this one: what the statement says may be in doubt in the rest of the script.
    func doubtWords(from start: Int) {
        for token in tokens[start...].prefix(max(index - start, 0) + 1) where token.kind == .word {
            context.doubtful.insert(text(token))
        }
    }

    /// Passes over the rest of a statement whose construct was reported; what it names is in doubt.
    func skipStatement() {
        var braces = 0
        while kind != .end {
            switch kind {
            case .leftBrace: braces += 1
            case .rightBrace:
                if braces == 0, blockDepth > 0 { return }
                braces -= 1
                if braces < 0 { return }
            case .newline, .semicolon:
                if braces == 0 { return }
            case .word: context.doubtful.insert(text(token))
            default: break
            }
            advance()
        }
    }
}

extension Diagnostic.Message {
    static func expected(_ what: String, found: String, example: String?) -> Self {
        Self(
            .expected, "\(what) is expected here, not \(found)",
            hint: ForeignWords.instead(of: found, expected: what) ?? example.map { "for example: \($0)" })
    }
}
