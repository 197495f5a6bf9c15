import ProbeEvents
import ProbeReport
import Testing

@Suite struct ConsoleGoldenTests {
    @Test(arguments: Samples.all.map(\.name)) func eachVerdictMatchesGoldenText(name: String) throws {
        let result = try #require(Samples.all.first { $0.name == name }).result
        let console = ConsoleRecorder(style: .init(usesColor: false), options: .sample())
        try GoldenText.check(console.written([.caseEnded(result)]), "console-\(name).txt")
    }

    @Test func interruptedRunMatchesGoldenText() throws {
        let style = ConsoleRecorder.Style(usesColor: false, timelineLimit: 2)
        let console = ConsoleRecorder(style: style, options: .sample(severalSubjects: true))
        try GoldenText.check(console.written(Samples.events), "console-run-interrupted.txt")
    }

    @Test func passedRunHasAShortSummary() {
        let console = ConsoleRecorder(style: .init(usesColor: false), options: .sample())
        var summary = RunSummary()
        summary.results = ResultCounts([.passed: 2])
        summary.duration = 12_000_000
        let text = console.written([.started(caseCount: 2), .caseEnded(Samples.passed), .ended(summary)])
        #expect(text == "passed       crlf  35 ms\n2 passed, 0 failed in 12 ms\n")
    }

    @Test func runErrorsAreNamed() {
        let console = ConsoleRecorder(style: .init(usesColor: false), options: .sample())
        var summary = RunSummary()
        summary.runErrors = ["the report a.xml can't be written: No space left on device"]
        #expect(
            console.written([.ended(summary)])
                == "error: the report a.xml can't be written: No space left on device\n"
                + "0 passed, 0 failed in 0 ms: nothing was judged, because there was no case to run\n")
    }

    @Test func colourDoesNotChangeTheLayout() {
        let plain = ConsoleRecorder(style: .init(usesColor: false), options: .sample()).written(Samples.events)
        let coloured = ConsoleRecorder(style: .init(usesColor: true), options: .sample()).written(Samples.events)
        #expect(coloured != plain)
        #expect(TerminalText.withoutColour(coloured) == plain)
    }

    @Test func strictCountsShould() {
        let console = ConsoleRecorder(style: .init(usesColor: false), options: .sample(strict: true))
        let text = console.written([.caseEnded(Samples.should)])
        #expect(text.contains("FAILED       crlf  (should)  35 ms"))
        #expect(!text.contains("does not fail the run"))
    }

    @Test func longTimelinesKeepTheirStartAndEnd() {
        let entries = (0..<100).map { TimelineEntry(time: Int64($0) * 1_000_000, kind: .note("entry \($0)")) }
        let result = Samples.result(.failed, findings: [Finding(.failed, "no")], timeline: entries)
        let text = ConsoleRecorder(style: .init(usesColor: false)).written([.caseEnded(result)])
        #expect(text.contains(" more like it\n"))
        #expect(!text.contains("note    entry 30"))
        #expect(text.contains("note    entry 0\n") && text.contains("note    entry 99"))
    }
}

/// Interprets text in the same way as a terminal.
enum TerminalText {
    /// Returns the text without color sequences (`ESC [ … m`).
    static func withoutColour(_ text: String) -> String {
        var kept = ""
        var scalars = text.unicodeScalars[...]
        while let scalar = scalars.popFirst() {
            if scalar == "\u{1b}" {
                while let next = scalars.popFirst(), next != "m" {}
            } else {
                kept.unicodeScalars.append(scalar)
            }
        }
        return kept
    }

    /// Returns the lines that a terminal shows after it has interpreted carriage returns and erasures. The last line
    /// has no line feed.
    static func screen(_ text: String) -> [String] {
        var lines = [""]
        var rest = text[...]
        while !rest.isEmpty {
            if rest.hasPrefix("\r\u{1b}[K") {
                lines[lines.count - 1] = ""
                rest = rest.dropFirst("\r\u{1b}[K".count)
            } else {
                let character = rest.removeFirst()
                if character == "\n" { lines.append("") } else { lines[lines.count - 1].append(character) }
            }
        }
        return lines
    }
}
