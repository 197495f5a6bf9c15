import Glibc
package import ProbeScenario
import ProbeSockets

/// Reads the files that a script names.
package enum FileAccess {
    /// Bytes that a file may have.
    package static let limit = 256 << 20

    /// The loader that ``ScenarioCompiler`` and the evaluator are given.
    package static let load: FileLoader = { (path) throws(LoadError) in
        if SmallFile.isFolder(path) { throw .isFolder }
        let bytes: [UInt8]
        do throws(SystemError) {
            bytes = try SmallFile.contents(of: path, limit: limit + 1)
        } catch {
            switch error.code {
            case ENOENT, ENOTDIR: throw .notFound
            case EACCES, EPERM: throw .notPermitted
            default: throw .failed(error.reason)
            }
        }
        if bytes.count > limit { throw .failed("it is larger than 256 MiB") }
        return bytes
    }
}
