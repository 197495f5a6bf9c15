import ProbeBase
package import ProbeEvents
import ProbeScenario

/// A whole run, or a shard of it, as one JSON document that ``ResultsFile`` reads back; `docs/results.schema.json`
/// describes it.
///
/// Cases are written as they end, once for every round. What is known only at the end, such as the texts of the
/// scripts, follows them.
package struct ResultsRecorder: Recorder {
    /// The maximum size of the timelines of cases that passed, in bytes, in all shards together: more than a page
    /// draws. It keeps the results of a large run small.
    package static let passedTimelines = 16 << 20

    /// The beginning of the document.
    package static let beginning = Array("{\"format\":\"tcpprobe-results\"".utf8)

    private var head: ResultsHead
    private let rules: RunRules
    private let planned: [PlannedCase]
    private let places: [CaseKey: Int]
    private var isBegun = false
    private var isFirst = true
    private var ended: Set<CaseKey> = []
    /// The part of ``passedTimelines`` that is left for this shard.
    private var timelinesLeft: Int
    private var messages: [String] = []
    /// The files of the scripts, each once.
    private var files: [SourceFile] = []
    private var fileIndices: [String: [Int]] = [:]
    /// The files of each case, by their indices: the script and the files that it includes.
    private var maps: [[Int]] = []
    private var mapIndices: [String: [Int]] = [:]

    /// Creates a recorder.
    ///
    /// - Parameters:
    ///   - planned: every case of the run, once, even if it is repeated: those of the head's places, in the same order.
    ///   - passedTimelines: the number of bytes that all shards together write for timelines of cases that passed.
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
        case .caseStarted: break
        case .caseEnded(let result): return begin() + text(of: result)
        case .ended(let summary): return begin() + tail(summary)
        }
        return []
    }

    /// Returns everything before the cases, if it has not been written.
    private mutating func begin() -> [UInt8] {
        if isBegun { return [] }
        isBegun = true
        // Without the closing brace, because the document continues.
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
        // Without the opening brace, because the document has begun.
        return Array("\n],\n".utf8) + JSONValue.object(members).encoded().dropFirst() + [10]
    }

    // MARK: Scripts

    /// Returns the index of a case's sources among those of the file.
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

    /// Returns whether the sources are the same. Cases of a script share its bytes, so that they are rarely compared.
    private func isSame(_ map: [Int], _ sources: [SourceFile]) -> Bool {
        map.count == sources.count
            && zip(map, sources).allSatisfy { files[$0].path == $1.path && files[$0].bytes == $1.bytes }
    }
}
