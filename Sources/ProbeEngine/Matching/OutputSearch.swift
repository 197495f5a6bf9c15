import ProbeScenario
import ProbeSockets

/// Looks for a regex in what a program printed, line by line.
enum OutputSearch {
    struct Match {
        /// Index of the line, and the offset behind the match in it: where the next search begins.
        var line: Int
        var end: Int
        var time: MonotonicTime
        var groups: [(String, [UInt8])]
    }

    /// The first match at or behind a place in the transcript; the last line may be without its end yet.
    static func next(_ regex: ByteRegex, in transcript: Transcript, line: Int, offset: Int) -> Match? {
        var index = max(line, transcript.dropped)
        var offset = index == line ? offset : 0
        while index < transcript.end {
            let entry = transcript.lines[index - transcript.dropped]
            if offset <= entry.bytes.count, let match = regex.firstMatch(in: entry.bytes, from: offset),
                // An empty match where the last one ended would be found for ever.
                !(index == line && offset > 0 && match.range.isEmpty)
            {
                let groups = match.groups.map { ($0.name, $0.range.map { Array(entry.bytes[$0]) } ?? []) }
                let end = max(match.range.upperBound, 1)
                return Match(line: index, end: end, time: entry.time, groups: groups)
            }
            index += 1
            offset = 0
        }
        return nil
    }
}
