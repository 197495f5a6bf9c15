import CShims
import Glibc

/// A folder that was opened once: what is done in it is done by its descriptor, so that a path which somebody changes
/// meanwhile leads nowhere else.
package final class Folder: Sendable {
    /// Stands for the folder (`O_PATH`): for the calls that end in `at`.
    package let raw: Int32

    /// - Parameter path: the empty one is the current folder. Symbolic links in it are followed.
    package init(_ path: String) throws(SystemError) {
        raw = probe_open_path(AT_FDCWD, path.isEmpty ? "." : path, O_DIRECTORY)
        if raw < 0 { throw SystemError("open") }
    }

    /// The folder, made with those above it where they are missing.
    package convenience init(making path: String) throws(SystemError) {
        try SmallFile.makeFolder(path)
        try self.init(path)
    }

    /// A folder in this one, by a path that starts here.
    package init(_ path: String, in folder: Folder) throws(SystemError) {
        raw = probe_open_path(folder.raw, path.isEmpty ? "." : path, O_DIRECTORY)
        if raw < 0 { throw SystemError("open") }
    }

    /// Takes over a descriptor that stands for a place; nil where a call gave none, and `errno` says why.
    init?(taking raw: Int32) {
        if raw < 0 { return nil }
        self.raw = raw
    }

    deinit { close(raw) }

    /// Where the symbolic link leads that this stands for.
    func linkText() throws(SystemError) -> String { try linkText(of: "") }

    /// Where a symbolic link in this folder leads.
    func linkText(of name: String) throws(SystemError) -> String {
        var buffer = [UInt8](repeating: 0, count: Int(PATH_MAX))
        let count = buffer.withUnsafeMutableBytes { bytes in
            bytes.baseAddress.map { readlinkat(raw, name, $0.assumingMemoryBound(to: CChar.self), bytes.count) } ?? -1
        }
        if count < 0 { throw SystemError("readlink") }
        return String(decoding: buffer[0..<count], as: UTF8.self)
    }

    /// What has this name here, without following it if it is a symbolic link; nil: nothing.
    package func status(of name: String) throws(SystemError) -> FileStatus? {
        var status = stat()
        if fstatat(raw, name, &status, AT_SYMLINK_NOFOLLOW) == 0 { return FileStatus(status) }
        if errno == ENOENT { return nil }
        throw SystemError("stat")
    }

    /// Of the folder itself.
    package func status() throws(SystemError) -> FileStatus {
        var status = stat()
        if fstat(raw, &status) < 0 { throw SystemError("stat") }
        return FileStatus(status)
    }

    /// Removes a folder in this one with all that is in it. A link is never followed, another mount never entered.
    ///
    /// - Parameter identity: of the folder that was made under this name: another one is left alone.
    /// - Throws: why something is left.
    package func remove(_ name: String, identity: FileStatus.Identity?) throws(SystemError) {
        guard let status = try status(of: name) else { return }
        let code = probe_remove_folder(raw, name, identity?.device ?? 0, identity?.number ?? 0)
        if code == ESTALE {
            throw SystemError("rmdir", code: code, "another folder has taken its place, which is left alone")
        }
        if code != 0 { throw SystemError("rmdir", code: code) }
        if !status.isFolder {
            throw SystemError(
                "rmdir", code: ENOTDIR,
                "something else had taken its place; it was removed, and the folder lies elsewhere")
        }
    }

    /// Whether this process may make files here.
    package func requireWritable() throws(SystemError) {
        if faccessat(raw, ".", W_OK, 0) < 0 { throw SystemError("access") }
    }
}

/// What the system says of a file.
package struct FileStatus: Sendable {
    /// Tells files apart, whatever their names are.
    package struct Identity: Hashable, Sendable {
        package var device: UInt64
        package var number: UInt64
    }

    package let identity: Identity
    package let owner: UInt32
    /// Kind and permissions.
    package let mode: UInt32
    package let size: Int64

    init(_ status: stat) {
        identity = Identity(device: UInt64(status.st_dev), number: UInt64(status.st_ino))
        owner = status.st_uid
        mode = status.st_mode
        size = Int64(status.st_size)
    }

    /// Of an open descriptor; nil where it is closed.
    package init?(of descriptor: Int32) {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { return nil }
        self.init(status)
    }

    /// At the end of a path, links followed; nil where nothing is to be had there.
    package init?(at path: String) {
        var status = stat()
        guard fstatat(AT_FDCWD, path, &status, 0) == 0 else { return nil }
        self.init(status)
    }

    package var isRegular: Bool { mode & S_IFMT == S_IFREG }
    package var isFolder: Bool { mode & S_IFMT == S_IFDIR }
    package var isLink: Bool { mode & S_IFMT == S_IFLNK }
    package var isPipe: Bool { mode & S_IFMT == S_IFIFO }
    package var isBlockDevice: Bool { mode & S_IFMT == S_IFBLK }
}
