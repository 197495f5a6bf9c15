import ProbeBase
import ProbeEvents
import ProbeScenario

/// Encodes events as JSON, version 1 of the format; `docs/events.schema.json` describes the format.
///
/// The format is defined separately from the types of ProbeEvents, so that these types can change without a change to
/// the format.
enum JSONEncoding {
    /// The maximum number of bytes of a value that are written; `length` is the total number.
    private static let byteLimit = 1 << 16

    static func event(_ name: String, at time: Int64, _ members: [JSONValue.Member]) -> JSONValue {
        let head: [JSONValue.Member] = [
            ("version", .integer(1)), ("event", .string(name)), ("time", .integer(Int(max(0, time)))),
        ]
        return .object(head + members.map { (key: $0.0, value: $0.1) })
    }

    static func members(of result: CaseResult, rules: RunRules) -> [JSONValue.Member] {
        var members: [JSONValue.Member] = [
            ("id", .string(result.id)), ("path", .string(result.path)), ("title", .string(result.title)),
        ]
        if let subject = result.subject { members.append(("subject", .string(subject))) }
        if let round = result.round { members.append(("round", .integer(round))) }
        if let about = result.about { members.append(("about", .string(about))) }
        if !result.because.isEmpty { members.append(("because", strings(result.because))) }
        members += [
            ("level", .string(result.level.rawValue)), ("tags", strings(result.tags)),
            ("verdict", .string(result.verdict.rawValue)),
            ("failsRun", .boolean(rules.failsRun(rules.disposition(of: result)))),
            ("duration", .integer(Int(max(0, result.duration)))),
            ("findings", .array(result.findings.map { finding($0, result.sources) })),
            // The timeline of a case that passed may exist only because another report requires it.
            (
                "timeline",
                .array(result.verdict == .passed ? [] : result.timeline.map { entry($0, result.sources) })
            ),
        ]
        if !result.crowds.isEmpty { members.append(("crowds", .array(result.crowds.map(value)))) }
        if let expected = rules.expectations[result.key] {
            members.append(("expected", .string(expected.verdict.rawValue)))
            var line: [JSONValue.Member] = [
                ("path", .string(expected.path)), ("line", .integer(expected.line)),
            ]
            if expected.isAtTimes { line.append(("atTimes", .boolean(true))) }
            if let comment = expected.comment { line.append(("comment", .string(comment))) }
            members.append(("expectation", .object(line)))
        }
        if let alone = result.alone { members.append(("alone", ResultsFormat.alone.encode(alone))) }
        if let cause = result.cause { members.append(("cause", .string(cause))) }
        if let path = result.capturePath { members.append(("capture", .string(path))) }
        if let exploration = result.exploration {
            members.append(("exploration", ResultsFormat.exploration.encode(exploration)))
        }
        members.append(("rerun", .string(result.rerun)))
        return members
    }

    private static func value(of crowd: CrowdResult) -> JSONValue {
        let latencies = crowd.latencies.map { latency in
            JSONValue.object(
                [
                    ("of", .string(latency.wait)), ("waits", .integer(latency.count)),
                    ("failed", .integer(latency.failed)),
                ] + latency.percentiles.map { ($0.name, $0.time.map { .integer(Int($0)) } ?? .null) } + [
                    ("buckets", .array(latency.buckets.map(ResultsFormat.bucket.encode)))
                ])
        }
        let samples = crowd.samples.map { sample in
            JSONValue.object([
                ("time", .integer(Int(sample.time))), ("connected", .integer(sample.connected)),
                ("done", .integer(sample.done)), ("failed", .integer(sample.failed)),
                ("sent", .integer(sample.sent)), ("received", .integer(sample.received)),
            ])
        }
        return .object(
            [("name", .string(crowd.name)), ("members", .integer(crowd.members))]
                + crowd.counts.map { ($0.name, .integer($0.count)) } + [
                    ("failures", strings(crowd.failures)), ("latencies", .array(latencies)),
                    ("samples", .array(samples)),
                ])
    }

    static func members(of item: PlannedCase) -> [JSONValue.Member] {
        var members: [JSONValue.Member] = [("id", .string(item.id)), ("path", .string(item.path))]
        if let subject = item.subject { members.append(("subject", .string(subject))) }
        members.append(("level", .string(item.level.rawValue)))
        return members
    }

    static func members(of summary: RunSummary) -> [JSONValue.Member] {
        let counts = Verdict.allCases.map {
            (key: $0.rawValue, value: JSONValue.integer(summary.results.count($0)))
        }
        var members: [JSONValue.Member] = [
            ("counts", .object(counts)), ("advisoryFailures", .integer(summary.results.advisoryFailures)),
            ("expectedFailures", .integer(summary.results.expectedFailures)),
            ("unexpectedPasses", .integer(summary.results.unexpectedPasses)),
            ("notRun", .integer(summary.notRun)),
        ]
        if let signal = summary.interruptionText { members.append(("interruptedBy", .string(signal))) }
        members += [
            ("duration", .integer(Int(max(0, summary.duration)))),
            (
                "packets",
                .object([
                    ("captured", .integer(summary.packetsCaptured)),
                    ("dropped", .integer(summary.packetsDropped)),
                ])
            ),
            ("notes", strings(summary.notes)), ("troubles", strings(summary.runErrors)),
            ("exitCode", .integer(Int(summary.exitCode))),
        ]
        return members
    }

    // MARK: Parts

    private static func finding(_ finding: Finding, _ sources: SourceMap) -> JSONValue {
        var members: [JSONValue.Member] = [("verdict", .string(finding.verdict.rawValue))]
        if let span = finding.span { members.append(("at", place(span, sources))) }
        members.append(("summary", .string(finding.summary)))
        if let rounds = finding.rounds, !rounds.isEmpty {
            let loops = rounds.map { round in
                JSONValue.object([("round", .integer(round.number)), ("values", named(round.values))])
            }
            members.append(("loops", .array(loops)))
        }
        if let expected = finding.expected { members.append(("expected", compared(expected))) }
        if let actual = finding.actual { members.append(("actual", compared(actual))) }
        switch finding.unexpectedEnd {
        case .status(let code)?: members.append(("unexpectedEnd", .object([("status", .integer(Int(code)))])))
        case .signal(let number)?: members.append(("unexpectedEnd", .object([("signal", .integer(Int(number)))])))
        case nil: break
        }
        members += [
            ("details", strings(finding.details)), ("hints", strings(finding.hints)),
            ("actors", .array(finding.actors.map(ResultsFormat.actor.encode))),
        ]
        return .object(members)
    }

    private static func entry(_ entry: TimelineEntry, _ sources: SourceMap) -> JSONValue {
        let members = ResultsFormat.members(
            of: entry.kind, place: { place($0, sources) }, values: named, line: bytes,
            packet: { [("text", .string($0.text))] })
        return .object([("time", .integer(Int(entry.time)))] + members)
    }

    /// Returns the start and the end of a span; the end is exclusive.
    private static func place(_ span: SourceSpan, _ sources: SourceMap) -> JSONValue {
        let start = sources.location(of: span)
        let end = sources.location(of: SourceSpan(file: span.file, start: max(span.start, span.end), end: span.end))
        return .object([
            ("path", .string(start.path)), ("line", .integer(start.line)),
            ("column", .integer(start.column)), ("endLine", .integer(end.line)),
            ("endColumn", .integer(end.column)),
        ])
    }

    /// Returns bytes in a script's notation, without quotes. The bytes can be recovered from the text unless the limit
    /// truncated them.
    private static func bytes(_ bytes: [UInt8]) -> JSONValue {
        .object([
            ("escaped", .string(Escaped.bytes(bytes.prefix(byteLimit)))), ("length", .integer(bytes.count)),
        ])
    }

    /// Returns bytes in a script's notation and in Base64, each cut at the limit.
    private static func compared(_ bytes: [UInt8]) -> JSONValue {
        .object([
            ("escaped", .string(Escaped.bytes(bytes.prefix(byteLimit)))),
            ("base64", .string(Base64.encode(bytes.prefix(byteLimit)))), ("length", .integer(bytes.count)),
        ])
    }

    /// Returns an object with one member for each value: the name of the value, and the text that people see.
    private static func named(_ values: [NamedText]) -> JSONValue {
        .object(values.map { (key: $0.name, value: .string($0.text)) })
    }

    private static func strings(_ values: [String]) -> JSONValue { .array(values.map(JSONValue.string)) }
}
