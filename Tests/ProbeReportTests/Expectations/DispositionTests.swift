import ProbeEvents
import ProbeReport
import ProbeScenario
import Testing

/// Tests how expectations, levels and `--strict` affect results, both in the exit code and in every report.
@Suite struct DispositionTests {
    static let key = CaseKey(id: "a", subject: "bsd")

    static func rules(_ verdict: Verdict?, strict: Bool) -> RunRules {
        let line = verdict.map {
            ExpectedVerdict(key: key, verdict: $0, comment: "it | <is> `so`", path: "known.txt", line: 3)
        }
        return RunRules(strict: strict, expectations: Expectations([line].compactMap { $0 }))
    }

    static func result(_ verdict: Verdict, _ level: Scenario.Level = .must) -> CaseResult {
        var result = MatrixSamples.result("a", level, "bsd", verdict)
        result.findings = verdict == .passed ? [] : [Finding(verdict, "why")]
        return result
    }

    static func exitCode(_ result: CaseResult, _ rules: RunRules) -> Int32 {
        var tally = RunTally(planned: [], rules: rules)
        tally.count(result)
        return tally.complete(RunSummary()).exitCode
    }

    static func failsRun(_ result: CaseResult, _ rules: RunRules) -> Bool {
        rules.failsRun(rules.disposition(of: result))
    }

    /// Each row contains a verdict, a level, the expected verdict, and the exit codes without and with `--strict`.
    static let table: [(Verdict, Scenario.Level, Verdict?, Int32, Int32)] = [
        (.passed, .must, nil, 0, 0), (.passed, .must, .passed, 0, 0), (.passed, .must, .failed, 0, 1),
        (.passed, .may, .error, 0, 1), (.failed, .must, nil, 1, 1), (.failed, .must, .failed, 0, 0),
        (.failed, .must, .error, 1, 1), (.failed, .must, .passed, 1, 1), (.failed, .should, nil, 0, 1),
        (.failed, .should, .failed, 0, 0), (.failed, .should, .error, 0, 1), (.failed, .may, nil, 0, 0),
        (.failed, .may, .inconclusive, 0, 0), (.error, .must, nil, 3, 3), (.error, .may, nil, 3, 3),
        (.error, .should, .error, 0, 0), (.error, .must, .failed, 3, 3), (.inconclusive, .must, .inconclusive, 0, 0),
        (.inconclusive, .should, nil, 3, 3), (.unsupported, .must, nil, 0, 0), (.unsupported, .must, .failed, 0, 0),
        (.skipped, .must, .failed, 0, 0),
    ]

    @Test(arguments: table.indices) func exitCodeFollowsTheDisposition(index: Int) {
        let (verdict, level, expected, plain, strict) = Self.table[index]
        let result = Self.result(verdict, level)
        #expect(Self.exitCode(result, Self.rules(expected, strict: false)) == plain)
        #expect(Self.exitCode(result, Self.rules(expected, strict: true)) == strict)
        #expect(Self.failsRun(result, Self.rules(expected, strict: false)) == (plain != 0))
        #expect(Self.failsRun(result, Self.rules(expected, strict: true)) == (strict != 0))
    }

    /// `failed?` expects a failure and also accepts a pass; every other verdict is treated as if there were no
    /// expectation.
    @Test func flakyExpectationAllowsPassAndFailure() {
        let line = ExpectedVerdict(
            key: Self.key, verdict: .failed, isAtTimes: true, comment: nil, path: "known.txt", line: 3)
        let rules = RunRules(strict: true, expectations: Expectations([line]))
        #expect(rules.disposition(of: Self.result(.failed)) == .expected(line))
        #expect(rules.disposition(of: Self.result(.passed)) == .fine)
        #expect(rules.disposition(of: Self.result(.error)) == .bad)
        #expect(Self.exitCode(Self.result(.passed), rules) == 0)
        #expect(Self.exitCode(Self.result(.error), rules) == 3)
    }

    /// A failure that is expected does not prevent another failure from failing the run.
    @Test func unexpectedFailuresStillCount() {
        var tally = RunTally(planned: [], rules: Self.rules(.failed, strict: false))
        tally.count(Self.result(.failed))
        #expect(tally.complete(RunSummary()).exitCode == 0)
        tally.count(MatrixSamples.result("b", .must, "bsd", .failed))
        let summary = tally.complete(RunSummary())
        #expect(summary.exitCode == 1)
        #expect(
            (summary.results.count(.failed), summary.results.unexpected(.failed), summary.results.expectedFailures) == (
                2, 1, 1
            ))
    }

    private func options(_ expected: Verdict, strict: Bool = false) -> ReportOptions {
        var options = ReportOptions.sample()
        options.rules = Self.rules(expected, strict: strict)
        return options
    }

    @Test func consoleShowsTheDisposition() {
        func line(_ result: CaseResult, _ options: ReportOptions) -> String {
            ConsoleRecorder(style: .init(usesColor: false), options: options).written([.caseEnded(result)])
        }
        #expect(line(Self.result(.failed), options(.failed)) == "expected     a  (failed: it | <is> `so`)  35 ms\n")
        #expect(
            line(Self.result(.passed), options(.failed))
                == "UNEXPECTED   a  (passed, but known.txt:3 expects failed)  35 ms\n")
        let other = line(Self.result(.failed), options(.error))
        #expect(other.hasPrefix("FAILED       a  35 ms\n"))
        #expect(other.contains("\n  expected:  error, according to known.txt:3: it | <is> `so`\n"))
    }

    @Test(.enabled(if: Python.isAvailable, "python3 is not installed"))
    func junitShowsTheDisposition() throws {
        func outcome(_ result: CaseResult, _ options: ReportOptions) throws -> String? {
            let events: [RunEvent] = [.caseEnded(result), .ended(RunSummary())]
            return try Python.run(JUnitRecorderTests.reader, input: JUnitRecorder(options: options).written(events))
                .split(separator: "\n").last.map(String.init)
        }
        let known = "case|a|Scenarios.conformance.a"
        #expect(
            try outcome(Self.result(.failed), options(.failed)) == "\(known)|skipped|expected: it | <is> `so`")
        #expect(
            try outcome(Self.result(.error), options(.error)) == "\(known)|skipped|expected: it | <is> `so`")
        #expect(try outcome(Self.result(.failed), options(.error)) == "\(known)|failure|failed|why")
        #expect(try outcome(Self.result(.passed), options(.failed)) == known)
        #expect(
            try outcome(Self.result(.passed), options(.failed, strict: true))
                == "\(known)|failure|unexpected-pass|passed, but known.txt:3 expects failed")
    }

    @Test func tapShowsTheDisposition() throws {
        func point(_ result: CaseResult, _ options: ReportOptions) throws -> String {
            let text = TAPRecorder(options: options).written([.caseEnded(result), .ended(RunSummary())])
            _ = try TAPDocument(text)
            return String(text.split(separator: "\n")[1])
        }
        #expect(try point(Self.result(.failed), options(.failed)) == "not ok 1 - a # TODO expected: it | <is> `so`")
        #expect(try point(Self.result(.failed), options(.error)) == "not ok 1 - a")
        #expect(
            try point(Self.result(.passed), options(.failed))
                == "ok 1 - a # TODO expected failed, according to known.txt:3")
        #expect(try point(Self.result(.passed), options(.failed, strict: true)) == "not ok 1 - a")
    }

    @Test func githubShowsTheDisposition() {
        func first(_ result: CaseResult, _ options: ReportOptions) -> String {
            let recorder = GitHubRecorder(options: options, workspace: nil)
            return recorder.written([.caseEnded(result), .ended(RunSummary())])
        }
        #expect(first(Self.result(.failed), options(.failed)).hasPrefix("::notice file="))
        let warning =
            "file=known.txt,line=3,title=a%3A passed::the case passed, but this line expects failed; remove the line\n"
        #expect(first(Self.result(.passed), options(.failed)) == "::warning \(warning)")
        #expect(first(Self.result(.passed), options(.failed, strict: true)) == "::error \(warning)")
    }

    @Test(.enabled(if: Python.hasValidator, "python3 has no jsonschema module"))
    func jsonShowsTheDisposition() throws {
        for (expected, strict) in [(Verdict.failed, false), (.error, true), (.passed, false)] {
            let options = options(expected, strict: strict)
            var tally = RunTally(
                planned: [], rules: options.rules, notes: ["known.txt:3: this run has no case b"])
            let results = Verdict.allCases.map { Self.result($0) }
            for result in results { tally.count(result) }
            let text = JSONRecorder(options: options).written(
                results.map { .caseEnded($0) } + [.ended(tally.complete(RunSummary()))])
            _ = try Python.run(JSONRecorderTests.validator, [JSONRecorderTests.schema], input: text)
            #expect(
                text.contains(
                    "\"expected\":\"\(expected.rawValue)\",\"expectation\":{\"path\":\"known.txt\",\"line\":3,"))
        }
    }
}
