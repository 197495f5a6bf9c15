import ProbeEvents
import ProbeReport
import ProbeScenario
import Testing

@Suite struct ExpectationsTextTests {
    private func written(
        old: String? = nil, results: [CaseResult]? = nil, planned: [PlannedCase] = MatrixSamples.planned,
        filteredAway: Set<String> = []
    ) -> String {
        let file = old.map { ExpectationsFile(path: "known.txt", bytes: Array($0.utf8)) }
        #expect(file?.problems.isEmpty ?? true)
        let recorder = ExpectationsRecorder(
            planned: planned, options: MatrixSamples.options(), old: file, filteredAway: filteredAway)
        return recorder.written(MatrixSamples.events(results: results))
    }

    static let fresh = """
        # Cases known not to pass: subject, case, verdict, # why.
        # `tcpprobe run --expect FILE` treats these results as expected; `--write-expectations FILE` updates them and keeps the comments.

        asyncio   close/eof-mid-line      failed
        asyncio   close/half-close-reply  failed
        asyncio   framing/cuts[at=1]      failed
        asyncio   framing/cuts[at=2]      failed
        asyncio   framing/cuts[at=3]      error
        asyncio   framing/cuts[at=4]      inconclusive

        node-net  'framing/lone[x="a/b"]'  failed

        """

    @Test func recorderKeepsTheContract() {
        RecorderContract.verify { ExpectationsRecorder(planned: $0, options: $1, old: nil, filteredAway: []) }
    }

    @Test func newFileHasAHeader() {
        // A word with quotes inside it is written without surrounding quotes.
        let text = Self.fresh.split(separator: "'").joined()
        let aligned = text.split(separator: "\n", omittingEmptySubsequences: false).map { line in
            line.hasPrefix("asyncio") || line.hasPrefix("node")
                ? line.split(separator: " ").map(String.init) : [String(line)]
        }
        let got = written().split(separator: "\n", omittingEmptySubsequences: false).map { line in
            line.hasPrefix("asyncio") || line.hasPrefix("node")
                ? line.split(separator: " ").map(String.init) : [String(line)]
        }
        #expect(got == aligned)
        let columns = Set(
            written().split(separator: "\n").filter { !$0.hasPrefix("#") }
                .compactMap { line in
                    line.firstRange(of: "framing").map { line.distance(from: line.startIndex, to: $0.lowerBound) }
                })
        #expect(columns == [10])
    }

    @Test func rewritingChangesNothing() {
        let first = written()
        #expect(written(old: first) == first)
    }

    @Test func commentsAreKept() throws {
        let old = """
            # Ours, with care.

            # All of them are one bug.
            asyncio framing/cuts[at=1] failed   # loses the CR
            # passes since spring
            asyncio framing/crlf failed  # goes
            asyncio framing/cuts[at=2] error # another verdict by now
            # the end
            """
        try GoldenText.check(written(old: old), "expectations-kept.txt")
    }

    /// Lines about other subjects, and about cases that were filtered out, skipped or not run, are kept, because the
    /// run does not contradict these lines.
    @Test func linesOfCasesThatDidNotRunAreKept() {
        let old = """
            nio other failed # of another subject
            asyncio away failed
            asyncio gone failed
            asyncio timeouts/idle failed # skipped here
            node-net timeouts/idle failed # unsupported by now
            bsd close/eof-mid-line failed # passes by now
            """
        let text = written(old: old, filteredAway: ["away"])
        for kept in ["# of another subject", "away", "# skipped here"] { #expect(text.contains(kept), "\(kept)") }
        for gone in ["gone", "# unsupported", "# passes"] { #expect(!text.contains(gone), "\(gone)") }
    }

    @Test func interruptedRunKeepsLinesOfUnrunCases() {
        let old = """
            asyncio close/eof-mid-line failed # ran
            asyncio close/half-close-reply failed # was running
            asyncio framing/cuts[at=1] failed # never began
            """
        var results = Array(MatrixSamples.results.prefix(4))
        var running = MatrixSamples.result("close/half-close-reply", .should, "asyncio", .error)
        running.isInterrupted = true
        results.append(running)
        let text = written(old: old, results: results)
        #expect(
            text == """
                asyncio  close/eof-mid-line      failed  # ran
                asyncio  close/half-close-reply  failed  # was running
                asyncio  framing/cuts[at=1]      failed  # never began

                """)
    }

    /// `failed?` is kept after a pass or a failure; every other verdict replaces it, without the `?`.
    @Test func flakyExpectationIsKept() {
        let old = """
            bsd close/eof-mid-line failed? # passes here
            asyncio framing/cuts[at=2] failed? # failed
            asyncio framing/cuts[at=3] failed? # is an error by now
            """
        let lines = written(old: old).split(separator: "\n").filter { $0.contains("  # ") }.map { line in
            line.split(separator: " ").dropFirst().prefix(2).joined(separator: " ")
        }
        #expect(lines == ["framing/cuts[at=2] failed?", "framing/cuts[at=3] error", "close/eof-mid-line failed?"])
    }

    @Test func correctLineIsKept() {
        let old = "node-net timeouts/idle unsupported # by design\nbsd framing/crlf passed # once it did not\n"
        let text = written(old: old)
        #expect(text.contains("# by design") && text.contains("# once it did not"))
    }
}
