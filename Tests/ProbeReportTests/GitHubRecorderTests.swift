import ProbeEvents
import ProbeReport
import Testing

@Suite struct GitHubRecorderTests {
    private func recorder(strict: Bool = false, workspace: String? = nil) -> GitHubRecorder {
        GitHubRecorder(options: .sample(strict: strict), workspace: workspace)
    }

    @Test func recorderKeepsTheContract() {
        RecorderContract.verify { GitHubRecorder(options: $1, workspace: nil) }
    }

    @Test func outputMatchesGoldenText() throws {
        try GoldenText.check(recorder().written(Samples.events), "run.github.txt")
    }

    @Test func annotationsAreWrittenAtTheEnd() {
        var github = recorder()
        #expect(github.record(.started(caseCount: 1), at: 0).isEmpty)
        #expect(github.record(.caseEnded(Samples.failedBytes), at: 1).isEmpty)
        let end = String(decoding: github.record(.ended(RunSummary()), at: 2), as: UTF8.self)
        #expect(
            end.hasPrefix(
                "::error file=Scenarios/crlf.scn,line=10,col=3,endColumn=25,title=crlf%3A failed::"))
    }

    @Test func severityFollowsTheLevel() {
        func first(_ result: CaseResult, strict: Bool = false) -> String {
            String(recorder(strict: strict).written([.caseEnded(result), .ended(RunSummary())]).prefix { $0 != " " })
        }
        #expect(first(Samples.failedBytes) == "::error")
        #expect(first(Samples.error) == "::error")
        #expect(first(Samples.inconclusive) == "::warning")
        #expect(first(Samples.should) == "::warning")
        #expect(first(Samples.should, strict: true) == "::error")
        #expect(first(Samples.skipped) == "")
        #expect(first(Samples.passed) == "")
    }

    @Test func workspacePathsAreRelative() {
        var result = Samples.error
        result.findings[0].span = nil
        for (path, shown) in [("/w/repo/a,b.scn", "a%2Cb.scn"), ("/w/repository/a.scn", "/w/repository/a.scn")] {
            result.path = path
            let text = recorder(workspace: "/w/repo").written([.caseEnded(result), .ended(RunSummary())])
            #expect(text.hasPrefix("::error file=\(shown),title="))
        }
    }
}
