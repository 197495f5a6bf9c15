import ProbeEvents
import Testing

@testable import ProbeReport

/// Equal findings are told once.
@Suite struct EqualFindingTests {
    private static func failed(_ id: String, _ summary: String, round: Int? = nil) -> CaseResult {
        var result = Samples.result(
            .failed, id: id, findings: [Finding(.failed, at: Samples.span("S accept"), summary, details: ["a detail"])])
        result.round = round
        return result
    }

    private static func console(_ results: [CaseResult], isQuiet: Bool = false) -> String {
        var style = ConsoleRecorder.Style(usesColor: false)
        style.isQuiet = isQuiet
        return ConsoleRecorder(style: style, options: .sample())
            .written(results.map(RunEvent.caseEnded) + [.ended(RunSummary())])
    }

    @Test func equalOnesAreToldOnceWithTheirCases() {
        let text = Self.console(
            (1...15).map { Self.failed("cut[n=\($0)]", "T reported line \"ab\\\"\($0)\" after \($0) bytes") })
        #expect(text.split(separator: "\n").count { $0.contains("a detail") } == 1)
        #expect(text.contains("FAILED       cut[n=2]  (the same as cut[n=1])"))
        #expect(text.contains("the same in 14 more cases: cut[n=2], cut[n=3],"))
    }

    @Test func othersAreToldInFull() {
        let text = Self.console([Self.failed("a", "one"), Self.failed("b", "two"), Self.failed("c", "one")])
        #expect(text.split(separator: "\n").count { $0.contains("a detail") } == 2)
        #expect(text.contains("the same in 1 more case: c\n"))
    }

    @Test func furtherFindingIsNotHidden() {
        var second = Self.failed("b", "one")
        second.findings.append(Finding(.failed, "the peer sent an RST"))
        let text = Self.console([Self.failed("a", "one"), second])
        #expect(text.contains("the peer sent an RST"))
        #expect(!text.contains("the same"))
    }

    @Test func listOfCasesIsLimited() {
        let text = Self.console((1...3000).map { Self.failed("cut[n=\($0)]", "no") })
        let tail = text.split(separator: "\n").filter { !$0.hasPrefix("FAILED") }
        #expect(tail.count < 30)
        #expect(tail.contains { $0.contains("… and") })
    }

    @Test func quietShowsFailuresAndTheSummary() {
        let text = Self.console([Samples.passed, Self.failed("a", "one")], isQuiet: true)
        #expect(!text.contains("passed       crlf"))
        #expect(text.contains("FAILED       a"))
        #expect(text.contains("1 passed") || text.contains("0 passed"))
    }

    @Test func repeatedCasesHaveRoundsAndARate() {
        var passed = Samples.passed
        passed.round = 1
        let text = Self.console([passed, Self.failed("crlf", "no", round: 2)])
        #expect(text.contains("crlf (round 1)"))
        #expect(text.contains("rounds:\n  crlf  1 of 2 passed\n"))
    }
}
