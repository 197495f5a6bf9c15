/// The diagnostics of a script, bounded in number.
struct Diagnostics {
    /// A file that is no script at all would have one for each of its bytes.
    static let limit = 500

    private static let tooMany = Diagnostic.Message(
        .tooManyErrors, "there are more than \(limit) errors; the rest is not told", hint: "mend the first ones first")

    private(set) var all: [Diagnostic] = []
    private(set) var hasErrors = false
    private var seen: Set<Key> = []
    private var ids: Set<DiagnosticID> = []

    private struct Key: Hashable {
        var id: DiagnosticID
        var span: SourceSpan
    }

    /// More are not kept: what a further one would say need not be found out.
    var isFull: Bool { all.count > Self.limit }

    func contains(_ id: DiagnosticID) -> Bool { ids.contains(id) }

    /// Adds one, but not twice the same at the same place.
    mutating func add(_ diagnostic: Diagnostic) {
        guard !isFull else { return }
        let id = diagnostic.id
        guard seen.insert(Key(id: id, span: diagnostic.span)).inserted else { return }
        let isLast = all.count == Self.limit
        all.append(isLast ? Diagnostic(Self.tooMany, span: diagnostic.span) : diagnostic)
        ids.insert(isLast ? all[Self.limit].id : id)
        if isLast || id.severity == .error { hasErrors = true }
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
