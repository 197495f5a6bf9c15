import Glibc

/// A file that is written under a random temporary name and then renamed, so that a reader never sees an incomplete
/// file.
///
/// It is created with `O_EXCL` and `O_NOFOLLOW` in an open folder, so it is not written through a link or into a file
/// that another user prepared. It is removed if it was never renamed.
package struct ReplacementFile: ~Copyable {
    private let folder: Folder
    private let name: String
    private let temporary: String
    private let descriptor: Int32
    private var isPlaced = false
    private var isOpen = true

    /// - Parameter mode: the permissions; the umask applies, unless `isExact`.
    package init(_ name: String, in folder: Folder, mode: UInt32 = 0o666, isExact: Bool = false) throws(SystemError) {
        var made: (name: String, descriptor: Int32)?
        // The random name may be taken; another one is tried.
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

    /// Renames the file to its name, replacing a file there. It may be written further.
    package mutating func place() throws(SystemError) {
        if isPlaced { return }
        if renameat(folder.raw, temporary, folder.raw, name) < 0 { throw SystemError("rename") }
        isPlaced = true
    }

    /// Renames the complete file. Some file systems report only now that the disk is full.
    package mutating func finish() throws(SystemError) {
        isOpen = false
        if close(descriptor) < 0, errno != EINTR { throw SystemError("close") }
        try place()
    }

    /// Starts with a dot, so that a search for scenarios or captures skips it.
    private static func randomName() -> String {
        var generator = SystemRandomNumberGenerator()
        return ".tcpprobe-" + (0..<2).map { _ in String(generator.next(), radix: 36) }.joined()
    }
}

extension Folder {
    /// Writes a file completely or not at all.
    package func replace(_ name: String, with bytes: [UInt8], mode: UInt32 = 0o644) throws(SystemError) {
        var file = try ReplacementFile(name, in: self, mode: mode)
        try file.write(bytes)
        try file.finish()
    }
}

extension SmallFile {
    /// Writes all bytes, also if the kernel takes only a part at a time.
    ///
    /// - Returns: the errno of the write that failed; nil if none did.
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

    /// Writes the file again with its permissions. A reader never sees an incomplete file.
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
