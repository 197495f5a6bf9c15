import CShims
import Glibc

/// A folder that was opened once. All operations use its descriptor, so they are not affected if the folder's path
/// changes.
package final class Folder: Sendable {
    /// The descriptor of the folder (`O_PATH`), for the system calls whose names end with `at`.
    package let raw: Int32

    /// Opens a folder.
    ///
    /// - Parameter path: the path; an empty path means the current folder. Symbolic links are followed.
    package init(_ path: String) throws(SystemError) {
        raw = probe_open_path(AT_FDCWD, path.isEmpty ? "." : path, O_DIRECTORY)
        if raw < 0 { throw SystemError("open") }
    }

    /// Opens the folder, and creates it and its parents if they are missing.
    package convenience init(making path: String) throws(SystemError) {
        try SmallFile.makeFolder(path)
        try self.init(path)
    }

    /// Opens a folder by a path that is relative to another folder.
    package init(_ path: String, in folder: Folder) throws(SystemError) {
        raw = probe_open_path(folder.raw, path.isEmpty ? "." : path, O_DIRECTORY)
        if raw < 0 { throw SystemError("open") }
    }

    /// Takes over a descriptor. Returns `nil` if the descriptor is negative because the call that returned it failed;
    /// `errno` has the reason.
    init?(taking raw: Int32) {
        if raw < 0 { return nil }
        self.raw = raw
    }

    deinit { close(raw) }

    /// Returns the target of the symbolic link that this descriptor refers to.
    func linkText() throws(SystemError) -> String { try linkText(of: "") }

    /// Returns the target of a symbolic link in this folder.
    func linkText(of name: String) throws(SystemError) -> String {
        var buffer = [UInt8](repeating: 0, count: Int(PATH_MAX))
        let count = buffer.withUnsafeMutableBytes { bytes in
            bytes.baseAddress.map { readlinkat(raw, name, $0.assumingMemoryBound(to: CChar.self), bytes.count) } ?? -1
        }
        if count < 0 { throw SystemError("readlink") }
        return String(decoding: buffer[0..<count], as: UTF8.self)
    }

    /// Returns the status of the file with this name in the folder; `nil` if there is no such file. A symbolic link is
    /// not followed.
    package func status(of name: String) throws(SystemError) -> FileStatus? {
        var status = stat()
        if fstatat(raw, name, &status, AT_SYMLINK_NOFOLLOW) == 0 { return FileStatus(status) }
        if errno == ENOENT { return nil }
        throw SystemError("stat")
    }

    /// Returns the status of the folder itself.
    package func status() throws(SystemError) -> FileStatus {
        var status = stat()
        if fstat(raw, &status) < 0 { throw SystemError("stat") }
        return FileStatus(status)
    }

    /// Removes a folder in this folder with all its contents. Links are not followed, and other mounts are not entered.
    ///
    /// - Parameter identity: the identity of the folder that was created with this name; a different folder is not
    ///   removed.
    /// - Throws: an error that states why a part of the folder could not be removed.
    package func remove(_ name: String, identity: FileStatus.Identity?) throws(SystemError) {
        guard let status = try status(of: name) else { return }
        let code = probe_remove_folder(raw, name, identity?.device ?? 0, identity?.number ?? 0)
        if code == ESTALE {
            throw SystemError("rmdir", code: code, "another folder is now at this path, and is not removed")
        }
        if code != 0 { throw SystemError("rmdir", code: code) }
        if !status.isFolder {
            throw SystemError(
                "rmdir", code: ENOTDIR,
                "a file or link that replaced the folder was removed; the original folder has been moved elsewhere")
        }
    }

    /// Throws an error if this process can't create files in the folder.
    package func requireWritable() throws(SystemError) {
        if faccessat(raw, ".", W_OK, 0) < 0 { throw SystemError("access") }
    }
}

/// The status of a file.
package struct FileStatus: Sendable {
    /// The identity of a file, which is independent of its names.
    package struct Identity: Hashable, Sendable {
        package var device: UInt64
        package var number: UInt64
    }

    package let identity: Identity
    package let owner: UInt32
    package let group: UInt32
    /// The type and the permissions of the file.
    package let mode: UInt32
    package let size: Int64

    init(_ status: stat) {
        identity = Identity(device: UInt64(status.st_dev), number: UInt64(status.st_ino))
        owner = status.st_uid
        group = status.st_gid
        mode = status.st_mode
        size = Int64(status.st_size)
    }

    /// Reads the status of an open descriptor; `nil` if the descriptor is closed.
    package init?(of descriptor: Int32) {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { return nil }
        self.init(status)
    }

    /// Reads the status of the file at a path, following links; `nil` if the file can't be accessed.
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

/// Access to folders and files below an open folder. Symbolic links in a path are not followed.
extension Folder {
    /// The name of the subfolder to which files of earlier runs are moved.
    package static let earlierName = "earlier"

    /// The maximum number of files with the same original name that are kept in `earlier/`.
    private static let maxEarlier = 1000

    /// Opens a folder below another one, and creates the missing parts of the path.
    ///
    /// - Parameter parts: the components of the path; none of them may be `.` or `..`, or contain a slash.
    /// - Throws: `EINVAL` for an invalid name, `ENOTDIR` if a component is a file or a symbolic link.
    package convenience init(making parts: [String], below folder: Folder) throws(SystemError) {
        guard let last = parts.last else {
            try self.init(".", in: folder)
            return
        }
        let parent = parts.count == 1 ? folder : try Folder(making: Array(parts.dropLast()), below: folder)
        guard Self.isName(last) else { throw SystemError("mkdir", code: EINVAL) }
        if mkdirat(parent.raw, last, 0o777) < 0, errno != EEXIST { throw SystemError("mkdir") }
        let opened = Folder(taking: probe_open_path(parent.raw, last, O_DIRECTORY | O_NOFOLLOW))
        guard let opened else { throw SystemError("open") }
        try self.init(".", in: opened)
    }

    private static func isName(_ text: String) -> Bool {
        !text.isEmpty && text != "." && text != ".." && !text.utf8.contains(UInt8(ascii: "/"))
    }

    /// Opens `earlier/` in this folder, and creates it if it is missing. A symbolic link with that name is rejected,
    /// because it could point outside the folder.
    package func earlier() throws(SystemError) -> Folder { try Folder(making: [Self.earlierName], below: self) }

    /// Moves a file, or a symbolic link itself, to `earlier/`, and appends a number if the name is already used there.
    ///
    /// - Returns: the file's name in `earlier/`; `nil` if there is no file with the name.
    @discardableResult
    package func moveToEarlier(_ name: String) throws(SystemError) -> String? {
        guard try status(of: name) != nil else { return nil }
        let earlier = try earlier()
        let dot = name.lastIndex(of: ".") ?? name.endIndex
        var target = name
        var number = 1
        while number < Self.maxEarlier, try earlier.status(of: target) != nil {
            number += 1
            target = "\(name[..<dot]).\(number)\(name[dot...])"
        }
        if renameat(raw, name, earlier.raw, target) < 0 { throw SystemError("rename") }
        return target
    }

    /// Writes a file completely or not at all. An existing file of that name with different contents is moved to
    /// `earlier/` first.
    ///
    /// - Returns: the name in `earlier/` of the previous file; `nil` if there was no file or its contents were
    ///   identical.
    @discardableResult
    package func replaceKeepingEarlier(_ name: String, with bytes: [UInt8]) throws(SystemError) -> String? {
        guard Self.isName(name) else { throw SystemError("open", code: EINVAL) }
        if holds(name, bytes) { return nil }
        let moved = try moveToEarlier(name)
        try replace(name, with: bytes)
        return moved
    }

    /// Returns whether the folder contains a regular file with this name and these contents.
    private func holds(_ name: String, _ bytes: [UInt8]) -> Bool {
        let file = openat(raw, name, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK | O_NOFOLLOW)
        guard file >= 0 else { return false }
        let descriptor = OwnedDescriptor(file)
        guard let status = FileStatus(of: file), status.isRegular, status.size == bytes.count else { return false }
        do throws(SystemError) {
            return try SmallFile.contents(of: descriptor, limit: bytes.count + 1) == bytes
        } catch {
            // A file that can't be read is considered different, and is moved.
            return false
        }
    }
}
