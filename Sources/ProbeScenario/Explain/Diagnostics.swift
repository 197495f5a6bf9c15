/// The diagnostics of a script, bounded in number.
struct Diagnostics {
    /// The number of diagnostics after which further diagnostics are discarded. Without a limit, a file that is not a
    /// script could have a diagnostic for each of its bytes.
    static let limit = 500

    private static let tooMany = Diagnostic.Message(
        .tooManyErrors, "too many errors: only the first \(limit) are reported", hint: "fix these first")

    private(set) var all: [Diagnostic] = []
    private(set) var hasErrors = false
    private var seen: Set<Key> = []
    private var ids: Set<DiagnosticID> = []

    private struct Key: Hashable {
        var id: DiagnosticID
        var span: SourceSpan
    }

    /// Whether further diagnostics are discarded, so that they need not be computed.
    var isFull: Bool { all.count > Self.limit }

    func contains(_ id: DiagnosticID) -> Bool { ids.contains(id) }

    /// Adds a diagnostic, unless an identical one exists at the same place.
    mutating func add(_ diagnostic: Diagnostic) {
        guard !isFull else { return }
        let id = diagnostic.id
        guard seen.insert(Key(id: id, span: diagnostic.span)).inserted else { return }
        let isLast = all.count == Self.limit
        all.append(isLast ? Diagnostic(Self.tooMany, span: diagnostic.span) : diagnostic)
        ids.insert(isLast ? all[Self.limit].id : id)
        if isLast || id.severity == .error { hasErrors = true }
    }

    /// The diagnostics, ordered by file and by position.
    var sorted: [Diagnostic] {
        let places = all.enumerated().sorted { left, right in
            let a = left.element.span
            let b = right.element.span
            return (a.file, a.start, left.offset) < (b.file, b.start, right.offset)
        }
        return places.map(\.element)
    }
}
