import ProbeBase
import ProbeRegex
import ProbeScenario
import ProbeSystem

/// The position in a program's output at which the next search begins.
struct OutputCursor {
    /// The index of a line in the output log; dropped lines are included in the count. `offset` is the position within
    /// this line.
    var line = 0
    var offset = 0
    /// The offsets at which the search resumes in earlier lines that have not ended, or that ended after the line of
    /// the last match.
    var unfinished: [Int: Int] = [:]

    /// Returns the position at which to continue a search that found nothing. Complete lines are not searched again.
    ///
    /// - Parameter open: the indices of the unfinished lines.
    static func afterCompleteLines(of log: OutputLog, _ open: [Int], from cursor: OutputCursor) -> OutputCursor {
        var rest: [Int: Int] = [:]
        for line in open { rest[line] = cursor.unfinished[line] ?? (line == cursor.line ? cursor.offset : 0) }
        return OutputCursor(line: log.end, offset: 0, unfinished: rest)
    }
}

/// Searches a program's output for a regex, line by line.
enum OutputSearch {
    struct Match {
        var line: Int
        /// The offset after the match, at which the search of the line continues.
        var end: Int
        /// The time at which the last byte of the match was read.
        var time: MonotonicTime
        /// The time at which the line that contains the match ended; `nil` if the line is unfinished.
        var ended: MonotonicTime?
        var groups: [(String, [UInt8])]
    }

    /// Returns the first match after a position in the log, that is, the match whose line ended first. Matches in
    /// unfinished lines come last.
    ///
    /// - Parameter includesOpen: whether unfinished lines are searched. Bytes appended to an unfinished line may change
    ///   what matches.
    static func next(
        _ regex: ByteRegex, in log: OutputLog, from cursor: OutputCursor = OutputCursor(), includesOpen: Bool
    ) -> Match? {
        var first: Match?
        func look(at index: Int, _ line: OutputLog.Line, from offset: Int) -> Bool {
            guard line.isComplete || includesOpen, let match = match(regex, line, index, offset) else { return false }
            if first.map({ isBefore(match, $0) }) ?? true { first = match }
            return true
        }
        for (index, offset) in cursor.unfinished {
            if let line = log[index] { _ = look(at: index, line, from: offset) }
        }
        // The lines of one stream end in order. A line of the other stream can precede the first match only if it began
        // before that match's line ended.
        var found: Set<ChildProcess.Stream> = []
        func isDone(at index: Int, _ line: OutputLog.Line) -> Bool {
            if found.contains(line.stream) { return false }
            if let end = first?.ended, line.time > end { return true }
            if look(at: index, line, from: index == cursor.line ? cursor.offset : 0) { found.insert(line.stream) }
            return found.count == 2
        }
        for (index, line) in log.kept where index >= cursor.line {
            if isDone(at: index, line) { return first }
        }
        var index = max(cursor.line, log.dropped)
        while index < log.end {
            if isDone(at: index, log.lines[index - log.dropped]) { return first }
            index += 1
        }
        return first
    }

    private static func isBefore(_ match: Match, _ other: Match) -> Bool {
        switch (match.ended, other.ended) {
        case (let end?, let otherEnd?): (end, match.line) < (otherEnd, other.line)
        case (nil, nil): match.line < other.line
        case (let end, _): end != nil
        }
    }

    /// Returns the first match in one line, at or after an offset.
    ///
    /// A long line is split into parts, each with some context from the preceding part. A match across the split is
    /// found in the later part, provided that the match can't be longer than the context. `^` does not match at the
    /// split, and a match that extends to the end of a part is left to the next part.
    static func match(_ regex: ByteRegex, _ line: OutputLog.Line, _ index: Int, _ offset: Int) -> Match? {
        guard offset <= line.bytes.count else { return nil }
        let context = line.context.count
        let text = context == 0 ? line.bytes : line.context + line.bytes
        var start = context + offset
        if context > 0, offset == 0 { start = max(1, context - (regex.longestMatch ?? 0)) }
        while let match = regex.firstMatch(in: text, from: start) {
            // Without this check, an empty match at the end of the previous match would be found again and again.
            if offset > 0 && match.range.isEmpty { return nil }
            let isPast = context > 0 && match.range.upperBound < context
            let isCut = line.isBroken && match.range.upperBound == text.count
            guard isPast || isCut else {
                let end = max(match.range.upperBound - context, 1)
                return Match(
                    line: index, end: end, time: line.arrival(of: end - 1), ended: line.ended,
                    groups: match.groups.map { ($0.name, $0.range.map { Array(text[$0]) } ?? []) })
            }
            if isCut, regex.longestMatch == nil { return nil }
            start = match.range.lowerBound + 1
        }
        return nil
    }

    /// Whether any match in the lines from `line` on is certain to be found, even in lines that were split.
    static func seesAll(_ regex: ByteRegex, in log: OutputLog, from line: Int) -> Bool {
        log.lastBroken < line || (regex.longestMatch ?? .max) < OutputLog.contextLength
    }

    /// Returns the position at which the search continues after a match.
    static func cursor(after match: Match, in log: OutputLog, was cursor: OutputCursor) -> OutputCursor {
        var next = cursor
        next.unfinished = [:]
        func pass(_ index: Int, _ line: OutputLog.Line) {
            // An earlier line that ended after the match's line must still be searched.
            if let end = line.ended, match.ended.map({ end <= $0 }) ?? true { return }
            next.unfinished[index] = cursor.unfinished[index] ?? (index == cursor.line ? cursor.offset : 0)
        }
        for index in cursor.unfinished.keys where index != match.line {
            if let line = log[index] { pass(index, line) }
        }
        for (index, line) in log.kept where index >= cursor.line && index < match.line { pass(index, line) }
        let start = max(cursor.line, log.dropped)
        for index in start..<max(start, match.line) { pass(index, log.lines[index - log.dropped]) }
        if match.line >= cursor.line {
            (next.line, next.offset) = (match.line, match.end)
        } else {
            next.unfinished[match.line] = match.end
        }
        return next
    }
}
