import Glibc

/// The location that a user's path refers to: a folder, opened once, and a name in it.
///
/// If the path ends in a symbolic link, the link is followed, and the link itself is not replaced. A link that another
/// user may have created is not followed: in a folder that others can write to, the link must belong to this user or to
/// the folder's owner, as the kernel requires in `/tmp`.
package struct FilePlace: Sendable {
    package let folder: Folder
    package let name: String
    /// The status of the file at the location; `nil` if no file exists there.
    package let status: FileStatus?

    package init(_ path: String) throws(SystemError) {
        var (folder, name) = try FilePlace.split(path, from: nil)
        for _ in 0..<40 {
            guard let status = try folder.status(of: name), status.isLink else {
                self.folder = folder
                self.name = name
                self.status = try folder.status(of: name)
                return
            }
            let owner = try folder.status()
            let isOthersFolder = owner.mode & 0o022 != 0
            if isOthersFolder && status.owner != geteuid() && status.owner != owner.owner {
                throw SystemError(
                    "open", code: ELOOP,
                    "it is a symbolic link owned by another user, and such links "
                        + "are not followed")
            }
            (folder, name) = try FilePlace.split(try folder.linkText(of: name), from: folder)
        }
        throw SystemError("open", code: ELOOP)
    }

    /// Splits a path into its folder and its name.
    ///
    /// - Parameter folder: the folder that a relative path starts from; `nil` for the current folder.
    private static func split(_ path: String, from folder: Folder?) throws(SystemError) -> (Folder, String) {
        var parent = ""
        var name = path[...]
        if let slash = path.lastIndex(of: "/") {
            parent = String(path[...slash])
            name = path[path.index(after: slash)...]
        }
        if name == "." || name == ".." || (name.isEmpty && !path.isEmpty) { throw SystemError("open", code: EISDIR) }
        if name.isEmpty { throw SystemError("open", code: ENOENT) }
        if let folder, !path.hasPrefix("/") { return (try Folder(parent, in: folder), String(name)) }
        return (try Folder(parent), String(name))
    }
}
