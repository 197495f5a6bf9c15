import ProbeScenario
import ProbeSockets

/// Where in a program's output the next search begins.
struct OutputCursor {
    /// Index of a line of the transcript, counting dropped ones, and an offset in it.
    var line = 0
    var offset = 0
    /// Earlier lines that went on after the last match, since the other stream's line came in between: how much of each was past.
    var unfinished: [Int: Int] = [:]
}

/// Looks for a regex in what a program printed, line by line.
enum OutputSearch {
    struct Match {
        var line: Int
        /// Offset behind the match: where the next search in this line begins.
        var end: Int
        /// When its last byte was read.
        var time: MonotonicTime
        var groups: [(String, [UInt8])]
    }

    /// The first match behind a place in the transcript; the last line may be without its end yet.
    static func next(_ regex: ByteRegex, in transcript: Transcript, from cursor: OutputCursor = OutputCursor())
        -> Match?
    {
        var first: Match?
        for (line, offset) in cursor.unfinished where line >= transcript.dropped {
            guard let match = match(regex, transcript, line, offset) else { continue }
            if let known = first, known.time <= match.time { continue }
            first = match
        }
        var line = max(cursor.line, transcript.dropped)
        while line < transcript.end {
            if let match = match(regex, transcript, line, line == cursor.line ? cursor.offset : 0) {
                if let first, first.time <= match.time { return first }
                return match
            }
            line += 1
        }
        return first
    }

    private static func match(_ regex: ByteRegex, _ transcript: Transcript, _ line: Int, _ offset: Int) -> Match? {
        let entry = transcript.lines[line - transcript.dropped]
        guard offset <= entry.bytes.count, let match = regex.firstMatch(in: entry.bytes, from: offset) else {
            return nil
        }
        // An empty match where the last one ended would be found for ever.
        if offset > 0 && match.range.isEmpty { return nil }
        let end = max(match.range.upperBound, 1)
        return Match(
            line: line, end: end, time: entry.arrival(of: end - 1),
            groups: match.groups.map { ($0.name, $0.range.map { Array(entry.bytes[$0]) } ?? []) })
    }

    /// Where the search goes on behind a match.
    static func cursor(behind match: Match, in transcript: Transcript, was cursor: OutputCursor) -> OutputCursor {
        var next = cursor
        // Of the lines before it, those count that go on after it was printed.
        let start = max(cursor.line, transcript.dropped)
        let passed = cursor.unfinished.keys.filter { $0 >= transcript.dropped } + Array(start..<max(start, match.line))
        for line in passed where line != match.line {
            let entry = transcript.lines[line - transcript.dropped]
            let past = max(entry.count(at: match.time), cursor.unfinished[line] ?? 0)
            next.unfinished[line] = past < entry.bytes.count || !entry.isComplete ? past : nil
        }
        if match.line >= cursor.line {
            (next.line, next.offset) = (match.line, match.end)
        } else {
            next.unfinished[match.line] = match.end
        }
        return next
    }
}
