import ProbeBase
package import ProbeEvents
import ProbeScenario

/// Writes the results of a run, or of a shard, as one JSON document that ``ResultsFile`` can read;
/// `docs/results.schema.json` describes it.
///
/// Each case is written when it ends, once for every round. Data that is complete only at the end, such as the texts of
/// the scripts, follows the cases.
package struct ResultsRecorder: Recorder {
    /// The maximum total size of the timelines of cases that passed, in bytes, over all shards. The limit keeps the
    /// results of a large run small, but allows more than a page can show.
    package static let passedTimelines = 16 << 20

    /// The first bytes of every results document.
    package static let beginning = Array("{\"format\":\"tcpprobe-results\"".utf8)

    private var head: ResultsHead
    private let rules: RunRules
    private let planned: [PlannedCase]
    private let places: [CaseKey: Int]
    private var isBegun = false
    private var isFirst = true
    private var ended: Set<CaseKey> = []
    /// The number of bytes that this shard may still write for timelines of cases that passed.
    private var timelinesLeft: Int
    private var messages: [String] = []
    /// The scripts and included files, each listed once.
    private var files: [SourceFile] = []
    private var fileIndices: [String: [Int]] = [:]
    /// The distinct sources of cases, each a list of indices into ``files``: the script and the files that it includes.
    private var maps: [[Int]] = []
    private var mapIndices: [String: [Int]] = [:]

    /// Creates a recorder.
    ///
    /// - Parameters:
    ///   - planned: the cases of the run at the positions in `head`, in that order, listed once even if they are
    ///     repeated.
    ///   - passedTimelines: the maximum number of bytes that all shards together write for timelines of cases that
    ///     passed.
    package init(
        head: ResultsHead, planned: [PlannedCase], rules: RunRules, passedTimelines: Int = Self.passedTimelines
    ) {
        (self.head, self.planned, self.rules) = (head, planned, rules)
        var places: [CaseKey: Int] = [:]
        for (item, place) in zip(planned, head.places) { places[item.key] = place }
        self.places = places
        timelinesLeft = passedTimelines / max(1, head.share.total)
    }

    package mutating func record(_ event: RunEvent, at time: Int64) -> [UInt8] {
        switch event {
        case .started(let count):
            head.expectedResults = count == .max ? nil : count
            return begin()
        case .message(let text): messages.append(text)
        case .caseStarted, .exploring: break
        case .caseEnded(let result): return begin() + text(of: result)
        case .ended(let summary): return begin() + tail(summary)
        }
        return []
    }

    /// Returns the part of the document before the cases; empty if it has already been written.
    private mutating func begin() -> [UInt8] {
        if isBegun { return [] }
        isBegun = true
        // The object's closing brace is omitted, because the document continues.
        var text = Array(JSONValue.object(ResultsFormat.head().members(of: head)).encoded().dropLast())
        text.append(text: ",\n\"cases\":[")
        return text
    }

    private mutating func text(of result: CaseResult) -> [UInt8] {
        ended.insert(result.key)
        var text: [UInt8] = isFirst ? [10] : [UInt8(ascii: ","), 10]
        isFirst = false
        var result = result
        if result.verdict == .passed, timelinesLeft <= 0 { result.timeline = [] }
        let before = text.count
        let content = ResultsCase(
            result: result, sources: index(of: result.sources, path: result.path),
            expectation: rules.expectations[result.key])
        let members = self.members(of: PlannedCase(result)) + ResultsFormat.result.members(of: content)
        JSONValue.object(members).append(to: &text)
        if result.verdict == .passed, !result.timeline.isEmpty { timelinesLeft -= text.count - before }
        return text
    }

    private func members(of item: PlannedCase) -> [JSONValue.Member] {
        [("place", .integer(places[item.key] ?? 0))] + ResultsFormat.planned.members(of: item)
    }

    private mutating func tail(_ summary: RunSummary) -> [UInt8] {
        var end = ResultsEnd()
        (end.interruptedBy, end.duration, end.notRun) = (summary.interruptedBy, summary.duration, summary.notRun)
        (end.packetsCaptured, end.packetsDropped) = (summary.packetsCaptured, summary.packetsDropped)
        (end.notes, end.runErrors) = (summary.notes, summary.runErrors)
        end.hasGivenUpSubject = summary.hasGivenUpSubject
        (end.isComplete, end.exitCode) = (summary.interruptedBy == nil, summary.exitCodeOfResults)
        let left = planned.filter { !ended.contains($0.key) }.map { JSONValue.object(self.members(of: $0)) }
        let members: [JSONValue.Member] = [
            ("notRun", .array(left)), ("sources", .array(files.map(ResultsFormat.file.encode))),
            ("sourceMaps", .array(maps.map { .array($0.map(JSONValue.integer)) })),
            ("messages", JSONCodec.texts.encode(messages)),
            ("run", ResultsFormat.end.encode(end)),
        ]
        // The object's opening brace is omitted, because the document has already begun.
        return Array("\n],\n".utf8) + JSONValue.object(members).encoded().dropFirst() + [10]
    }

    // MARK: Scripts

    /// Returns the index of a case's sources in the file's list of sources.
    private mutating func index(of sources: SourceMap, path: String) -> Int {
        for known in mapIndices[path] ?? [] where isSame(maps[known], sources.files) { return known }
        let map = sources.files.map { file in
            for known in fileIndices[file.path] ?? [] where files[known].bytes == file.bytes { return known }
            fileIndices[file.path, default: []].append(files.count)
            files.append(file)
            return files.count - 1
        }
        mapIndices[path, default: []].append(maps.count)
        maps.append(map)
        return maps.count - 1
    }

    /// Returns whether two lists of sources are equal. The comparison is fast if the lists share their bytes, as the
    /// lists of one script's cases usually do.
    private func isSame(_ map: [Int], _ sources: [SourceFile]) -> Bool {
        map.count == sources.count
            && zip(map, sources).allSatisfy { files[$0].path == $1.path && files[$0].bytes == $1.bytes }
    }
}
