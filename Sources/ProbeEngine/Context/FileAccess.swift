import Glibc
import ProbeBase
package import ProbeScenario
import ProbeSystem

/// Reads the files that a script refers to.
package enum FileAccess {
    /// The maximum size of a file, in bytes.
    package static let limit = 256 << 20

    /// The loader for ``ScenarioCompiler`` and the evaluator. It reads only regular files in or below the script's
    /// folder.
    package static let load: FileLoader = { (file) throws(LoadError) in
        do throws(SystemError) {
            return try ConfinedFile(in: Folder(file.folder)).contents(of: file.path, limit: limit)
        } catch {
            switch error.code {
            case ENOENT, ENOTDIR: throw .notFound
            case EACCES, EPERM: throw .notPermitted
            case EISDIR: throw .isFolder
            case EXDEV: throw .outsideFolder
            case EINVAL: throw .notRegular
            case EFBIG: throw .failed("the file is larger than 256 MiB")
            default: throw .failed(error.reason)
            }
        }
    }
}
