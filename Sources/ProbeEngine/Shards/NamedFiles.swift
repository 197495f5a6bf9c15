import ProbeBase
package import ProbeScenario

/// The contents of the files that scripts name in `file("…")`: on them verdicts depend as on the scripts.
///
/// They are found by the text of the script, wherever `file("` stands in it, because the files of a step are read when it runs. A file that
/// a comment names is taken too, which does no harm; a name with an escape, or that is computed, is not.
package struct NamedFiles: Sendable {
    private static let beginning = Array("file(\"".utf8)

    /// The hash of each file that was read, so that a file of many scripts is read once.
    private var known: [ScriptFile: UInt64] = [:]

    package init() {}

    /// A hash of the files that a script and its includes name, in the order in which they stand there. A file that can't be read counts as
    /// one of its own kind: the step that needs it says why.
    ///
    /// - Parameters:
    ///   - script: the path of the script.
    ///   - load: reads a file.
    package mutating func hash(of sources: SourceMap, script: String, load: FileLoader) -> UInt64 {
        var hash = FNV1a()
        for source in sources.files {
            for name in NamedFiles.names(in: source.bytes.span) {
                guard let file = ScriptPath.file(name, saidIn: source.path, of: script) else { continue }
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
        // Why it can't be read does not matter here: the step that needs it says so.
        if let bytes = try? load(file) { hash.add(bytes) } else { hash.add("unreadable".utf8) }
        known[file] = hash.value
        return hash.value
    }

    /// What stands between `file("` and the next quotation mark.
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
