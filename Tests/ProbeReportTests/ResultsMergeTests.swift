import ProbeEvents
import ProbeScenario
import Testing

@testable import ProbeReport

@Suite struct ResultsMergeTests {
    private func problem(_ files: [ResultsFile]) -> String? {
        do {
            _ = try ResultsMerge(files)
            return nil
        } catch {
            return "\(error)"
        }
    }

    private func shards() throws -> [ResultsFile] {
        [
            try ResultsSamples.shard("1/3", of: 5, places: [2, 5]), try ResultsSamples.shard("2/3", of: 5, places: []),
            try ResultsSamples.shard("3/3", of: 5, places: [1, 3, 4]),
        ]
    }

    /// Returns the output of a recorder for merged files, and the exit code.
    private func written(_ merged: ResultsMerge, _ recorder: (ResultsMerge) -> any Recorder) throws -> (String, Int32) {
        var set = RecorderSet(planned: merged.planned, rules: merged.options.rules, notes: merged.notes)
        let written = Written()
        set.attach(recorder(merged)) { written.bytes += $0 }
        try merged.replay { set.record($0, at: $1) }
        return (String(decoding: written.bytes, as: UTF8.self), try #require(set.summary).exitCode)
    }

    /// The output of a recorder. Only one thread uses it, so `@unchecked` is safe.
    private final class Written: @unchecked Sendable {
        var bytes: [UInt8] = []
    }

    // MARK: Merging

    @Test func casesKeepTheOrderOfThePlan() throws {
        let merged = try ResultsMerge(shards().reversed())
        #expect(merged.planned.map(\.id) == ["c1", "c2", "c3", "c4", "c5"])
        #expect(merged.title == "3 shards: 5 cases")
        let (text, code) = try written(merged) { TAPRecorder(options: $0.options) }
        let points = text.split(separator: "\n").filter { $0.hasPrefix("ok") }
        #expect(points.map { $0.suffix(2) } == ["c1", "c2", "c3", "c4", "c5"])
        #expect(code == 0)
    }

    /// Every report of two merged shards must be equal to the report of the whole run.
    @Test func mergedReportsMatchTheWholeRun() throws {
        var results: [CaseResult] = []
        for (index, sample) in Samples.all.enumerated() {
            var result = sample.result
            result.id = "c\(index)"
            results.append(result)
        }
        let count = results.count
        let whole = try ResultsMerge([
            ResultsFile(
                path: "all.json",
                bytes: ResultsSamples.bytes(ResultsSamples.head("1/1", of: count, places: Array(1...count)), results))
        ])
        let files = try (1...2).map { share in
            let own = (0..<count).filter { $0 % 2 == share - 1 }
            let head = try ResultsSamples.head("\(share)/2", of: count, places: own.map { $0 + 1 })
            return try ResultsFile(path: "\(share)", bytes: ResultsSamples.bytes(head, own.map { results[$0] }))
        }
        let merged = try ResultsMerge(files)
        let kinds: [(ResultsMerge) -> any Recorder] = [
            { JUnitRecorder(options: $0.options) }, { TAPRecorder(options: $0.options) },
            { JSONRecorder(options: $0.options) }, { GitHubRecorder(options: $0.options, workspace: nil) },
            { MatrixRecorder(.html, path: "m.html", planned: $0.planned, options: $0.options) },
            { ConsoleRecorder(style: .init(usesColor: false), options: $0.options, planned: $0.planned) },
            { ResultsRecorder(head: $0.head, planned: $0.planned, rules: $0.options.rules) },
        ]
        for kind in kinds {
            let (one, other) = (try written(whole, kind), try written(merged, kind))
            #expect(one == other)
            #expect(one.1 == 1)
        }
        // The report of the whole run is written directly from the same events.
        var set = RecorderSet(planned: whole.planned, rules: whole.options.rules)
        let direct = Written()
        set.attach(TAPRecorder(options: whole.options)) { direct.bytes += $0 }
        set.record(.started(caseCount: count), at: 0)
        for result in results { set.record(.caseEnded(result), at: 0) }
        set.record(.ended(RunSummary()), at: 0)
        #expect(
            try written(merged) { TAPRecorder(options: $0.options) }.0 == String(decoding: direct.bytes, as: UTF8.self))
    }

    @Test func mergedFileIsAWholeRun() throws {
        let merged = try ResultsMerge(shards())
        let (text, _) = try written(merged) {
            ResultsRecorder(head: $0.head, planned: $0.planned, rules: $0.options.rules)
        }
        let read = try ResultsFile(path: "all.json", bytes: Array(text.utf8))
        #expect(read.head.share.isWhole)
        #expect(read.head.places == [1, 2, 3, 4, 5])
        #expect(try ResultsMerge([read]).planned == merged.planned)
        #expect(read.caseTimes.count == 5)
    }

    @Test func roundsAreInOrder() throws {
        func file(_ share: String, _ place: Int) throws -> ResultsFile {
            var results: [CaseResult] = []
            for round in 1...2 {
                var result = ResultsSamples.passed("c\(place)")
                result.round = round
                results.append(result)
            }
            let head = try ResultsSamples.head(share, of: 2, places: [place])
            return try ResultsFile(path: share, bytes: ResultsSamples.bytes(head, results))
        }
        let merged = try ResultsMerge([file("1/2", 2), file("2/2", 1)])
        var order: [String] = []
        try merged.replay { event, _ in
            if case .caseEnded(let result) = event { order.append("\(result.id) \(result.round ?? 0)") }
        }
        #expect(order == ["c1 1", "c2 1", "c1 2", "c2 2"])
    }

    @Test func interruptedShardDeterminesTheExitCode() throws {
        var end = RunSummary()
        end.interruptedBy = 15
        let bytes = try ResultsSamples.bytes(
            ResultsSamples.head("2/2", of: 3, places: [2, 3]), [ResultsSamples.passed("c2")],
            notRun: [ResultsSamples.planned(ResultsSamples.passed("c3"))], end: end)
        let merged = try ResultsMerge([
            ResultsSamples.shard("1/2", of: 3, places: [1]), ResultsFile(path: "two.json", bytes: bytes),
        ])
        #expect(merged.remarks.contains { $0.contains("two.json") && $0.contains("SIGTERM") })
        let (text, code) = try written(merged) { TAPRecorder(options: $0.options) }
        #expect(code == 143)
        #expect(text.contains("c3"))
        #expect(text.contains("Bail out!"))
    }

    @Test func abandonedSubjectIsInvalidUsage() throws {
        var end = RunSummary()
        end.hasGivenUpSubject = true
        let bytes = try ResultsSamples.bytes(
            ResultsSamples.head("1/1", of: 2, places: [1, 2]), [ResultsSamples.passed("c1")],
            notRun: [ResultsSamples.planned(ResultsSamples.passed("c2"))], end: end)
        let merged = try ResultsMerge([ResultsFile(path: "r.json", bytes: bytes)])
        #expect(try written(merged) { TAPRecorder(options: $0.options) }.1 == 2)
    }

    // MARK: Attempts

    @Test func laterAttemptReplacesTheEarlierOne() throws {
        let again = try ResultsSamples.shard("1/3", of: 5, places: [2, 5], attempt: 2, path: "again.json")
        for files in [try shards() + [again], [again] + (try shards())] {
            let merged = try ResultsMerge(files)
            #expect(merged.remarks.count == 1)
            #expect(merged.remarks.first?.contains("again.json (attempt 2) replaces 1/3.json (attempt 1)") == true)
            #expect(merged.planned.count == 5)
        }
    }

    @Test func repeatedAttemptIsAnError() throws {
        var failed = ResultsSamples.passed("c2")
        failed.verdict = .failed
        failed.findings = [Finding(.failed, "why")]
        let bytes = try ResultsSamples.bytes(
            ResultsSamples.head("1/3", of: 5, places: [2, 5]), [failed, ResultsSamples.passed("c5")])
        let text = problem(try shards() + [try ResultsFile(path: "other.json", bytes: bytes)])
        #expect(text?.contains("shard 1 of 3 is given twice, each as attempt 1") == true)
        #expect(text?.contains("c2: passed, failed") == true)
        #expect(text?.contains("1/3.json, other.json; remove one of these files.") == true)
        #expect(text?.contains("Slurm, Buildkite, Cloud Run, AWS Batch and GitHub") == true)
    }

    @Test func repeatedFileIsAnError() throws {
        let copy = try ResultsSamples.shard("1/3", of: 5, places: [2, 5], path: "copy.json")
        let text = problem(try shards() + [copy])
        #expect(text == "shard 1 of 3 is given twice: 1/3.json, copy.json")
    }

    // MARK: Files that do not fit together

    @Test func missingShardsAreNamed() throws {
        #expect(problem(Array(try shards()[..<2])) == "1 shard of 3 is missing: 3; given: 1/3.json, 2/3.json")
        #expect(problem([try shards()[1]])?.contains("2 shards of 3 are missing: 1, 3") == true)
        let one = try ResultsSamples.shard("1/1000000", of: 5, places: [2])
        #expect(
            problem([one])?.contains("999999 shards of 1000000 are missing: 2, 3, 4, 5, 6, 7, 8, 9, 10, 11 …") == true)
        #expect(problem([]) != nil)
    }

    @Test func foreignShardsAreNamed() throws {
        func foreign(_ reason: String, _ change: (inout ResultsHead) -> Void) throws {
            let other = try ResultsSamples.shard("2/3", of: 5, places: [], path: "foreign.json", change: change)
            let files = [try shards()[0], other, try shards()[2]]
            let text = problem(files)
            #expect(text?.contains(reason) == true, "\(text ?? "")")
            #expect(text?.contains("foreign.json") == true && text?.contains("1/3.json") == true)
        }
        try foreign("different versions") { $0.version = "9.9.9" }
        try foreign("different plans") { $0.planHash = "f" + $0.planHash.dropFirst() }
        try foreign("different plans") { $0.planCases = 6 }
        try foreign("divided differently") { $0.division = "times 12" }
        try foreign("totals") { $0.share = try! Share("2/4") }
        try foreign("crowd shares") { $0.crowdShare = try! Share("1/2") }
    }

    @Test func caseInTwoShardsIsAnError() throws {
        let files = [
            try ResultsSamples.shard("1/2", of: 3, places: [1, 2]),
            try ResultsSamples.shard("2/2", of: 3, places: [2, 3]),
        ]
        #expect(problem(files)?.contains("c2 is in two shards") == true)
    }

    @Test func caseInNoShardIsAnError() throws {
        let files = [
            try ResultsSamples.shard("1/2", of: 4, places: [1]),
            try ResultsSamples.shard("2/2", of: 4, places: [3, 4]),
        ]
        let text = problem(files)
        #expect(text?.contains("1 case of the plan is in no shard, such as case 2 of 4") == true, "\(text ?? "")")
    }

    @Test func emptyPlanRoundTrips() throws {
        let merged = try ResultsMerge([try ResultsSamples.shard("1/1", of: 0, places: [])])
        let (text, code) = try written(merged) {
            ResultsRecorder(head: $0.head, planned: $0.planned, rules: $0.options.rules)
        }
        #expect(code == 0)
        #expect(try ResultsFile(path: "all.json", bytes: Array(text.utf8)).head.places.isEmpty)
    }

    @Test func hugeSparsePlanTakesNoMemory() throws {
        let file = try ResultsSamples.shard("1/1", of: 1 << 53, places: [1])
        #expect(problem([file])?.contains("in no shard") == true)
    }
}
