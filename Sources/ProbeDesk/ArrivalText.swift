package import ProbeBase

/// What came on a connection, as it is shown at once: its lines, then how it came.
package struct ArrivalText: Sendable {
    /// A part of the stream that came at a time.
    package struct Piece: Sendable, Equatable {
        package var count: Int
        package var time: MonotonicTime

        package init(count: Int, time: MonotonicTime) {
            (self.count, self.time) = (count, time)
        }
    }

    /// Of what comes at a time no more is shown; a terminal is for reading.
    private static let mostBytes = 16 << 10
    /// Of a line.
    private static let longestLine = 2000

    /// The lines, each with its terminator: `< 220 ready\r\n`.
    ///
    /// - Parameter mark: what stands before each.
    package static func lines(of bytes: [UInt8], mark: String) -> [String] {
        var lines: [String] = []
        var rest = bytes.prefix(mostBytes)
        while !rest.isEmpty {
            let end = rest.firstIndex(of: 10).map { $0 + 1 } ?? rest.endIndex
            let line = rest[..<end]
            let shown = Escaped.text(line.prefix(longestLine))
            lines.append("\(mark) \(shown)\(line.count > longestLine ? "… (\(line.count) bytes)" : "")")
            rest = rest[end...]
        }
        if bytes.count > mostBytes { lines.append("\(mark) … and \(bytes.count - mostBytes) bytes more") }
        return lines
    }

    /// `5 + 2 bytes, 30 ms apart`; of one piece `7 bytes`; of many `12 segments of 5 to 1448 bytes, up to 30 ms apart`.
    ///
    /// - Parameter areSegments: false for what single reads returned, which may join segments: that is said.
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
        return "\(sizes) bytes, \(apart) apart" + (areSegments ? "" : ", by reads")
    }

    /// The parts of the segments of a stream that a range of it has; nil where they do not cover it.
    ///
    /// - Parameter segments: from the beginning of the stream, in its order.
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

    /// Rounded; below one it is 0.
    private static func milliseconds(_ duration: Duration) -> Int64 { (duration.nanoseconds + 500_000) / 1_000_000 }

    private static func text(_ milliseconds: Int64) -> String {
        milliseconds < 1 ? "less than 1 ms" : "\(milliseconds) ms"
    }
}
