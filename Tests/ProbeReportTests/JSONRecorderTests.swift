import ProbeEvents
import ProbeReport
import Testing

@Suite struct JSONRecorderTests {
    /// A program that validates each line of its input against the schema, and prints the kind of event that each line
    /// contains.
    static let validator = """
        import json, sys
        from jsonschema import Draft202012Validator as V
        schema = json.load(open(sys.argv[1]))
        V.check_schema(schema)
        v = V(schema)
        for number, line in enumerate(sys.stdin.buffer.read().split(b"\\n")[:-1], 1):
            value = json.loads(line.decode("utf-8"))
            for e in v.iter_errors(value):
                sys.exit("line %d: %s at %s" % (number, e.message[:200], list(e.absolute_path)))
            print(value["event"])
        """

    static let schema = GoldenText.repositoryFile("docs/events.schema.json")

    @Test func recorderKeepsTheContract() {
        RecorderContract.verify { JSONRecorder(options: $1) }
    }

    @Test func outputMatchesGoldenText() throws {
        try GoldenText.check(JSONRecorder(options: .sample()).written(Samples.events), "run.json")
    }

    @Test(.enabled(if: Python.hasValidator, "python3 has no jsonschema module"))
    func outputFitsTheSchema() throws {
        let text = try Python.run(
            Self.validator, [Self.schema], input: JSONRecorder(options: .sample()).written(Samples.events))
        let events = text.split(separator: "\n")
        #expect(events.first == "run-started" && events.last == "run-ended")
        #expect(events.count { $0 == "case-ended" } == Samples.all.count)
        #expect(events.count { $0 == "case-not-run" } == 2)
    }

    /// The schema must reject each of these changes to a valid line.
    @Test(
        .enabled(if: Python.hasValidator, "python3 has no jsonschema module"),
        arguments: [
            ("\"version\":1", "\"version\":2"), ("\"event\":\"run-ended\"", "\"event\":\"ended\""),
            ("\"verdict\":\"failed\"", "\"verdict\":\"Failed\""), ("\"rerun\":", "\"again\":"),
            ("\"kind\":\"packet\"", "\"kind\":\"segment\""), ("\"line\":10", "\"line\":0"),
            ("\"failsRun\":true", "\"failsRun\":1"), ("220 read\\\\x1b", "220 read\\u001b"),
        ])
    func schemaRejectsInvalidLines(change: (from: String, to: String)) throws {
        let text = JSONRecorder(options: .sample()).written(Samples.events)
        try #require(text.contains(change.from))
        #expect(throws: Python.Failure.self) {
            try Python.run(
                Self.validator, [Self.schema], input: text.split(separator: change.from).joined(separator: change.to))
        }
    }

    @Test(
        .enabled(if: Python.hasValidator, "python3 has no jsonschema module"),
        arguments: [(UnexpectedEnd.status(7), "{\"status\":7}"), (.signal(11), "{\"signal\":11}")])
    func unexpectedEndIsStructured(end: UnexpectedEnd, text: String) throws {
        var finding = Finding(.failed, "P ended unexpectedly")
        finding.unexpectedEnd = end
        let written = JSONRecorder(options: .sample()).written([
            .caseEnded(Samples.result(.failed, findings: [finding]))
        ])
        #expect(written.contains("\"unexpectedEnd\":\(text)"))
        #expect(try Python.run(Self.validator, [Self.schema], input: written) == "case-ended\n")
    }

    @Test(.enabled(if: Python.hasValidator, "python3 has no jsonschema module"))
    func crowdsAreIncluded() throws {
        var result = Samples.result(.passed, findings: [])
        let names = ["began", "connected", "alive", "failed", "done", "sent", "received", "refused"]
        var latency = CrowdResult.Latency(
            wait: "line", count: 3, failed: 1,
            percentiles: [("p50", 1200), ("p90", nil), ("p99", nil), ("p99.9", nil), ("max", nil)])
        latency.buckets = [(upTo: 1200, count: 1), (upTo: 1600, count: 1)]
        result.crowds = [
            CrowdResult(
                name: "W", members: 3, counts: names.enumerated().map { ($1, $0) },
                failures: ["1 member failed at line 4 (expect line): timeout"], latencies: [latency])
        ]
        result.crowds[0].samples = [
            CrowdResult.Sample(time: 0, connected: 0, done: 0, failed: 0, sent: 0, received: 0),
            CrowdResult.Sample(time: 70, connected: 3, done: 1, failed: 1, sent: 5, received: 6),
        ]
        let written = JSONRecorder(options: .sample()).written([.caseEnded(result)])
        #expect(written.contains("\"max\":null,\"buckets\":[[1200,1],[1600,1]]}]"))
        #expect(written.contains("{\"time\":70,\"connected\":3,\"done\":1,\"failed\":1,\"sent\":5,\"received\":6}]"))
        #expect(written.contains("\"received\":6,\"refused\":7,\"failures\""))
        #expect(written.contains("\"latencies\":[{\"of\":\"line\",\"waits\":3,\"failed\":1,\"p50\":1200,\"p90\":null"))
        #expect(try Python.run(Self.validator, [Self.schema], input: written) == "case-ended\n")
    }

    @Test func longByteStringsAreTruncated() {
        let finding = Finding(.failed, "much", actual: [UInt8](repeating: 97, count: 100_000))
        let text = JSONRecorder(options: .sample()).written([.caseEnded(Samples.result(.failed, findings: [finding]))])
        #expect(text.contains("\"length\":100000"))
        #expect(text.utf8.count < 160_000)
    }
}
