import ProbeScenario
import ProbeSystem
import Testing

@testable import ProbeEngine

/// Tests which resources cases need exclusively, and how cases take turns in using them.
struct CaseResourcesTests {
    private func resources(_ header: String, _ steps: String) throws -> Set<CaseResources.Resource> {
        let plan = try Stage.plan("scenario \"a\"\n\(header)\n\(steps)")
        let index = StepIndex(plan.scenario)
        return plan.cases.reduce(into: []) { all, casePlan in
            let job = RunJob(plan: plan, casePlan: casePlan, index: index, id: "a", path: "a.scn", folder: "/tmp")
            all.formUnion(CaseResources(of: job).all)
        }
    }

    private static func socket(_ path: String) -> CaseResources.Resource { .socket(SocketFile(path)) }

    @Test(
        arguments: [
            ("server S", []),
            ("server S on unix", []),
            ("server S on unix \"a.sock\"", [socket("/tmp/a.sock")]),
            ("server S on unix \"/var/./a.sock\"", [socket("/var/a.sock")]),
            ("each n = 1, 2\nserver S on unix \"${n}.sock\"", [socket("/tmp/1.sock"), socket("/tmp/2.sock")]),
            ("server S on 127.0.0.1:7000", [.port(7000)]),
            ("let p = 7000\nserver S on 127.0.0.1:(p + 1)", [.port(7001)]),
            ("server S on 127.0.0.1", []),
        ] as [(String, [CaseResources.Resource])])
    func serverNeedsItsAddress(_ header: String, _ wanted: [CaseResources.Resource]) throws {
        let steps = "client C -> S\nC connect\nS accept\nC send \"x\"\nS expect \"x\""
        #expect(try resources(header, steps) == Set(wanted))
    }

    /// The path of a Unix socket is a resource of the case if one of the case's programs may listen on it.
    @Test(
        arguments: [
            ("client C -> unix \"a.sock\"", "", []),
            ("client C -> unix \"a.sock\"\nprocess P = true", "P start\n", [socket("/tmp/a.sock")]),
            ("client C -> 127.0.0.1:7000\nprocess P = true", "P start\n", []),
        ] as [(String, String, [CaseResources.Resource])])
    func clientNeedsAProgramsSocketPath(
        _ header: String, _ start: String, _ wanted: [CaseResources.Resource]
    ) throws {
        #expect(try resources(header, start + "C connect\nC expect eof") == Set(wanted))
    }

    /// However many cases request resources, each resource has only one holder at a time, and no case waits for a free
    /// resource.
    @Test func resourceHasOneHolderAtATime() async {
        let locks = CaseResourceLocks()
        let (first, second): (CaseResources.Resource, CaseResources.Resource) = (.port(1), .port(2))
        let held = Holders()
        await withTaskGroup(of: Void.self) { group in
            for number in 0..<60 {
                let wanted: Set = number % 3 == 0 ? [first] : number % 3 == 1 ? [second] : [first, second]
                group.addTask {
                    let taken = await locks.take(wanted)
                    await held.enter(taken)
                    await Task.yield()
                    await held.leave(taken)
                    locks.returnResources(taken)
                }
            }
        }
        #expect(await held.count == 60)
        let both = await locks.take([first, second])
        let other = await locks.take([.port(3)])
        locks.returnResources(both)
        locks.returnResources(other)
    }

    private actor Holders {
        private var present: Set<CaseResources.Resource> = []
        private(set) var count = 0

        func enter(_ taken: Set<CaseResources.Resource>) {
            #expect(present.isDisjoint(with: taken))
            present.formUnion(taken)
            count += 1
        }

        func leave(_ taken: Set<CaseResources.Resource>) { present.subtract(taken) }
    }
}
