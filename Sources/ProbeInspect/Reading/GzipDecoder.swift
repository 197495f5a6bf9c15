import CZlib

/// Decompresses consecutive gzip members (RFC 1952). Never traps. Holds one window and one chunk of output in memory.
final class GzipDecoder {
    private var stream = z_stream()
    /// The output buffer. It is allocated manually, because the span of an array in a class can't outlive an access to
    /// the array. The decoder frees the buffer.
    private let output = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: 1 << 18)
    private var isOpen: Bool
    /// The total number of compressed bytes read.
    private var consumed: UInt64 = 0
    /// Whether no byte of the next member has been read yet.
    private var isBetween = true

    init() {
        // The parameter consists of 15 window bits, plus 16 for a gzip header (see inflateInit2 in zlib's manual).
        isOpen = inflateInit2_(&stream, 15 + 16, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size)) == Z_OK
    }

    deinit {
        output.deallocate()
        if isOpen { inflateEnd(&stream) }
    }

    func decode<Failure: Error>(
        _ chunk: Span<UInt8>, _ body: (Span<UInt8>) throws(Failure) -> Void
    ) throws(Failure) -> Result<Bool, CaptureSourceError> {
        guard isOpen else { return .failure(.system("zlib could not be initialized")) }
        var position = 0
        while position < chunk.count {
            // Zeros between and after members are padding, as added on tapes and block devices.
            if isBetween, chunk[position] == 0 {
                position += 1
                consumed += 1
                continue
            }
            let (status, taken, count) = step(chunk.extracting(position..<chunk.count))
            position += taken
            consumed += UInt64(taken)
            if count > 0 { try body(UnsafeBufferPointer(rebasing: output[0..<count]).span) }
            switch status {
            case Z_OK: isBetween = false
            case Z_STREAM_END:
                inflateReset(&stream)
                isBetween = true
            case Z_BUF_ERROR where taken > 0 || count > 0: break
            default:
                return .failure(.damaged(format: "gzip", offset: consumed, reason: reason(status)))
            }
        }
        // There may be more output even though all input has been consumed.
        while !isBetween {
            let (status, _, count) = step(Span())
            if count > 0 { try body(UnsafeBufferPointer(rebasing: output[0..<count]).span) }
            if status == Z_STREAM_END {
                inflateReset(&stream)
                isBetween = true
            }
            if count == 0 { break }
        }
        return .success(true)
    }

    func finish() -> Result<Bool, CaptureSourceError> {
        isBetween ? .success(false) : .failure(.endsInside(format: "gzip", offset: consumed))
    }

    private func step(_ input: Span<UInt8>) -> (status: Int32, taken: Int, made: Int) {
        input.withUnsafeBufferPointer { input in
            // zlib declares the pointer as mutable, but does not write through it.
            stream.next_in = UnsafeMutablePointer(mutating: input.baseAddress)
            stream.avail_in = UInt32(clamping: input.count)
            stream.next_out = output.baseAddress
            stream.avail_out = UInt32(clamping: output.count)
            let status = inflate(&stream, Z_NO_FLUSH)
            return (status, input.count - Int(stream.avail_in), output.count - Int(stream.avail_out))
        }
    }

    private func reason(_ status: Int32) -> String {
        stream.msg.map { String(cString: $0) } ?? "zlib returned status \(status)"
    }
}
