import ProbeBase
import ProbeScenario

/// The text of a script that is moved to another folder. The file names in the script, and `${dir}` in its `process`
/// lines, are changed so that they still refer to the same files.
///
/// Only text that the language interprets as a file name is changed, not comments or other strings. If a file is
/// outside the script's folder, the script could not read it before either, so the file is not copied and its name is
/// not changed.
package struct MovedScript {
    /// A file that must be copied, because a script can't read files outside its folder.
    package struct Copy: Hashable, Sendable {
        /// The path relative to the old folder. The file is always inside this folder.
        package var source: String
        /// The path relative to the new folder. The file is always inside this folder.
        package var target: String
    }

    package private(set) var bytes: [UInt8]
    package private(set) var copies: [Copy] = []
    /// Whether the script uses a file that can't be copied, because the file's name is unknown before the script runs.
    package private(set) var hasUnknownFiles = false

    /// Changes the file names in a script for another folder.
    ///
    /// - Parameters:
    ///   - old: the script's current folder, as an absolute path without symbolic links.
    ///   - new: the folder to which the script is written, as an absolute path without symbolic links.
    ///   - name: the name of the subfolder of `new` that receives the copied files.
    ///   - value: a function that returns the value of a variable; `nil` if the value is unknown before the script
    ///     runs.
    package init(
        _ bytes: [UInt8], from old: String, to new: String, copiesBelow name: String,
        value: (String) -> String? = { _ in nil }
    ) {
        self.bytes = bytes
        if old == new { return }
        let outline = ScriptOutline(bytes)
        var edits = TextEdits()
        let relative = Self.relative(from: new, to: old)
        for token in outline.tokens where token.kind == .shellWord {
            for place in Self.directories(in: bytes, Int(token.start)..<Int(token.end)) {
                guard let path = Self.quoted(relative, isQuoted: place.isQuoted) else { continue }
                edits.replace(place.end..<place.end, with: "/" + path)
            }
        }
        let named = NamedPaths(outline, value: value)
        for place in named.places {
            if let path = place.path {
                // The script's own name is irrelevant, because the copy's path is relative to the script's folder.
                guard let file = ScriptPath.file(path, referencedIn: "a.scn", of: "a.scn") else { continue }
                let copy = Copy(source: file.path, target: "\(name)/\(file.path)")
                if !copies.contains(copy) { copies.append(copy) }
            } else {
                hasUnknownFiles = true
            }
            named.prefix(place, with: name, in: outline, &edits)
        }
        self.bytes = edits.applied(to: bytes)
    }

    /// Returns the end of each `${dir}` in a word of a `process` line, and whether the `${dir}` is within double
    /// quotes. In single quotes, `${dir}` is literal text and is not returned.
    private static func directories(in bytes: [UInt8], _ word: Range<Int>) -> [(end: Int, isQuoted: Bool)] {
        let name = Array("${dir}".utf8)
        var places: [(end: Int, isQuoted: Bool)] = []
        var index = word.lowerBound
        var isQuoted = false
        while index < word.upperBound {
            switch bytes[index] {
            case UInt8(ascii: "'") where !isQuoted:
                let rest = bytes[(index + 1)..<word.upperBound]
                index = rest.firstIndex(of: UInt8(ascii: "'")) ?? word.upperBound
            case UInt8(ascii: "\""): isQuoted.toggle()
            case UInt8(ascii: "\\"): index += 1
            case UInt8(ascii: "$") where bytes[index..<word.upperBound].starts(with: name):
                index += name.count - 1
                places.append((index + 1, isQuoted))
            default: break
            }
            index += 1
        }
        return places
    }

    /// Returns the path in the form required within a word of a `process` line; `nil` if a word can't contain the path.
    private static func quoted(_ path: String, isQuoted: Bool) -> String? {
        if path.utf8.contains(10) { return nil }
        var text = ""
        for scalar in path.unicodeScalars {
            let isPlain =
                scalar.properties.isAlphabetic || scalar.properties.numericType != nil
                || "/._-".contains(String(scalar))
            let isSpecial = isQuoted ? "$`\"\\".unicodeScalars.contains(scalar) : !isPlain && scalar.isASCII
            if isSpecial { text += "\\" }
            text.unicodeScalars.append(scalar)
        }
        return text
    }

    /// Returns the relative path from one absolute folder to another.
    package static func relative(from: String, to: String) -> String {
        let (from, to) = (from.split(separator: "/"), to.split(separator: "/"))
        let same = zip(from, to).prefix { $0 == $1 }.count
        let steps = Array(repeating: "..", count: from.count - same) + to.dropFirst(same).map(String.init)
        return steps.isEmpty ? "." : steps.joined(separator: "/")
    }
}
