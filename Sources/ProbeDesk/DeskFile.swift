import ProbeBase
import ProbeSystem

/// The file that `save` writes.
struct DeskFile {
    struct Problem: Error {
        var text: String
    }

    let path: String
    private let name: String
    private let folder: Folder

    /// Parses the arguments of `save` and opens the folder of the file.
    ///
    /// - Parameters:
    ///   - words: the text after `save`: a name, optionally followed by `--force`.
    ///   - known: the paths that this session has written, which it may overwrite.
    init(_ words: String, mayReplace known: Set<String>) throws(Problem) {
        let parts = words.split(separator: " ").map(String.init)
        let force = parts.last == "--force"
        let path = (force ? parts.dropLast() : parts[...]).joined(separator: " ")
        let name = path.split(separator: "/").last.map(String.init) ?? ""
        guard name.hasSuffix(".scn"), name.count > 4 else {
            throw Problem(text: "`save` requires a file name that ends with .scn, as in `save session.scn`")
        }
        if SmallFile.exists(path), !force, !known.contains(path) {
            throw Problem(
                text: "\(Escaped.text(path)) already exists; use `save \(Escaped.text(path)) --force` to replace it")
        }
        (self.path, self.name) = (path, name)
        let parent = path.lastIndex(of: "/").map { String(path[...$0]) } ?? "."
        do throws(SystemError) {
            folder = try Folder(parent)
            try folder.requireWritable()
        } catch {
            throw Problem(text: "can't write \(Escaped.text(path)): \(error.reason)")
        }
    }

    func write(_ bytes: [UInt8]) throws(Problem) {
        do throws(SystemError) { try folder.replace(name, with: bytes) } catch {
            throw Problem(text: "can't write \(Escaped.text(path)): \(error.reason)")
        }
    }
}
