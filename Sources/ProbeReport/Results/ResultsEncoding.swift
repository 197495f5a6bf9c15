import ProbeBase
import ProbeEvents
import ProbeScenario

/// The parts of a file of results as JSON; `docs/results.schema.json` describes them. ``ResultsDecoding`` reads the same values back.
///
/// Bytes are strings of U+0000 to U+00FF, a character each, so that text protocols can be read. A place is `[file, start, end]`: an index
/// into the case's sources, and offsets.
enum ResultsEncoding {
    /// Everything before the cases.
    static func members(of head: ResultsHead) -> [JSONValue.Member] {
        var members: [JSONValue.Member] = [
            ("format", .string(ResultsHead.format)), ("version", .integer(ResultsHead.formatVersion)),
            ("toolVersion", .string(head.version)),
            (
                "plan",
                .object([
                    ("hash", .string(head.planHash)), ("cases", .integer(head.planCases)),
                    ("division", .string(head.division)),
                ])
            ),
            (
                "shard",
                .object([
                    ("index", .integer(head.share.index)), ("total", .integer(head.share.total)),
                    ("places", .array(ranges(head.places).map { .array([.integer($0), .integer($1)]) })),
                ])
            ),
        ]
        if let share = head.crowdShare {
            members.append(
                ("crowdShare", .object([("index", .integer(share.index)), ("total", .integer(share.total))])))
        }
        members += [
            ("attempt", .integer(head.attempt)), ("strict", .boolean(head.isStrict)),
            ("severalSubjects", .boolean(head.hasSeveralSubjects)),
            ("expectedResults", head.expectedResults.map(JSONValue.integer) ?? .null),
        ]
        if let startedAt = head.startedAt {
            members += [("startedAt", .integer(Int(startedAt))), ("date", .string(DateText.iso8601(startedAt)))]
        }
        return members
    }

    /// `[1, 2, 3, 7]` as the first and the last of each run of numbers.
    private static func ranges(_ numbers: [Int]) -> [(Int, Int)] {
        var ranges: [(Int, Int)] = []
        for number in numbers {
            if let last = ranges.last, last.1 + 1 == number {
                ranges[ranges.count - 1].1 = number
            } else {
                ranges.append((number, number))
            }
        }
        return ranges
    }

    static func members(of end: ResultsEnd, exitCode: Int32) -> [JSONValue.Member] {
        var members: [JSONValue.Member] = [
            ("complete", .boolean(end.interruptedBy == nil)), ("exitCode", .integer(Int(exitCode))),
        ]
        if let signal = end.interruptedBy { members.append(("interruptedBy", .integer(Int(signal)))) }
        if end.hasGivenUpSubject { members.append(("givenUpSubject", .boolean(true))) }
        return members + [
            ("duration", .integer(Int(max(0, end.duration)))), ("notRun", .integer(end.notRun)),
            (
                "packets",
                .object([("captured", .integer(end.packetsCaptured)), ("dropped", .integer(end.packetsDropped))])
            ),
            ("notes", strings(end.notes)), ("runErrors", strings(end.runErrors)),
        ]
    }

    /// What is known of a case before it runs.
    static func members(of item: PlannedCase, place: Int) -> [JSONValue.Member] {
        var members: [JSONValue.Member] = [
            ("place", .integer(place)), ("id", .string(item.id)), ("path", .string(item.path)),
        ]
        if let subject = item.subject { members.append(("subject", .string(subject))) }
        members.append(("title", .string(item.title)))
        if let about = item.about { members.append(("about", .string(about))) }
        members += [
            ("because", strings(item.because)), ("level", .string(item.level.rawValue)), ("tags", strings(item.tags)),
            ("rerun", .string(item.rerun)),
        ]
        return members
    }

    /// - Parameter sources: the index of the case's sources among those of the file.
    static func members(
        of result: CaseResult, place: Int, sources: Int, expectation: ExpectedVerdict?
    ) -> [JSONValue.Member] {
        let item = PlannedCase(
            id: result.id, path: result.path, subject: result.subject, title: result.title, about: result.about,
            because: result.because, level: result.level, tags: result.tags, rerun: result.rerun)
        var members = Self.members(of: item, place: place)
        if let round = result.round { members.append(("round", .integer(round))) }
        members += [
            ("verdict", .string(result.verdict.rawValue)), ("duration", .integer(Int(max(0, result.duration)))),
            ("sources", .integer(sources)),
        ]
        if result.isInterrupted { members.append(("interrupted", .boolean(true))) }
        if let path = result.capturePath { members.append(("capture", .string(path))) }
        if let expectation { members.append(("expectation", value(of: expectation))) }
        if let alone = result.alone {
            members.append(
                ("alone", .object([("verdict", .string(alone.verdict.rawValue)), ("after", .string(alone.after))])))
        }
        members += [
            ("findings", .array(result.findings.map(value))), ("timeline", .array(result.timeline.map(value))),
        ]
        if let exploration = result.exploration {
            members.append(("exploration", JSONEncoding.value(of: exploration)))
        }
        if !result.crowds.isEmpty { members.append(("crowds", .array(result.crowds.map(value)))) }
        return members
    }

    private static func value(of expected: ExpectedVerdict) -> JSONValue {
        var members: [JSONValue.Member] = [
            ("verdict", .string(expected.verdict.rawValue)), ("atTimes", .boolean(expected.isAtTimes)),
            ("path", .string(expected.path)), ("line", .integer(expected.line)),
        ]
        if let comment = expected.comment { members.append(("comment", .string(comment))) }
        return .object(members)
    }

    // MARK: What happened

    private static func value(of finding: Finding) -> JSONValue {
        var members: [JSONValue.Member] = [("verdict", .string(finding.verdict.rawValue))]
        if let span = finding.span { members.append(("at", place(span))) }
        members.append(("summary", .string(finding.summary)))
        if let expected = finding.expected { members.append(("expected", .latin1(expected))) }
        if let actual = finding.actual { members.append(("actual", .latin1(actual))) }
        members += [
            ("details", strings(finding.details)), ("hints", strings(finding.hints)),
            (
                "actors",
                .array(finding.actors.map { .object([("name", .string($0.name)), ("state", .string($0.state))]) })
            ),
        ]
        if let rounds = finding.rounds {
            let loops = rounds.map { round in
                JSONValue.object([("number", .integer(round.number)), ("values", named(round.values))])
            }
            members.append(("rounds", .array(loops)))
        }
        switch finding.unexpectedEnd {
        case .status(let code)?: members.append(("endStatus", .integer(Int(code))))
        case .signal(let number)?: members.append(("endSignal", .integer(Int(number))))
        case nil: break
        }
        return .object(members)
    }

    private static func value(of entry: TimelineEntry) -> JSONValue {
        let members: [JSONValue.Member] =
            switch entry.kind {
            case .step(let span, let text, let values):
                [("kind", .string("step")), ("at", place(span)), ("text", .string(text))]
                    + (values.isEmpty ? [] : [("values", named(values))])
            case .stepFailed(let span): [("kind", .string("step-failed")), ("at", place(span))]
            case .packet(let packet): [("kind", .string("packet"))] + Self.members(of: packet)
            case .output(let actor, let isError, let line):
                [
                    ("kind", .string("output")), ("actor", .string(actor)),
                    ("stream", .string(isError ? "stderr" : "stdout")), ("line", .latin1(line)),
                ]
            case .event(let actor, let text):
                [("kind", .string("event")), ("actor", .string(actor)), ("text", .string(text))]
            case .note(let text): [("kind", .string("note")), ("text", .string(text))]
            }
        return .object([("time", .integer(Int(entry.time)))] + members)
    }

    private static func members(of packet: TimelinePacket) -> [JSONValue.Member] {
        var members: [JSONValue.Member] = [("text", .string(packet.text))]
        if let segment = packet.segment {
            var parts: [JSONValue.Member] = [
                ("from", .string(segment.from)), ("to", .string(segment.to)), ("flags", .string(segment.flags)),
                ("seq", .integer(Int(segment.sequence))),
            ]
            if let acknowledgment = segment.acknowledgment { parts.append(("ack", .integer(Int(acknowledgment)))) }
            parts += [
                ("window", .integer(segment.window)), ("length", .integer(segment.payloadLength)),
                ("payload", .latin1(segment.payload)), ("marks", strings(segment.marks)),
            ]
            members.append(("segment", .object(parts)))
        }
        if !packet.faults.isEmpty { members.append(("faults", strings(packet.faults))) }
        return members
    }

    private static func value(of crowd: CrowdResult) -> JSONValue {
        let latencies = crowd.latencies.map { latency in
            JSONValue.object([
                ("wait", .string(latency.wait)), ("count", .integer(latency.count)),
                ("failed", .integer(latency.failed)),
                (
                    "percentiles",
                    .object(latency.percentiles.map { ($0.name, $0.time.map { .integer(Int($0)) } ?? .null) })
                ),
                ("buckets", .array(latency.buckets.map { .array([.integer(Int($0.upTo)), .integer($0.count)]) })),
            ])
        }
        let samples = crowd.samples.map { sample in
            JSONValue.array([
                .integer(Int(sample.time)), .integer(sample.connected), .integer(sample.done), .integer(sample.failed),
                .integer(sample.sent), .integer(sample.received),
            ])
        }
        return .object([
            ("name", .string(crowd.name)), ("members", .integer(crowd.members)),
            ("counts", .object(crowd.counts.map { ($0.name, .integer($0.count)) })),
            ("failures", strings(crowd.failures)), ("latencies", .array(latencies)), ("samples", .array(samples)),
        ])
    }

    // MARK: Parts

    /// A script: as text where it is text.
    static func value(of file: SourceFile) -> JSONValue {
        let text = String(decoding: file.bytes, as: UTF8.self)
        let isText = text.utf8.elementsEqual(file.bytes)
        return .object([
            ("path", .string(file.path)), isText ? ("text", .string(text)) : ("bytes", .latin1(file.bytes)),
        ])
    }

    private static func place(_ span: SourceSpan) -> JSONValue {
        .array([.integer(span.file), .integer(span.start), .integer(span.end)])
    }

    private static func named(_ values: [NamedText]) -> JSONValue {
        .array(values.map { .object([("name", .string($0.name)), ("text", .string($0.text))]) })
    }

    static func strings(_ values: [String]) -> JSONValue { .array(values.map(JSONValue.string)) }
}
