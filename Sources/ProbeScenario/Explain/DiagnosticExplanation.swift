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
    package static func of(_ id: DiagnosticID) -> DiagnosticExplanation {
        for explanations in Self.byKind {
            if let explanation = explanations[id] { return explanation }
        }
        return DiagnosticExplanation(meaning: id.rawValue)
    }

    private static var byKind: [[DiagnosticID: DiagnosticExplanation]] {
        [
            LexicalDiagnosticKind.explanations, SyntaxDiagnosticKind.explanations, NameDiagnosticKind.explanations,
            OrderDiagnosticKind.explanations, LinkDiagnosticKind.explanations, HostDiagnosticKind.explanations,
            CrowdDiagnosticKind.explanations, ValueDiagnosticKind.explanations,
            StructureDiagnosticKind.explanations,
        ]
    }
}
