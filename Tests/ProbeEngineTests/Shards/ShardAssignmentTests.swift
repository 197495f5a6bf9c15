import ProbeEngine
import ProbeEvents
import ProbeScenario
import Testing

@Suite struct ShardAssignmentTests {
    private let keys = (1...400).map { CaseKey(id: "case-\($0)", subject: $0 % 2 == 0 ? "bsd" : nil) }

    // MARK: By hash

    @Test func removingACaseMovesNoOther() {
        let all = Dictionary(uniqueKeysWithValues: zip(keys, ShardAssignment.byHash(keys, total: 8)))
        let fewer = keys.filter { $0.id != "case-17" }.reversed() + []
        for (key, shard) in zip(fewer, ShardAssignment.byHash(fewer, total: 8)) { #expect(all[key] == shard) }
    }

    /// The expected values must never change, because every version must assign a case to the same shard.
    @Test func hashIsStableAcrossVersions() {
        let some = [
            CaseKey(id: "a", subject: nil), CaseKey(id: "a", subject: "bsd"), CaseKey(id: "close/eof", subject: "bsd"),
            CaseKey(id: "framing/crlf[n=2]", subject: "nio"),
        ]
        #expect(ShardAssignment.byHash(some, total: 8) == [4, 2, 1, 6])
    }

    @Test func hashSpreadsEvenly() {
        let counts = ShardAssignment.byHash(keys, total: 8).reduce(into: [Int: Int]()) { $0[$1, default: 0] += 1 }
        #expect(counts.keys.sorted() == Array(1...8))
        #expect(counts.values.allSatisfy { (20...90).contains($0) })
    }

    @Test func hashDependsOnTheSubject() {
        let ids = (1...50).map { "case-\($0)" }
        let plain = ShardAssignment.byHash(ids.map { CaseKey(id: $0, subject: nil) }, total: 8)
        let bsd = ShardAssignment.byHash(ids.map { CaseKey(id: $0, subject: "bsd") }, total: 8)
        #expect(plain != bsd)
    }

    // MARK: By time

    private func times(_ all: [(CaseKey, Int64)]) -> CaseTimes {
        var times = CaseTimes()
        for (key, time) in all { times.add(key, time: time) }
        return times
    }

    @Test func timesBalanceWithinFifteenPercent() throws {
        // The times resemble those of a typical suite, which has many short cases and a few cases that take a hundred
        // times as long.
        let all = keys.enumerated().map { ($1, Int64($0 % 50 == 0 ? 900 : 3 + $0 % 17) * 1_000_000) }
        let shards = try #require(ShardAssignment.byTime(keys, times: times(all), total: 8))
        var loads = [Int64](repeating: 0, count: 9)
        for (shard, (_, time)) in zip(shards, all) { loads[shard] += time }
        let mean = Double(loads.reduce(0, +)) / 8
        for load in loads.dropFirst() { #expect(abs(Double(load) - mean) <= 0.15 * mean) }
    }

    @Test func timeAssignmentIgnoresCaseOrder() throws {
        let known = times(keys.map { ($0, 5_000_000) })
        let first = try #require(ShardAssignment.byTime(keys, times: known, total: 7))
        let second = try #require(ShardAssignment.byTime(keys.reversed(), times: known, total: 7))
        #expect(first == second.reversed())
    }

    @Test func caseWithoutATimeCountsAsTheMedian() throws {
        let known = times([(keys[0], 10), (keys[1], 1000), (keys[2], 20)])
        let shards = try #require(ShardAssignment.byTime(Array(keys[0...4]), times: known, total: 2))
        // The case with a time of 1000 is alone in its shard; the cases with times of 20, 20, 20 and 10 are in the
        // other shard.
        #expect(shards[1] == 1)
        #expect([0, 2, 3, 4].allSatisfy { shards[$0] == 2 })
    }

    @Test func withoutTimesNothingIsAssigned() {
        #expect(ShardAssignment.byTime(keys, times: CaseTimes(), total: 8) == nil)
        #expect(ShardAssignment.byTime(keys, times: times([(CaseKey(id: "other", subject: nil), 1)]), total: 8) == nil)
    }

    @Test func timeOfACaseIsTheMeanOfItsRuns() {
        #expect(times([(keys[0], 10), (keys[0], 30)])[keys[0]] == 20)
    }

    // MARK: The plan

    @Test func digestCoversScriptsCasesAndOptions() {
        func digest(_ id: String, _ text: String, seed: Int = 0) -> String {
            var digest = PlanDigest()
            digest.add(option: "seed", "\(seed)")
            let sources = SourceMap([SourceFile(path: "/somewhere/a.scn", bytes: Array(text.utf8))])
            digest.add(CaseKey(id: id, subject: nil), path: "a.scn", sources: sources)
            return digest.text
        }
        #expect(digest("a", "x") == digest("a", "x"))
        #expect(digest("a", "x").count == 32)
        #expect(Set([digest("a", "x"), digest("b", "x"), digest("a", "y"), digest("a", "x", seed: 1)]).count == 4)
    }
}
