package import ProbeBase
import Glibc
import ProbeEvents
package import ProbeScenario
import ProbeSystem

/// Finds the scenario files in the given paths, and compiles them.
package struct ScenarioFiles {
    package struct File {
        /// The path of the file. It begins with a path that the user gave.
        package var path: String
        /// The path relative to a path that the user gave, without `.scn`.
        package var id: String

        package init(path: String, id: String) {
            self.path = path
            self.id = id
        }
    }

    /// An error that describes what is wrong with a path, and how to fix it.
    package struct PathError: Error {
        package var text: String

        package init(text: String) { self.text = text }
    }

    package private(set) var files: [File] = []

    /// Finds the scenario files.
    ///
    /// - Parameter paths: paths of files, and of folders, which are searched for `*.scn` in the order of their names.
    /// - Throws: an error that lists the problems of all paths.
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
        // `Failure.invalidUsage` puts `error: ` in front of the first problem.
        if !problems.isEmpty { throw PathError(text: problems.joined(separator: "\nerror: ")) }
        makeUnique()
    }

    /// Returns the reason why a path can't be accessed. Must be called immediately after `access` has failed, because
    /// it reads `errno`.
    private static func whyMissing() -> String {
        let code = errno
        return code == ENOENT
            ? "no such file or folder" : "can't be read: \(String(cString: strerror(code)))"
    }

    /// Returns a hint for a file name that is not valid UTF-8. Such a name arrives as an argument with replacement
    /// characters, so the file can't be opened.
    private static func hint(_ path: String) -> String {
        path.unicodeScalars.contains("\u{fffd}")
            ? "; rename the file: a name that is not UTF-8 can't be passed as an argument" : ""
    }

    /// A walk through a folder and its subfolders. Each folder is entered only once, so symbolic links can't make the
    /// walk endless. A symbolic link to a target outside of the folder is not followed, because the user did not name
    /// that target.
    private struct Walk {
        /// The absolute path of the folder, without symbolic links.
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

        /// Returns the reason why an entry of the folder is neither entered nor read; `nil` if the entry is entered or
        /// read.
        private func problem(_ path: String, _ isFolder: Bool) -> String? {
            if SmallFile.linkTarget(path) != nil, let target = ScenarioFiles.real(path) {
                if target != root && !target.hasPrefix(root == "/" ? "/" : root + "/") {
                    return "the symbolic link points outside the folder: pass its target as a separate path"
                }
            }
            // A missing file is reported later, when it is read.
            guard !isFolder, let status = FileStatus(at: path), !status.isRegular else { return nil }
            return "not a regular file"
        }
    }

    private static func lastPart(_ path: String) -> String {
        path.split(separator: "/").last.map(String.init) ?? path
    }

    /// Returns the id of a script that the user names directly: the file name without `.scn`.
    package static func ownID(of path: String) -> String {
        let name = lastPart(path)
        return name.hasSuffix(".scn") ? String(name.dropLast(4)) : name
    }

    /// Makes the ids unique. If several files have the same id, their paths are used as ids instead. A file that is
    /// given twice is included once, even if the two paths differ. A symbolic link with another name counts as a
    /// separate file.
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
        // Several files may have the same id, for example `a` and `a.scn`, or a file whose path equals another file's
        // id. A number is then appended to the ids of the later files.
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

    /// The maximum size of a script, in bytes.
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
    /// - Parameter targets: the addresses that the script may use; `nil` for any address.
    package static func compile(
        _ file: File, settings: [String: [UInt8]] = [:], allowing targets: AllowedTargets?
    ) throws(PathError) -> Compiled {
        let bytes = try read(file)
        let result = ScenarioCompiler.compile(
            path: file.path, bytes: bytes, settings: settings, allowing: targets, loader: FileAccess.load)
        return Compiled(file: file, result: result)
    }

    /// Returns the absolute path of the folder that contains a file.
    package static func folder(of path: String) -> String {
        let folder = path.lastIndex(of: "/").map { String(path[..<$0]) } ?? "."
        return resolved(folder.isEmpty ? "/" : folder)
    }

    /// Returns the absolute path without symbolic links, or `path` itself if it can't be resolved.
    private static func resolved(_ path: String) -> String { real(path) ?? path }

    /// Returns the absolute path without symbolic links; `nil` if it can't be resolved.
    private static func real(_ path: String) -> String? {
        guard let resolved = realpath(path, nil) else { return nil }
        defer { free(resolved) }
        return String(cString: resolved)
    }
}
