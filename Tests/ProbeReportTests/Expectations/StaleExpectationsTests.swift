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
                ["known.txt:1: there is no case close/eof-midline in this run; did you mean close/eof-mid-line?"]
            ), ("asyncio nothing/like/it failed", ["known.txt:1: there is no case nothing/like/it in this run"]),
            (
                "\nasyncoi framing/crlf failed\nasyncoi x failed",
                ["known.txt: 2 lines are about asyncoi, which is no subject of this run; did you mean asyncio?"]
            ),
            (
                "bsd suite/close/eof-mid-line failed",
                [
                    "known.txt:1: there is no case suite/close/eof-mid-line in this run, but close/eof-mid-line: "
                        + "ids begin below the folder that is given, and `--filter` picks a part of it"
                ]
            ), ("nio x failed", ["known.txt: 1 line is about nio, which is no subject of this run"]),
            (
                "- framing/crlf failed",
                ["known.txt:1: framing/crlf is run by a subject, which stands here instead of -"]
            ),
            ("bsd redis failed", ["known.txt:1: redis tests no subject: - stands for that"]),
        ] as [(String, [String])])
    func whatIsAboutNothingIsTold(text: String, expected: [String]) {
        #expect(notes(text, filteredAway: ["away"]) == expected)
    }

    @Test func manyAreCounted() {
        let all = notes((0..<100).map { "asyncio none-\($0) failed\n" }.joined())
        #expect(all.count == 11)
        #expect(all.last == "known.txt: 90 more lines are about no case of this run")
    }
}
