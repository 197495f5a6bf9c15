import ProbeEvents
import ProbeReport
import ProbeScenario
import Testing

@Suite struct ScoreTests {
    private func score(_ results: [(Verdict?, Scenario.Level, Int)]) -> Score {
        var score = Score()
        for (verdict, level, count) in results {
            for _ in 0..<count { score.count(verdict, level: level) }
        }
        return score
    }

    @Test func scoreIsOneLine() {
        let score = score([
            (.passed, .must, 108), (.failed, .must, 2), (.passed, .should, 14), (.failed, .should, 2),
            (.unsupported, .must, 3),
        ])
        #expect(score.text == "108 of 110 must, 14 of 16 should, 3 unsupported")
    }

    @Test(
        arguments: [
            ([(.passed, .must, 1)], "1 of 1 must"), ([], "0 of 0 must"),
            (
                [(.passed, .must, 1), (.passed, .may, 1), (.unsupported, .may, 2)],
                "1 of 1 must, 2 unsupported, 1 of 1 may"
            ),
            ([(.unsupported, .must, 4)], "0 of 0 must, 4 unsupported"),
            ([(.error, .must, 1), (.inconclusive, .must, 1), (.failed, .must, 1)], "0 of 3 must"),
            ([(.passed, .should, 1), (.failed, .may, 3), (.passed, .may, 2)], "1 of 1 should, 2 of 5 may"),
            ([(.passed, .must, 1), (.skipped, .must, 2), (nil, .should, 3)], "1 of 1 must, 2 skipped, 3 not run"),
        ] as [([(Verdict?, Scenario.Level, Int)], String)])
    func absentCountsAreOmitted(results: [(Verdict?, Scenario.Level, Int)], text: String) {
        #expect(score(results).text == text)
    }
}
