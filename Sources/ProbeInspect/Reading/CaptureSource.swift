import Glibc

/// Reads a capture in chunks, from a file or from standard input. Detects compression with gzip or zstd from the first
/// bytes, and decompresses the data. Holds at most two chunks in memory.
package struct CaptureSource: ~Copyable {
    private enum Format {
        case unknown, plain
        case gzip(GzipDecoder)
        case zstd(ZstdDecoder)
    }

    private let descriptor: Int32
    private let isOwned: Bool
    /// Whether the source is a regular file, which can be read again from the beginning (`rewind`).
    package let isRegular: Bool
    /// The size of the file when it was opened; 0 if the source is not a regular file.
    package let size: Int
    private var format = Format.unknown
    private var buffer: [UInt8]
    private var hasEnded = false

    /// The default number of bytes that are read at a time.
    package static let chunkSize = 1 << 18

    /// Opens a capture.
    ///
    /// - Parameter path: the path of a file, or `-` for standard input.
    package init(path: String, chunkSize: Int = chunkSize) throws(CaptureSourceError) {
        buffer = [UInt8](repeating: 0, count: max(chunkSize, 16))
        if path == "-" {
            descriptor = 0
            isOwned = false
            isRegular = false
            size = 0
            return
        }
        let opened = open(path, O_RDONLY | O_CLOEXEC)
        guard opened >= 0 else { throw Self.failure(errno) }
        var status = stat()
        if fstat(opened, &status) == 0, status.st_mode & S_IFMT == S_IFDIR {
            close(opened)
            throw .isFolder
        }
        posix_fadvise(opened, 0, 0, POSIX_FADV_SEQUENTIAL)
        isRegular = status.st_mode & S_IFMT == S_IFREG
        size = isRegular ? Int(status.st_size) : 0
        descriptor = opened
        isOwned = true
    }

    deinit {
        if isOwned { close(descriptor) }
    }

    private static func failure(_ code: Int32) -> CaptureSourceError {
        switch code {
        case ENOENT, ENOTDIR: .notFound
        case EISDIR: .isFolder
        case EACCES, EPERM: .notPermitted
        default: .system(String(cString: strerror(code)))
        }
    }

    /// Passes the next bytes of the capture to `body`, in one or more calls.
    ///
    /// - Returns: `false` at the end of the capture.
    package mutating func next<Failure: Error>(
        _ body: (Span<UInt8>) throws(Failure) -> Void
    ) throws(Failure) -> Result<Bool, CaptureSourceError> {
        if hasEnded { return .success(false) }
        let count: Int
        switch read() {
        case .success(let read): count = read
        case .failure(let error): return .failure(error)
        }
        if case .unknown = format { format = Self.format(of: buffer.span.extracting(0..<count)) }
        hasEnded = count == 0
        let chunk = buffer.span.extracting(0..<count)
        switch format {
        case .gzip(let decoder):
            return try count == 0 ? decoder.finish() : decoder.decode(chunk, body)
        case .zstd(let decoder):
            return try count == 0 ? decoder.finish() : decoder.decode(chunk, body)
        case .unknown, .plain:
            if count > 0 { try body(chunk) }
            return .success(count > 0)
        }
    }

    /// Starts again at the first byte. Returns `false` if that is not possible.
    mutating func rewind() -> Bool {
        guard isRegular, lseek(descriptor, 0, SEEK_SET) == 0 else { return false }
        format = .unknown
        hasEnded = false
        return true
    }

    /// Reads once into the buffer. At the start of the capture, reads until the buffer contains the four bytes of a
    /// magic number.
    private mutating func read() -> Result<Int, CaptureSourceError> {
        var filled = 0
        let wanted = if case .unknown = format { 4 } else { 1 }
        while filled < wanted {
            let room = buffer.count - filled
            let count = buffer.withUnsafeMutableBytes { bytes in
                bytes.baseAddress.map { Glibc.read(descriptor, $0 + filled, room) } ?? 0
            }
            if count == 0 { break }
            if count > 0 {
                filled += count
            } else if errno != EINTR {
                return .failure(Self.failure(errno))
            }
        }
        return .success(filled)
    }

    /// The descriptor of an uncompressed regular file; `nil` for any other source. It may be used for positional reads
    /// for as long as the source exists.
    var plainDescriptor: Int32? {
        guard isRegular else { return nil }
        var start = [UInt8](repeating: 0, count: 4)
        let count = start.withUnsafeMutableBytes { pread(descriptor, $0.baseAddress, $0.count, 0) }
        guard count == 4, case .plain = Self.format(of: start.span) else { return nil }
        return descriptor
    }

    /// Reads bytes, starting at `position`, until the buffer is full.
    ///
    /// - Returns: the number of bytes read, which is less than the buffer's size only at the end of the file.
    static func read(
        _ descriptor: Int32, at position: Int, into bytes: inout [UInt8]
    ) -> Result<Int, CaptureSourceError> {
        bytes.withUnsafeMutableBytes { bytes in
            var filled = 0
            while filled < bytes.count, let base = bytes.baseAddress {
                let count = pread(descriptor, base + filled, bytes.count - filled, off_t(position + filled))
                if count == 0 { break }
                if count > 0 {
                    filled += count
                } else if errno != EINTR {
                    return .failure(failure(errno))
                }
            }
            return .success(filled)
        }
    }

    private static func format(of bytes: Span<UInt8>) -> Format {
        func starts(_ magic: [UInt8]) -> Bool {
            bytes.count >= magic.count && magic.indices.allSatisfy { bytes[$0] == magic[$0] }
        }
        if starts([0x1f, 0x8b, 8]) { return .gzip(GzipDecoder()) }
        // A Zstandard frame may be preceded by a skippable frame (RFC 8878, section 3.1).
        if starts([0x28, 0xb5, 0x2f, 0xfd]) { return .zstd(ZstdDecoder()) }
        if bytes.count >= 4, bytes[0] & 0xf0 == 0x50, bytes[1] == 0x2a, bytes[2] == 0x4d, bytes[3] == 0x18 {
            return .zstd(ZstdDecoder())
        }
        return .plain
    }
}
