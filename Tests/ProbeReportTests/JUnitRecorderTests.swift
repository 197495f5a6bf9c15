import ProbeEvents
import Testing

@testable import ProbeReport

@Suite struct JUnitRecorderTests {
    /// A program that prints the content of a JUnit file: the suites with their counts, and the cases with their
    /// outcomes. It also checks the counts.
    static let reader = """
        import sys, xml.etree.ElementTree as E
        root = E.fromstring(sys.stdin.buffer.read())
        assert root.tag == "testsuites"
        # What the schemas of Jenkins and pytest allow: attributes and children of each element.
        allowed = {
            "testsuites": ("name time tests failures errors", "testsuite"),
            "testsuite": ("name tests failures errors time skipped timestamp", "testcase"),
            "testcase": ("name time classname", "skipped error failure system-out"),
            # That of Jenkins allows no attributes here.
            "skipped": ("", ""), "error": ("type message", ""), "failure": ("type message", ""),
            "system-out": ("", "")}
        import re
        def check(element):
            attributes, children = (words.split() for words in allowed[element.tag])
            assert set(element.keys()) <= set(attributes), (element.tag, element.keys())
            assert re.fullmatch("[0-9]{1,9}[.][0-9]{3}", element.get("time", "0.000")), element.get("time")
            tags = [child.tag for child in element]
            assert set(tags) <= set(children), (element.tag, tags)
            assert element.tag != "testcase" or len(tags) == len(set(tags)) and tags == sorted(tags), tags
            for child in element: check(child)
        check(root)
        total = dict(tests=0, failures=0, errors=0)
        for suite in root:
            cases = suite.findall("testcase")
            seen = dict(tests=len(cases), failures=len(suite.findall("testcase/failure")),
                errors=len(suite.findall("testcase/error")), skipped=len(suite.findall("testcase/skipped")))
            for key, value in seen.items():
                assert int(suite.get(key)) == value, (suite.get("name"), key)
                if key in total: total[key] += value
            float(suite.get("time"))
            print("suite", suite.get("name"), suite.get("timestamp"))
            for case in cases:
                float(case.get("time"))
                outcome = [c for c in case if c.tag in ("failure", "error", "skipped")]
                assert len(outcome) <= 1
                print("case", case.get("name"), case.get("classname"), *[
                    x for o in outcome for x in ((o.tag, (o.text or "").split("\\n")[0]) if o.tag == "skipped" else
                        (o.tag, o.get("type"), o.get("message")))], sep="|")
        for key, value in total.items():
            assert int(root.get(key)) == value, key
        """

    private func read(_ events: [RunEvent], _ options: ReportOptions = .sample()) throws -> [String] {
        try Python.run(Self.reader, input: JUnitRecorder(options: options).written(events))
            .split(separator: "\n").map(String.init)
    }

    @Test func recorderKeepsTheContract() {
        RecorderContract.verify { JUnitRecorder(options: $1) }
    }

    @Test func outputMatchesGoldenText() throws {
        try GoldenText.check(JUnitRecorder(options: .sample()).written(Samples.events), "run.junit.xml")
    }

    @Test(.enabled(if: Python.isAvailable, "python3 is not installed"))
    func verdictsAreMapped() throws {
        #expect(
            try read(Samples.events) == [
                "suite Scenarios/crlf.scn 2026-11-21T22:30:00Z",
                "case|crlf|Scenarios.crlf",
                "case|crlf|Scenarios.crlf|failure|failed|T expected the line \"220 ready\"; another one came",
                "case|crlf|Scenarios.crlf|failure|failed|T stopped (refused), which no later step expects",
                "case|redis[n=3]|Scenarios.crlf|failure|failed|redis died by SIGSEGV (core dumped)",
                "case|crlf|Scenarios.crlf|error|error|S can't listen on 127.0.0.1:6379: address in use",
                "case|crlf|Scenarios.crlf|error|inconclusive|inconclusive: S's pieces were not sent in separate segments",
                "case|crlf|Scenarios.crlf|skipped|the command redis-server is not installed",
                "case|crlf|Scenarios.crlf|skipped|unsupported: T can't: half-close",
                "case|crlf|Scenarios.crlf|skipped|failed (level should): T stopped (refused), which no later step expects",
                "suite Scenarios/later.scn 2026-11-21T22:30:00Z",
                "case|later[x=1]|Scenarios.later|skipped|not run: interrupted by SIGINT",
                "case|later[x=2]|Scenarios.later|skipped|not run: interrupted by SIGINT",
                "suite tcpprobe 2026-11-21T22:30:00Z",
                "case|run|tcpprobe|error|run|the run was interrupted by SIGINT; cases not run: 2",
            ])
    }

    @Test(.enabled(if: Python.isAvailable, "python3 is not installed"))
    func strictTurnsShouldIntoAFailure() throws {
        let lines = try read([.caseEnded(Samples.should), .ended(RunSummary())], .sample(strict: true))
        #expect(lines.last?.contains("|failure|failed|") == true)
    }

    @Test(.enabled(if: Python.isAvailable, "python3 is not installed"))
    func eachSubjectHasItsOwnSuite() throws {
        var other = Samples.passed
        other.subject = "nio"
        let events: [RunEvent] = [.caseEnded(Samples.passed), .caseEnded(other), .ended(RunSummary())]
        let lines = try read(events, .sample(severalSubjects: true))
        #expect(
            lines.filter { $0.hasPrefix("case") } == [
                "case|crlf (bsd)|Scenarios.crlf", "case|crlf (nio)|Scenarios.crlf",
            ])
        #expect(lines.count { $0.hasPrefix("suite") } == 2)
    }

    @Test(arguments: [
        ("Scenarios/crlf.scn", "Scenarios.crlf"), ("./a/b.c/d.scn", "a.b_c.d"), ("/tmp/x.scn", "tmp.x"),
        ("../x.scn", "x"),
        ("", "scenario"),
    ])
    func classNameSplitsAtItsLastDot(path: String, name: String) {
        #expect(JUnitRecorder.className(of: path) == name)
    }

    @Test(.enabled(if: Python.isAvailable, "python3 is not installed"))
    func roundsHaveDistinctNames() throws {
        let events = [1, 2].map { round in
            var result = Samples.passed
            result.round = round
            return RunEvent.caseEnded(result)
        }
        let lines = try read(events + [.ended(RunSummary())])
        #expect(
            lines.filter { $0.hasPrefix("case") } == [
                "case|crlf (round 1)|Scenarios.crlf", "case|crlf (round 2)|Scenarios.crlf",
            ])
    }

    @Test(.enabled(if: Python.isAvailable, "python3 is not installed"))
    func emptyRunIsADocument() throws {
        #expect(try read([.started(caseCount: 0), .ended(RunSummary())]) == [])
    }
}
