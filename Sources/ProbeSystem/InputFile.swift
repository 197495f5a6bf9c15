import ProbeBase
import Glibc

/// A file that a user specifies and that is read completely: a script, expectations, or checks. It may be a pipe.
package enum InputFile {
    /// The time to wait, in milliseconds, for a writer to open a named pipe.
    private static let timeoutMilliseconds = 5000

    /// The number of bytes that are examined before the rest of a file is read.
    private static let beginning = 65536

    /// Returns the contents of the file. If no process opens a named pipe for writing in time, an error is thrown.
    ///
    /// - Parameters:
    ///   - limit: the maximum number of bytes that are read. To detect a longer file, pass one byte more than its
    ///     allowed size.
    ///   - continues: receives the beginning of the file, up to 64 KiB. If it returns `false`, the rest is not read,
    ///     and only the beginning is returned.
    package static func contents(
        of path: String, limit: Int, continues: ([UInt8]) -> Bool = { _ in true }
    ) throws(SystemError) -> [UInt8] {
        // Opening must not block, and must not make a terminal the controlling terminal.
        let raw = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK)
        guard raw >= 0 else { throw SystemError("open") }
        let file = OwnedDescriptor(raw)
        guard let status = FileStatus(of: raw) else { throw SystemError("stat") }
        if status.isFolder { throw SystemError("read", code: EISDIR) }
        if status.isBlockDevice { throw SystemError("read", code: EINVAL, "it is a disk") }
        let first = min(limit, beginning)
        if status.isRegular {
            let start = try SmallFile.contents(of: file, limit: first)
            if start.count < first || !continues(start) { return start }
            return try SmallFile.contents(of: file, limit: limit, after: start)
        }
        var named = stat()
        // `/dev/stdin` and `<(…)` refer to pipes that already have a writer.
        let isNamedPipe = status.isPipe && lstat(path, &named) == 0 && named.st_mode & S_IFMT == S_IFIFO
        let start = try readStream(file, limit: first, after: isNamedPipe ? waitForWriter(file) : [])
        if start.count < first || !continues(start) { return start }
        return try readStream(file, limit: limit, after: start)
    }

    /// Returns the contents of standard input up to its end.
    package static func standardInput(limit: Int) throws(SystemError) -> [UInt8] {
        let raw = fcntl(0, F_DUPFD_CLOEXEC, 3)
        guard raw >= 0 else { throw SystemError("read") }
        return try readStream(OwnedDescriptor(raw), limit: limit, after: [])
    }

    /// Waits for a writer. Returns when a writer has written, or has opened the pipe and closed it again. If a writer
    /// still has the pipe open, the caller waits for its data.
    ///
    /// - Returns: the byte that was read to detect a writer, or no bytes.
    private static func waitForWriter(_ pipe: borrowing OwnedDescriptor) throws(SystemError) -> [UInt8] {
        let deadline = MonotonicTime.now + .milliseconds(timeoutMilliseconds)
        while true {
            let left = Int32(clamping: (deadline - MonotonicTime.now).nanoseconds / 1_000_000)
            var poller = pollfd(fd: pipe.raw, events: Int16(POLLIN), revents: 0)
            if poll(&poller, 1, max(0, left)) != 0 && poller.revents != 0 { return [] }
            if left > 0 { continue }
            // Reading a byte distinguishes a pipe whose writer has not written yet from one without a writer, for which
            // `read` returns 0.
            var byte: UInt8 = 0
            let count = read(pipe.raw, &byte, 1)
            if count > 0 { return [byte] }
            if count < 0 && errno == EINTR { continue }
            if count < 0 && errno == EAGAIN { return [] }
            throw SystemError("read", code: ENXIO, "the pipe has no writer")
        }
    }

    /// Reads a stream.
    ///
    /// - Parameter start: the bytes that have already been read from the stream.
    private static func readStream(
        _ file: borrowing OwnedDescriptor, limit: Int, after start: [UInt8]
    ) throws(SystemError) -> [UInt8] {
        var bytes = start
        var chunk = [UInt8](repeating: 0, count: 65536)
        while bytes.count < limit {
            let count = read(file.raw, &chunk, min(chunk.count, limit - bytes.count))
            if count > 0 {
                bytes.append(contentsOf: chunk[0..<count])
            } else if count == 0 {
                break
            } else if errno == EAGAIN {
                var poller = pollfd(fd: file.raw, events: Int16(POLLIN), revents: 0)
                poll(&poller, 1, -1)
            } else if errno != EINTR {
                throw SystemError("read")
            }
        }
        return bytes
    }
}
