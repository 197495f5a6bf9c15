import ProbeBase
import ProbeScenario

/// The analysis of a document: its diagnostics, its cases, and the names in the document and in the files that it
/// includes.
struct ScriptAnalysis: Sendable {
    /// A file of the scenario: the document itself, or a file that it includes.
    struct File: Sendable {
        /// The path that messages show, which is absolute if the document's path is absolute.
        var path: String
        var text: DocumentText
        var outline: ScriptOutline
    }

    /// The maximum number of labels that are kept.
    static let maxLabels = 8

    var files: [File]
    var diagnostics: [Diagnostic]
    /// The labels of the first few cases; a single empty label if the scenario has no `each`.
    var labels: [String] = []
    var caseCount = 0

    /// Analyzes a document.
    ///
    /// - Parameters:
    ///   - path: the path of the document, or its URI if it has none.
    ///   - text: the current text in the editor.
    init(path: String, text: DocumentText, allowing targets: AllowedTargets, loader: @escaping FileLoader) {
        let result = ScenarioCompiler.compile(path: path, bytes: text.bytes, allowing: targets, loader: loader)
        diagnostics = result.diagnostics
        files = result.sources.files.enumerated().map { index, file in
            File(
                path: file.path, text: index == 0 ? text : DocumentText(file.bytes),
                outline: ScriptOutline(file.bytes))
        }
        if let plan = result.plan {
            caseCount = plan.cases.count
            labels = plan.cases.prefix(Self.maxLabels).map(\.label)
        }
    }

    var document: File { files[0] }

    /// Returns the kind of an actor, regardless of the file in which it is declared.
    func kind(of actor: String) -> ActorKind? {
        for file in files {
            if let kind = file.outline.kind(of: actor) { return kind }
        }
        return nil
    }

    /// Returns the range in the document at which a diagnostic is shown: the diagnostic's own range or, if it is in
    /// another file, the range of the `include` through which that file is included.
    ///
    /// - Returns: the range; `nil` if the file is not reached through any `include`.
    func spanInDocument(of span: SourceSpan) -> Range<Int>? {
        if span.file == 0 { return span.start..<max(span.start, span.end) }
        guard files.indices.contains(span.file) else { return nil }
        var wanted = files[span.file].path
        // A file is always read after the file that includes it.
        for index in stride(from: span.file - 1, through: 0, by: -1) {
            let file = files[index]
            for reference in file.outline.files where reference.isInclude {
                guard self.path(of: reference, in: index) == wanted else { continue }
                if index == 0 { return reference.span }
                wanted = file.path
                break
            }
        }
        return nil
    }

    /// Returns the path of a file to which one of the scenario's files refers; `nil` if the path is outside the
    /// script's folder.
    func path(of reference: ScriptOutline.FileReference, in file: Int) -> String? {
        ScriptPath.file(reference.path, referencedIn: files[file].path, of: files[0].path)?.shown
    }

    /// The paths of the files that the document includes or tries to include.
    var includedPaths: Set<String> {
        var paths: Set<String> = []
        for (index, file) in files.enumerated() {
            if index > 0 { paths.insert(ScriptPath.normalized(file.path)) }
            for reference in file.outline.files where reference.isInclude {
                if let path = path(of: reference, in: index) { paths.insert(ScriptPath.normalized(path)) }
            }
        }
        return paths
    }
}
