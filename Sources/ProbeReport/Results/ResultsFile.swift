import ProbeBase
package import ProbeEvents
import ProbeScenario

/// A results file that has been read: the description of its run, and its cases.
///
/// A case that passed without further data is kept in a few machine words; other results are read from the bytes again
/// when they are needed. If all results were kept in full, a large run with many timelines would take many times as
/// much memory as its file.
package struct ResultsFile: Sendable {
    /// The result of a case. ``ResultsFile/planned`` contains the data about the case that is known before the case
    /// runs.
    struct Entry: Sendable {
        /// The case, as an index into ``ResultsFile/planned``.
        var item: Int
        /// The number of the round; 0 for a case that runs only once.
        var round: Int
        var verdict: Verdict
        var duration: Int64
        var capturePath: String?
        /// The index of the case's sources in ``ResultsFile/maps``.
        var sources: Int
        /// The range of the result in the bytes of the file; `nil` if the result has no further data.
        var range: Range<Int>?
    }

    private struct EntryID: Hashable {
        var item: Int
        var round: Int
    }

    /// The path as given by the user.
    package let path: String
    package private(set) var head = ResultsHead(planHash: "", planCases: 0, places: [])
    private(set) var end = ResultsEnd()
    private(set) var messages: [String] = []
    /// The cases of the shard, including those that were not run.
    private(set) var planned: [(place: Int, item: PlannedCase)] = []
    private(set) var entries: [Entry] = []
    private(set) var expectations: [ExpectedVerdict] = []
    private var maps: [SourceMap] = []
    private var bytes: [UInt8]
    private var indices: [Int: Int] = [:]
    private(set) var counts = ResultCounts()

    /// The path with escapes, such as `results/3.json`.
    package var name: String { Escaped.text(path) }

    /// Reads a results file.
    ///
    /// - Throws: an error whose message begins with the file's name and states what is wrong with the file.
    package init(path: String, bytes: [UInt8]) throws(ResultsProblem) {
        (self.path, self.bytes) = (path, bytes)
        do throws(JSONContentError) {
            try read(bytes.span)
        } catch {
            throw ResultsProblem("\(Escaped.text(path)): \(error)")
        }
    }

    /// Returns whether another file contains the same bytes.
    func isCopy(of other: ResultsFile) -> Bool { bytes == other.bytes }

    /// Returns whether a case belongs to the file's shard.
    ///
    /// - Parameter place: the position of the case in the whole plan.
    func hasCase(at place: Int) -> Bool { indices[place] != nil }

    package var caseTimes: [(key: CaseKey, time: Int64)] {
        // The duration of a skipped or interrupted case says nothing about how long the case takes.
        entries.filter { $0.verdict <= .inconclusive || $0.verdict == .passed }.map {
            (planned[$0.item].item.key, $0.duration)
        }
    }

    /// Returns the complete result of an entry.
    ///
    /// - Throws: an error if the bytes do not contain a valid result.
    func result(_ entry: Entry) throws(ResultsProblem) -> CaseResult {
        let sources = maps.indices.contains(entry.sources) ? maps[entry.sources] : SourceMap([])
        var result = CaseResult(
            planned[entry.item].item, entry.verdict, sources: sources, duration: entry.duration)
        result.capturePath = entry.capturePath
        result.round = entry.round > 0 ? entry.round : nil
        guard let range = entry.range else { return result }
        do throws(JSONContentError) {
            return try ResultsFile.content(of: ResultsFile.value(range, in: bytes.span), result).result
        } catch {
            throw ResultsProblem("\(error)")
        }
    }

    // MARK: Reading

    private mutating func read(_ bytes: Span<UInt8>) throws(JSONContentError) {
        let (document, cases): (JSONValue, [Range<Int>])
        do throws(JSONError) {
            (document, cases) = try ResultsFile.members(bytes)
        } catch {
            throw JSONContentError(
                error.reason == .unexpectedEnd
                    ? "the file is truncated: the JSON is incomplete (\(ByteText.count(bytes.count, "byte")))"
                    : "not a results file: \(error.text)")
        }
        guard document["format"]?.text == ResultsHead.format else {
            throw JSONContentError(
                "not a results file: `format` is not `\(ResultsHead.format)`; `tcpprobe run --results` writes results files"
            )
        }
        let version: Int = try document.required("version", .count)
        guard version == ResultsHead.formatVersion else {
            throw JSONContentError(
                "its format is version \(version), but this version of tcpprobe reads version "
                    + "\(ResultsHead.formatVersion); use the version that wrote the file"
                    + (document["toolVersion"]?.text.map { " (tcpprobe \(Escaped.text(String($0.prefix(40)))))" } ?? "")
            )
        }
        try ResultsFormat.head(mostPlaces: 1 + bytes.count / 16).decode(document, into: &head)
        head.version = try document.required("toolVersion", .text)
        if let last = head.places.last, last > head.planCases {
            throw JSONContentError("`places` contains case \(last), but the plan has only \(head.planCases)")
        }
        end = try document.required("run", ResultsFormat.end)
        messages = try document.optional("messages", .texts) ?? []
        try readSources(document)
        for (index, range) in cases.enumerated() {
            do throws(JSONContentError) {
                try add(range, in: bytes)
            } catch {
                throw JSONContentError("case \(index + 1) of `cases`: \(error)")
            }
        }
        for value in try document.optional("notRun", .list(of: .anyObject)) ?? [] { _ = try place(value) }
        try requireAllCases()
    }

    private mutating func readSources(_ document: JSONValue) throws(JSONContentError) {
        let files = try document.optional("sources", .list(of: ResultsFormat.file)) ?? []
        for value in try document.optional("sourceMaps", .list(of: .any)) ?? [] {
            guard case .array(let list) = value else {
                throw JSONContentError("`sourceMaps` must contain arrays of numbers")
            }
            let indices = try ResultsFormat.numbers(value, list.count, "sourceMaps")
            guard indices.allSatisfy(files.indices.contains) else {
                throw JSONContentError("`sourceMaps` has a number that is not an index of `sources`")
            }
            maps.append(SourceMap(indices.map { files[$0] }))
        }
    }

    /// Adds a result. It is validated completely, so that an error in it is reported before any report is written.
    private mutating func add(_ range: Range<Int>, in bytes: Span<UInt8>) throws(JSONContentError) {
        let value = try JSONCodec.anyObject.decode(ResultsFile.value(range, in: bytes))
        let index = try place(value)
        let item = planned[index].item
        let content = try ResultsFile.content(of: value, CaseResult(item, .error))
        let (result, expectation) = (content.result, content.expectation)
        if let expectation { expectations.append(expectation) }
        let rules = RunRules(strict: head.isStrict)
        counts.count(
            result.verdict, rules.disposition(of: result.verdict, level: item.level, expectation: expectation))
        let isShort =
            result.findings.isEmpty && result.timeline.isEmpty && result.crowds.isEmpty && !result.isInterrupted
            && result.alone == nil && result.exploration == nil && result.cause == nil
        entries.append(
            Entry(
                item: index, round: result.round ?? 0, verdict: result.verdict, duration: result.duration,
                capturePath: result.capturePath, sources: content.sources, range: isShort ? nil : range))
    }

    /// Reads the content of a result from JSON.
    ///
    /// - Parameter blank: the result with the properties that are known without the JSON value.
    private static func content(of value: JSONValue, _ blank: CaseResult) throws(JSONContentError) -> ResultsCase {
        var content = ResultsCase(result: blank)
        try ResultsFormat.result.decode(value, into: &content)
        content.expectation?.key = blank.key
        return content
    }

    /// Returns the index of a case in ``planned``. The case is added if it is new.
    private mutating func place(_ value: JSONValue) throws(JSONContentError) -> Int {
        let place = try value.required("place", JSONCodec<Int>.integer(in: 1...max(1, head.planCases)))
        if let known = indices[place] {
            let item = planned[known].item
            guard value["id"]?.text == item.id, value["subject"]?.text == item.subject else {
                throw JSONContentError("place \(place) already has a different case: \(Escaped.text(item.id))")
            }
            return known
        }
        planned.append((place, try ResultsFormat.planned.decode(value)))
        indices[place] = planned.count - 1
        return planned.count - 1
    }

    /// Throws an error if cases have been removed from the file or added to it since it was written.
    private func requireAllCases() throws(JSONContentError) {
        let missing = head.places.filter { indices[$0] == nil }
        if let first = missing.first {
            throw JSONContentError(
                "it lacks \(ByteText.count(missing.count, "case")) of its shard, such as case \(first) of the plan")
        }
        let own = Set(head.places)
        if let other = planned.first(where: { !own.contains($0.place) }) {
            throw JSONContentError("case \(Escaped.text(other.item.id)) does not belong to its shard")
        }
        var seen: Set<EntryID> = []
        for entry in entries where !seen.insert(EntryID(item: entry.item, round: entry.round)).inserted {
            throw JSONContentError("it has two results for \(Escaped.text(planned[entry.item].item.id))")
        }
        guard let expected = head.expectedResults else { return }
        if entries.count + end.notRun != expected {
            throw JSONContentError(
                "it has \(ByteText.count(entries.count, "result")) and reports \(end.notRun) as not run, but its "
                    + "shard has \(expected) cases in total"
            )
        }
    }

    // MARK: JSON

    /// Returns the members of the JSON document, and the range of each element of its `cases`.
    private static func members(_ bytes: Span<UInt8>) throws(JSONError) -> (JSONValue, [Range<Int>]) {
        var members: [JSONValue.Member] = []
        var names: Set<[UInt8]> = []
        var cases: [Range<Int>] = []
        var position = try JSONExtent.take(UInt8(ascii: "{"), at: 0, in: bytes)
        var isLast = try next(&position, UInt8(ascii: "}"), in: bytes, isFirst: true)
        while !isLast {
            position = JSONExtent.skipSpace(at: position, in: bytes)
            let name = try parse(position..<JSONExtent.end(ofValueAt: position, in: bytes), in: bytes, &position)
            guard let name = name.text, names.insert(Array(name.utf8)).inserted else {
                throw JSONError(reason: .duplicateName, offset: position)
            }
            position = try JSONExtent.take(UInt8(ascii: ":"), at: position, in: bytes)
            position = JSONExtent.skipSpace(at: position, in: bytes)
            if name == "cases", position < bytes.count, bytes[position] == UInt8(ascii: "[") {
                position += 1
                var isEnd = try next(&position, UInt8(ascii: "]"), in: bytes, isFirst: true)
                while !isEnd {
                    let start = JSONExtent.skipSpace(at: position, in: bytes)
                    position = try JSONExtent.end(ofValueAt: start, in: bytes)
                    cases.append(start..<position)
                    isEnd = try next(&position, UInt8(ascii: "]"), in: bytes)
                }
                members.append((name, .boolean(true)))
            } else {
                let end = try JSONExtent.end(ofValueAt: position, in: bytes)
                members.append((name, try parse(position..<end, in: bytes, &position)))
            }
            isLast = try next(&position, UInt8(ascii: "}"), in: bytes)
        }
        let end = JSONExtent.skipSpace(at: position, in: bytes)
        if end < bytes.count { throw JSONError(reason: .trailing, offset: end) }
        return (.object(members), cases)
    }

    /// Moves past a comma between elements, or past the end of the list.
    ///
    /// - Returns: whether the end of the list was reached.
    private static func next(
        _ position: inout Int, _ end: UInt8, in bytes: Span<UInt8>, isFirst: Bool = false
    ) throws(JSONError) -> Bool {
        let place = JSONExtent.skipSpace(at: position, in: bytes)
        if place < bytes.count, bytes[place] == end {
            position = place + 1
            return true
        }
        if !isFirst { position = try JSONExtent.take(UInt8(ascii: ","), at: position, in: bytes) }
        return false
    }

    private static func parse(
        _ range: Range<Int>, in bytes: Span<UInt8>, _ position: inout Int
    ) throws(JSONError) -> JSONValue {
        do throws(JSONError) {
            let value = try JSONParser.parse(bytes.extracting(range))
            position = range.upperBound
            return value
        } catch {
            throw JSONError(reason: error.reason, offset: range.lowerBound + error.offset)
        }
    }

    private static func value(_ range: Range<Int>, in bytes: Span<UInt8>) throws(JSONContentError) -> JSONValue {
        var position = 0
        do throws(JSONError) {
            return try parse(range, in: bytes, &position)
        } catch {
            throw JSONContentError("not JSON: \(error.text)")
        }
    }
}

/// How the run that wrote the file ended.
extension ResultsFile {
    /// The name of the signal that interrupted the run, such as `SIGINT`; `nil` if the run was not interrupted.
    var interruptionText: String? {
        var summary = RunSummary()
        summary.interruptedBy = end.interruptedBy
        return summary.interruptionText
    }

    /// An error stating that results are missing or that the run failed, if the file does not give the reason;
    /// otherwise `nil`.
    var gapText: String? {
        guard end.interruptedBy == nil, !end.hasGivenUpSubject, ownExitCode == 0 else { return nil }
        let again = "run it again, and merge all results"
        let unrun = unrunCases
        let count = max(end.notRun, unrun.count)
        if count > 0 {
            let example = unrun.first.map { ", such as \($0.id)" } ?? ""
            let results = ByteText.count(count, unrun.isEmpty ? "result" : "case")
            return "\(path): \(head.name) did not run \(results)\(example), and recorded no reason; \(again)"
        }
        if !end.isComplete {
            return "\(path): \(head.name) is marked as incomplete, but does not state what is missing; \(again)"
        }
        return end.exitCode == 0
            ? nil
            : "\(path): \(head.name) ended with exit code \(end.exitCode), but no result explains why; \(again)"
    }

    /// An error stating that the file's run failed, for a merged run without other failures; `nil` if the run passed.
    var failureText: String? {
        let code = max(end.exitCode, ownExitCode)
        return code == 0 ? nil : "\(path): \(head.name) ended with exit code \(code), so the merged run did not pass"
    }

    /// The exit code that follows from the results and errors of the run.
    private var ownExitCode: Int32 {
        counts.exitCode(isStrict: head.isStrict, hasRunErrors: !end.runErrors.isEmpty)
    }

    private var unrunCases: [PlannedCase] {
        let begun = Set(entries.map(\.item))
        return planned.indices.filter { !begun.contains($0) }.map { planned[$0].item }
    }
}
