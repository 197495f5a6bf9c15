/// Something wrong with a script: facts and a place; the text is made from them by ``Fact``'s extensions.
package struct Diagnostic: Sendable {
    package enum Severity: String, Sendable {
        case error, warning
    }

    /// A second place that explains the first.
    package struct Note: Sendable {
        package var text: String
        package var span: SourceSpan

        package init(_ text: String, span: SourceSpan) {
            self.text = text
            self.span = span
        }
    }

    package var fact: Fact
    package var span: SourceSpan
    package var notes: [Note]

    package init(_ fact: Fact, span: SourceSpan, notes: [Note] = []) {
        self.fact = fact
        self.span = span
        self.notes = notes
    }

    /// The stable name of this kind of diagnostic, such as `unknown-verb`.
    package var id: DiagnosticID { fact.explanation.id }
    package var severity: Severity { fact.explanation.id.severity }
    /// One line: what is wrong.
    package var text: String { fact.explanation.text }
    /// What to do about it.
    package var hint: String? { fact.explanation.hint }

    /// What is wrong, by the part of the language that it is about.
    package enum Fact: Sendable {
        case lexical(LexicalFact)
        case syntax(SyntaxFact)
        case name(NameFact)
        case flow(FlowFact)
        case value(ValueFact)
        case structure(StructureFact)

        /// The facts in words.
        package var explanation: Explanation {
            switch self {
            case .lexical(let fact): fact.explanation
            case .syntax(let fact): fact.explanation
            case .name(let fact): fact.explanation
            case .flow(let fact): fact.explanation
            case .value(let fact): fact.explanation
            case .structure(let fact): fact.explanation
            }
        }
    }

    /// The words for a fact.
    package struct Explanation: Sendable {
        package var id: DiagnosticID
        package var text: String
        package var hint: String?

        init(_ id: DiagnosticID, _ text: String, hint: String? = nil) {
            self.id = id
            self.text = text
            self.hint = hint
        }
    }
}
