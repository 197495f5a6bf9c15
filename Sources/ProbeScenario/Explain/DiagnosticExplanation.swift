import ProbeBase

/// The explanation of a kind of diagnostic, for a reader who sees the diagnostic for the first time.
package struct DiagnosticExplanation: Sendable {
    /// A few sentences that explain the diagnostic. The first sentence is the summary in the list of diagnostics.
    package var meaning: String
    /// A script with the error, or lines of such a script; `nil` if no text can show the error.
    package var wrong: String?
    /// The corrected version of `wrong`.
    package var right: String?

    /// The lines that precede an example without a title: `S` is a server, `C` is its client, and the two are
    /// connected.
    package static let frame = """
        scenario "example"
        server  S
        client  C -> S
        C connect
        S accept

        """

    /// The explanation of each kind of diagnostic.
    package static let table: [DiagnosticID: DiagnosticExplanation] = .wordDiagnostics.merging(.stepDiagnostics) {
        first, _ in first
    }

    package static func of(_ id: DiagnosticID) -> DiagnosticExplanation {
        table[id] ?? DiagnosticExplanation(meaning: id.rawValue)
    }

    /// Returns the text that `tcpprobe explain ID` prints.
    package static func page(of id: DiagnosticID) -> String {
        let explanation = of(id)
        var text = "\(id.rawValue)\n\n\(explanation.meaning)\n"
        let examples = [explanation.wrong, explanation.right].compactMap { $0 }
        if examples.contains(where: { !$0.hasPrefix("scenario") }) {
            text += "\nIn the examples, S is a server and C is its client, and they are connected.\n"
        }
        if let wrong = explanation.wrong { text += "\nWrong:\n\n\(indented(wrong))" }
        if let right = explanation.right { text += "\nRight:\n\n\(indented(right))" }
        return text
    }

    private static func indented(_ text: String) -> String {
        text.split(separator: "\n", omittingEmptySubsequences: false)
            .map { $0.isEmpty ? "\n" : "    \(Escaped.text($0.utf8))\n" }.joined()
    }
}
