import ProbeEvents
import ProbeReport
import Testing

@Suite struct StaleExpectationsTests {
    private func notes(_ text: String, filteredAway: Set<String> = []) -> [String] {
        var planned = MatrixSamples.planned
        planned.append(PlannedCase(id: "redis", path: "redis.scn", subject: nil))
        let file = ExpectationsFile(path: "known.txt", bytes: Array(text.utf8))
        #expect(file.problems.isEmpty)
        return StaleExpectations.notes([file], planned: planned, filteredAway: filteredAway)
    }

    @Test(
        arguments: [
            ("asyncio framing/crlf failed", []), ("- redis failed", []), ("asyncio away failed", []),
            (
                "asyncio close/eof-midline failed",
                ["known.txt:1: this run has no case close/eof-midline; did you mean close/eof-mid-line?"]
            ), ("asyncio nothing/like/it failed", ["known.txt:1: this run has no case nothing/like/it"]),
            (
                "\nasyncoi framing/crlf failed\nasyncoi x failed",
                ["known.txt: 2 lines are about asyncoi, which is not a subject of this run; did you mean asyncio?"]
            ),
            (
                "bsd suite/close/eof-mid-line failed",
                [
                    "known.txt:1: this run has no case suite/close/eof-mid-line, but has close/eof-mid-line: "
                        + "ids are relative to the given folder; use `--filter` to run only a part of that folder"
                ]
            ), ("nio x failed", ["known.txt: 1 line is about nio, which is not a subject of this run"]),
            (
                "- framing/crlf failed",
                ["known.txt:1: framing/crlf tests a subject; write its name instead of -"]
            ),
            ("bsd redis failed", ["known.txt:1: redis tests no subject; write - instead of the name"]),
        ] as [(String, [String])])
    func unmatchedLinesAreReported(text: String, expected: [String]) {
        #expect(notes(text, filteredAway: ["away"]) == expected)
    }

    @Test func furtherUnmatchedLinesAreCounted() {
        let all = notes((0..<100).map { "asyncio none-\($0) failed\n" }.joined())
        #expect(all.count == 11)
        #expect(all.last == "known.txt: 90 more lines do not match any case of this run")
    }
}
