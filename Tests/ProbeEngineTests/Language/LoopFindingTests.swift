import ProbeEvents
import Testing

@testable import ProbeEngine

/// Tests what a finding in a loop reports about the iteration in which it occurred.
struct LoopFindingTests {
    private static let start = "server S\nsubject T -> S\nT start\nS accept\n"

    private static func run(_ steps: String) async throws -> CaseResult {
        try await Stage.firstResult(
            "scenario \"loop\"\ntable users = \"anna\" 7, \"Jörg\" 8\n" + start + steps, subject: Stage.bsd)
    }

    @Test func findingNamesTheIterationOfEachLoop() async throws {
        let result = try await Self.run(
            """
            for who, age in users {
              for i in 5..7 {
                S send line "${who} ${i}"
                T expect line "anna ${i}"
              }
            }
            """)
        let finding = try #require(result.findings.first)
        #expect(
            finding.details.prefix(2) == [
                "in round 2 of `for who, age`: who = \"Jörg\", age = 8", "in round 1 of `for i`: i = 5",
            ])
        #expect(finding.rounds?.map(\.number) == [2, 1])
        let steps = result.timeline.compactMap { entry in
            if case .step(_, let text, let values) = entry.kind { "\(text) (\(values.sentence))" } else { nil }
        }
        #expect(steps.contains("S send line \"${who} ${i}\" (who = \"Jörg\", i = 5)"))
        #expect(steps.last == "T expect line \"anna ${i}\" (i = 5)")
    }

    @Test func stepOutsideALoopNamesNoIteration() async throws {
        let result = try await Self.run("for i in 1..2 { wait 1ms }\nT expect stopped within 20ms\n")
        let finding = try #require(result.findings.first)
        #expect(finding.rounds == [])
        #expect(finding.details.allSatisfy { !$0.contains("round") })
    }

    @Test func eitherNamesTheExpectationOfEachBranch() async throws {
        let result = try await Self.run(
            """
            S send line "a"
            for n in 4..4 {
              either {
                T expect line "${n}" within 400ms
              } or {
                T expect stopped eof within 20ms
              }
            }
            """)
        let finding = try #require(result.findings.first)
        #expect(finding.details.count == 3)
        #expect(finding.details[1].hasPrefix("branch 1: reported line \"a\"; "))
        #expect(finding.details[1].contains(":10: T expect line \"${n}\" within 400ms  (n = 4)"))
        #expect(finding.details[2].hasPrefix("branch 2: "))
        let marked = result.timeline.filter { if case .stepFailed = $0.kind { true } else { false } }
        #expect(marked.count == 1)
    }

    @Test func branchWithoutInputIsReported() async throws {
        let result = try await Self.run(
            "either { T expect line \"x\" within 20ms } or { T expect stopped within 20ms }\n")
        let finding = try #require(result.findings.first)
        #expect(finding.details.allSatisfy { $0.contains(": received nothing; ") })
    }

    @Test(arguments: [
        ("Jörg", "J\u{fffd}\u{fffd}rg", "a character was split in two"),
        ("J\u{fffd}rg", "Jörg", "a character was split in two"),
        ("！", "\u{fffd}", "a character was split in two"),
    ])
    func replacedCharacterGetsAHint(expected: String, actual: String, hint: String) {
        let found = NearMiss.replacement(expected: Array(expected.utf8), actual: Array(actual.utf8))
        #expect(found?.contains(hint) == true)
    }

    @Test(arguments: [("Jörg", "Jorg"), ("a", "\u{fffd}"), ("\u{fffd}", "\u{fffd}a"), ("", "\u{fffd}")])
    func otherDifferenceGetsNoReplacementHint(expected: String, actual: String) {
        #expect(NearMiss.replacement(expected: Array(expected.utf8), actual: Array(actual.utf8)) == nil)
    }
}
