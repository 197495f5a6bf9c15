import ProbeEvents
import ProbeReport
import ProbeScenario

/// A sample run of a small suite with several subjects.
enum MatrixSamples {
    static let subjects = ["bsd", "asyncio", "node-net"]

    /// Each row contains an id, a level, and the verdict of each subject; `nil` if the case is not run with the
    /// subject.
    static let table: [(id: String, level: Scenario.Level, verdicts: [Verdict?])] = [
        ("close/eof-mid-line", .must, [.passed, .failed, .passed]),
        ("close/half-close-reply", .should, [.passed, .failed, .unsupported]),
        ("framing/crlf", .must, [.passed, .passed, .passed]),
        ("framing/cuts[at=1]", .must, [.passed, .failed, .passed]),
        ("framing/cuts[at=2]", .must, [.passed, .failed, .passed]),
        ("framing/cuts[at=3]", .must, [.passed, .error, .passed]),
        ("framing/cuts[at=4]", .must, [.passed, .inconclusive, .passed]),
        ("framing/lone[x=\"a/b\"]", .may, [.passed, .passed, .failed]),
        ("timeouts/idle", .must, [.passed, .skipped, .unsupported]),
    ]

    static let about = "Bytes before the end of a stream are no line: data that is cut off is reported separately."

    static var planned: [PlannedCase] {
        table.flatMap { row in
            subjects.indices.map { subject in
                PlannedCase(
                    id: row.id, path: path(row.id), subject: subjects[subject], title: "the title of \(row.id)",
                    about: about, because: ["example/project#12", "a letter"], level: row.level, tags: ["framing"])
            }
        }
    }

    static var results: [CaseResult] {
        table.flatMap { row in
            row.verdicts.enumerated().compactMap { subject, verdict in
                verdict.map { result(row.id, row.level, subjects[subject], $0) }
            }
        }
    }

    static func result(_ id: String, _ level: Scenario.Level, _ subject: String?, _ verdict: Verdict) -> CaseResult {
        let sample =
            verdict == .failed ? Samples.failedBytes : Samples.all.first { $0.result.verdict == verdict }?.result
        var result = sample ?? Samples.passed
        result.id = id
        result.path = path(id)
        result.subject = subject
        result.level = level
        result.title = "the title of \(id)"
        result.about = about
        result.because = ["example/project#12", "a letter"]
        result.tags = ["framing"]
        result.capturePath = "tcpprobe-out/\(id.split(separator: "/").joined(separator: "%2f")).\(subject ?? "").pcapng"
        return result
    }

    private static func path(_ id: String) -> String {
        "Scenarios/conformance/\(id.prefix { $0 != "[" }).scn"
    }

    /// Returns the events of a run with the given results, or with the sample results. If `signal` is not `nil`, it
    /// interrupts the run.
    static func events(_ rules: RunRules = RunRules(), results: [CaseResult]? = nil, signal: Int32? = nil) -> [RunEvent]
    {
        let results = results ?? self.results
        var tally = RunTally(planned: planned, rules: rules)
        for result in results { tally.count(result) }
        var summary = RunSummary()
        (summary.interruptedBy, summary.duration) = (signal, 4_200_000_000)
        return [.started(caseCount: planned.count)] + results.map { .caseEnded($0) } + [.ended(tally.complete(summary))]
    }

    static func options(_ rules: RunRules = RunRules()) -> ReportOptions {
        var options = ReportOptions.sample(severalSubjects: true)
        options.rules = rules
        return options
    }

    /// Returns rules with the known failures of the sample, one of which is contradicted by a pass.
    static func rules(strict: Bool = false) -> RunRules {
        let lines: [(String, String, Verdict, String?)] = [
            ("close/eof-mid-line", "asyncio", .failed, "delivers the rest as a line"),
            ("framing/cuts[at=3]", "asyncio", .error, nil), ("framing/crlf", "node-net", .failed, nil),
            ("framing/cuts[at=4]", "asyncio", .failed, nil),
        ]
        return RunRules(
            strict: strict,
            expectations: Expectations(
                lines.enumerated().map { index, line in
                    ExpectedVerdict(
                        key: CaseKey(id: line.0, subject: line.1), verdict: line.2, comment: line.3,
                        path: "expectations.txt", line: index + 3)
                }))
    }
}
