/// What a program printed: lines of both its streams in the order in which they came, with times.
package struct Transcript: Sendable {
    package struct Line: Sendable {
        package let stream: ChildProcess.Stream
        /// When its first byte came.
        package let time: MonotonicTime
        /// Without the terminator.
        package fileprivate(set) var bytes: [UInt8]
        /// Whether the terminator has come.
        package fileprivate(set) var isComplete: Bool
        /// Later reads that went on with it: the offset behind what each brought.
        fileprivate var additions: [(end: Int, time: MonotonicTime)] = []

        /// When the byte at `offset` was read.
        package func arrival(of offset: Int) -> MonotonicTime {
            guard let first = additions.first, offset >= firstCount else { return time }
            return (additions.first { offset < $0.end } ?? additions.last ?? first).time
        }

        /// How many of its bytes had come by then.
        package func count(at moment: MonotonicTime) -> Int {
            additions.last { $0.time <= moment }?.end ?? min(firstCount, bytes.count)
        }

        /// Bytes of the first read.
        fileprivate var firstCount: Int
    }

    /// The oldest lines go when it holds so many bytes.
    package static let limit = 16 << 20

    package private(set) var lines: [Line] = []
    /// How many lines were dropped in front.
    package private(set) var dropped = 0
    private var open: [ChildProcess.Stream: Int] = [:]
    private var size = 0

    package init() {}

    /// Index behind the last line, counting dropped ones.
    package var end: Int { dropped + lines.count }

    mutating func append(_ bytes: ArraySlice<UInt8>, from stream: ChildProcess.Stream, at time: MonotonicTime) {
        size += bytes.count
        for (index, part) in bytes.split(separator: 10, omittingEmptySubsequences: false).enumerated() {
            if index > 0, let line = open.removeValue(forKey: stream) {
                lines[line - dropped].isComplete = true
                if lines[line - dropped].bytes.last == 13 { lines[line - dropped].bytes.removeLast() }
            } else if index > 0 {
                lines.append(Line(stream: stream, time: time, bytes: [], isComplete: true, firstCount: 0))
            }
            if part.isEmpty { continue }
            if let line = open[stream] {
                lines[line - dropped].bytes += part
                lines[line - dropped].additions.append((lines[line - dropped].bytes.count, time))
            } else {
                open[stream] = end
                lines.append(
                    Line(stream: stream, time: time, bytes: Array(part), isComplete: false, firstCount: part.count))
            }
        }
        if size > Transcript.limit { trim() }
    }

    private mutating func trim() {
        let keep = open.values.min() ?? end
        var count = 0
        while count < lines.count - 1, dropped + count < keep, size > Transcript.limit / 2 {
            size -= lines[count].bytes.count + 1
            count += 1
        }
        lines.removeFirst(count)
        dropped += count
    }
}
