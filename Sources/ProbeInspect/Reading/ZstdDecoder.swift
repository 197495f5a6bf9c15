import CZstd

/// Decompresses consecutive Zstandard frames (RFC 8878). Never traps. The maximum size of a window is 128 MiB,
/// libzstd's default limit for streams.
final class ZstdDecoder {
    private let stream: OpaquePointer?
    /// The output buffer. It is allocated manually, because the span of an array in a class can't outlive an access to
    /// the array. The decoder frees the buffer.
    private let output = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: ZSTD_DStreamOutSize())
    /// The total number of compressed bytes read.
    private var consumed: UInt64 = 0
    /// Whether no byte of the next frame has been read yet.
    private var isBetween = true

    init() {
        stream = ZSTD_createDStream()
    }

    deinit {
        output.deallocate()
        ZSTD_freeDStream(stream)
    }

    func decode<Failure: Error>(
        _ chunk: Span<UInt8>, _ body: (Span<UInt8>) throws(Failure) -> Void
    ) throws(Failure) -> Result<Bool, CaptureSourceError> {
        guard stream != nil else { return .failure(.system("libzstd could not be initialized")) }
        var position = 0
        while true {
            let before = position
            let (status, count) = step(chunk, &position)
            consumed += UInt64(position - before)
            if count > 0 { try body(UnsafeBufferPointer(rebasing: output[0..<count]).span) }
            if ZSTD_isError(status) != 0 {
                return .failure(
                    .damaged(
                        format: "zstd", offset: consumed, reason: String(cString: ZSTD_getErrorName(status))))
            }
            isBetween = status == 0
            // If the output buffer is not full, all data has been flushed.
            if position == chunk.count, isBetween || count < output.count { return .success(true) }
        }
    }

    func finish() -> Result<Bool, CaptureSourceError> {
        isBetween ? .success(false) : .failure(.endsInside(format: "zstd", offset: consumed))
    }

    private func step(_ chunk: Span<UInt8>, _ position: inout Int) -> (status: Int, made: Int) {
        chunk.withUnsafeBufferPointer { bytes in
            var input = ZSTD_inBuffer(src: bytes.baseAddress, size: bytes.count, pos: position)
            var target = ZSTD_outBuffer(dst: output.baseAddress, size: output.count, pos: 0)
            let status = ZSTD_decompressStream(stream, &target, &input)
            position = input.pos
            return (status, target.pos)
        }
    }
}
