import ProbeEvents
import ProbeReport
import Testing

/// Tests how reports show a failed case that was run again in a new process.
@Suite struct LoneResultTests {
    private func result(_ verdict: Verdict?) -> CaseResult {
        var result = Samples.failedBytes
        result.alone = verdict.map { LoneResult(verdict: $0, after: "close/eof") }
        return result
    }

    @Test(arguments: [
        (Verdict.passed, "only after close/eof"), (.failed, "also alone"), (.error, "also alone"),
    ])
    func everyReportShowsTheSecondRun(verdict: Verdict, text: String) throws {
        let result = result(verdict)
        let cases = CaseText(options: .sample())
        #expect(cases.line(result).contains("  (\(text))"))
        #expect(cases.failureDetail(result).contains("  fails:     \(text) "))
        let events: [RunEvent] = [.caseEnded(result), .ended(RunSummary())]
        #expect(JUnitRecorder(options: .sample()).written(events).contains("fails: \(text)\nverdict alone: \(verdict)"))
        let tap = TAPRecorder(options: .sample()).written(events)
        #expect(tap.contains("  fails: \"\(text)\"\n"))
        #expect(tap.contains("  alone: {verdict: \(verdict), after: \"close/eof\"}\n"))
        #expect(GitHubRecorder(options: .sample(), workspace: nil).written(events).contains("fails \(text)%0A"))
        let json = JSONRecorder(options: .sample()).written(events)
        #expect(json.contains(#""verdict":"failed""#))
        #expect(json.contains(#""alone":{"verdict":"\#(verdict)","after":"close/eof"}"#))
    }

    /// If the second run was not judged, the report draws no conclusion from it.
    @Test(arguments: [Verdict.inconclusive, .unsupported, .skipped])
    func unjudgedSecondRunProvesNothing(verdict: Verdict) {
        let cases = CaseText(options: .sample())
        #expect(cases.line(result(verdict)) == cases.line(result(nil)))
        #expect(cases.failureDetail(result(verdict)).contains("unknown whether it also fails alone: \(verdict)"))
    }

    @Test(.enabled(if: Python.hasValidator, "python3 has no jsonschema module"))
    func jsonFitsTheSchema() throws {
        let events: [RunEvent] = [.caseEnded(result(.passed)), .caseEnded(result(.inconclusive))]
        let text = try Python.run(
            JSONRecorderTests.validator, [JSONRecorderTests.schema],
            input: JSONRecorder(options: .sample()).written(events))
        #expect(text.split(separator: "\n") == ["case-ended", "case-ended"])
    }
}
