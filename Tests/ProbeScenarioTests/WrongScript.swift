@testable import ProbeScenario

/// An entry in `Tests/Golden/wrong-scripts.txt`:
///
///     === name
///     the script, with 1️⃣ before each place that is reported
///     --- file common.scn
///     another file, for includes
///     --- expected
///     1️⃣ error unknown-verb: a server has no verb `sned`
///        hint: did you mean `send`?
struct WrongScript: Sendable {
    var name: String
    /// The script without marks.
    var script: String
    var files: [String: String] = [:]
    /// The entry as it appears in the file, without its first line.
    var golden: String

    static func parse(_ text: String) -> [WrongScript] {
        text.split(separator: "\n=== ").map { entry in
            let whole = entry.hasPrefix("=== ") ? entry.dropFirst(4) : entry
            let lines = whole.split(separator: "\n", omittingEmptySubsequences: false)
            var script = WrongScript(name: String(lines[0]), script: "", golden: "")
            script.golden = lines.dropFirst().joined(separator: "\n").trimmingNewlines
            var section = ""
            var sections: [String: [Substring]] = [:]
            for line in lines.dropFirst() {
                if line.hasPrefix("--- ") {
                    section = String(line.dropFirst(4))
                } else {
                    sections[section, default: []].append(line)
                }
            }
            for (name, lines) in sections {
                let text = unmarked(lines.joined(separator: "\n")).trimmingNewlines + "\n"
                if name.isEmpty { script.script = text }
                if name.hasPrefix("file ") { script.files[String(name.dropFirst(5))] = text }
            }
            return script
        }
    }

    /// The entry with the compiler's current output.
    var actual: String {
        let result = compile(script, path: "wrong.scn", files: files)
        var marks: [Int: [(Int, String)]] = [:]
        var expected = ""
        for (index, diagnostic) in result.diagnostics.enumerated() {
            let mark = Self.mark(index + 1)
            marks[diagnostic.span.file, default: []].append((diagnostic.span.start, mark))
            expected += "\(mark) \(diagnostic.severity.rawValue) \(diagnostic.id.rawValue): \(diagnostic.text)\n"
            if let hint = diagnostic.hint { expected += "   hint: \(Self.named(hint))\n" }
            for note in diagnostic.notes {
                expected += "   note, line \(result.sources.location(of: note.span).line): \(note.text)\n"
            }
        }
        var text = Self.marked(script, marks[0] ?? [])
        for (index, file) in result.sources.files.enumerated().dropFirst() {
            text +=
                "--- file \(file.path)\n" + Self.marked(String(decoding: file.bytes, as: UTF8.self), marks[index] ?? [])
        }
        for (name, contents) in files.sorted(by: { $0.key < $1.key })
        where !result.sources.files.contains(where: { $0.path == name }) {
            text += "--- file \(name)\n\(contents)"
        }
        return (text + "--- expected\n" + expected).trimmingNewlines
    }

    /// Returns a hint in which a complete list is replaced with its name, so that additions to the language don't
    /// change golden texts.
    private static func named(_ hint: String) -> String {
        lists.reduce(hint) { $0.replacing($1.text, with: "{\($1.name)}") }
    }

    private static let lists: [(name: String, text: String)] = {
        var lists: [(name: String, words: [String])] = [("wire statements", WirePhrases.choices)]
        for kind in [ActorKind.server, .client, .connection, .subject, .process] {
            lists.append(("verbs of a \(kind.rawValue)", LanguageTable.verbChoices(of: kind)))
            lists.append(("expectations of a \(kind.rawValue)", LanguageTable.expectationChoices(of: kind)))
        }
        return lists.map { ($0.name, $0.words.joined(separator: ", ")) }.sorted { $0.1.utf8.count > $1.1.utf8.count }
    }()

    private static func mark(_ number: Int) -> String { "\(number)\u{FE0F}\u{20E3}" }

    private static func marked(_ text: String, _ marks: [(Int, String)]) -> String {
        var bytes = Array(text.utf8)
        for (offset, mark) in marks.sorted(by: { $0 > $1 }) {
            bytes.insert(contentsOf: mark.utf8, at: min(offset, bytes.count))
        }
        let result = String(decoding: bytes, as: UTF8.self)
        return result.hasSuffix("\n") ? result : result + "\n"
    }

    private static func unmarked(_ text: String) -> String {
        var result = ""
        for character in text where !character.unicodeScalars.contains("\u{20E3}") { result.append(character) }
        return result
    }
}

extension String {
    var trimmingNewlines: String {
        var text = self[...]
        while text.hasSuffix("\n") { text = text.dropLast() }
        return String(text)
    }
}
