package import ProbeBase

/// The output of a program: the lines of stdout and stderr in the order of arrival, with times.
///
/// Memory is bounded, regardless of how much the program prints. The oldest lines are dropped, except for lines that a
/// caller asks to keep, and a line that is too long is split. An unfinished line is not dropped.
package struct OutputLog: Sendable {
    package struct Line: Sendable {
        package let stream: ChildProcess.Stream
        /// The time at which the line's first byte arrived.
        package let time: MonotonicTime
        /// The end of the previous part, if this line continues a line that was split.
        package let context: [UInt8]
        /// Whether the line was split and continues in a later entry.
        package fileprivate(set) var isBroken = false
        /// The line without its terminator.
        package fileprivate(set) var bytes: [UInt8]
        /// Whether the line is complete: its terminator has arrived, or the line was split.
        package var isComplete: Bool { ended != nil }
        /// The time at which the terminator arrived or the line was split; `nil` while the line is unfinished.
        package fileprivate(set) var ended: MonotonicTime?
        /// The later reads that extended the line. For each read, `end` is the offset after its last byte.
        fileprivate var additions: [(end: Int, time: MonotonicTime)] = []

        /// Returns the time at which the byte at `offset` was read.
        package func arrival(of offset: Int) -> MonotonicTime {
            guard let first = additions.first, offset >= firstCount else { return time }
            return (additions.first { offset < $0.end } ?? additions.last ?? first).time
        }

        /// The number of the line's bytes that the first read returned.
        fileprivate var firstCount = 0

        fileprivate init(
            stream: ChildProcess.Stream, time: MonotonicTime, context: [UInt8] = [], ended: MonotonicTime? = nil
        ) {
            self.stream = stream
            self.time = time
            self.context = context
            self.ended = ended
            bytes = []
        }

        fileprivate var cost: Int { bytes.count + context.count + additions.count * 16 + OutputLog.lineCost }

        fileprivate mutating func add(_ part: ArraySlice<UInt8>, at time: MonotonicTime) {
            let isFirst = bytes.isEmpty
            bytes += part
            if isFirst {
                firstCount = bytes.count
            } else if additions.last?.time == time {
                additions[additions.count - 1].end = bytes.count
            } else {
                additions.append((bytes.count, time))
            }
        }
    }

    /// The total size, in bytes, at which the oldest lines are dropped.
    package static let limit = 16 << 20
    /// The number of bytes that are freed each time lines are dropped.
    private static let trimmed = 1 << 20
    /// The maximum number of bytes in lines that callers asked to keep.
    package static let keptLimit = 4 << 20
    /// The maximum length of a line; a longer one is split.
    package static let longestLine = 1 << 20
    /// The number of bytes of a split line that are kept as context for its continuation.
    package static let contextLength = 4096
    /// The memory that a line occupies in addition to its bytes.
    private static let lineCost = 96

    /// The lines that have not been dropped.
    package private(set) var lines: [Line] = []
    /// The number of lines removed from the front of `lines`, including the lines in `kept`.
    package private(set) var dropped = 0
    /// The lines that were removed from `lines` but are kept, because a caller asked for them or because they were
    /// unfinished.
    package private(set) var kept: [(index: Int, line: Line)] = []
    /// The indices of kept lines that were unfinished when they were removed from `lines`, and therefore were not
    /// searched at that time.
    private var keptOpen: Set<Int> = []
    /// Whether a kept unfinished line was lost because the memory limit was reached.
    package private(set) var hasLostOpen = false
    /// The index after the last kept line that was discarded because the memory limit was reached; 0 if no kept line
    /// was discarded.
    package private(set) var lostBefore = 0
    /// The index of the last line that was split; -1 if no line was split.
    package private(set) var lastBroken = -1
    private var open: [ChildProcess.Stream: Int] = [:]
    /// For each stream, the index of the last split line that has no continuation yet.
    private var broken: [ChildProcess.Stream: Int] = [:]
    private var size = 0
    private var keptSize = 0

    package init() {}

    /// The index after the last line, counted from the first line of the output.
    package var end: Int { dropped + lines.count }

    /// The indices of the lines to which bytes may still be added.
    package var openLines: [Int] { Array(open.values) }

    /// Returns the line at an index, counted from the first line of the output; `nil` if the line was discarded.
    package subscript(index: Int) -> Line? {
        if index >= dropped { return index < end ? lines[index - dropped] : nil }
        return kept.last { $0.index == index }?.line
    }

    mutating func append(
        _ bytes: ArraySlice<UInt8>, from stream: ChildProcess.Stream, at time: MonotonicTime,
        keeping: (_ lines: ArraySlice<Line>, _ first: Int) -> [Bool]
    ) {
        var start = bytes.startIndex
        while true {
            let lineFeed = bytes.span.firstIndex(of: 10, from: start - bytes.startIndex).map { bytes.startIndex + $0 }
            var rest = bytes[start..<(lineFeed ?? bytes.endIndex)]
            while !rest.isEmpty { rest = add(rest, to: stream, at: time) }
            guard let lineFeed else { break }
            endLine(of: stream, at: time)
            start = lineFeed + 1
        }
        if size > OutputLog.limit { trim(keeping) }
    }

    /// Changes an existing line.
    private mutating func change(_ index: Int, _ body: (inout Line) -> Void) {
        if index >= dropped {
            size -= lines[index - dropped].cost
            body(&lines[index - dropped])
            size += lines[index - dropped].cost
        } else if let place = kept.lastIndex(where: { $0.index == index }) {
            keptSize -= kept[place].line.cost
            body(&kept[place].line)
            keptSize += kept[place].line.cost
        }
    }

    private mutating func endLine(of stream: ChildProcess.Stream, at time: MonotonicTime) {
        if let line = broken.removeValue(forKey: stream) {
            // The line was split directly before the terminator.
            change(line) {
                $0.isBroken = false
                if $0.bytes.last == 13 { $0.bytes.removeLast() }
            }
            return
        }
        guard let line = open.removeValue(forKey: stream) else {
            begin(Line(stream: stream, time: time, ended: time))
            return
        }
        change(line) {
            $0.ended = time
            if $0.bytes.last == 13 { $0.bytes.removeLast() }
        }
    }

    private mutating func begin(_ line: Line) {
        lines.append(line)
        size += line.cost
    }

    /// Adds bytes to a line.
    ///
    /// - Returns: the bytes that did not fit into the line.
    private mutating func add(
        _ part: ArraySlice<UInt8>, to stream: ChildProcess.Stream, at time: MonotonicTime
    ) -> ArraySlice<UInt8> {
        if open[stream] == nil {
            let before = broken.removeValue(forKey: stream).flatMap { self[$0] }
            open[stream] = end
            let context = Array((before?.bytes ?? []).suffix(OutputLog.contextLength))
            begin(Line(stream: stream, time: time, context: context))
        }
        guard let line = open[stream] else { return [] }
        let taken = part.prefix(OutputLog.longestLine - (self[line]?.bytes.count ?? 0))
        var isFull = false
        change(line) {
            $0.add(taken, at: time)
            isFull = $0.bytes.count >= OutputLog.longestLine
            if isFull { ($0.ended, $0.isBroken) = (time, true) }
        }
        if isFull {
            open[stream] = nil
            broken[stream] = line
            lastBroken = line
        }
        return part[taken.endIndex...]
    }

    private mutating func trim(_ keeping: (_ lines: ArraySlice<Line>, _ first: Int) -> [Bool]) {
        var count = 0
        while count < lines.count - 1, size > OutputLog.limit - OutputLog.trimmed {
            size -= lines[count].cost
            count += 1
        }
        let isKept = keeping(lines[..<count], dropped)
        for (offset, line) in lines[..<count].enumerated() {
            let index = dropped + offset
            guard (offset < isKept.count && isKept[offset]) || isUnfinished(index) else { continue }
            kept.append((index, line))
            if !line.isComplete { keptOpen.insert(index) }
            keptSize += line.cost
        }
        lines.removeFirst(count)
        dropped += count
        guard keptSize > OutputLog.keptLimit else { return }
        // The older half is dropped in one operation, because dropping lines one by one would move all the remaining
        // lines each time.
        var rest: [(index: Int, line: Line)] = []
        for entry in kept {
            if keptSize > OutputLog.keptLimit / 2, !isUnfinished(entry.index) {
                keptSize -= entry.line.cost
                lostBefore = entry.index + 1
                if keptOpen.remove(entry.index) != nil { hasLostOpen = true }
            } else {
                rest.append(entry)
            }
        }
        kept = rest
    }

    private func isUnfinished(_ index: Int) -> Bool { open.values.contains(index) || broken.values.contains(index) }

    /// Drops the kept lines before the given index. No caller needs these lines any longer.
    ///
    /// Lines that were unfinished when they were removed from `lines` remain, because they have not been searched for
    /// every pattern.
    package mutating func release(before index: Int) {
        guard let first = kept.first, first.index < index else { return }
        var rest: [(index: Int, line: Line)] = []
        for entry in kept {
            if entry.index < index, !isUnfinished(entry.index), !keptOpen.contains(entry.index) {
                keptSize -= entry.line.cost
            } else {
                rest.append(entry)
            }
        }
        kept = rest
    }
}
