/// Reads a file for a scenario: an include, or the argument of `file(…)`. A loader must verify that no symbolic link
/// points outside the script's folder, and that the file is a regular file.
package typealias FileLoader = @Sendable (ScriptFile) throws(LoadError) -> [UInt8]

/// A file that a script names.
package struct ScriptFile: Hashable, Sendable {
    /// The folder of the script being run. Files outside this folder are never read. The path of the folder is
    /// absolute, or relative to the same folder as the script's path, and is empty for the current folder.
    package var folder: String
    /// The path relative to the script's folder, without `..`.
    package var path: String

    /// The path shown in messages, in the same form as the path that the user gave.
    package var shown: String { ScriptPath.join(folder, path) }
}

/// The reason why a file could not be read.
package enum LoadError: Error, Sendable, Equatable {
    case notFound
    case isFolder
    case notPermitted
    /// A symbolic link points to a file outside the script's folder.
    case outsideFolder
    /// The file is not a regular file but, for example, a pipe or a device.
    case notRegular
    /// Reading the file failed with this error message from the system.
    case failed(String)

    /// The reason for the error, worded to follow a colon.
    package var reason: String {
        switch self {
        case .notFound: "no such file"
        case .isFolder: "it is a folder"
        case .notPermitted: "permission denied"
        case .outsideFolder: "a symbolic link points outside the script's folder"
        case .notRegular: "it is not a regular file"
        case .failed(let reason): reason
        }
    }
}

/// Operations on paths as text, without system calls.
package enum ScriptPath {
    /// Returns the folder of a file: `a` for `a/b.scn`, the empty path for `b.scn`.
    static func folder(of path: String) -> String {
        guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) else { return "" }
        return slash == path.startIndex ? "/" : String(path[..<slash])
    }

    static func join(_ folder: String, _ path: String) -> String {
        if folder.isEmpty { return path }
        return folder == "/" ? "/" + path : folder + "/" + path
    }

    /// Returns the file to which a path in a script, or in a file included by the script, refers.
    ///
    /// - Parameters:
    ///   - path: the path as written in the script or include.
    ///   - file: the path of the file that contains the reference: the script's path, or ``ScriptFile/shown`` of an
    ///     include.
    ///   - script: the script's path.
    /// - Returns: the file; `nil` if the file is outside the script's folder.
    package static func file(_ path: String, referencedIn file: String, of script: String) -> ScriptFile? {
        guard path.utf8.first != UInt8(ascii: "/") else { return nil }
        let root = folder(of: script)
        // The folder of an include is the script's folder, or a descendant of it.
        let whole = folder(of: file).utf8.dropFirst(root.utf8.count)
        let below = String(decoding: whole.drop { $0 == UInt8(ascii: "/") }, as: UTF8.self)
        let joined = join(below, path)
        guard staysInside(joined) else { return nil }
        return ScriptFile(folder: root, path: normalized(joined))
    }

    /// Returns the path without `.`, `..` and empty components, as far as possible without access to the file system.
    package static func normalized(_ path: String) -> String {
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

    /// Returns whether a relative path stays inside the folder to which it is relative.
    static func staysInside(_ path: String) -> Bool {
        guard path.utf8.first != UInt8(ascii: "/") else { return false }
        return !normalized(path).split(separator: "/").contains("..")
    }
}
