import ProbeEvents
import ProbeReport
import Testing

@Suite struct JUnitRecorderTests {
    /// Prints what a reader of the file sees: suites with their counts, cases with their outcome; and checks the counts.
    static let reader = """
        import sys, xml.etree.ElementTree as E
        root = E.fromstring(sys.stdin.buffer.read())
        assert root.tag == "testsuites"
        total = dict(tests=0, failures=0, errors=0, skipped=0)
        for suite in root:
            cases = suite.findall("testcase")
            seen = dict(tests=len(cases), failures=len(suite.findall("testcase/failure")),
                errors=len(suite.findall("testcase/error")), skipped=len(suite.findall("testcase/skipped")))
            for key, value in seen.items():
                assert int(suite.get(key)) == value, (suite.get("name"), key)
                total[key] += value
            float(suite.get("time"))
            print("suite", suite.get("name"), suite.get("timestamp"))
            for case in cases:
                float(case.get("time"))
                outcome = [c for c in case if c.tag in ("failure", "error", "skipped")]
                assert len(outcome) <= 1
                print("case", case.get("name"), case.get("classname"), *[
                    x for o in outcome for x in (o.tag, o.get("type"), o.get("message"))], sep="|")
        for key, value in total.items():
            assert int(root.get(key)) == value, key
        """

    private func read(_ events: [RunEvent], _ options: ReportOptions = .sample()) throws -> [String] {
        try Python.run(Self.reader, input: JUnitRecorder(options: options).written(events))
            .split(separator: "\n").map(String.init)
    }

    @Test func textIsTheGoldenOne() throws {
        try GoldenText.check(JUnitRecorder(options: .sample()).written(Samples.events), "run.junit.xml")
    }

    @Test(.enabled(if: Python.isAvailable, "python3 is not installed"))
    func verdictsAreMapped() throws {
        #expect(
            try read(Samples.events) == [
                "suite Scenarios/crlf.scn 2026-11-21T22:30:00Z",
                "case|crlf|Scenarios/crlf.scn",
                "case|crlf|Scenarios/crlf.scn|failure|failed|T expected the line \"220 ready\"; another one came",
                "case|crlf|Scenarios/crlf.scn|failure|failed|T stopped (refused), which no later step expects",
                "case|redis[n=3]|Scenarios/crlf.scn|failure|failed|redis died by SIGSEGV (core dumped)",
                "case|crlf|Scenarios/crlf.scn|error|error|S can't listen on 127.0.0.1:6379: address in use",
                "case|crlf|Scenarios/crlf.scn|error|inconclusive|inconclusive: S's pieces did not leave as segments of their own",
                "case|crlf|Scenarios/crlf.scn|skipped|skipped|the command redis-server is not installed",
                "case|crlf|Scenarios/crlf.scn|skipped|unsupported|unsupported: T can't: half-close",
                "case|crlf|Scenarios/crlf.scn|skipped|should|failed (level should): T stopped (refused), which no later step expects",
                "suite Scenarios/later.scn 2026-11-21T22:30:00Z",
                "case|later[x=1]|Scenarios/later.scn|skipped|not-run|not run: interrupted by SIGINT",
                "case|later[x=2]|Scenarios/later.scn|skipped|not-run|not run: interrupted by SIGINT",
                "suite tcpprobe 2026-11-21T22:30:00Z",
                "case|run|tcpprobe|error|run|the run was interrupted by SIGINT; cases not run: 2",
            ])
    }

    @Test(.enabled(if: Python.isAvailable, "python3 is not installed"))
    func strictMakesShouldAFailure() throws {
        let lines = try read([.caseEnded(Samples.should), .ended(RunSummary())], .sample(strict: true))
        #expect(lines.last?.contains("|failure|failed|") == true)
    }

    @Test(.enabled(if: Python.isAvailable, "python3 is not installed"))
    func severalSubjectsAreSuitesOfTheirOwn() throws {
        var other = Samples.passed
        other.subject = "nio"
        let events: [RunEvent] = [.caseEnded(Samples.passed), .caseEnded(other), .ended(RunSummary())]
        let lines = try read(events, .sample(severalSubjects: true))
        #expect(
            lines.filter { $0.hasPrefix("case") } == [
                "case|crlf (bsd)|Scenarios/crlf.scn", "case|crlf (nio)|Scenarios/crlf.scn",
            ])
        #expect(lines.count { $0.hasPrefix("suite") } == 2)
    }

    @Test(.enabled(if: Python.isAvailable, "python3 is not installed"))
    func aRunOfNothingIsADocument() throws {
        #expect(try read([.started(caseCount: 0), .ended(RunSummary())]) == [])
    }
}
