import ProbeEvents
import ProbeReport
import ProbeScenario
import Testing

@Suite struct MatrixTextTests {
    /// Returns the text that the console prints after the cases.
    private func end(
        _ events: [RunEvent], _ options: ReportOptions = MatrixSamples.options(), width: Int? = nil, color: Bool = false
    ) -> String {
        var console = ConsoleRecorder(
            style: .init(usesColor: color, width: width), options: options, planned: MatrixSamples.planned)
        for event in events.dropLast() { _ = console.record(event, at: 0) }
        return events.last.map { String(decoding: console.record($0, at: 1), as: UTF8.self) } ?? ""
    }

    @Test func tableMatchesGoldenText() throws {
        try GoldenText.check(end(MatrixSamples.events()), "matrix-console.txt")
    }

    @Test func expectationsAreMarked() throws {
        let rules = MatrixSamples.rules()
        try GoldenText.check(
            end(MatrixSamples.events(rules), MatrixSamples.options(rules)), "matrix-console-expected.txt")
    }

    @Test func interruptedRunsOmitCasesThatWereNotRun() throws {
        let events = MatrixSamples.events(results: Array(MatrixSamples.results.prefix(4)), signal: 2)
        try GoldenText.check(end(events), "matrix-console-interrupted.txt")
    }

    @Test(arguments: [20, 40, 50, 60, 80, 200]) func tableFitsTheTerminal(width: Int) {
        let lines = end(MatrixSamples.events(), width: width).split(separator: "\n")
        let table = lines.prefix { !$0.contains(" passed, ") }
        #expect(table.allSatisfy { $0.count < max(width, 24) }, "\(table)")
        // Every subject must have a column, regardless of the terminal's width.
        for subject in MatrixSamples.subjects { #expect(table.joined().contains(subject)) }
    }

    @Test func colourDoesNotChangeTheLayout() {
        let plain = end(MatrixSamples.events(), width: 60)
        let coloured = end(MatrixSamples.events(), width: 60, color: true)
        #expect(coloured != plain)
        #expect(TerminalText.withoutColour(coloured) == plain)
    }

    @Test func longRunsStayReadable() {
        let results = (0..<2000).flatMap { number in
            [Verdict.failed, .passed].enumerated().map { subject, verdict in
                MatrixSamples.result("group/case-\(number)", .must, MatrixSamples.subjects[subject], verdict)
            }
        }
        let console = ConsoleRecorder(style: .init(usesColor: false), options: MatrixSamples.options())
        let text = console.written(results.map { .caseEnded($0) } + [.ended(RunSummary())])
        let table = text.split(separator: "\n", omittingEmptySubsequences: false).drop { !$0.contains("2000 cases") }
        #expect(table.count < 170)
        #expect(table.contains { $0.contains("more; `--matrix FILE.html` lists all") })
    }

    /// The score is shown if a subject has more than one result, and the table if there is more than one subject.
    @Test func singleResultHasNoScore() {
        let one = MatrixSamples.result("a", .must, "bsd", .passed)
        let two = MatrixSamples.result("b", .must, "bsd", .failed)
        let console = ConsoleRecorder(style: .init(usesColor: false))
        #expect(!console.written([.caseEnded(one), .caseEnded(one), .ended(RunSummary())]).contains("bsd:"))
        let text = console.written([.caseEnded(one), .caseEnded(two), .ended(RunSummary())])
        #expect(text.hasSuffix("because there was no case to run\nbsd: 1 of 2 must\n"))
        #expect(!text.contains("2 cases"))
    }

    /// A repeated case is counted once, with the verdict of its worst round.
    @Test func repetitionsCountAsOneCase() {
        let rounds: [Verdict] = [.passed, .failed, .passed]
        let console = ConsoleRecorder(style: .init(usesColor: false))
        let text = console.written(
            (rounds.map { MatrixSamples.result("a", .must, "bsd", $0) } + [
                MatrixSamples.result("b", .must, "bsd", .passed)
            ])
            .map { .caseEnded($0) } + [.ended(RunSummary())])
        #expect(text.hasSuffix("\nbsd: 1 of 2 must\n"))
    }
}
