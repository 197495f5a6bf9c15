package import ProbeBase

/// What a program printed: lines of both its streams in the order in which they came, with times.
///
/// Its memory is bounded whatever the program prints: the oldest lines go, but for those that somebody asks to be kept, and a line
/// that never ends is broken. No line goes before its end has come.
package struct OutputLog: Sendable {
    package struct Line: Sendable {
        package let stream: ChildProcess.Stream
        /// When its first byte came.
        package let time: MonotonicTime
        /// The end of the line that was broken before this one, which goes on with it.
        package let context: [UInt8]
        /// It goes on in a later one.
        package fileprivate(set) var isBroken = false
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
        fileprivate var firstCount = 0

        fileprivate init(stream: ChildProcess.Stream, time: MonotonicTime, context: [UInt8] = [], isComplete: Bool) {
            self.stream = stream
            self.time = time
            self.context = context
            self.isComplete = isComplete
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

    /// The oldest lines go when it takes so many bytes.
    package static let limit = 16 << 20
    /// So much is freed at once.
    private static let trimmed = 1 << 20
    /// Lines that were asked to be kept take so many bytes at most.
    package static let keptLimit = 4 << 20
    /// A longer line is broken here.
    package static let longestLine = 1 << 20
    /// So much of a line that was broken stands before the one that goes on with it.
    package static let contextLength = 4096
    /// What a line takes besides its bytes.
    private static let lineCost = 96

    /// Those behind all that were dropped.
    package private(set) var lines: [Line] = []
    /// How many lines stood in front of them. Some of these may be kept.
    package private(set) var dropped = 0
    /// Of those in front: what was kept, and what has not ended.
    package private(set) var kept: [(index: Int, line: Line)] = []
    /// Lines before this one were kept and did not fit any more.
    package private(set) var lostBefore = 0
    /// The last line that was broken; -1 for none.
    package private(set) var lastBroken = -1
    private var open: [ChildProcess.Stream: Int] = [:]
    /// The last line of a stream, where it was broken and nothing has come behind it.
    private var broken: [ChildProcess.Stream: Int] = [:]
    private var size = 0
    private var keptSize = 0

    package init() {}

    /// Index behind the last line, counting dropped ones.
    package var end: Int { dropped + lines.count }

    /// Lines to which something may still be added.
    package var openLines: [Int] { Array(open.values) }

    /// A line by its index, counting dropped ones; nil when it is one of them.
    package subscript(index: Int) -> Line? {
        if index >= dropped { return index < end ? lines[index - dropped] : nil }
        return kept.last { $0.index == index }?.line
    }

    mutating func append(
        _ bytes: ArraySlice<UInt8>, from stream: ChildProcess.Stream, at time: MonotonicTime,
        keeping: (_ lines: ArraySlice<Line>, _ first: Int) -> [Bool]
    ) {
        for (index, part) in bytes.split(separator: 10, omittingEmptySubsequences: false).enumerated() {
            if index > 0 { endLine(of: stream, at: time) }
            var rest = part
            while !rest.isEmpty { rest = add(rest, to: stream, at: time) }
        }
        if size > OutputLog.limit { trim(keeping) }
    }

    /// Changes a line that is there.
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
            // It ended where it was broken.
            change(line) {
                $0.isBroken = false
                if $0.bytes.last == 13 { $0.bytes.removeLast() }
            }
            return
        }
        guard let line = open.removeValue(forKey: stream) else {
            begin(Line(stream: stream, time: time, isComplete: true))
            return
        }
        change(line) {
            $0.isComplete = true
            if $0.bytes.last == 13 { $0.bytes.removeLast() }
        }
    }

    private mutating func begin(_ line: Line) {
        lines.append(line)
        size += line.cost
    }

    /// - Returns: what the line had no room for.
    private mutating func add(
        _ part: ArraySlice<UInt8>, to stream: ChildProcess.Stream, at time: MonotonicTime
    ) -> ArraySlice<UInt8> {
        if open[stream] == nil {
            let before = broken.removeValue(forKey: stream).flatMap { self[$0] }
            open[stream] = end
            let context = Array((before?.bytes ?? []).suffix(OutputLog.contextLength))
            begin(Line(stream: stream, time: time, context: context, isComplete: false))
        }
        guard let line = open[stream] else { return [] }
        let taken = part.prefix(OutputLog.longestLine - (self[line]?.bytes.count ?? 0))
        var isFull = false
        change(line) {
            $0.add(taken, at: time)
            isFull = $0.bytes.count >= OutputLog.longestLine
            if isFull { ($0.isComplete, $0.isBroken) = (true, true) }
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
            keptSize += line.cost
        }
        lines.removeFirst(count)
        dropped += count
        guard keptSize > OutputLog.keptLimit else { return }
        // The older half goes: to remove them one by one would move all others each time.
        var rest: [(index: Int, line: Line)] = []
        for entry in kept {
            if keptSize > OutputLog.keptLimit / 2, !isUnfinished(entry.index) {
                keptSize -= entry.line.cost
                lostBefore = entry.index + 1
            } else {
                rest.append(entry)
            }
        }
        kept = rest
    }

    private func isUnfinished(_ index: Int) -> Bool { open.values.contains(index) || broken.values.contains(index) }

    /// Lets go of lines that were kept before this one: nobody asks for them any more.
    package mutating func release(before index: Int) {
        guard let first = kept.first, first.index < index else { return }
        var rest: [(index: Int, line: Line)] = []
        for entry in kept {
            if entry.index < index, !isUnfinished(entry.index) {
                keptSize -= entry.line.cost
            } else {
                rest.append(entry)
            }
        }
        kept = rest
    }
}
