import Glibc

/// Reads small files completely, such as the kernel's files in `/proc`, without Foundation.
package enum SmallFile {
    /// Returns the contents of the file; `nil` if it can't be read, for example because the process has ended.
    package static func read(_ path: String) -> [UInt8]? {
        do { return try contents(of: path, limit: .max) } catch { return nil }
    }

    /// Returns the contents of the file.
    ///
    /// - Parameter limit: the maximum number of bytes that are read. To detect a longer file, pass one byte more than
    ///   its allowed size.
    package static func contents(of path: String, limit: Int) throws(SystemError) -> [UInt8] {
        let raw = open(path, O_RDONLY | O_CLOEXEC)
        guard raw >= 0 else { throw SystemError("open") }
        return try contents(of: OwnedDescriptor(raw), limit: limit)
    }

    /// Returns the contents of a file that another program has written or replaced; `nil` if the file does not exist,
    /// or is of a type that may block or point elsewhere, such as a pipe or a symbolic link.
    package static func foreign(_ path: String, limit: Int) -> [UInt8]? {
        let raw = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK | O_NOFOLLOW)
        guard raw >= 0 else { return nil }
        let file = OwnedDescriptor(raw)
        guard let status = FileStatus(of: raw), status.isRegular else { return nil }
        do { return try contents(of: file, limit: limit) } catch { return nil }
    }

    /// Reads a file.
    ///
    /// - Parameter start: the bytes that have already been read from the file; they count toward the limit.
    static func contents(
        of descriptor: borrowing OwnedDescriptor, limit: Int, after start: [UInt8] = []
    ) throws(SystemError) -> [UInt8] {
        var bytes = start
        var chunk = [UInt8](repeating: 0, count: 65536)
        while bytes.count < limit {
            let count = Glibc.read(descriptor.raw, &chunk, min(chunk.count, limit - bytes.count))
            if count > 0 {
                bytes.append(contentsOf: chunk[0..<count])
            } else if count == 0 {
                break
            } else if errno != EINTR {
                throw SystemError("read")
            }
        }
        return bytes
    }

    /// Returns the names in a folder, excluding `.` and `..`; `nil` if the folder can't be opened.
    package static func names(in folder: String) -> [String]? {
        guard let directory = opendir(folder) else { return nil }
        defer { closedir(directory) }
        var names: [String] = []
        while let entry = readdir(directory) {
            let name = withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
                String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            if name != "." && name != ".." { names.append(name) }
        }
        return names
    }

    /// Creates the folder and its missing parents.
    package static func makeFolder(_ path: String) throws(SystemError) {
        if path.isEmpty || mkdir(path, 0o777) == 0 || (errno == EEXIST && isFolder(path)) { return }
        let error = SystemError("mkdir")
        if error.code == ENOENT, let slash = path.lastIndex(of: "/"), slash != path.startIndex {
            try makeFolder(String(path[..<slash]))
            if mkdir(path, 0o777) == 0 || errno == EEXIST { return }
            throw SystemError("mkdir")
        }
        throw error
    }

    package static func isFolder(_ path: String) -> Bool {
        var status = stat()
        return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
    }

    package static func exists(_ path: String) -> Bool { access(path, F_OK) == 0 }
}

extension SmallFile {
    /// Returns the target of a symbolic link.
    package static func linkTarget(_ path: String) -> String? {
        var buffer = [UInt8](repeating: 0, count: 4096)
        let count = buffer.withUnsafeMutableBytes {
            readlink(path, $0.baseAddress!.assumingMemoryBound(to: CChar.self), 4096)
        }
        return count >= 0 ? String(decoding: buffer[0..<count], as: UTF8.self) : nil
    }
}
