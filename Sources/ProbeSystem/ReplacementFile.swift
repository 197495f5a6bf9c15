import Glibc
import ProbeBase

/// A file that is written under a temporary name and then renamed, so that a reader never sees an incomplete file.
///
/// The temporary file is created with `O_EXCL` and `O_NOFOLLOW` in an open folder, so that nothing is written through a
/// link or into a file that another user prepared. The temporary file is removed if it is never renamed. If a process
/// is killed before it can remove its temporary file, that file is removed the next time a file with the same name is
/// written. The temporary file is locked (`flock`) while it is written. The lock distinguishes a file in use from an
/// abandoned one.
package struct ReplacementFile: ~Copyable {
    private let folder: Folder
    private let name: String
    private let temporary: String
    private let descriptor: Int32
    private var isPlaced = false
    private var isOpen = true

    /// Creates the temporary file. If it replaces an existing file, that file's permissions are kept.
    ///
    /// - Parameters:
    ///   - mode: the permissions of a new file, to which the umask applies, unless `isExact`. If these permissions
    ///     grant nothing to other users, an existing file's permissions are reduced to those of its owner.
    ///   - isExact: whether `mode` applies exactly and an existing file's permissions are not kept.
    ///   - removed: the status that ``keptStatus(of:in:)`` returned before the caller removed the file.
    package init(
        _ name: String, in folder: Folder, mode: UInt32 = 0o666, isExact: Bool = false,
        replacing removed: FileStatus? = nil
    ) throws(SystemError) {
        let kept = isExact ? nil : removed ?? ReplacementFile.keptStatus(of: name, in: folder)
        var made: (name: String, descriptor: Int32)?
        // The first name that is tried is the same for every writer of this file. If another process uses that name,
        // random names are tried.
        for attempt in 0..<16 where made == nil {
            let temporary = attempt == 0 ? ReplacementFile.usualName(for: name) : ReplacementFile.randomName()
            if attempt == 0 { ReplacementFile.removeAbandoned(temporary, in: folder) }
            // A file that will be private must not be open to other users before its permissions are set.
            let first = kept.map { mode & $0.mode & 0o777 } ?? mode
            let raw = openat(folder.raw, temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, first)
            if raw < 0 {
                if errno != EEXIST { throw SystemError("open") }
            } else if ReplacementFile.lock(raw, temporary, in: folder) {
                made = (temporary, raw)
            } else {
                close(raw)
            }
        }
        guard let made else { throw SystemError("open", code: EEXIST) }
        if isExact { fchmod(made.descriptor, mode) }
        if let kept { ReplacementFile.apply(kept, to: made.descriptor, isPrivate: mode & 0o077 == 0) }
        self.folder = folder
        self.name = name
        (temporary, descriptor) = made
    }

    deinit {
        // The lock is released only after the name has been removed. Until then, another process must not mistake the
        // file for an abandoned one.
        if !isPlaced { unlinkat(folder.raw, temporary, 0) }
        if isOpen { close(descriptor) }
    }

    package func write(_ bytes: [UInt8]) throws(SystemError) {
        if let code = SmallFile.writeAll(bytes, to: descriptor) { throw SystemError("write", code: code) }
    }

    /// Renames the file to its final name and replaces an existing file. Writing can continue afterwards.
    package mutating func place() throws(SystemError) {
        if isPlaced { return }
        if renameat(folder.raw, temporary, folder.raw, name) < 0 { throw SystemError("rename") }
        isPlaced = true
    }

    /// Finishes the file and renames it. Some file systems report only at this point that the disk is full.
    package mutating func finish() throws(SystemError) {
        // The duplicate descriptor holds the lock until the file has been renamed.
        let lock = fcntl(descriptor, F_DUPFD_CLOEXEC, 0)
        defer { if lock >= 0 { close(lock) } }
        isOpen = false
        do throws(SystemError) {
            if close(descriptor) < 0, errno != EINTR { throw SystemError("close") }
            try place()
        } catch {
            if !isPlaced { unlinkat(folder.raw, temporary, 0) }
            isPlaced = true
            throw error
        }
    }

    // MARK: Names

    /// The prefix of temporary names. It begins with a dot, so that a search for scenarios or captures skips the files.
    private static let beginning = ".tcpprobe-"

    private static func randomName() -> String {
        var generator = SystemRandomNumberGenerator()
        return beginning + (0..<2).map { _ in String(generator.next(), radix: 36) }.joined()
    }

    /// Returns the temporary name for a file. It contains a hash of the file's name, because that name may already have
    /// the maximum length.
    private static func usualName(for name: String) -> String {
        beginning + String(FNV1a(name).value, radix: 36)
    }

    // MARK: Abandoned files

    /// Locks a file that was just created. Before the file was locked, another process may have mistaken the file for
    /// an abandoned one.
    ///
    /// - Returns: whether the file still exists under its name; `true` if the file system has no locks (some network
    ///   file systems).
    private static func lock(_ descriptor: Int32, _ temporary: String, in folder: Folder) -> Bool {
        if flock(descriptor, LOCK_EX | LOCK_NB) < 0, errno == EWOULDBLOCK { return false }
        return isSame(descriptor, temporary, in: folder)
    }

    /// Removes the temporary file of a process that was killed: a regular file of this user that no process has locked.
    private static func removeAbandoned(_ temporary: String, in folder: Folder) {
        let raw = openat(folder.raw, temporary, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)
        guard raw >= 0 else { return }
        defer { close(raw) }
        guard let status = FileStatus(of: raw), status.isRegular, status.owner == geteuid(),
            flock(raw, LOCK_EX | LOCK_NB) == 0, isSame(raw, temporary, in: folder)
        else { return }
        unlinkat(folder.raw, temporary, 0)
    }

    private static func isSame(_ descriptor: Int32, _ temporary: String, in folder: Folder) -> Bool {
        // If the name can't be looked up, it does not refer to this file.
        guard let status = try? folder.status(of: temporary) else { return false }
        return status.identity == FileStatus(of: descriptor)?.identity
    }

    // MARK: Permissions

    /// Returns the status of the file to be replaced, if its permissions are kept: a regular file that belongs to this
    /// user, or that is in a folder to which no other user can write. In a shared folder, any user could have prepared
    /// the file.
    package static func keptStatus(of name: String, in folder: Folder) -> FileStatus? {
        // If the name can't be looked up, the error is reported when the temporary file is renamed.
        guard let status = try? folder.status(of: name), status.isRegular else { return nil }
        if status.owner == geteuid() { return status }
        // If the folder's status can't be read, its permissions are unknown.
        guard let shared = try? folder.status() else { return nil }
        return shared.mode & 0o022 == 0 ? status : nil
    }

    private static func apply(_ kept: FileStatus, to descriptor: Int32, isPrivate: Bool) {
        var mode = kept.mode & (isPrivate ? 0o700 : 0o777)
        // The group permissions are intended for the previous file's group. If the new file can't be given that group,
        // its group gets the permissions of other users.
        if FileStatus(of: descriptor)?.group != kept.group, fchown(descriptor, uid_t.max, kept.group) < 0 {
            mode = mode & 0o707 | (mode & 0o007) << 3
        }
        fchmod(descriptor, mode)
    }
}

extension Folder {
    /// Writes a file completely or not at all.
    package func replace(_ name: String, with bytes: [UInt8], mode: UInt32 = 0o666) throws(SystemError) {
        var file = try ReplacementFile(name, in: self, mode: mode)
        try file.write(bytes)
        try file.finish()
    }
}

extension SmallFile {
    /// Writes all bytes, even if the kernel accepts only some of them at a time.
    ///
    /// - Returns: the errno of the write that failed; `nil` if all bytes were written.
    package static func writeAll(_ bytes: [UInt8], to descriptor: Int32) -> Int32? {
        var offset = 0
        while offset < bytes.count {
            let count = bytes.withUnsafeBytes { raw in
                write(descriptor, raw.baseAddress.map { $0 + offset }, raw.count - offset)
            }
            if count > 0 {
                offset += count
            } else if count == 0 {
                return ENOSPC
            } else if errno == EAGAIN {
                var poller = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
                poll(&poller, 1, 1000)
            } else if errno != EINTR {
                return errno
            }
        }
        return nil
    }

    /// Replaces the contents of the file and keeps its permissions. A reader never sees an incomplete file.
    package static func rewrite(_ path: String, with bytes: [UInt8]) throws(SystemError) {
        let place = try FilePlace(path)
        guard let status = place.status, status.isRegular else {
            throw SystemError("open", code: EINVAL, "not a regular file")
        }
        var file = try ReplacementFile(place.name, in: place.folder, mode: status.mode & 0o777, isExact: true)
        try file.write(bytes)
        try file.finish()
    }
}
