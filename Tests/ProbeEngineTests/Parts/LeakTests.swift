import Glibc
import ProbeEngine
import ProbeEvents
import ProbeSystem
import Testing

/// Checks that a case leaves no descriptor, child process or folder behind.
struct LeakTests {
    @Test func twoHundredCasesLeakNothing() async {
        await #expect(processExitsWith: .success) {
            let scripts = [
                // The scripts cover all ways in which a case can end: by passing, by failing, during a send, while a
                // program is running, and during a `retry`.
                "scenario \"a\"\nserver S\nsubject T -> S\nT start\nS accept\nS send line \"x\"\nT expect line \"x\"",
                "scenario \"b\"\nserver S\nclient C -> S\nC connect\nS accept\nC send \"y\"\nS expect \"x\"",
                "scenario \"c\"\nserver S\nclient C -> S\nC connect\nS accept\nS stop reading\nS ignore rest\nC start sending \"x\" * 9000000",
                "scenario \"d\"\nprocess P = sh -c \"sleep 30 & echo up; sleep 30\"\nP start\nP expect output /up/",
                "scenario \"e\"\nserver S\nclient C -> S\nS stop listening\nretry every 1ms within 5ms { C connect }",
                "scenario \"f\"\nserver S\nclient C -> S\nC connect\nS stop listening\nC reset",
                "scenario \"g\"\nserver S\nclient C -> S\nC connect\nS accept\nwhenever C gets line /P/ { wait 10s }\nS send line \"P\"\nC expect line \"x\" within 5ms",
                "scenario \"h\"\nserver S\nclient C -> S\ntogether {\nS accept within 5ms\nC expect \"x\"\n}".replacing(
                    "C expect \"x\"", with: "do { wait 20ms; C connect }"),
            ]
            func pass(_ count: Int) async throws {
                for number in 0..<count { _ = try await Stage.run(scripts[number % scripts.count]) }
            }
            do { try await pass(24) } catch { exit(2) }
            let before = await Self.quietCount()
            do { try await pass(200) } catch { exit(3) }
            let after = await Self.quietCount(goal: before)
            if after > before {
                print("descriptors: \(before) before, \(after) after")
                exit(4)
            }
            // The guardian process is kept for the next program, and is the only remaining child.
            Guardian.end()
            if waitpid(-1, nil, WNOHANG) != -1 { exit(5) }
            exit(0)
        }
    }

    /// Returns the number of this process's descriptors after the reactors' threads have ended, which can take seconds
    /// on a busy machine.
    private static func quietCount(goal: Int = 0) async -> Int {
        var least = Int.max
        for round in 0..<60_000 where least > goal && (round < 200 || goal > 0) {
            least = min(least, ProcessTable.descriptorCount(of: getpid()) ?? .max)
            await Task.yield()
            usleep(1000)
        }
        return least
    }
}
