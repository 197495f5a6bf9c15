import ProbeBase

/// What a kind of diagnostic means, for someone who meets it for the first time.
package struct DiagnosticExplanation: Sendable {
    /// A few sentences.
    package var meaning: String
    /// A script, or lines of one, that is diagnosed so; nil where no text can show it.
    package var wrong: String?
    /// The same, as it should be.
    package var right: String?

    /// Lines that start with no title stand in a scenario where `S` is a server, `C` its client, and both are connected:
    /// this is what comes before them.
    package static let frame = """
        scenario "example"
        server  S
        client  C -> S
        C connect
        S accept

        """

    /// The explanation of each kind.
    package static let table: [DiagnosticID: DiagnosticExplanation] = .ofWords.merging(.ofSteps) { first, _ in first }

    package static func of(_ id: DiagnosticID) -> DiagnosticExplanation {
        table[id] ?? DiagnosticExplanation(meaning: id.rawValue)
    }

    /// What `tcpprobe explain ID` prints.
    package static func page(of id: DiagnosticID) -> String {
        let explanation = of(id)
        var text = "\(id.rawValue)\n\n\(explanation.meaning)\n"
        let examples = [explanation.wrong, explanation.right].compactMap { $0 }
        if examples.contains(where: { !$0.hasPrefix("scenario") }) {
            text += "\nThe examples stand in a scenario in which S is a server, C its client, and both are connected.\n"
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
