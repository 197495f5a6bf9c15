import ProbeEvents
import ProbeReport
import ProbeScenario
import Testing

@Suite struct MatrixRecorderTests {
    static func document(
        _ format: MatrixRecorder.Format, path: String = "/srv/site/results", _ rules: RunRules = RunRules(),
        events: [RunEvent]? = nil, planned: [PlannedCase] = MatrixSamples.planned
    ) -> String {
        // The captures are in the same folder as the document.
        let events = (events ?? MatrixSamples.events(rules)).map { event in
            guard case .caseEnded(var result) = event else { return event }
            result.capturePath = result.capturePath.map { "/srv/\($0)" }
            return .caseEnded(result)
        }
        return MatrixRecorder(format, path: path, planned: planned, options: MatrixSamples.options(rules)).written(
            events)
    }

    @Test(
        arguments: [
            ("a.html", MatrixRecorder.Format.html), ("A.HTM", .html), ("x/y.md", .markdown), ("y.Markdown", .markdown),
            ("z.json", .json), ("html", nil), ("a.html.gz", nil), ("", nil), ("/dev/stdout", nil),
        ] as [(String, MatrixRecorder.Format?)])
    func extensionSelectsTheFormat(path: String, format: MatrixRecorder.Format?) {
        #expect(MatrixRecorder.Format(path: path) == format)
    }

    @Test(arguments: MatrixRecorder.Format.allCases) func recorderKeepsTheContract(format: MatrixRecorder.Format) {
        RecorderContract.verify { MatrixRecorder(format, path: "m/x", planned: $0, options: $1) }
    }

    @Test func jsonMatchesGoldenText() throws {
        try GoldenText.check(Self.document(.json, MatrixSamples.rules()), "matrix.json")
    }

    @Test func markdownMatchesGoldenText() throws {
        try GoldenText.check(Self.document(.markdown, MatrixSamples.rules()), "matrix.md")
    }

    static let validator = """
        import json, sys
        from jsonschema import Draft202012Validator as V
        schema = json.load(open(sys.argv[1]))
        V.check_schema(schema)
        # A form feed is in none of them: it parts several.
        for document in sys.stdin.buffer.read().decode("utf-8").split("\\x0c"):
            value = json.loads(document)
            for e in V(schema).iter_errors(value):
                sys.exit("%s at %s" % (e.message[:200], list(e.absolute_path)))
            for case in value["cases"]:
                results = ["%s=%s" % (r.get("subject", "-"), r["verdict"]) for r in case["results"]]
                print(ascii(case["id"]).strip("'"), case["level"], *map(ascii, results))
        """

    static let schema = GoldenText.repositoryFile("docs/matrix.schema.json")

    @Test(.enabled(if: Python.hasValidator, "python3 has no jsonschema module"))
    func jsonFitsTheSchema() throws {
        let lines = try Python.run(Self.validator, [Self.schema], input: Self.document(.json, MatrixSamples.rules()))
            .split(separator: "\n")
        #expect(lines.count == MatrixSamples.table.count)
        #expect(lines.first == "close/eof-mid-line must 'bsd=passed' 'asyncio=failed' 'node-net=passed'")
    }

    @Test(
        .enabled(if: Python.hasValidator, "python3 has no jsonschema module"),
        arguments: [
            ("\"version\":1", "\"version\":2"), ("\"level\":\"must\"", "\"level\":\"shall\""),
            ("\"verdict\":\"failed\"", "\"verdict\":\"Failed\""), ("\"cases\":", "\"rows\":"),
            ("\"rerun\":", "\"again\":"),
        ])
    func schemaRejectsInvalidDocuments(change: (from: String, to: String)) throws {
        let text = Self.document(.json)
        try #require(text.contains(change.from))
        #expect(throws: Python.Failure.self) {
            try Python.run(
                Self.validator, [Self.schema], input: text.split(separator: change.from).joined(separator: change.to))
        }
    }

    @Test(arguments: [MatrixRecorder.Format.json, .markdown, .html])
    func interruptedRunsListEveryCase(format: MatrixRecorder.Format) {
        let events = MatrixSamples.events(results: Array(MatrixSamples.results.prefix(4)), signal: 2)
        let text = Self.document(format, events: events)
        #expect(text.contains("SIGINT") && text.contains("not run"))
        // The document must list every case of the plan, even if it was not run.
        for row in MatrixSamples.table { #expect(text.contains("\(row.id.split(separator: "/")[1].prefix(4))")) }
    }

    @Test func emptyRunIsADocument() throws {
        for format in MatrixRecorder.Format.allCases {
            #expect(!Self.document(format, events: [.ended(RunSummary())], planned: []).isEmpty)
        }
    }

    /// The run contains a case with a subject, and a case without a subject.
    @Test func casesWithoutASubjectHaveTheirOwnColumn() {
        let events: [RunEvent] = [
            .caseEnded(MatrixSamples.result("a", .must, "bsd", .passed)),
            .caseEnded(MatrixSamples.result("b", .must, nil, .failed)), .ended(RunSummary()),
        ]
        let text = Self.document(.markdown, events: events, planned: [])
        #expect(text.contains("| case | bsd | (no subject) |"))
        #expect(text.contains("| b |  | ❌ failed |"))
    }
}
