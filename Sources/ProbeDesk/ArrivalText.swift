package import ProbeBase

/// Formats the bytes received on a connection for immediate display: the lines, followed by how the bytes arrived.
package struct ArrivalText: Sendable {
    /// A part of a stream that arrived in one segment or one read.
    package struct Piece: Sendable, Equatable {
        package var count: Int
        package var time: MonotonicTime

        package init(count: Int, time: MonotonicTime) {
            (self.count, self.time) = (count, time)
        }
    }

    /// The maximum number of bytes that are shown at once, so that the terminal remains readable.
    private static let maxBytes = 16 << 10
    /// The maximum number of bytes of a line that are shown.
    private static let longestLine = 2000

    /// Returns the lines, each with its terminator, such as `< 220 ready\r\n`.
    ///
    /// - Parameter mark: the prefix of each line.
    package static func lines(of bytes: [UInt8], mark: String) -> [String] {
        var lines: [String] = []
        var rest = bytes.prefix(maxBytes)
        while !rest.isEmpty {
            let end = rest.firstIndex(of: 10).map { $0 + 1 } ?? rest.endIndex
            let line = rest[..<end]
            let shown = Escaped.text(line.prefix(longestLine))
            lines.append("\(mark) \(shown)\(line.count > longestLine ? "… (\(line.count) bytes)" : "")")
            rest = rest[end...]
        }
        if bytes.count > maxBytes {
            lines.append("\(mark) … and \(ByteText.count(bytes.count - maxBytes, "more byte"))")
        }
        return lines
    }

    /// Returns the sizes of the pieces and the time between them, such as `5 + 2 bytes, 30 ms apart`.
    ///
    /// For a single piece, the text is `7 bytes`; for many pieces, `12 segments of 5 to 1448 bytes, up to 30 ms apart`.
    ///
    /// - Parameter areSegments: whether the pieces are segments. If not, each piece is the result of one read, which
    ///   may join several segments, and the text mentions the reads.
    package static func pieces(_ pieces: [Piece], areSegments: Bool) -> String {
        guard let first = pieces.first else { return "" }
        let counts = pieces.map(\.count)
        let total = counts.reduce(0, +)
        if pieces.count == 1 { return bytes(first.count) + (areSegments ? "" : ", in one read") }
        let gaps = zip(pieces, pieces.dropFirst()).map { milliseconds($1.time - $0.time) }
        let word = areSegments ? "segments" : "reads"
        guard pieces.count <= 6 else {
            let sizes = Set(counts).count == 1 ? "\(counts[0])" : "\(counts.min() ?? 0) to \(counts.max() ?? 0)"
            return "\(total) bytes in \(counts.count) \(word) of \(sizes) bytes, up to \(text(gaps.max() ?? 0)) apart"
        }
        let apart = Set(gaps).count == 1 ? text(gaps[0]) : gaps.map(text).joined(separator: ", ")
        let sizes = counts.map(String.init).joined(separator: " + ")
        return "\(sizes) bytes, \(apart) apart" + (areSegments ? "" : ", in \(pieces.count) reads")
    }

    /// Returns the parts of a stream's segments that are in `range`; `nil` if the segments do not cover the range.
    ///
    /// - Parameter segments: the segments from the beginning of the stream, in order.
    package static func pieces(_ segments: [Piece], of range: Range<Int>) -> [Piece]? {
        var (start, covered, pieces) = (0, 0, [Piece]())
        for segment in segments {
            let part = (start..<(start + segment.count)).clamped(to: range)
            if !part.isEmpty {
                pieces.append(Piece(count: part.count, time: segment.time))
                covered += part.count
            }
            start += segment.count
        }
        return covered == range.count ? pieces : nil
    }

    private static func bytes(_ count: Int) -> String { count == 1 ? "1 byte" : "\(count) bytes" }

    /// Returns the duration in milliseconds, rounded to the nearest millisecond.
    private static func milliseconds(_ duration: Duration) -> Int64 { (duration.nanoseconds + 500_000) / 1_000_000 }

    private static func text(_ milliseconds: Int64) -> String {
        milliseconds < 1 ? "less than 1 ms" : "\(milliseconds) ms"
    }
}
