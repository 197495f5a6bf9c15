package import ProbeScenario

/// Writes the files that a script includes into the script, so that it stands alone.
package struct IncludedFiles {
    private let sources: SourceMap

    package init(_ sources: SourceMap) {
        self.sources = sources
    }

    /// The text of the script with each `include` replaced by the text of the file, once.
    package func inlined() -> [UInt8] {
        var seen: Set<String> = []
        return text(of: sources.files[0], &seen)
    }

    private func text(of file: SourceFile, _ seen: inout Set<String>) -> [UInt8] {
        let lines = SourceLines(file.bytes)
        var edits = TextEdits()
        for range in lines.lines(beginningWith: "include") {
            guard let quoted = lines.quoted(in: range) else { continue }
            let name = Self.normalized(
                Self.folder(of: file.path) + String(decoding: file.bytes[quoted], as: UTF8.self))
            guard let included = sources.files.first(where: { Self.normalized($0.path) == name }) else { continue }
            var body = ""
            if seen.insert(name).inserted {
                body = String(decoding: text(of: included, &seen), as: UTF8.self)
                if !body.isEmpty, !body.hasSuffix("\n") { body += "\n" }
            }
            edits.replace(range, with: body)
        }
        return edits.applied(to: file.bytes)
    }

    private static func folder(of path: String) -> String {
        path.lastIndex(of: "/").map { String(path[...$0]) } ?? ""
    }

    private static func normalized(_ path: String) -> String {
        var parts: [Substring] = []
        for part in path.split(separator: "/") where part != "." {
            if part == "..", let last = parts.last, last != ".." { parts.removeLast() } else { parts.append(part) }
        }
        return (path.hasPrefix("/") ? "/" : "") + parts.joined(separator: "/")
    }
}
