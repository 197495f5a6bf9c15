import ProbeBase
import ProbeEvents
import ProbeSystem
import Synchronization
import Testing

@testable import ProbeEngine

struct ResultLineTests {
    private static let result = PlannedCase(id: "a", path: "a.scn", subject: nil).interrupted(after: 0)

    /// Runs `body` on a separate reactor, in the same way as a run's cases, and fails the test if `body` has not ended
    /// after half a minute.
    private func onReactor(_ body: @escaping @Sendable (Reactor) async -> Void) async throws {
        let reactor = try #require(Reactor.onThread())
        let (ended, end) = AsyncStream.makeStream(of: Bool.self)
        Task(executorPreference: reactor) {
            await body(reactor)
            end.yield(true)
        }
        let watch = Task {
            try await Task.sleep(for: .seconds(30))
            end.yield(false)
        }
        #expect(await ended.first { _ in true } == true)
        watch.cancel()
        reactor.stop()
    }

    /// The result becomes due while the reactor's thread is busy, so the result's timer fires as soon as the task
    /// waits.
    @Test func overdueResultEndsTheWait() async throws {
        try await onReactor { reactor in
            let reported = Mutex(0)
            let line = ResultLine(on: reactor) { _ in reported.withLock { $0 += 1 } }
            let due = MonotonicTime.now + .milliseconds(5)
            line.add(Self.result, nil, due: due)
            while MonotonicTime.now <= due {}
            await line.drain()
            #expect(reported.withLock { $0 } == 1)
        }
    }

    @Test func resultsAreReportedInOrder() async throws {
        try await onReactor { reactor in
            let reported = Mutex<[Int]>([])
            let line = ResultLine(on: reactor) { result in reported.withLock { $0.append(result.round ?? 0) } }
            var result = Self.result
            for (round, delay) in [20, 0, 5].enumerated() {
                result.round = round
                line.add(result, nil, due: .now + .milliseconds(delay))
            }
            #expect(reported.withLock { $0 }.isEmpty)
            await line.drain()
            #expect(reported.withLock { $0 } == [0, 1, 2])
            // No result is held back any longer, so `drain` returns at once.
            await line.drain()
        }
    }
}
