package import ProbeBase
import Glibc
import ProbeEvents
package import ProbeScenario
import ProbeSystem

/// Finds the scenario files of the given paths, and compiles them.
package struct ScenarioFiles {
    package struct File {
        /// The path as the user gave it, or below a folder that the user gave.
        package var path: String
        /// The path below the given root, without `.scn`.
        package var id: String

        package init(path: String, id: String) {
            self.path = path
            self.id = id
        }
    }

    /// A problem with a path: what is wrong, and what to do.
    package struct PathError: Error {
        package var text: String

        package init(text: String) { self.text = text }
    }

    package private(set) var files: [File] = []

    /// Finds the scenario files.
    ///
    /// - Parameter paths: files, or folders that are searched for `*.scn`, in the order of their names.
    /// - Throws: everything that is wrong with any of the paths.
    package init(_ paths: [String]) throws(PathError) {
        var problems: [String] = []
        for path in paths {
            let shown = Escaped.text(path.utf8)
            guard SmallFile.exists(path) else {
                problems.append("\(shown): \(ScenarioFiles.whyMissing())" + ScenarioFiles.hint(path))
                continue
            }
            guard SmallFile.isFolder(path) else {
                files.append(File(path: path, id: ScenarioFiles.ownID(of: path)))
                continue
            }
            var walk = Walk(path)
            walk.enter(path, prefix: "")
            if walk.found.isEmpty && walk.problems.isEmpty {
                problems.append("\(shown): the folder contains no scenarios (*.scn)")
            }
            problems += walk.problems
            files += walk.found
        }
        // `Failure.invalidUsage` writes the first `error: `.
        if !problems.isEmpty { throw PathError(text: problems.joined(separator: "\nerror: ")) }
        makeUnique()
    }

    /// Returns why a path is missing. Must be called right after `access` has failed.
    private static func whyMissing() -> String {
        let code = errno
        return code == ENOENT
            ? "no such file or folder" : "can't be read: \(String(cString: strerror(code)))"
    }

    /// Returns a hint for a name that is not UTF-8: such an argument arrives with replacement characters, and its file
    /// can't be opened.
    private static func hint(_ path: String) -> String {
        path.unicodeScalars.contains("\u{fffd}")
            ? "; rename the file: a name that is not UTF-8 can't be passed as an argument" : ""
    }

    /// A walk through a folder and its subfolders. Each folder is entered once, so that a link upwards does not make
    /// the walk endless. A link that leads out of the folder is not followed, because the user did not name its target.
    private struct Walk {
        /// The path of the folder, absolute and without links.
        private let root: String
        private(set) var found: [File] = []
        private(set) var problems: [String] = []
        private var entered: Set<String> = []

        init(_ path: String) { root = ScenarioFiles.resolved(path) }

        mutating func enter(_ folder: String, prefix: String) {
            guard entered.insert(ScenarioFiles.resolved(folder)).inserted else { return }
            guard let names = SmallFile.names(in: folder) else {
                let reason = String(cString: strerror(errno))
                problems.append("\(Escaped.text(folder.utf8)): the folder can't be read: \(reason)")
                return
            }
            let base = folder.hasSuffix("/") ? String(folder.dropLast()) : folder
            for name in names.sorted() where !name.hasPrefix(".") {
                let path = "\(base)/\(name)"
                let isFolder = SmallFile.isFolder(path)
                guard isFolder || name.hasSuffix(".scn") else { continue }
                if let problem = problem(path, isFolder) {
                    problems.append("\(Escaped.text(path.utf8)): \(problem)")
                } else if isFolder {
                    enter(path, prefix: "\(prefix)\(name)/")
                } else {
                    found.append(File(path: path, id: prefix + String(name.dropLast(4))))
                }
            }
        }

        /// Returns why an entry of the folder is neither entered nor read; `nil` if it can be.
        private func problem(_ path: String, _ isFolder: Bool) -> String? {
            if SmallFile.linkTarget(path) != nil, let target = ScenarioFiles.real(path) {
                if target != root && !target.hasPrefix(root == "/" ? "/" : root + "/") {
                    return "the link leads out of the folder: pass its target as a separate path"
                }
            }
            // A missing file is reported when it is read.
            guard !isFolder, let status = FileStatus(at: path), !status.isRegular else { return nil }
            return "not a regular file"
        }
    }

    private static func lastPart(_ path: String) -> String {
        path.split(separator: "/").last.map(String.init) ?? path
    }

    /// Returns the id of a script that is given by itself: its name.
    package static func ownID(of path: String) -> String {
        let name = lastPart(path)
        return name.hasSuffix(".scn") ? String(name.dropLast(4)) : name
    }

    /// Makes the ids unique. Two files with the same id (from two roots) are distinguished by their whole paths. The
    /// same file given twice counts once, however its path is written; a link with a different name is a separate file.
    private mutating func makeUnique() {
        var seenPaths: Set<String> = []
        files = files.filter {
            seenPaths.insert(ScenarioFiles.folder(of: $0.path) + "/" + ScenarioFiles.lastPart($0.path)).inserted
        }
        var counts: [String: Int] = [:]
        for file in files { counts[file.id, default: 0] += 1 }
        for index in files.indices where counts[files[index].id, default: 0] > 1 {
            let path = files[index].path
            files[index].id = path.hasSuffix(".scn") ? String(path.dropLast(4)) : path
        }
        // `a` and `a.scn`, or a path that is the id of another file: the later ones are numbered.
        var taken: Set<String> = []
        for index in files.indices {
            let id = files[index].id
            var number = 1
            while !taken.insert(files[index].id).inserted {
                number += 1
                files[index].id = "\(id)#\(number)"
            }
        }
    }

    // MARK: Compiling

    package struct Compiled {
        package var file: File
        package var result: CompilationResult
    }

    /// The size in bytes of the largest script that is read.
    package static let largestScript = 64 << 20

    /// Returns the bytes of a script.
    package static func read(_ file: File) throws(PathError) -> [UInt8] {
        let bytes: [UInt8]
        do throws(SystemError) {
            bytes = try InputFile.contents(of: file.path, limit: largestScript + 1)
        } catch {
            throw PathError(text: "\(Escaped.text(file.path.utf8)): can't be read: \(error.reason)")
        }
        if bytes.count > largestScript {
            throw PathError(
                text: "\(Escaped.text(file.path.utf8)): larger than 64 MiB, so it is not a scenario")
        }
        return bytes
    }

    /// Reads and compiles a script.
    ///
    /// - Parameter targets: the addresses that the script may use; `nil` for any.
    package static func compile(
        _ file: File, settings: [String: [UInt8]] = [:], allowing targets: AllowedTargets?
    ) throws(PathError) -> Compiled {
        let bytes = try read(file)
        let result = ScenarioCompiler.compile(
            path: file.path, bytes: bytes, settings: settings, allowing: targets, loader: FileAccess.load)
        return Compiled(file: file, result: result)
    }

    /// Returns the absolute folder of a file.
    package static func folder(of path: String) -> String {
        let folder = path.lastIndex(of: "/").map { String(path[..<$0]) } ?? "."
        return resolved(folder.isEmpty ? "/" : folder)
    }

    /// Returns the absolute path without links, or `path` itself if it can't be resolved.
    private static func resolved(_ path: String) -> String { real(path) ?? path }

    /// Returns the absolute path without links; `nil` if it can't be resolved.
    private static func real(_ path: String) -> String? {
        guard let resolved = realpath(path, nil) else { return nil }
        defer { free(resolved) }
        return String(cString: resolved)
    }
}
