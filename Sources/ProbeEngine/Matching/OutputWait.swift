import ProbeBase
import ProbeScenario
import ProbeSystem

/// One `expect output` while it waits: each line is searched once, however small the pieces are in which it comes.
struct OutputWait {
    let child: ChildProcess
    let regex: ByteRegex
    private var cursor: OutputCursor
    /// When a long line without its end was last searched.
    private var searchedLong: MonotonicTime?
    /// A long line has grown since it was last searched.
    private(set) var isBehind = false

    /// A line without its end is searched whole each time that it grows; a longer one at intervals.
    private static let long = 1 << 16
    private static let interval = Duration.milliseconds(50)

    init(for regex: ByteRegex, of process: ProcessActor, _ child: ChildProcess) {
        self.child = child
        self.regex = regex
        cursor = process.output
        process.watch?.add(regex, isWanted: true, from: child.transcript.dropped)
    }

    /// - Parameter isLast: no later look is to be waited for.
    mutating func look(isLast: Bool = false) -> OutputSearch.Match? {
        let transcript = child.transcript
        let open = transcript.openLines
        let isLong = open.contains { (transcript[$0]?.bytes.count ?? 0) > Self.long }
        isBehind = false
        if isLong, !isLast, child.exit == nil {
            if let searchedLong, MonotonicTime.now < searchedLong + Self.interval {
                isBehind = true
                return nil
            }
            searchedLong = .now
        }
        if let match = OutputSearch.next(regex, in: transcript, from: cursor) { return match }
        // Complete lines need no second look.
        var rest: [Int: Int] = [:]
        for line in open { rest[line] = cursor.unfinished[line] ?? (line == cursor.line ? cursor.offset : 0) }
        cursor = OutputCursor(line: transcript.end, offset: 0, unfinished: rest)
        return nil
    }
}
