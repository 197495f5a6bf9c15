/// Reads a file for a scenario: an include, or the argument of `file(…)`. The path is relative to what the scenario's own
/// path is relative to, or absolute.
package typealias FileLoader = @Sendable (String) throws(LoadError) -> [UInt8]

/// Why a file could not be read.
package enum LoadError: Error, Sendable, Equatable {
    case notFound
    case isFolder
    case notPermitted
    /// What the system said.
    case failed(String)

    /// For the middle of a sentence.
    package var reason: String {
        switch self {
        case .notFound: "there is no such file"
        case .isFolder: "it is a folder"
        case .notPermitted: "reading it is not permitted"
        case .failed(let reason): reason
        }
    }
}

/// Paths as text: nothing here asks the system.
enum ScriptPath {
    /// The folder of a file: `a/b.scn` gives `a`, `b.scn` gives the empty path.
    static func folder(of path: String) -> String {
        guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) else { return "" }
        return slash == path.startIndex ? "/" : String(path[..<slash])
    }

    static func resolve(_ path: String, relativeTo file: String) -> String {
        if path.utf8.first == UInt8(ascii: "/") { return path }
        let folder = folder(of: file)
        if folder.isEmpty { return path }
        return folder == "/" ? "/" + path : folder + "/" + path
    }

    /// Without `.`, `..` and empty parts, as far as the text tells.
    static func normalized(_ path: String) -> String {
        var parts: [Substring] = []
        for part in path.split(separator: "/") where part != "." {
            if part == "..", let last = parts.last, last != ".." {
                parts.removeLast()
            } else {
                parts.append(part)
            }
        }
        return (path.utf8.first == UInt8(ascii: "/") ? "/" : "") + parts.joined(separator: "/")
    }

    /// Whether a path, taken from a folder, stays in it.
    static func staysInside(_ path: String) -> Bool {
        guard path.utf8.first != UInt8(ascii: "/") else { return false }
        return !normalized(path).split(separator: "/").contains("..")
    }
}
