import Glibc

/// An output path that is written to directly because it can't be replaced with a file: a pipe, a terminal,
/// `/dev/null`, or this process's own standard output.
package struct DirectOutput: ~Copyable {
    package let descriptor: Int32

    /// The number of attempts to open a named pipe that has no reader yet, 20 ms apart.
    private static let maxAttempts = 250

    /// Opens a path.
    ///
    /// - Returns: `nil` if the path can be replaced with a file (``ReplacementFile``).
    package static func open(_ path: String) throws(SystemError) -> DirectOutput? {
        guard let status = FileStatus(at: path) else { return nil }
        if status.isFolder { throw SystemError("open", code: EISDIR) }
        if status.isRegular {
            // `/dev/stdout` may refer to a regular file. Replacing that file would lose the rest of the output.
            for own: Int32 in [1, 2] where FileStatus(of: own)?.identity == status.identity {
                return try DirectOutput(fcntl(own, F_DUPFD_CLOEXEC, 3))
            }
            return nil
        }
        // A report must not overwrite a block device.
        if status.isBlockDevice { throw SystemError("open", code: ENOTBLK, "it is a disk") }
        // Opening does not block: for a named pipe without a reader, `open` fails with ENXIO and is repeated.
        for attempt in 0... {
            let raw = Glibc.open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK)
            if raw >= 0 || errno != ENXIO || attempt == maxAttempts {
                if raw < 0, errno == ENXIO {
                    throw SystemError("open", code: ENXIO, "the pipe has no reader")
                }
                let output = try DirectOutput(raw)
                let opened = FileStatus(of: raw)
                // The path now refers to a different file than when its status was read.
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

    /// Whether the descriptor refers to the process's own standard output or standard error.
    package var isOwnOutput: Bool {
        guard let identity = FileStatus(of: descriptor)?.identity else { return false }
        return [1, 2].contains { FileStatus(of: $0)?.identity == identity }
    }

    deinit { if descriptor >= 0 { close(descriptor) } }

    package func write(_ bytes: [UInt8]) throws(SystemError) {
        if let code = SmallFile.writeAll(bytes, to: descriptor) { throw SystemError("write", code: code) }
    }
}
