import ProbeBase
import ProbeEvents
import ProbeCrowd
import ProbeSystem
import Testing

@testable import ProbeEngine

/// Checks which snapshots of a crowd are kept as samples.
struct CrowdSamplesTests {
    private static func snapshot(_ connected: Int) -> CrowdSnapshot {
        var snapshot = CrowdSnapshot()
        snapshot.connected = connected
        return snapshot
    }

    /// Records `count` snapshots at intervals of `milliseconds`, and a final one at the end.
    private static func samples(every milliseconds: Int, count: Int) -> CrowdSamples {
        let start = MonotonicTime.now
        var samples = CrowdSamples(from: start)
        for number in 1...count { samples.add(snapshot(number), at: start + .milliseconds(number * milliseconds)) }
        samples.add(snapshot(count + 1), at: start + .milliseconds(count * milliseconds + 1), isLast: true)
        return samples
    }

    @Test func firstAndLastSamplesAreKept() {
        let samples = Self.samples(every: 20, count: 3)
        #expect(samples.all.map(\.connected) == [0, 3, 4])
        #expect(samples.all.map(\.time) == [0, 60_000_000, 61_000_000])
    }

    @Test(arguments: [255, 256, 300, 1000, 100_000])
    func sampleCountIsBounded(_ count: Int) throws {
        let samples = Self.samples(every: 50, count: count)
        #expect(samples.all.count <= CrowdSamples.most + 1)
        #expect(samples.all.count >= CrowdSamples.most / 2)
        #expect(samples.all.first?.time == 0)
        #expect(samples.all.last?.connected == count + 1)
        let times = samples.all.map(\.time)
        #expect(zip(times, times.dropFirst()).allSatisfy { $0 < $1 })
        // The interval between samples grows with the crowd's duration, but is nearly the same for all samples.
        let gaps = zip(times, times.dropFirst()).map { $1 - $0 }.dropLast()
        #expect(try #require(gaps.max()) <= 4 * #require(gaps.dropLast().min()))
    }

    @Test func timesIncrease() {
        let start = MonotonicTime.now
        var samples = CrowdSamples(from: start)
        samples.add(Self.snapshot(5), at: start + .milliseconds(100))
        samples.add(Self.snapshot(4), at: start + .milliseconds(90), isLast: true)
        samples.add(Self.snapshot(6), at: start + .milliseconds(100), isLast: true)
        #expect(samples.all.map(\.connected) == [0, 5])
    }

    @Test func caseResultHasSamples() async throws {
        let program = CrowdTests.worker(CrowdTests.snapshot(waits: [1_000_000, 1_000_000, 3_000_000]))
        let result = try await CrowdTests.run("W start { connect }\nwait 200ms\nW expect connected 5\nW stop", program)
        #expect(result.verdict == .passed, "\(CrowdTests.texts(of: result))")
        let crowd = try #require(result.crowds.first)
        #expect(
            crowd.samples.first == CrowdResult.Sample(time: 0, connected: 0, done: 0, failed: 0, sent: 0, received: 0))
        #expect(crowd.samples.count >= 2)
        #expect(crowd.samples.last?.connected == 5)
        #expect(crowd.latencies.first?.buckets.map(\.upTo) == [1_000_000, 3_000_000])
        #expect(crowd.latencies.first?.buckets.map(\.count) == [2, 1])
    }
}
