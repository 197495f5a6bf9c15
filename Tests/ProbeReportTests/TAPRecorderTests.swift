import ProbeEvents
import ProbeReport
import Testing

@Suite struct TAPRecorderTests {
    private func document(_ events: [RunEvent], _ options: ReportOptions = .sample()) throws -> TAPDocument {
        try TAPDocument(TAPRecorder(options: options).written(events))
    }

    @Test func outputMatchesGoldenText() throws {
        try GoldenText.check(TAPRecorder(options: .sample()).written(Samples.events), "run.tap")
    }

    @Test func recorderKeepsTheContract() {
        RecorderContract.verify { TAPRecorder(options: $1) }
    }

    @Test func directivesFollowTheVerdict() throws {
        let points = try document(Samples.events).points
        let byName = zip(Samples.all.map(\.name), points).reduce(into: [:]) { $0[$1.0] = $1.1 }
        #expect(byName["passed"]?.isOK == true && byName["passed"]?.directive == nil)
        for name in ["failed-bytes", "subject-stopped", "process-died", "error", "inconclusive"] {
            #expect(byName[name]?.isOK == false, "\(name)")
            #expect(byName[name]?.directive == nil, "\(name)")
        }
        #expect(byName["skipped"]?.isOK == true)
        #expect(byName["skipped"]?.directive == .skip("the command redis-server is not installed"))
        #expect(byName["unsupported"]?.directive == .skip("unsupported: T can't: half-close"))
        #expect(byName["should"]?.isOK == false)
        #expect(byName["should"]?.directive == .todo("level should: T stopped (refused), which no later step expects"))
        #expect(points.suffix(2).map(\.description) == ["later[x=1]", "later[x=2]"])
        #expect(points.last?.directive == .skip("not run: interrupted by SIGINT"))
    }

    @Test func strictHasNoTodo() throws {
        let point = try document([.caseEnded(Samples.should), .ended(RunSummary())], .sample(strict: true)).points[0]
        #expect(!point.isOK && point.directive == nil)
    }

    @Test func interruptedRunsBailOut() throws {
        #expect(try document(Samples.events).bailOut == "interrupted by SIGINT; cases not run: 2")
    }

    @Test func emptyRunIsADocument() throws {
        let document = try document([.started(caseCount: 0), .ended(RunSummary())])
        #expect(document.points.isEmpty && document.plan == 0 && document.bailOut == nil)
    }

    @Test func runErrorsBailOut() throws {
        var summary = RunSummary()
        summary.runErrors = ["the disk is full"]
        let document = try document([.started(caseCount: 1), .caseEnded(Samples.passed), .ended(summary)])
        #expect(document.bailOut == "the disk is full")
        #expect(document.comments == ["error: the disk is full"])
    }

    @Test(.enabled(if: Python.hasYAML, "python3 has no yaml module"))
    func diagnosticsAreYAML() throws {
        let console = ConsoleRecorder(style: .init(usesColor: false, timelineLimit: 200), options: .sample())
        let story = console.written([.caseEnded(Samples.failedBytes)]).split(separator: "\n").dropFirst()
        let point = try document([.caseEnded(Samples.failedBytes), .ended(RunSummary())]).points[0]
        let program = """
            import sys, yaml
            v = yaml.safe_load(sys.stdin.read())
            print(v["verdict"], v["at"]["line"], v["message"], sep="|")
            print(v["diagnostic"], end="")
            """
        let text = try Python.run(program, input: point.diagnostic.joined(separator: "\n") + "\n")
        let lines = text.split(separator: "\n")
        #expect(lines.first == "failed|10|T expected the line \"220 ready\"; another one came")
        #expect(Array(lines.dropFirst()) == Array(story))
    }
}
