import CShims
import Glibc

/// A folder that was opened once. All operations use its descriptor, so that a change of its path has no effect.
package final class Folder: Sendable {
    /// Refers to the folder (`O_PATH`), for the system calls whose names end with `at`.
    package let raw: Int32

    /// - Parameter path: an empty one is the current folder. Symbolic links are followed.
    package init(_ path: String) throws(SystemError) {
        raw = probe_open_path(AT_FDCWD, path.isEmpty ? "." : path, O_DIRECTORY)
        if raw < 0 { throw SystemError("open") }
    }

    /// Opens the folder; creates it and its parents if they are missing.
    package convenience init(making path: String) throws(SystemError) {
        try SmallFile.makeFolder(path)
        try self.init(path)
    }

    /// A folder in this one; the path is relative to it.
    package init(_ path: String, in folder: Folder) throws(SystemError) {
        raw = probe_open_path(folder.raw, path.isEmpty ? "." : path, O_DIRECTORY)
        if raw < 0 { throw SystemError("open") }
    }

    /// Takes over a descriptor. Nil if the call that should have returned it failed; `errno` has the reason.
    init?(taking raw: Int32) {
        if raw < 0 { return nil }
        self.raw = raw
    }

    deinit { close(raw) }

    /// The target of the symbolic link that this descriptor refers to.
    func linkText() throws(SystemError) -> String { try linkText(of: "") }

    /// The target of a symbolic link in this folder.
    func linkText(of name: String) throws(SystemError) -> String {
        var buffer = [UInt8](repeating: 0, count: Int(PATH_MAX))
        let count = buffer.withUnsafeMutableBytes { bytes in
            bytes.baseAddress.map { readlinkat(raw, name, $0.assumingMemoryBound(to: CChar.self), bytes.count) } ?? -1
        }
        if count < 0 { throw SystemError("readlink") }
        return String(decoding: buffer[0..<count], as: UTF8.self)
    }

    /// The file with this name in the folder; a symbolic link is not followed. Nil if there is none.
    package func status(of name: String) throws(SystemError) -> FileStatus? {
        var status = stat()
        if fstatat(raw, name, &status, AT_SYMLINK_NOFOLLOW) == 0 { return FileStatus(status) }
        if errno == ENOENT { return nil }
        throw SystemError("stat")
    }

    /// The status of the folder itself.
    package func status() throws(SystemError) -> FileStatus {
        var status = stat()
        if fstat(raw, &status) < 0 { throw SystemError("stat") }
        return FileStatus(status)
    }

    /// Removes a folder in this one with all its contents. Links are not followed, and other mounts are not entered.
    ///
    /// - Parameter identity: the folder that was created with this name; another folder is not removed.
    /// - Throws: why a part remains.
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

    /// Throws if this process can't create files here.
    package func requireWritable() throws(SystemError) {
        if faccessat(raw, ".", W_OK, 0) < 0 { throw SystemError("access") }
    }
}

/// The status of a file.
package struct FileStatus: Sendable {
    /// Identifies a file, whatever its names are.
    package struct Identity: Hashable, Sendable {
        package var device: UInt64
        package var number: UInt64
    }

    package let identity: Identity
    package let owner: UInt32
    package let group: UInt32
    /// Kind and permissions.
    package let mode: UInt32
    package let size: Int64

    init(_ status: stat) {
        identity = Identity(device: UInt64(status.st_dev), number: UInt64(status.st_ino))
        owner = status.st_uid
        group = status.st_gid
        mode = status.st_mode
        size = Int64(status.st_size)
    }

    /// Of an open descriptor; nil if it is closed.
    package init?(of descriptor: Int32) {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { return nil }
        self.init(status)
    }

    /// Of the file at a path; links are followed. Nil if it can't be accessed.
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
