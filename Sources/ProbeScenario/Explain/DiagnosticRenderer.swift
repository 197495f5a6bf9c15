import ProbeBase

/// Renders diagnostics as text:
///
///     crlf.scn:11:3: error: a server has no verb `sned` [unknown-verb]
///       S sned "220"
///         ^^^^
///       hint: did you mean `send`?
package struct DiagnosticRenderer: Sendable {
    private let sources: SourceMap

    package init(sources: SourceMap) { self.sources = sources }

    /// Returns the diagnostic as several lines, each of which ends with a line feed.
    package func render(_ diagnostic: Diagnostic) -> String {
        let message = diagnostic.message
        var result = head(diagnostic.span)
        result +=
            "\(diagnostic.severity.rawValue): \(Escaped.text(message.text.utf8)) [\(message.id.rawValue)]\n"
        // The first line of a file that is not a scenario gives no useful information.
        if message.id != .noScenario { result += excerpt(diagnostic.span) }
        if let hint = message.hint { result += "  hint: \(Escaped.text(hint.utf8))\n" }
        for note in diagnostic.notes {
            result += head(note.span) + "note: \(Escaped.text(note.text.utf8))\n" + excerpt(note.span)
        }
        return result
    }

    /// Returns the text of all diagnostics, in the given order.
    package func render(_ diagnostics: [Diagnostic]) -> String {
        diagnostics.map { render($0) }.joined()
    }

    private func head(_ span: SourceSpan) -> String {
        let location = sources.location(of: span)
        return "\(Escaped.text(location.path.utf8)):\(location.line):\(location.column): "
    }

    /// Returns the line that contains a span, and a second line with the carets, both indented by two spaces; empty if
    /// the span is in no file or on an empty line.
    package func excerpt(_ span: SourceSpan) -> String {
        guard let file = sources.file(of: span) else { return "" }
        let excerpt = SourceExcerpt(of: span, in: file)
        guard !excerpt.text.isEmpty else { return "" }
        return "  \(excerpt.text)\n  \(excerpt.carets)\n"
    }
}
