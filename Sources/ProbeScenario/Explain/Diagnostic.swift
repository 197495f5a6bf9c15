/// Something wrong with a script: its kind, with the values that the message needs, and a place.
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

    package var kind: DiagnosticKind
    package var span: SourceSpan
    package var notes: [Note]

    package init(_ kind: DiagnosticKind, span: SourceSpan, notes: [Note] = []) {
        self.kind = kind
        self.span = span
        self.notes = notes
    }

    /// The stable name of this kind of diagnostic, such as `unknown-verb`.
    package var id: DiagnosticID { kind.message.id }
    package var severity: Severity { kind.message.id.severity }
    /// One line: what is wrong.
    package var text: String { kind.message.text }
    /// What to do about it.
    package var hint: String? { kind.message.hint }

    /// What a diagnostic says.
    package struct Message: Sendable {
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

/// What is wrong, by the part of the language that it is about.
package enum DiagnosticKind: Sendable {
    case lexical(LexicalDiagnosticKind)
    case syntax(SyntaxDiagnosticKind)
    case name(NameDiagnosticKind)
    case order(OrderDiagnosticKind)
    case link(LinkDiagnosticKind)
    case host(HostDiagnosticKind)
    case crowd(CrowdDiagnosticKind)
    case value(ValueDiagnosticKind)
    case structure(StructureDiagnosticKind)

    package var message: Diagnostic.Message {
        switch self {
        case .lexical(let kind): kind.message
        case .syntax(let kind): kind.message
        case .name(let kind): kind.message
        case .order(let kind): kind.message
        case .link(let kind): kind.message
        case .host(let kind): kind.message
        case .crowd(let kind): kind.message
        case .value(let kind): kind.message
        case .structure(let kind): kind.message
        }
    }
}
