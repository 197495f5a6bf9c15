import ProbeBase

/// The text of a script for another folder: `${dir}` and the arguments of `file()` still mean the same files.
package struct MovedScript {
    /// A file to be copied, because a script reads no file outside its folder.
    package struct Copy: Hashable, Sendable {
        /// Relative to the old folder.
        package var source: String
        /// Relative to the new folder.
        package var target: String
    }

    package private(set) var bytes: [UInt8]
    package private(set) var copies: [Copy] = []

    /// - Parameters:
    ///   - old: the folder of the script so far, absolute and without links.
    ///   - new: the folder that it is written to, likewise.
    ///   - name: of the folder, in the new one, for copies of files.
    package init(_ bytes: [UInt8], from old: String, to new: String, copiesBelow name: String) {
        self.bytes = bytes
        if old == new { return }
        var edits = TextEdits()
        let relative = Self.relative(from: new, to: old)
        for place in Self.places(of: "${dir}", in: bytes) {
            edits.replace(place..<(place + 6), with: "${dir}/\(relative)")
        }
        for place in Self.places(of: "file(\"", in: bytes) {
            let start = place + 6
            guard let end = bytes[start...].firstIndex(of: UInt8(ascii: "\"")) else { continue }
            let path = String(decoding: bytes[start..<end], as: UTF8.self)
            if path.contains("$") || path.contains("\\") { continue }
            let copy = Copy(source: path, target: "\(name)/\(path)")
            if !copies.contains(copy) { copies.append(copy) }
            edits.replace(start..<end, with: copy.target)
        }
        self.bytes = edits.applied(to: bytes)
    }

    private static func places(of text: String, in bytes: [UInt8]) -> [Int] {
        let wanted = Array(text.utf8)
        guard bytes.count >= wanted.count else { return [] }
        return (0...(bytes.count - wanted.count)).filter { bytes[$0...].starts(with: wanted) }
    }

    /// The way from one absolute folder to another.
    package static func relative(from: String, to: String) -> String {
        let (from, to) = (from.split(separator: "/"), to.split(separator: "/"))
        let same = zip(from, to).prefix { $0 == $1 }.count
        let steps = Array(repeating: "..", count: from.count - same) + to.dropFirst(same).map(String.init)
        return steps.isEmpty ? "." : steps.joined(separator: "/")
    }
}
