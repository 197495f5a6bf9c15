/// The diagnostics of a script, bounded in number.
struct Diagnostics {
    /// A file that is no script at all would have one for each of its bytes.
    static let limit = 500

    private(set) var all: [Diagnostic] = []
    private var seen: Set<Key> = []

    private struct Key: Hashable {
        var id: DiagnosticID
        var span: SourceSpan
    }

    var hasErrors: Bool { all.contains { $0.severity == .error } }

    /// Adds one, but not twice the same at the same place.
    mutating func add(_ diagnostic: Diagnostic) {
        guard all.count <= Self.limit else { return }
        guard seen.insert(Key(id: diagnostic.id, span: diagnostic.span)).inserted else { return }
        all.append(
            all.count < Self.limit ? diagnostic : Diagnostic(.lexical(.tooMany(Self.limit)), span: diagnostic.span))
    }

    mutating func add(_ fact: Diagnostic.Fact, at span: SourceSpan, notes: [Diagnostic.Note] = []) {
        add(Diagnostic(fact, span: span, notes: notes))
    }

    /// In the order of the files and of the text.
    var sorted: [Diagnostic] {
        let places = all.enumerated().sorted { left, right in
            let a = left.element.span
            let b = right.element.span
            return (a.file, a.start, left.offset) < (b.file, b.start, right.offset)
        }
        return places.map(\.element)
    }
}
