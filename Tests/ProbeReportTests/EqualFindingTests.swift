import ProbeEvents
import ProbeScenario
import Testing

@testable import ProbeReport

/// Tests that equal findings are described only once.
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

    @Test func equalFindingsAreReportedOnceWithTheirCases() {
        let text = Self.console(
            (1...15).map { Self.failed("cut[n=\($0)]", "T reported line \"ab\\\"\($0)\" after \($0) bytes") })
        #expect(text.split(separator: "\n").count { $0.contains("a detail") } == 1)
        #expect(text.contains("FAILED       cut[n=2]  (the same as cut[n=1])"))
        #expect(text.contains("the same in 14 more cases: cut[n=2], cut[n=3],"))
    }

    @Test func differentFindingsAreReportedInFull() {
        let text = Self.console([Self.failed("a", "one"), Self.failed("b", "two"), Self.failed("c", "one")])
        #expect(text.split(separator: "\n").count { $0.contains("a detail") } == 2)
        #expect(text.contains("the same in 1 more case: c\n"))
    }

    @Test func additionalFindingIsNotHidden() {
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

    @Test func repeatedCasesHaveRoundsAndAPassRate() {
        var passed = Samples.passed
        passed.round = 1
        let text = Self.console([passed, Self.failed("crlf", "no", round: 2)])
        #expect(text.contains("crlf (round 1)"))
        #expect(text.contains("rounds:\n  crlf  1 of 2 passed\n"))
    }

    private static func at(_ script: String, _ step: String, _ finding: Finding, subject: String? = "bsd") -> CaseResult
    {
        var finding = finding
        var result = Samples.result(.failed, id: script)
        let text = "scenario \"\(script)\"\n" + step
        result.path = "suite/\(script).scn"
        result.sources = SourceMap([SourceFile(path: result.path, bytes: Array(text.utf8))])
        finding.span = SourceSpan(start: text.utf8.count - step.utf8.count, end: text.utf8.count)
        (result.subject, result.findings) = (subject, [finding])
        return result
    }

    /// A single bug in a subject causes equal findings in three scripts, at different lines.
    @Test func equalFindingsAreReportedOnceAcrossScripts() {
        let text = Self.console(
            ["a", "bb", "ccc"].enumerated().map {
                Self.at(
                    $1, "T expect started", Finding(.failed, "T stopped after \($0) ms", details: ["port 400\($0)"]))
            })
        #expect(text.split(separator: "\n").count { $0.contains(": T stopped after") } == 1)
        #expect(text.contains("FAILED       bb  (the same as a)"))
        #expect(text.contains("the same in 2 more cases: bb, ccc\n"))
    }

    /// Findings for other subjects, for other steps, with other values or with no values are reported separately.
    @Test func differentFindingsAcrossScriptsAreReported() {
        let stopped = Finding(.failed, "T stopped", expected: [1], actual: [2])
        let others = [
            Self.at("b", "T expect started", stopped, subject: "nio"),
            Self.at("c", "T expect line \"a\"", stopped),
            Self.at("d", "T expect started", Finding(.failed, "T stopped", expected: [1], actual: [3])),
            Self.at(
                "e", "T expect started", Finding(.failed, "T stopped", expected: [1], actual: [2], details: ["an RST"])),
            Self.at("f", "T expect started", Finding(.failed, "T stopped \"reset\"", expected: [1], actual: [2])),
            Self.at("g", "T expect started", Finding(.error, "T stopped", expected: [1], actual: [2])),
            Self.at("h", "T expect started", stopped, subject: nil),
            Self.at("i", "T expect started", stopped, subject: nil),
        ]
        let text = Self.console([Self.at("a", "T expect started", stopped)] + others)
        #expect(!text.contains("the same"))
    }

    /// If a table of all subjects is printed, the list of failed cases is omitted, because the table already shows
    /// them.
    @Test func listIsOmittedIfAMatrixIsPrinted() {
        let results = ["bsd", "nio"].flatMap { subject in
            ["a", "b"].map { Self.at($0, "T expect started", Finding(.failed, "T stopped"), subject: subject) }
        }
        let planned = results.map {
            PlannedCase(
                id: $0.id, path: $0.path, subject: $0.subject, title: $0.title, about: nil, because: [], level: .must,
                tags: [])
        }
        let text = ConsoleRecorder(
            style: ConsoleRecorder.Style(usesColor: false), options: .sample(severalSubjects: true), planned: planned
        ).written(results.map(RunEvent.caseEnded) + [.ended(RunSummary())])
        #expect(text.contains("(the same as a (bsd))"))
        #expect(!text.contains("more case"))
        #expect(!text.contains("not passed:"))
    }

    @Test func otherReportsHaveEveryFinding() {
        let results = ["a", "b"].map { Self.at($0, "T expect started", Finding(.failed, "T stopped")) }
        let events = results.map(RunEvent.caseEnded) + [.ended(RunSummary())]
        for text in [
            JUnitRecorder(options: .sample()).written(events), TAPRecorder(options: .sample()).written(events),
            JSONRecorder(options: .sample()).written(events),
        ] {
            #expect(text.ranges(of: "T stopped").count >= results.count && !text.contains("the same as"))
        }
    }
}
