package import ProbeScenario

/// Replaces the `include` statements of a script with the contents of the included files, so that the script is
/// self-contained.
package struct IncludedFiles {
    private let sources: SourceMap
    private var script: String { sources.files[0].path }

    package init(_ sources: SourceMap) {
        self.sources = sources
    }

    /// Returns the text of the script with each included file inserted at its first `include`. Paths in an included
    /// file are made relative to the script's folder.
    package func inlined() -> [UInt8] {
        var seen: Set<String> = []
        return text(of: sources.files[0], &seen)
    }

    private func text(of file: SourceFile, _ seen: inout Set<String>) -> [UInt8] {
        let outline = ScriptOutline(file.bytes)
        let lines = SourceLines(file.bytes)
        var edits = TextEdits()
        for reference in outline.files where reference.isInclude {
            guard let token = outline.token(at: reference.span.lowerBound),
                let statement = outline.statement(of: token),
                let named = ScriptPath.file(reference.path, referencedIn: file.path, of: script),
                let included = source(named)
            else { continue }
            var body = ""
            if seen.insert(ScriptPath.normalized(named.shown)).inserted {
                body = String(decoding: text(of: included, &seen), as: UTF8.self)
                if !body.isEmpty, !body.hasSuffix("\n") { body += "\n" }
            }
            edits.replace(lines.whole(outline.span(of: statement)), with: body)
        }
        if let below = folderBelowScript(file) {
            let named = NamedPaths(outline)
            for place in named.places { named.prefix(place, with: below, in: outline, &edits) }
        }
        return edits.applied(to: file.bytes)
    }

    private func source(_ named: ScriptFile) -> SourceFile? {
        let path = ScriptPath.normalized(named.shown)
        return sources.files.first { ScriptPath.normalized($0.path) == path }
    }

    /// Returns the path of an included file's folder, relative to the script's folder; `nil` if the two folders are the
    /// same.
    private func folderBelowScript(_ file: SourceFile) -> String? {
        guard let here = ScriptPath.file("x", referencedIn: file.path, of: script) else { return nil }
        let parts = here.path.split(separator: "/").dropLast()
        return parts.isEmpty ? nil : parts.joined(separator: "/")
    }
}
