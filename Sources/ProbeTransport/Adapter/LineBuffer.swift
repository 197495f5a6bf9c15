import ProbeBase
import Glibc

/// Divides a stream of bytes into lines. Its memory use is bounded by one unfinished line of at most `limit` bytes and
/// one chunk.
struct LineBuffer {
    private let limit: Int
    /// The number of bytes of an overlong line that the error message shows.
    private static let shown = 1024
    private(set) var rest: [UInt8] = []

    struct TooLong: Error {
        var beginning: [UInt8]
    }

    init(limit: Int) {
        self.limit = limit
    }

    /// Appends bytes, and passes each line that they complete to `take`, without the line feed. Stops if `take` returns
    /// `false`.
    mutating func append(_ chunk: ArraySlice<UInt8>, _ take: ([UInt8]) -> Bool) throws(TooLong) {
        var start = chunk.startIndex
        while let end = LineBuffer.lineFeed(in: chunk[start...]) {
            try grow(chunk[start..<end])
            let line = rest
            rest = []
            start = end + 1
            if !take(line) { return }
        }
        try grow(chunk[start...])
    }

    private static func lineFeed(in bytes: ArraySlice<UInt8>) -> Int? {
        bytes.withUnsafeBytes { buffer in
            guard let base = buffer.baseAddress, let found = memchr(base, 10, buffer.count) else { return nil }
            return bytes.startIndex + (UnsafeRawPointer(found) - base)
        }
    }

    private mutating func grow(_ part: ArraySlice<UInt8>) throws(TooLong) {
        if rest.count + part.count > limit {
            throw TooLong(beginning: Array((rest + part.prefix(LineBuffer.shown)).prefix(LineBuffer.shown)))
        }
        rest += part
    }
}

/// The last lines that a program wrote to stderr. Long lines are truncated.
struct StderrTail {
    private static let lineLimit = 2000
    private static let count = 8

    private(set) var lines: [[UInt8]] = []
    private var open: [UInt8] = []
    private var isCut = false

    /// Appends bytes from stderr.
    ///
    /// - Returns: the lines that the bytes complete.
    mutating func append(_ chunk: ArraySlice<UInt8>) -> [[UInt8]] {
        var finished: [[UInt8]] = []
        for byte in chunk {
            if byte == 10 {
                finished.append(open)
                (open, isCut) = ([], false)
            } else if open.count < StderrTail.lineLimit {
                open.append(byte)
            } else if !isCut {
                open += "…".utf8
                isCut = true
            }
        }
        keep(finished)
        return finished
    }

    /// Ends the stream, and returns the bytes after the last line feed as a line; an empty list if there are no such
    /// bytes.
    mutating func finish() -> [[UInt8]] {
        if open.isEmpty { return [] }
        let last = [open]
        (open, isCut) = ([], false)
        keep(last)
        return last
    }

    private mutating func keep(_ finished: [[UInt8]]) {
        lines = Array((lines + finished.suffix(StderrTail.count)).suffix(StderrTail.count))
    }

    /// The last lines on stderr, formatted for the details of a failure.
    var details: [String] {
        if lines.isEmpty { return ["it wrote nothing to stderr"] }
        return ["its last lines on stderr:"] + lines.map { "  \(Escaped.foreignText($0, limit: 300))" }
    }
}
