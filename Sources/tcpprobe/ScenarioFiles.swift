import Glibc
import ProbeEngine
import ProbeEvents
import ProbeScenario
import ProbeSockets

/// Finds the scenario files of the paths that were given, and compiles them.
struct ScenarioFiles {
    struct File {
        /// As the user gave it, or below a folder that they gave.
        var path: String
        /// Below the given root, without `.scn`.
        var id: String
    }

    /// Something is wrong with a path: what, and what to do.
    struct PathError: Error {
        var text: String
    }

    private(set) var files: [File] = []

    /// - Parameter paths: files, or folders that are walked for `*.scn`, in the order of their names.
    init(_ paths: [String]) throws(PathError) {
        for path in paths {
            let shown = EscapedBytes.safeText(path.utf8)
            guard SmallFile.exists(path) else {
                throw PathError(text: "\(shown): there is no such file or folder")
            }
            if SmallFile.isFolder(path) {
                let found = ScenarioFiles.walk(path, prefix: "", depth: 0)
                if found.isEmpty {
                    throw PathError(text: "\(shown): there are no scenarios (*.scn) in this folder")
                }
                files += found
            } else {
                files.append(File(path: path, id: ScenarioFiles.name(path)))
            }
        }
        makeUnique()
    }

    private static func walk(_ folder: String, prefix: String, depth: Int) -> [File] {
        if depth > 32 { return [] }
        var found: [File] = []
        let base = folder.hasSuffix("/") ? String(folder.dropLast()) : folder
        for name in (SmallFile.names(in: folder) ?? []).sorted() where !name.hasPrefix(".") {
            let path = "\(base)/\(name)"
            if SmallFile.isFolder(path) {
                found += walk(path, prefix: "\(prefix)\(name)/", depth: depth + 1)
            } else if name.hasSuffix(".scn") {
                found.append(File(path: path, id: prefix + String(name.dropLast(4))))
            }
        }
        return found
    }

    private static func name(_ path: String) -> String {
        let name = path.split(separator: "/").last.map(String.init) ?? path
        return name.hasSuffix(".scn") ? String(name.dropLast(4)) : name
    }

    /// Two files with one id (from two roots) are told apart by their whole paths; the same file twice is one.
    private mutating func makeUnique() {
        var seenPaths: Set<String> = []
        files = files.filter { seenPaths.insert($0.path).inserted }
        var counts: [String: Int] = [:]
        for file in files { counts[file.id, default: 0] += 1 }
        for index in files.indices where counts[files[index].id, default: 0] > 1 {
            let path = files[index].path
            files[index].id = path.hasSuffix(".scn") ? String(path.dropLast(4)) : path
        }
    }

    // MARK: Compiling

    struct Compiled {
        var file: File
        var result: CompilationResult
    }

    /// The largest script that is read.
    static let largestScript = 64 << 20

    static func compile(_ file: File, settings: [String: [UInt8]] = [:]) throws(PathError) -> Compiled {
        let bytes: [UInt8]
        do throws(SystemError) {
            bytes = try SmallFile.contents(of: file.path, limit: largestScript + 1)
        } catch {
            throw PathError(text: "\(EscapedBytes.safeText(file.path.utf8)): it can't be read: \(error.reason)")
        }
        if bytes.count > largestScript {
            throw PathError(text: "\(EscapedBytes.safeText(file.path.utf8)): it is larger than 64 MiB: this is no scenario")
        }
        let result = ScenarioCompiler.compile(path: file.path, bytes: bytes, settings: settings, loader: FileAccess.load)
        return Compiled(file: file, result: result)
    }

    /// The absolute folder of a file.
    static func folder(of path: String) -> String {
        let folder = path.lastIndex(of: "/").map { String(path[..<$0]) } ?? "."
        guard let resolved = realpath(folder.isEmpty ? "/" : folder, nil) else { return folder }
        defer { free(resolved) }
        return String(cString: resolved)
    }
}
