/// An error or a warning about a script: a message and a place.
package struct Diagnostic: Sendable {
    package enum Severity: String, Sendable {
        case error, warning
    }

    /// A second place in the script that helps to explain the diagnostic.
    package struct Note: Sendable {
        package var text: String
        package var span: SourceSpan

        package init(_ text: String, span: SourceSpan) {
            self.text = text
            self.span = span
        }
    }

    package var message: Message
    package var span: SourceSpan
    package var notes: [Note]

    package init(_ message: Message, span: SourceSpan, notes: [Note] = []) {
        self.message = message
        self.span = span
        self.notes = notes
    }

    /// The stable name of this kind of diagnostic, such as `unknown-verb`.
    package var id: DiagnosticID { message.id }
    package var severity: Severity { message.id.severity }
    /// A one-line description of the problem.
    package var text: String { message.text }
    /// A hint that states how to fix the problem.
    package var hint: String? { message.hint }

    /// The text of a diagnostic. A message that several checks report is created by a static function next to one of
    /// these checks.
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
