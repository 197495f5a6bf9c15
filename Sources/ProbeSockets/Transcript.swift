/// What a program printed: lines of both its streams in the order in which they came, with times.
///
/// Its memory is bounded whatever the program prints: the oldest lines go, and a line that never ends is broken.
package struct Transcript: Sendable {
    package struct Line: Sendable {
        package let stream: ChildProcess.Stream
        /// When its first byte came.
        package let time: MonotonicTime
        /// Without the terminator.
        package fileprivate(set) var bytes: [UInt8]
        /// Whether nothing is added to it any more: its terminator has come, or it was broken.
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

        fileprivate mutating func add(_ part: ArraySlice<UInt8>, at time: MonotonicTime) {
            let isFirst = bytes.isEmpty
            bytes += part
            if isFirst { firstCount = bytes.count } else { additions.append((bytes.count, time)) }
        }
    }

    /// The oldest lines go when it takes so many bytes.
    package static let limit = 16 << 20
    /// A longer line is broken here.
    package static let longestLine = 1 << 20
    /// What a line takes besides its bytes.
    private static let lineCost = 96

    package private(set) var lines: [Line] = []
    /// How many lines were dropped in front.
    package private(set) var dropped = 0
    private var open: [ChildProcess.Stream: Int] = [:]
    private var size = 0

    package init() {}

    /// Index behind the last line, counting dropped ones.
    package var end: Int { dropped + lines.count }

    /// Index of the first line to which something may still be added; ``end`` when there is none.
    package var firstOpen: Int { open.values.min() ?? end }

    mutating func append(_ bytes: ArraySlice<UInt8>, from stream: ChildProcess.Stream, at time: MonotonicTime) {
        for (index, part) in bytes.split(separator: 10, omittingEmptySubsequences: false).enumerated() {
            if index > 0 { endLine(of: stream, at: time) }
            var rest = part
            while !rest.isEmpty { rest = add(rest, to: stream, at: time) }
        }
        if size > Transcript.limit { trim() }
    }

    private mutating func endLine(of stream: ChildProcess.Stream, at time: MonotonicTime) {
        guard let line = open.removeValue(forKey: stream) else {
            begin(Line(stream: stream, time: time, bytes: [], isComplete: true, firstCount: 0))
            return
        }
        lines[line - dropped].isComplete = true
        if lines[line - dropped].bytes.last == 13 { lines[line - dropped].bytes.removeLast() }
    }

    private mutating func begin(_ line: Line) {
        lines.append(line)
        size += Transcript.lineCost
    }

    /// - Returns: what the line had no room for.
    private mutating func add(
        _ part: ArraySlice<UInt8>, to stream: ChildProcess.Stream, at time: MonotonicTime
    ) -> ArraySlice<UInt8> {
        if open[stream] == nil {
            open[stream] = end
            begin(Line(stream: stream, time: time, bytes: [], isComplete: false, firstCount: 0))
        }
        guard let line = open[stream] else { return [] }
        let taken = part.prefix(Transcript.longestLine - lines[line - dropped].bytes.count)
        lines[line - dropped].add(taken, at: time)
        size += taken.count
        if lines[line - dropped].bytes.count >= Transcript.longestLine {
            lines[line - dropped].isComplete = true
            open[stream] = nil
        }
        return part[taken.endIndex...]
    }

    private mutating func trim() {
        var count = 0
        while count < lines.count - 1, size > Transcript.limit / 2 {
            size -= lines[count].bytes.count + Transcript.lineCost
            count += 1
        }
        lines.removeFirst(count)
        dropped += count
        // A line that was dropped before its end (a prompt, say) goes on in a new one.
        open = open.filter { $0.value >= dropped }
    }
}
