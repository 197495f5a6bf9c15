import ProbeBase
import ProbeScenario

/// The text of a script for another folder, in which `${dir}` in `process` lines and file names still refer to the same
/// files.
///
/// Only text that the language reads as a file name is changed, never a comment or another string. A file that the
/// script could not read in its old place, because it lies outside the script's folder, is not copied, and its name is
/// not changed.
package struct MovedScript {
    /// A file to be copied, because a script reads no file outside its folder.
    package struct Copy: Hashable, Sendable {
        /// A path relative to the old folder, and never outside it.
        package var source: String
        /// A path relative to the new folder, and never outside it.
        package var target: String
    }

    package private(set) var bytes: [UInt8]
    package private(set) var copies: [Copy] = []
    /// Whether a file's name is known only when the script runs, so that the file is not among the copies.
    package private(set) var hasUnknownFiles = false

    /// Moves a script.
    ///
    /// - Parameters:
    ///   - old: the script's current folder, absolute and without symbolic links.
    ///   - new: the folder that the script is written to, likewise.
    ///   - name: the name of the subfolder of `new` for copied files.
    ///   - value: returns the value of a variable; `nil` if it is not known before the script runs.
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
                // The script's own path is irrelevant here: the copy is named relative to its folder.
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

    /// Returns the end of each `${dir}` in a word of a `process` line, and whether it is in double quotes. In single
    /// quotes it is plain text.
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

    /// Returns the path as part of a word of a `process` line; `nil` if no word can express it.
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
