import ProbeScenario
import Testing

@testable import ProbeEngine

struct JobQueueTests {
    private func jobs(_ count: Int) throws -> [RunJob] {
        let plan = try Stage.plan("scenario \"a\"\nnote \"b\"")
        let casePlan = try #require(plan.cases.first)
        let index = StepIndex(plan.scenario)
        return (0..<count).map {
            RunJob(plan: plan, casePlan: casePlan, index: index, id: "\($0)", path: "a.scn", folder: "/tmp")
        }
    }

    private func all(_ queue: JobQueue) -> [String] {
        var names: [String] = []
        while let job = queue.next() { names.append("\(job.id) of round \(job.round)") }
        return names
    }

    @Test func jobsKeepTheirOrderInEachRound() throws {
        let queue = JobQueue(try jobs(2), repetitions: 2)
        #expect(queue.total == 4)
        #expect(all(queue) == ["0 of round 1", "1 of round 1", "0 of round 2", "1 of round 2"])
    }

    @Test func closedQueueReturnsNoJob() throws {
        let queue = JobQueue(try jobs(3), repetitions: .max)
        #expect(queue.total == .max)
        #expect(queue.next()?.id == "0")
        queue.close()
        #expect(all(queue) == [])
    }

    @Test func emptyQueueEnds() { #expect(all(JobQueue([], repetitions: .max)) == []) }
}
