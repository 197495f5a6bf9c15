import Glibc

/// A path that is written to as it is, because nothing can take its place: a pipe, a terminal, `/dev/null`, this process's own
/// standard output.
package struct DirectOutput: ~Copyable {
    package let descriptor: Int32

    /// How long somebody may take who is to read from a named pipe.
    private static let patience = 250

    /// - Returns: nil for a path that a file takes (``ReplacementFile``).
    package static func open(_ path: String) throws(SystemError) -> DirectOutput? {
        guard let status = FileStatus(at: path) else { return nil }
        if status.isFolder { throw SystemError("open", code: EISDIR) }
        if status.isRegular {
            // `/dev/stdout` where that is a file: another one in its place would lose what goes there besides.
            for own: Int32 in [1, 2] where FileStatus(of: own)?.identity == status.identity {
                return try DirectOutput(fcntl(own, F_DUPFD_CLOEXEC, 3))
            }
            return nil
        }
        // A whole disk is no place for a report.
        if status.isBlockDevice { throw SystemError("open", code: ENOTBLK, "it is a disk") }
        // Opening never waits; a named pipe that nobody reads yet says so, and is tried again for some seconds.
        for attempt in 0... {
            let raw = Glibc.open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK)
            if raw >= 0 || errno != ENXIO || attempt == patience {
                if raw < 0, errno == ENXIO {
                    throw SystemError("open", code: ENXIO, "it is a pipe that nobody reads from")
                }
                let output = try DirectOutput(raw)
                let opened = FileStatus(of: raw)
                // Exchanged since it was looked at.
                if opened?.isRegular != false || opened?.isBlockDevice != false {
                    throw SystemError("open", code: EAGAIN)
                }
                return output
            }
            usleep(20_000)
        }
        return nil
    }

    /// - Parameter raw: a descriptor, or what a call gave instead of one.
    private init(_ raw: Int32) throws(SystemError) {
        descriptor = raw
        if raw < 0 { throw SystemError("open") }
    }

    /// Whether this is what the process's own standard output or standard error is.
    package var isOwnOutput: Bool {
        guard let identity = FileStatus(of: descriptor)?.identity else { return false }
        return [1, 2].contains { FileStatus(of: $0)?.identity == identity }
    }

    deinit { if descriptor >= 0 { close(descriptor) } }

    package func write(_ bytes: [UInt8]) throws(SystemError) {
        if let code = SmallFile.writeAll(bytes, to: descriptor) { throw SystemError("write", code: code) }
    }
}
