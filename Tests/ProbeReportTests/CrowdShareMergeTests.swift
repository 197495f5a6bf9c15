import ProbeEvents
import Testing

@testable import ProbeReport

@Suite struct CrowdShareMergeTests {
    private func part(_ share: String, _ verdict: Verdict, scale: Int) throws -> CrowdShareMerge.Part {
        var result = ResultsSamples.passed("c1")
        result.verdict = verdict
        if verdict != .passed { result.findings = [Finding(verdict, "of \(share)")] }
        result.crowds = [ResultsSamples.crowd(scale: scale)]
        result.duration = Int64(scale) * 100
        result.rerun = "tcpprobe run c1.scn --crowd-share \(share) --strict"
        return CrowdShareMerge.Part(result: result, share: try Share(share))
    }

    @Test func worstVerdictCounts() throws {
        let merged = CrowdShareMerge([
            try part("1/3", .passed, scale: 1), try part("2/3", .failed, scale: 2),
            try part("3/3", .inconclusive, scale: 3),
        ])
        #expect(merged.result.verdict == .failed)
        #expect(merged.result.findings.map(\.summary) == ["of 2/3", "of 3/3"])
        #expect(merged.result.findings[0].details == ["in crowd share 2 of 3"])
        #expect(merged.result.duration == 300)
        #expect(merged.result.rerun == "tcpprobe run c1.scn --strict")
    }

    @Test func countsAndHistogramsAreSummed() throws {
        let merged = CrowdShareMerge([try part("1/2", .passed, scale: 1), try part("2/2", .passed, scale: 2)])
        let crowd = try #require(merged.result.crowds.first)
        #expect(merged.result.crowds.count == 1)
        #expect(crowd.members == 30)
        #expect(crowd.counts.map(\.count) == [30, 300])
        #expect(crowd.failures == ["1 member failed"])
        let latency = try #require(crowd.latencies.first)
        #expect(latency.count == 30)
        #expect(latency.failed == 3)
        #expect(latency.buckets.map(\.upTo) == [10, 20, 30])
        #expect(latency.buckets.map(\.count) == [12, 9, 6])
    }

    /// Percentile p is the upper bound of the bucket that contains the rank ceil(p / 100 * count). A failed wait is
    /// treated as longer than every other wait.
    @Test func percentilesAreRecomputed() throws {
        var (left, right) = (try part("1/2", .passed, scale: 1), try part("2/2", .passed, scale: 1))
        func crowd(_ buckets: [(upTo: Int64, count: Int)], failed: Int) -> CrowdResult {
            var crowd = ResultsSamples.crowd()
            crowd.latencies[0].buckets = buckets
            crowd.latencies[0].count = buckets.reduce(failed) { $0 + $1.count }
            crowd.latencies[0].failed = failed
            return crowd
        }
        left.result.crowds = [crowd([(10, 50)], failed: 0)]
        right.result.crowds = [crowd([(10, 1), (40, 48)], failed: 1)]
        let latency = try #require(CrowdShareMerge([left, right]).result.crowds.first?.latencies.first)
        // There are 100 waits: 51 of 10 ns, 48 of 40 ns, and one that failed.
        #expect(latency.percentiles.map(\.name) == ["p50", "p90", "p99.9", "max"])
        #expect(latency.percentiles.map(\.time) == [10, 40, nil, nil])
    }

    @Test func samplesAreSummed() throws {
        var (left, right) = (try part("1/2", .passed, scale: 1), try part("2/2", .passed, scale: 1))
        func sample(_ time: Int64, _ connected: Int) -> CrowdResult.Sample {
            CrowdResult.Sample(time: time, connected: connected, done: 0, failed: 0, sent: connected * 10, received: 0)
        }
        left.result.crowds[0].samples = [sample(1, 1), sample(3, 5), sample(9, 9)]
        right.result.crowds[0].samples = [sample(1, 2), sample(3, 4), sample(9, 6)]
        let samples = try #require(CrowdShareMerge([left, right]).result.crowds.first?.samples)
        #expect(samples == [sample(1, 3), sample(3, 9), sample(9, 15)])
        right.result.crowds[0].samples = [sample(2, 2), sample(4, 4), sample(8, 6)]
        let apart = try #require(CrowdShareMerge([left, right]).result.crowds.first?.samples)
        #expect(apart.last == sample(9, 15))
        #expect(apart.map(\.time) == apart.map(\.time).sorted())
        #expect(apart.count <= 4)
    }

    @Test func crowdOfASingleShareIsKept() throws {
        var left = try part("1/2", .error, scale: 1)
        left.result.crowds = []
        let merged = CrowdShareMerge([left, try part("2/2", .passed, scale: 1)])
        #expect(merged.result.crowds.map(\.members) == [10])
        #expect(merged.result.verdict == .error)
    }

    @Test func sharesOfAShardAreMerged() throws {
        func file(_ share: String, _ verdict: Verdict) throws -> ResultsFile {
            let part = try part(share, verdict, scale: 1)
            var head = try ResultsSamples.head("1/1", of: 1, places: [1])
            head.crowdShare = try Share(share)
            return try ResultsFile(path: share, bytes: ResultsSamples.bytes(head, [part.result]))
        }
        let merged = try ResultsMerge([file("2/2", .failed), file("1/2", .passed)])
        #expect(merged.title == "2 crowd shares: 1 case")
        var results: [CaseResult] = []
        try merged.replay { if case .caseEnded(let result) = $0 { results.append(result) } else { _ = $1 } }
        #expect(results.map(\.verdict) == [.failed])
        #expect(results.first?.crowds.first?.members == 20)
        let missing = #expect(throws: ResultsProblem.self) { try ResultsMerge([file("2/2", .passed)]) }
        #expect(missing?.description == "1 crowd share of 2 is missing: 1; given: 2/2")
    }

    // MARK: Cases without a result in a share

    private func file(
        _ share: String, _ results: [CaseResult], notRun: [CaseResult] = [], places: [Int] = [1, 2],
        end: RunSummary = RunSummary()
    ) throws -> ResultsFile {
        var head = try ResultsSamples.head("1/1", of: 2, places: places)
        head.crowdShare = try Share(share)
        return try ResultsFile(
            path: "\(share).json",
            bytes: ResultsSamples.bytes(head, results, notRun: notRun.map(ResultsSamples.planned), end: end))
    }

    private func failed(_ id: String) -> CaseResult {
        var result = ResultsSamples.passed(id)
        result.verdict = .failed
        result.findings = [Finding(.failed, "why")]
        return result
    }

    private func results(_ merged: ResultsMerge) throws -> (results: [CaseResult], summary: RunSummary) {
        var results: [CaseResult] = []
        var set = RecorderSet(planned: merged.planned, rules: merged.options.rules, notes: merged.notes)
        try merged.replay { event, time in
            if case .caseEnded(let result) = event { results.append(result) }
            set.record(event, at: time)
        }
        return (results, try #require(set.summary))
    }

    @Test func failureCountsDespiteAnInterruptedShare() throws {
        var stopped = RunSummary()
        stopped.interruptedBy = 15
        let (one, two) = (ResultsSamples.passed("c1"), ResultsSamples.passed("c2"))
        let merged = try ResultsMerge([
            file("1/2", [one], notRun: [two], end: stopped), file("2/2", [one, failed("c2")]),
        ])
        let (results, summary) = try results(merged)
        #expect(results.map(\.verdict) == [.passed, .failed])
        #expect(results[1].findings.map(\.summary) == ["why", "crowd share 1 of 2 has no result for this case"])
        #expect(results[1].findings[1].verdict == .error)
        #expect(
            results[1].findings[1].details.first == "the run of the share was interrupted before this case (SIGTERM)")
        #expect(summary.exitCode == 143)
        #expect(summary.notRun == 0)
    }

    @Test func caseMissingFromAShareDoesNotPass() throws {
        let (one, two) = (ResultsSamples.passed("c1"), ResultsSamples.passed("c2"))
        // In one of the shares, the case did not run or is missing.
        for files in [
            [try file("1/2", [one], notRun: [two]), try file("2/2", [one, two])],
            [try file("1/2", [one, two]), try file("2/2", [one], notRun: [two])],
            [try file("1/2", [one], places: [1]), try file("2/2", [one, two])],
            [try file("1/2", [one, two]), try file("2/2", [one], places: [1])],
        ] {
            let merged = try ResultsMerge(files)
            #expect(merged.planned.map(\.id) == ["c1", "c2"])
            let (results, summary) = try results(merged)
            #expect(results.map(\.verdict) == [.passed, .error])
            #expect(results[1].findings.first?.summary.hasSuffix("has no result for this case") == true)
            #expect(!results[1].isInterrupted)
            #expect(summary.exitCode == 3)
        }
    }

    @Test func caseThatNoShareRanIsReportedAsNotRun() throws {
        let (one, two) = (ResultsSamples.passed("c1"), ResultsSamples.passed("c2"))
        let merged = try ResultsMerge([file("1/2", [one], notRun: [two]), file("2/2", [one], notRun: [two])])
        let (results, summary) = try results(merged)
        #expect(results.map(\.id) == ["c1"])
        #expect(summary.notRunCases.map(\.id) == ["c2"])
        #expect(summary.exitCode == 3)
        #expect(summary.runErrors.count == 2)
    }

    @Test func roundsOfLaterSharesAreKept() throws {
        func rounds(_ numbers: [Int], _ last: Verdict) -> [CaseResult] {
            numbers.map { number in
                var result = number == numbers.last && last == .failed ? failed("c1") : ResultsSamples.passed("c1")
                result.round = number
                return result
            }
        }
        var stopped = RunSummary()
        stopped.interruptedBy = 2
        let files = [
            try file("1/2", rounds([1], .passed) + [ResultsSamples.passed("c2")], end: stopped),
            try file("2/2", rounds([1, 2], .failed) + [ResultsSamples.passed("c2")]),
        ]
        let (results, summary) = try results(ResultsMerge(files))
        #expect(
            results.map { "\($0.id) \($0.round ?? 0) \($0.verdict)" } == ["c2 0 passed", "c1 1 passed", "c1 2 failed"])
        #expect(summary.exitCode == 130)
    }

    @Test func sharesOfDifferentPlansAreRefused() throws {
        let files = [
            try file("1/2", [ResultsSamples.passed("c1"), ResultsSamples.passed("c2")]),
            try file("2/2", [ResultsSamples.passed("c1"), ResultsSamples.passed("other")]),
        ]
        let problem = #expect(throws: ResultsProblem.self) { try ResultsMerge(files) }
        #expect(problem?.description == "case 2 of the plan is c2 in 1/2.json, but other in 2/2.json")
    }

    // MARK: Large numbers

    /// `merge` must be able to read a file that it has written, even if sums exceed the limits on numbers.
    @Test func largeSumsCanBeReadBack() throws {
        let most = ResultsNumber.largest
        var result = ResultsSamples.passed("c1")
        var crowd = ResultsSamples.crowd()
        (crowd.members, crowd.counts[0].count) = (most, most)
        (crowd.latencies[0].count, crowd.latencies[0].failed) = (most, most)
        crowd.latencies[0].buckets[0].count = most
        crowd.samples[1] = CrowdResult.Sample(
            time: 10, connected: most, done: most, failed: most, sent: most, received: most)
        result.crowds = [crowd]
        var end = RunSummary()
        (end.packetsCaptured, end.packetsDropped) = (most, most)
        let other = ResultsSamples.passed("c2")
        let merged = try ResultsMerge([
            file("1/2", [result, other], end: end), file("2/2", [result, other], end: end),
        ])
        let (results, summary) = try results(merged)
        let written = ResultsSamples.bytes(merged.head, results, end: summary)
        let again = try ResultsMerge([try ResultsFile(path: "all.json", bytes: written)])
        let sum = try #require(try self.results(again).results.first?.crowds.first)
        #expect(sum.members == most)
        #expect(sum.counts.map(\.count) == [most, 200])
        #expect(sum.samples.last?.sent == most && sum.samples.last?.received == most)
        #expect(sum.latencies.first?.buckets.map(\.count) == [most, 6, 4])
        #expect(try self.results(again).summary.packetsCaptured == most)
        #expect(ResultsNumber.sum(most - 1, 1) == most && ResultsNumber.sum(.max, .max) == most)
        #expect(ResultsNumber.sum(2, 3) == 5)
    }
}
