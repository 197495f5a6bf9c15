import ProbeBase
import ProbeScenario
import ProbeSystem

/// Where in a program's output the next search begins.
struct OutputCursor {
    /// Index of a line of the log, counting dropped ones, and an offset in it.
    var line = 0
    var offset = 0
    /// Earlier lines that ended after the line of the last match, or have not ended: where the search in each goes on.
    var unfinished: [Int: Int] = [:]

    /// Where a search goes on that has found nothing: complete lines need no second look.
    ///
    /// - Parameter open: the lines to which something may still be added.
    static func behindCompleteLines(of log: OutputLog, _ open: [Int], from cursor: OutputCursor) -> OutputCursor {
        var rest: [Int: Int] = [:]
        for line in open { rest[line] = cursor.unfinished[line] ?? (line == cursor.line ? cursor.offset : 0) }
        return OutputCursor(line: log.end, offset: 0, unfinished: rest)
    }
}

/// Looks for a regex in what a program printed, line by line.
enum OutputSearch {
    struct Match {
        var line: Int
        /// Offset behind the match: where the next search in this line begins.
        var end: Int
        /// When its last byte was read.
        var time: MonotonicTime
        /// When its line ended; nil if the line is unfinished.
        var ended: MonotonicTime?
        var groups: [(String, [UInt8])]
    }

    /// The first match after a place in the log: the one whose line ended first. Unfinished lines count last.
    ///
    /// - Parameter includesOpen: whether unfinished lines are searched. Their rest may change what matches.
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
        // The lines of one stream end in their order. Those of the other stream can only be first if they began before
        // the end of the first match.
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

    /// The first match in one line.
    ///
    /// Where a long line was broken, what matches across the break is found in the part behind it, as far as the pattern can't
    /// match more than the context; `^` does not match there, and what touches the end of the part before is left to the next one.
    static func match(_ regex: ByteRegex, _ line: OutputLog.Line, _ index: Int, _ offset: Int) -> Match? {
        guard offset <= line.bytes.count else { return nil }
        let context = line.context.count
        let text = context == 0 ? line.bytes : line.context + line.bytes
        var start = context + offset
        if context > 0, offset == 0 { start = max(1, context - (regex.longestMatch ?? 0)) }
        while let match = regex.firstMatch(in: text, from: start) {
            // An empty match where the last one ended would be found for ever.
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

    /// Whether lines that were broken hide no match of it from here on.
    static func seesAll(_ regex: ByteRegex, in log: OutputLog, from line: Int) -> Bool {
        log.lastBroken < line || (regex.longestMatch ?? .max) < OutputLog.contextLength
    }

    /// Where the search goes on behind a match.
    static func cursor(behind match: Match, in log: OutputLog, was cursor: OutputCursor) -> OutputCursor {
        var next = cursor
        next.unfinished = [:]
        func pass(_ index: Int, _ line: OutputLog.Line) {
            // An earlier line that ended after the match's line has not counted yet.
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
