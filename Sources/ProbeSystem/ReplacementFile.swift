import Glibc

/// A file that is written beside its place, under a name that nobody can guess, and takes its place when it is told to: a reader
/// never sees half of it.
///
/// It is always made anew (`O_EXCL`, `O_NOFOLLOW`) in a folder that is open: no link and no file that somebody laid there is
/// written through. Removed if it never took its place.
package struct ReplacementFile: ~Copyable {
    private let folder: Folder
    private let name: String
    private let temporary: String
    private let descriptor: Int32
    private var isPlaced = false
    private var isOpen = true

    /// - Parameter mode: permissions; those that the umask takes away are missing, unless `isExact`.
    package init(_ name: String, in folder: Folder, mode: UInt32 = 0o666, isExact: Bool = false) throws(SystemError) {
        var made: (name: String, descriptor: Int32)?
        // A name that is taken says only that somebody else was lucky.
        for _ in 0..<16 where made == nil {
            let temporary = ReplacementFile.randomName()
            let raw = openat(folder.raw, temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode)
            if raw >= 0 { made = (temporary, raw) } else if errno != EEXIST { throw SystemError("open") }
        }
        guard let made else { throw SystemError("open", code: EEXIST) }
        if isExact { fchmod(made.descriptor, mode) }
        self.folder = folder
        self.name = name
        (temporary, descriptor) = made
    }

    deinit {
        if isOpen { close(descriptor) }
        if !isPlaced { unlinkat(folder.raw, temporary, 0) }
    }

    package func write(_ bytes: [UInt8]) throws(SystemError) {
        if let code = SmallFile.writeAll(bytes, to: descriptor) { throw SystemError("write", code: code) }
    }

    /// Takes the place of whatever has its name. It may be written on.
    package mutating func place() throws(SystemError) {
        if isPlaced { return }
        if renameat(folder.raw, temporary, folder.raw, name) < 0 { throw SystemError("rename") }
        isPlaced = true
    }

    /// Takes its place with all that was written; some file systems say only at the end that the disk is full.
    package mutating func finish() throws(SystemError) {
        isOpen = false
        if close(descriptor) < 0, errno != EINTR { throw SystemError("close") }
        try place()
    }

    /// Starts with a dot, so that a walk over scenarios or captures passes it over.
    private static func randomName() -> String {
        var generator = SystemRandomNumberGenerator()
        return ".tcpprobe-" + (0..<2).map { _ in String(generator.next(), radix: 36) }.joined()
    }
}

extension Folder {
    /// Writes a file anew, whole or not at all.
    package func replace(_ name: String, with bytes: [UInt8], mode: UInt32 = 0o644) throws(SystemError) {
        var file = try ReplacementFile(name, in: self, mode: mode)
        try file.write(bytes)
        try file.finish()
    }
}

extension SmallFile {
    /// Writes all of it, whatever the kernel takes at a time.
    ///
    /// - Returns: errno of the write that failed.
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

    /// Writes the file anew, with the permissions that it has: a reader never sees half of it.
    package static func rewrite(_ path: String, with bytes: [UInt8]) throws(SystemError) {
        let place = try FilePlace(path)
        guard let status = place.status, status.isRegular else {
            throw SystemError("open", code: EINVAL, "it is no regular file")
        }
        var file = try ReplacementFile(place.name, in: place.folder, mode: status.mode & 0o777, isExact: true)
        try file.write(bytes)
        try file.finish()
    }
}
