import Testing

/// A folder in `Sources/` that is a target of the package, as described in the table of rooms in docs/ARCHITECTURE.md.
struct Room: Sendable, CustomTestStringConvertible {
    /// The path of the room's folder, relative to `Sources/`.
    var folder: String
    var mayImport: Set<String>

    var testDescription: String { folder }

    /// All rooms (the package's targets in `Sources/`), in the order of the table in docs/ARCHITECTURE.md. A room is
    /// above all rooms that it imports.
    static let all: [Room] = rows()

    private static func rows() -> [Room] {
        var found: [Room] = []
        let page = Repository.text("docs/ARCHITECTURE.md") ?? ""
        let section = page.split(separator: "\n## ").first { $0.hasPrefix("Rooms\n") } ?? ""
        for line in section.split(separator: "\n") {
            let cells = line.split(separator: "|", omittingEmptySubsequences: false)
            guard cells.count == 5, let folder = words(of: cells[1]).first else { continue }
            found.append(Room(folder: folder, mayImport: Set(words(of: cells[3]))))
        }
        return found
    }

    /// Returns the texts in backticks in a cell of the table of rooms.
    private static func words(of cell: Substring) -> [String] {
        cell.matches(of: /`([^`]+)`/).map { String($0.1) }
    }

    /// The modules that the files of the room import, each with the path of one file that imports it.
    var imports: [String: String] {
        var found: [String: String] = [:]
        let pattern =
            #/
            (?m) ^ (?: @\S+ \s )* (?: (?: public | package | internal | private | fileprivate ) \s )?
            import \s (?: (?: struct | class | enum | protocol | func | var | let | typealias ) \s )? (\w+)
            /#
        for path in Repository.files(below: "Sources/\(folder)", ending: ".swift") {
            for match in (Repository.text(path) ?? "").matches(of: pattern) { found[String(match.1)] = path }
        }
        return found
    }
}
