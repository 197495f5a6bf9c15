import ProbeEvents
import ProbeScenario
import Testing

@testable import ProbeReport

@Suite struct ResultsFileTests {
    private func file(_ bytes: [UInt8]) throws -> ResultsFile { try ResultsFile(path: "r.json", bytes: bytes) }

    private func problem(_ text: String) -> String? {
        do {
            _ = try file(Array(text.utf8))
            return nil
        } catch {
            return "\(error)"
        }
    }

    private static let whole = try? ResultsSamples.bytes(
        ResultsSamples.head("1/1", of: 2, places: [1, 2]), [ResultsSamples.full, ResultsSamples.passed("c2")])

    private var text: String { String(decoding: Self.whole ?? [], as: UTF8.self) }

    // MARK: Reading written files

    @Test func everyFieldIsReadBack() throws {
        let read = try file(#require(Self.whole))
        let result = try read.result(read.entries[0])
        // The dumps contain all values, so the comparison can't miss a field.
        var (left, right) = ("", "")
        dump(ResultsSamples.full, to: &left)
        dump(result, to: &right)
        #expect(left == right)
        (left, right) = ("", "")
        dump(ResultsSamples.passed("c2"), to: &left)
        dump(try read.result(read.entries[1]), to: &right)
        #expect(left == right)
    }

    @Test func everySampleIsReadBack() throws {
        let results = Samples.all.enumerated().map { index, sample in
            var result = sample.result
            result.id = "\(index)-\(result.id)"
            return result
        }
        let head = try ResultsSamples.head("1/1", of: results.count, places: Array(1...results.count))
        let read = try file(ResultsSamples.bytes(head, results))
        for (entry, result) in zip(read.entries, results) {
            var (left, right) = ("", "")
            dump(result, to: &left)
            dump(try read.result(entry), to: &right)
            #expect(left == right)
        }
    }

    /// The total size of the timelines of passed cases is limited, and the shards share this limit. The timelines of
    /// failed cases are always written.
    @Test func timelinesOfPassedCasesHaveALimit() throws {
        let head = try ResultsSamples.head("2/2", of: 4, places: [1, 2, 3, 4])
        var results = ["c1", "c2", "c3", "c4"].map(ResultsSamples.passed)
        for index in results.indices { results[index].timeline = ResultsSamples.full.timeline }
        (results[2].verdict, results[2].findings) = (.failed, ResultsSamples.full.findings)
        var recorder = ResultsRecorder(
            head: head, planned: results.map(ResultsSamples.planned), rules: RunRules(), passedTimelines: 200)
        var bytes = recorder.record(.started(caseCount: 4), at: 0)
        for result in results { bytes += recorder.record(.caseEnded(result), at: 1) }
        bytes += recorder.record(.ended(RunSummary()), at: 2)
        let read = try file(bytes)
        let counts = try read.entries.map { try read.result($0).timeline.count }
        #expect(counts == [7, 0, 7, 0])
    }

    @Test func headIsReadBack() throws {
        var head = try ResultsSamples.head("3/8", of: 20, places: [2, 3, 4, 9, 20], attempt: 4)
        (head.crowdShare, head.isStrict, head.hasSeveralSubjects) = (try Share("2/3"), true, true)
        let results = head.places.map { ResultsSamples.passed("c\($0)") }
        let read = try file(ResultsSamples.bytes(head, results))
        head.expectedResults = 5
        #expect(read.head == head)
        #expect(read.planned.map(\.place) == head.places)
    }

    @Test func interruptedRunIsMarkedIncomplete() throws {
        var end = RunSummary()
        (end.interruptedBy, end.duration) = (2, 99)
        end.runErrors = ["a report could not be written"]
        let bytes = try ResultsSamples.bytes(
            ResultsSamples.head("1/1", of: 2, places: [1, 2]), [ResultsSamples.passed("c1")],
            notRun: [ResultsSamples.planned(ResultsSamples.passed("c2"))], end: end)
        #expect(String(decoding: bytes, as: UTF8.self).contains("\"complete\":false"))
        let read = try file(bytes)
        #expect(read.end.interruptedBy == 2)
        #expect(read.end.notRun == 1)
        #expect(read.end.runErrors == end.runErrors)
        #expect(read.planned.count == 2)
    }

    @Test func emptyShardIsAFile() throws {
        let read = try file(ResultsSamples.bytes(ResultsSamples.head("2/8", of: 1, places: []), []))
        #expect(read.entries.isEmpty)
        #expect(read.head.share.index == 2)
    }

    /// A run that is interrupted before its start is reported must nevertheless write a valid document.
    @Test func endWithoutStartIsAFile() throws {
        let item = ResultsSamples.planned(ResultsSamples.passed("c1"))
        var recorder = ResultsRecorder(
            head: try ResultsSamples.head("1/1", of: 1, places: [1]), planned: [item], rules: RunRules())
        var end = RunSummary()
        (end.interruptedBy, end.notRun) = (15, 1)
        let read = try file(recorder.record(.ended(end), at: 0))
        #expect(read.end.interruptedBy == 15)
        #expect(read.head.expectedResults == nil)
    }

    @Test func scriptIsStoredOnce() throws {
        let results = (1...50).map { ResultsSamples.passed("c\($0)") }
        let bytes = try ResultsSamples.bytes(ResultsSamples.head("1/1", of: 50, places: Array(1...50)), results)
        let text = String(decoding: bytes, as: UTF8.self)
        #expect(text.split(separator: "reply cut inside its CRLF").count <= 2)
        #expect(text.split(separator: "A reply cut inside").count == 2)
    }

    @Test func expectationsAreReadBack() throws {
        let key = CaseKey(id: "full[x=\"é\"]", subject: "bsd")
        let line = ExpectedVerdict(
            key: key, verdict: .failed, isAtTimes: true, comment: "#7", path: "known.txt", line: 3)
        let rules = RunRules(strict: true, expectations: Expectations([line]))
        let bytes = try ResultsSamples.bytes(
            ResultsSamples.head("1/1", of: 1, places: [1]), [ResultsSamples.full], rules: rules)
        #expect(try file(bytes).expectations == [line])
    }

    @Test(.enabled(if: Python.hasValidator, "python3 has no jsonschema module"))
    func fileFitsTheSchema() throws {
        let program = """
            import json, sys
            from jsonschema import Draft202012Validator as V
            schema = json.load(open(sys.argv[1]))
            V.check_schema(schema)
            for e in V(schema).iter_errors(json.loads(sys.stdin.buffer.read().decode("utf-8"))):
                sys.exit("%s at %s" % (e.message[:200], list(e.absolute_path)))
            print("fits")
            """
        let schema = GoldenText.repositoryFile("docs/results.schema.json")
        #expect(try Python.run(program, [schema], input: text) == "fits\n")
        for (from, to) in [
            ("\"verdict\":\"failed\"", "\"verdict\":\"bad\""), ("\"place\":1", "\"place\":0"),
            ("\"kind\":\"note\"", "\"kind\":\"?\""),
        ] {
            let wrong = text.split(separator: from).joined(separator: to)
            #expect(wrong != text)
            #expect(throws: Python.Failure.self) { try Python.run(program, [schema], input: wrong) }
        }
    }

    // MARK: Invalid files

    /// The test would take minutes if each member's name were compared with all other names.
    @Test(.timeLimit(.minutes(1))) func manyUnknownMembersAreReadInLinearTime() throws {
        let beginning = String(text[..<(try #require(text.lastIndex(of: "}")))])
        let more = (0..<200_000).map { ",\"n\($0)\":0" }.joined()
        #expect(problem(beginning + more + "}") == nil)
        #expect(problem(beginning + more + ",\"n7\":0}") != nil)
    }

    @Test func everyTruncationIsDetected() throws {
        let bytes = try #require(Self.whole)
        for count in stride(from: 0, to: bytes.count - 1, by: 29) {
            #expect(throws: ResultsProblem.self) { try ResultsFile(path: "r.json", bytes: Array(bytes[..<count])) }
        }
        #expect(problem(String(text.dropLast(20)))?.contains("r.json: the file is truncated") == true)
    }

    /// Changing a byte must never cause a trap; most changes are detected.
    @Test func corruptedBytesNeverTrap() throws {
        let bytes = try #require(Self.whole)
        for place in stride(from: 3, to: bytes.count, by: 37) {
            for byte: UInt8 in [0x22, 0x39, 0x5b] {
                var changed = bytes
                changed[place] = byte
                let read: ResultsFile
                do { read = try ResultsFile(path: "r.json", bytes: changed) } catch { continue }
                for entry in read.entries { _ = try? read.result(entry) }  // only a trap would be a failure
            }
        }
    }

    @Test(arguments: [
        ("", "truncated"), ("{", "truncated"), ("[]", "not a results file"), ("{}", "not a results file"),
        ("{\"format\":\"tcpprobe-results\",\"version\":2,\"toolVersion\":\"9.9\"}", "version 2"),
        ("{\"format\":\"tcpprobe-results\",\"version\":2,\"toolVersion\":\"9.9\"}", "9.9"),
        ("{\"format\":\"tcpprobe-results\",\"version\":1}", "`plan` is missing"),
        ("{\"format\":\"x\",\"format\":\"y\"}", "duplicate name"), ("\u{0}\u{1}", "not a results file"),
        ("{} x", "unexpected data after the value"),
        ("{\"version\":1,\"event\":\"run-started\"}\n{\"version\":1}", "unexpected data after the value"),
    ])
    func otherFilesAreRefused(_ text: String, _ reason: String) {
        let problem = problem(text)
        #expect(problem?.hasPrefix("r.json: ") == true)
        #expect(problem?.contains(reason) == true, "\(problem ?? "")")
    }

    @Test(arguments: [
        ("\"place\":2,", "\"place\":1,", "a different case"),
        ("\"verdict\":\"passed\"", "\"verdict\":\"great\"", "`verdict`"),
        ("\"duration\":35120000", "\"duration\":-1", "`duration`"),
        ("\"duration\":35120000", "\"duration\":1e99", "`duration`"),
        ("[[1,2]]", "[[1,3]]", "case 3, but the plan has only 2"),
        ("[[1,2]]", "[[1,1]]", "does not belong to its shard"),
        ("[[1,2]]", "[[1,9007199254740992]]", "more cases than the file"),
        ("\"index\":1", "\"index\":2", "must be 1 to 1"),
        ("\"expectedResults\":2", "\"expectedResults\":3", "its shard has 3"),
        ("\"level\":\"must\"", "\"level\":7", "`level`"),
        ("\"sourceMaps\":[[0]]", "\"sourceMaps\":[[1]]", "not an index of `sources`"),
        ("\"attempt\":1", "\"attempt\":0", "`attempt`"),
    ])
    func inconsistentValuesAreDetected(_ from: String, _ to: String, _ reason: String) throws {
        try #require(text.contains(from))
        let problem = problem(text.split(separator: from, maxSplits: 1).joined(separator: to))
        #expect(problem?.contains(reason) == true, "\(problem ?? "")")
    }

    @Test func missingCaseIsDetected() throws {
        let start = try #require(text.firstRange(of: ",\n{\"place\":2"))
        let end = try #require(text.firstRange(of: "\n],\n\"notRun\""))
        let problem = problem(String(text[..<start.lowerBound]) + String(text[end.lowerBound...]))
        #expect(problem?.contains("lacks 1 case") == true, "\(problem ?? "")")
    }
}
