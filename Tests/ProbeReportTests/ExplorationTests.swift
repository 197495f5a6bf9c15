import ProbeEvents
import ProbeReport
import Testing

/// Tests how reports show a case of `explore` or `shrink`.
@Suite struct ExplorationTests {
    private func result(_ verdict: Verdict, counts: Bool = true) -> CaseResult {
        var result = verdict == .passed ? Samples.result(.passed, findings: []) : Samples.failedBytes
        result.exploration = Exploration(
            counts: counts
                ? Exploration.Counts(
                    law: .stream, tried: 12, left: 3, inconclusive: 1, isExhausted: false, seed: 7) : nil,
            written: verdict == .passed
                ? []
                : [
                    Exploration.WrittenScenario(
                        path: "out/a.min.scn", sentence: "fails when", captures: ["out/a.pcapng"], failed: 2, runs: 3)
                ])
        return result
    }

    @Test func everyReportShowsTheExploration() throws {
        let events: [RunEvent] = [.caseEnded(result(.failed)), .caseEnded(result(.passed)), .ended(RunSummary())]
        #expect(CaseText(options: .sample()).failureDetail(result(.failed)).contains("  smallest:  out/a.min.scn\n"))
        let junit = JUnitRecorder(options: .sample()).written(events)
        let counts = "law: stream\ntried: 12\nleft: 3\ninconclusive: 1\nexhausted: no\nseed: 7\n"
        #expect(junit.split(separator: counts).count == 3)
        #expect(
            junit.contains("smallest: out/a.min.scn\nsmallest fails: 2 of 3 runs\ncapture of smallest: out/a.pcapng\n"))
        let tap = TAPRecorder(options: .sample()).written(events)
        let explored = "{law: stream, tried: 12, left: 3, inconclusive: 1, exhausted: false, seed: 7}"
        #expect(tap.split(separator: "  explored: \(explored)\n").count == 3)
        #expect(tap.contains("  smallest: [\"out/a.min.scn\"]\n"))
        let json = JSONRecorder(options: .sample()).written(events)
        let members = #""law":"stream","tried":12,"left":3,"inconclusive":1,"exhausted":false,"seed":7"#
        #expect(json.contains("\"exploration\":{\(members),\"written\":[]}"))
        let written =
            #"{"path":"out/a.min.scn","sentence":"fails when","captures":["out/a.pcapng"],"failed":2,"runs":3}"#
        #expect(json.contains("\"exploration\":{\(members),\"written\":[\(written)]}"))
    }

    @Test(.enabled(if: Python.hasValidator, "python3 has no jsonschema module"))
    func jsonFitsTheSchema() throws {
        let events: [RunEvent] = [
            .caseEnded(result(.failed)), .caseEnded(result(.passed)), .caseEnded(result(.failed, counts: false)),
        ]
        let text = try Python.run(
            JSONRecorderTests.validator, [JSONRecorderTests.schema],
            input: JSONRecorder(options: .sample()).written(events))
        #expect(text.split(separator: "\n") == ["case-ended", "case-ended", "case-ended"])
    }

    /// The command determines the exit code, unless a report could not be written, which is an error.
    @Test(arguments: [(0, false, 0), (0, true, 3), (1, true, 1), (2, false, 2)])
    func exitCodeFollowsTheCommand(own: Int, hasRunErrors: Bool, expected: Int) {
        var summary = RunSummary()
        summary.commandExitCode = Int32(own)
        if hasRunErrors { summary.runErrors = ["full"] }
        #expect(summary.exitCode == Int32(expected))
    }
}
