import ProbeBase
package import ProbeScenario

/// Hashes the contents of the files that scripts name in `file("…")`. Verdicts depend on these files as well as on the
/// scripts.
///
/// The files are found by searching the script's text for `file("`, because a step reads its files only when it runs. A
/// file named in a comment is also included, but this does no harm. A file whose name is computed or contains an escape
/// is not included.
package struct NamedFiles: Sendable {
    private static let beginning = Array("file(\"".utf8)

    /// The hashes of the files that have been read. A file named by several scripts is read only once.
    private var known: [ScriptFile: UInt64] = [:]

    package init() {}

    /// Returns a hash of the files that a script and its includes name, in the order in which they are named. An
    /// unreadable file has a special hash; the step that needs the file reports the reason.
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
        // The reason why the file can't be read is reported by the step that needs the file.
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
