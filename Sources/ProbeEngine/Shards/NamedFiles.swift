import ProbeBase
package import ProbeScenario

/// Hashes the contents of the files that scripts name in `file("…")`, because verdicts depend on them as they do on the
/// scripts.
///
/// The files are found by searching the text of the script for `file("`, because the files of a step are read only when
/// it runs. A file that a comment names is included too, which does no harm; a name that is computed or has an escape
/// is not.
package struct NamedFiles: Sendable {
    private static let beginning = Array("file(\"".utf8)

    /// The hash of each file that was read, so that a file named by several scripts is read once.
    private var known: [ScriptFile: UInt64] = [:]

    package init() {}

    /// Returns a hash of the files that a script and its includes name, in order of appearance. An unreadable file has
    /// its own kind of hash: the step that needs the file reports why.
    ///
    /// - Parameters:
    ///   - script: the path of the script.
    ///   - load: a function that reads a file.
    package mutating func hash(of sources: SourceMap, script: String, load: FileLoader) -> UInt64 {
        var hash = FNV1a()
        for source in sources.files {
            for name in NamedFiles.names(in: source.bytes.span) {
                guard let file = ScriptPath.file(name, referencedIn: source.path, of: script) else { continue }
                hash.add(name.utf8)
                hash.add(CollectionOfOne(0))
                withUnsafeBytes(of: contents(of: file, load).littleEndian) { hash.add($0) }
            }
        }
        return hash.value
    }

    private mutating func contents(of file: ScriptFile, _ load: FileLoader) -> UInt64 {
        if let hash = known[file] { return hash }
        var hash = FNV1a()
        // Why the file can't be read does not matter here: the step that needs it reports the reason.
        if let bytes = try? load(file) { hash.add(bytes) } else { hash.add("unreadable".utf8) }
        known[file] = hash.value
        return hash.value
    }

    /// Returns the text between each `file("` and the next quotation mark.
    private static func names(in bytes: Span<UInt8>) -> [String] {
        var names: [String] = []
        var start = 0
        while start + beginning.count <= bytes.count {
            guard beginning.indices.allSatisfy({ bytes[start + $0] == beginning[$0] }) else {
                start += 1
                continue
            }
            start += beginning.count
            var name: [UInt8] = []
            while start < bytes.count, bytes[start] != UInt8(ascii: "\""), bytes[start] != 10 {
                name.append(bytes[start])
                start += 1
            }
            if !name.contains(UInt8(ascii: "\\")) { names.append(String(decoding: name, as: UTF8.self)) }
        }
        return names
    }
}
