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

    @Test func countsAndHistogramsAddUp() throws {
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

    /// Percentile p is the bucket in which the rank ceil(p / 100 * count) lies; failed waits are longer than all.
    @Test func percentilesAreComputedAgain() throws {
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
        // Of 100 waits: 51 of 10, 48 of 40, one failed.
        #expect(latency.percentiles.map(\.name) == ["p50", "p90", "p99.9", "max"])
        #expect(latency.percentiles.map(\.time) == [10, 40, nil, nil])
    }

    @Test func samplesAreSumsOfWhatWasReached() throws {
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

    @Test func crowdThatOneShareLacksStays() throws {
        var left = try part("1/2", .error, scale: 1)
        left.result.crowds = []
        let merged = CrowdShareMerge([left, try part("2/2", .passed, scale: 1)])
        #expect(merged.result.crowds.map(\.members) == [10])
        #expect(merged.result.verdict == .error)
    }

    @Test func sharesOfOneShardGoTogether() throws {
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
}
