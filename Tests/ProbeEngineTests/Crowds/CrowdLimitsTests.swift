import Testing

@testable import ProbeEngine

struct CrowdLimitsTests {
    private static let usual = CrowdLimits(descriptors: 20_000, files: (10_000_000, 5_000), processes: nil)

    @Test(arguments: [(1, 1), (19_488, 1), (19_489, 2), (100_000, 6), (1_000_000, 52)])
    func workersAreLimitedByDescriptors(_ members: Int, _ workers: Int) throws {
        #expect(try Self.usual.workers(for: .init(members: members)) == workers)
    }

    private static func obstacle(_ limits: CrowdLimits, _ need: CrowdLimits.Need) throws -> CrowdLimits.Obstacle {
        try #require(throws: CrowdLimits.Obstacle.self) { try limits.workers(for: need) }
    }

    @Test func processDescriptorLimitIsReported() throws {
        var limits = Self.usual
        limits.descriptors = 256
        #expect(limits.membersOfWorker == 192)
        let obstacle = try Self.obstacle(limits, .init(members: 1_000_000))
        #expect(obstacle.text.contains("the limit on open files per process (RLIMIT_NOFILE) is 256"))
        #expect(obstacle.advice.contains("ulimit -Hn 20833"))
        // The limit that the advice recommends is sufficient for the crowd.
        limits.descriptors = 20_833
        #expect(try limits.workers(for: .init(members: 1_000_000)) <= 64)
    }

    @Test func systemFileLimitIsReported() throws {
        var limits = Self.usual
        limits.files = (30_000, 20_000)
        #expect(
            try Self.obstacle(limits, .init(members: 6_000)).text.contains(
                "10000 more can be opened, but the crowd needs 12000"))
        var need = CrowdLimits.Need(members: 6_000)
        need.isLocal = false
        #expect(try limits.workers(for: need) == 1)
    }

    @Test func userProcessLimitIsReported() throws {
        var limits = Self.usual
        limits.processes = 3
        #expect(try limits.workers(for: .init(members: 10)) == 1)
        let obstacle = try Self.obstacle(limits, .init(members: 20_000))
        #expect(obstacle.text.contains("this user's limit on processes (RLIMIT_NPROC) is 3, but the crowd needs 4"))
    }

    @Test func linkHasASingleAddress() throws {
        var need = CrowdLimits.Need(members: 22_768)
        need.hasOneAddress = true
        #expect(try Self.usual.workers(for: need) == 2)
        need.members += 1
        #expect(try Self.obstacle(Self.usual, need).text.contains("a single address"))
    }

    @Test func limitsOfThisMachineAreRead() {
        let limits = CrowdLimits.forThisMachine()
        #expect(limits.descriptors > 0)
        #expect(limits.files.limit > limits.files.used)
    }
}
