import ProbeEvents
import ProbeScenario
import Testing

@testable import ProbeReport

/// Tests the exit code for files that are marked as incomplete, or whose runs failed.
@Suite struct ResultsOutcomeTests {
    private func summary(_ files: [ResultsFile]) throws -> RunSummary {
        let merged = try ResultsMerge(files)
        var set = RecorderSet(planned: merged.planned, rules: merged.options.rules, notes: merged.notes)
        try merged.replay { set.record($0, at: $1) }
        return try #require(set.summary)
    }

    /// Returns the files of two shards; the second file contains the cases `c2` and `c3`.
    private func shards(
        _ results: [CaseResult], notRun: [String] = [], change: (String) -> String = { $0 },
        head edit: (inout ResultsHead) -> Void = { _ in }
    ) throws -> [ResultsFile] {
        var head = try ResultsSamples.head("2/2", of: 3, places: [2, 3])
        edit(&head)
        let bytes = ResultsSamples.bytes(head, results, notRun: notRun.map { ResultsSamples.planned(.sample($0)) })
        let text = change(String(decoding: bytes, as: UTF8.self))
        return [
            try ResultsSamples.shard("1/2", of: 3, places: [1], path: "one.json"),
            try ResultsFile(path: "two.json", bytes: Array(text.utf8)),
        ]
    }

    @Test func unrunCasesAreAnError() throws {
        let summary = try summary(shards([.sample("c2")], notRun: ["c3"]))
        #expect(summary.exitCode == 3)
        #expect(summary.notRun == 1 && summary.notRunCases.map(\.id) == ["c3"])
        #expect(
            summary.runErrors == [
                "two.json: shard 2 of 2 did not run 1 case, such as c3, and recorded no reason; run it again, and merge all results"
            ])
    }

    /// The number of expected results in the file is one less than in the plan.
    @Test func uncountedCaseIsAnError() throws {
        let summary = try summary(
            shards([.sample("c2")], notRun: ["c3"]) { text in
                text.replacing("\"expectedResults\":2", with: "\"expectedResults\":1")
                    .replacing("\"notRun\":1", with: "\"notRun\":0")
            })
        #expect(summary.exitCode == 3)
        #expect(summary.notRunCases.map(\.id) == ["c3"])
    }

    @Test func missingCaseOfAnUnboundedRunIsAnError() throws {
        let summary = try summary(
            shards([.sample("c2")], notRun: ["c3"]) { text in
                text.replacing("\"expectedResults\":2", with: "\"expectedResults\":null")
                    .replacing("\"notRun\":1", with: "\"notRun\":0")
            })
        #expect(summary.exitCode == 3)
        #expect(summary.runErrors.first?.hasPrefix("two.json: shard 2 of 2 did not run 1 case") == true)
    }

    @Test func incompleteFileIsAnError() throws {
        let all: [CaseResult] = [.sample("c2"), .sample("c3")]
        let summary = try summary(
            shards(all) { $0.replacing("\"complete\":true", with: "\"complete\":false") })
        #expect(summary.exitCode == 3)
        #expect(summary.runErrors.first?.hasPrefix("two.json: shard 2 of 2 is marked as incomplete") == true)
    }

    @Test func exitCodeOfAFileIsKept() throws {
        let all: [CaseResult] = [.sample("c2"), .sample("c3")]
        for code in [1, 3, 130] {
            let summary = try summary(
                shards(all) { $0.replacing("\"exitCode\":0", with: "\"exitCode\":\(code)") })
            #expect(summary.exitCode == 3)
            #expect(summary.runErrors.first?.contains("two.json: shard 2 of 2 ended with exit code \(code)") == true)
        }
    }

    /// A failure of level `should` fails a strict run. The first file is from a run without `--strict`.
    @Test func failureOfAStrictShardIsKept() throws {
        var failed = CaseResult.sample("c3")
        (failed.verdict, failed.level) = (.failed, .should)
        failed.findings = [Finding(.failed, "why")]
        let summary = try summary(shards([.sample("c2"), failed], head: { $0.isStrict = true }))
        #expect(summary.exitCode == 3)
        #expect(summary.runErrors == ["two.json: shard 2 of 2 ended with exit code 1, so the merged run did not pass"])
    }

    /// With `--fail-fast`, the failed case is the reason why the other cases were not run.
    @Test func failureExplainsUnrunCases() throws {
        var failed = CaseResult.sample("c2")
        failed.verdict = .failed
        failed.findings = [Finding(.failed, "why")]
        let summary = try summary(shards([failed], notRun: ["c3"]))
        #expect(summary.exitCode == 1)
        #expect(summary.runErrors.isEmpty)
        #expect(summary.notRun == 1)
    }

    @Test func outcomeMembersAreRequired() throws {
        let all: [CaseResult] = [.sample("c2"), .sample("c3")]
        for (member, text) in [
            ("\"complete\":true,", "two.json: `complete` is missing; it must be true or false"),
            ("\"exitCode\":0,", "two.json: `exitCode` is missing; it must be a whole number"),
        ] {
            let problem = #expect(throws: ResultsProblem.self) {
                try shards(all) { $0.replacing(member, with: "") }
            }
            #expect(problem?.description == text)
        }
    }

    /// A results file that `merge` wrote from the shards must have the same outcome as the shards.
    @Test func mergedFileReportsTheSameOutcome() throws {
        let merged = try ResultsMerge(shards([.sample("c2")], notRun: ["c3"]))
        var results: [CaseResult] = []
        try merged.replay { event, _ in if case .caseEnded(let result) = event { results.append(result) } }
        let bytes = try ResultsSamples.bytes(
            merged.head, results, notRun: [merged.planned[2]], end: summary(shards([.sample("c2")], notRun: ["c3"])))
        let again = try summary([ResultsFile(path: "all.json", bytes: bytes)])
        #expect(again.exitCode == 3)
        #expect(again.notRunCases.map(\.id) == ["c3"])
    }

    // MARK: Start times

    @Test func shardsOfDifferentDaysAreReported() throws {
        func remarks(_ apart: Int64) throws -> [String] {
            try ResultsMerge([
                ResultsSamples.shard("1/3", of: 1, places: [1], path: "r1.json"),
                ResultsSamples.shard("2/3", of: 1, places: [], path: "r2.json") { head in
                    head.startedAt = (head.startedAt ?? 0) + apart
                },
                ResultsSamples.shard("3/3", of: 1, places: [], path: "r3.json") { $0.startedAt = nil },
            ]).remarks
        }
        let text = " before shard 2 of 3 (r2.json): are they from the same run?"
        #expect(try remarks(30 * 86_400 + 5) == ["shard 1 of 3 (r1.json) started 30 days\(text)"])
        #expect(try remarks(86_401) == ["shard 1 of 3 (r1.json) started 1 day\(text)"])
        #expect(try remarks(86_400).isEmpty)
        #expect(
            try remarks(-2 * 86_400) == [
                "shard 2 of 3 (r2.json) started 2 days before shard 1 of 3 (r1.json): are they from the same run?"
            ])
    }
}

extension CaseResult {
    fileprivate static func sample(_ id: String) -> CaseResult { ResultsSamples.passed(id) }
}
