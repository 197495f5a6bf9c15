import Glibc

/// A path that is written to directly, because a file can't replace it: a pipe, a terminal, `/dev/null`, this process's
/// own standard output.
package struct DirectOutput: ~Copyable {
    package let descriptor: Int32

    /// The number of attempts to open a named pipe without a reader, 20 ms apart.
    private static let maxAttempts = 250

    /// Opens a path.
    ///
    /// - Returns: `nil` if a file can be put at the path (``ReplacementFile``).
    package static func open(_ path: String) throws(SystemError) -> DirectOutput? {
        guard let status = FileStatus(at: path) else { return nil }
        if status.isFolder { throw SystemError("open", code: EISDIR) }
        if status.isRegular {
            // `/dev/stdout` when standard output is a file: replacing it would lose the rest of the output.
            for own: Int32 in [1, 2] where FileStatus(of: own)?.identity == status.identity {
                return try DirectOutput(fcntl(own, F_DUPFD_CLOEXEC, 3))
            }
            return nil
        }
        // A report must not overwrite a disk.
        if status.isBlockDevice { throw SystemError("open", code: ENOTBLK, "it is a disk") }
        // Opening does not block. A named pipe without a reader fails with ENXIO, and opening is attempted again.
        for attempt in 0... {
            let raw = Glibc.open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK)
            if raw >= 0 || errno != ENXIO || attempt == maxAttempts {
                if raw < 0, errno == ENXIO {
                    throw SystemError("open", code: ENXIO, "the pipe has no reader")
                }
                let output = try DirectOutput(raw)
                let opened = FileStatus(of: raw)
                // The path leads to another file than a moment ago.
                if opened?.isRegular != false || opened?.isBlockDevice != false {
                    throw SystemError("open", code: EAGAIN)
                }
                return output
            }
            usleep(20_000)
        }
        return nil
    }

    /// Takes over a descriptor.
    ///
    /// - Parameter raw: the result of a system call: a descriptor, or negative on failure.
    private init(_ raw: Int32) throws(SystemError) {
        descriptor = raw
        if raw < 0 { throw SystemError("open") }
    }

    /// Whether this is the process's own standard output or standard error.
    package var isOwnOutput: Bool {
        guard let identity = FileStatus(of: descriptor)?.identity else { return false }
        return [1, 2].contains { FileStatus(of: $0)?.identity == identity }
    }

    deinit { if descriptor >= 0 { close(descriptor) } }

    package func write(_ bytes: [UInt8]) throws(SystemError) {
        if let code = SmallFile.writeAll(bytes, to: descriptor) { throw SystemError("write", code: code) }
    }
}
