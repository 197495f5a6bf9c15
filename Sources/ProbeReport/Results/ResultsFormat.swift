import ProbeBase
import ProbeEvents
import ProbeScenario

/// The data about a case that is known only after the case has run.
struct ResultsCase: Sendable {
    var result: CaseResult
    /// The index of the case's sources in the file's list of sources.
    var sources = 0
    var expectation: ExpectedVerdict?
}

/// The JSON format of results files, used for writing and for reading; `docs/results.schema.json` describes it.
///
/// Bytes are strings of the characters U+0000 to U+00FF, one for each byte, so that text protocols are readable. A
/// location is `[file, start, end]`: an index into the case's sources, and two offsets.
enum ResultsFormat {
    /// Returns the fields that precede the cases. ``ResultsFile`` reads the members that describe the format and the
    /// tool that wrote the file.
    ///
    /// - Parameter mostPlaces: the maximum number of cases that are accepted when a file is read, to limit the use of
    ///   memory.
    static func head(mostPlaces: Int = .max) -> [JSONField<ResultsHead>] {
        [
            .written("format") { _ in .string(ResultsHead.format) },
            .written("version") { _ in .integer(ResultsHead.formatVersion) },
            .written("toolVersion") { .string($0.version) },
            .nested(
                "plan",
                [
                    .required("hash", \.planHash, .text), .required("cases", \.planCases, .count),
                    .required("division", \.division, .text),
                ]),
            .nested("shard", [.part(\.share, share), .defaulted("places", \.places, places(most: mostPlaces))]),
            .optional("crowdShare", \.crowdShare, share),
            .required("attempt", \.attempt, .integer(in: 1...ResultsNumber.largest)),
            .defaulted("strict", \.isStrict, .flag), .defaulted("severalSubjects", \.hasSeveralSubjects, .flag),
            .optional("expectedResults", \.expectedResults, .count, writesNull: true),
            .optional("startedAt", \.startedAt, .signed),
            .written("date") { head in head.startedAt.map { .string(DateText.iso8601($0)) } },
        ]
    }

    /// The last member, `run`, of the results file's top-level object. It describes how the run ended.
    static let end = JSONCodec.object(
        ResultsEnd(),
        [
            .required("complete", \.isComplete, .flag), .required("exitCode", \.exitCode, .integer(in: 0...255)),
            .optional("interruptedBy", \.interruptedBy, .integer(in: 1...64)),
            .mark("givenUpSubject", \.hasGivenUpSubject), .required("duration", \.duration, .count),
            .required("notRun", \.notRun, .count),
            .nested(
                "packets",
                [.required("captured", \.packetsCaptured, .count), .required("dropped", \.packetsDropped, .count)]),
            .list("notes", \.notes, .texts), .list("runErrors", \.runErrors, .texts),
        ])

    /// The codec of the data about a case that is known before the case runs. The case's position in the plan precedes
    /// this data.
    static let planned = JSONCodec.object(
        PlannedCase(id: "", path: "", subject: nil),
        [
            .required("id", \.id, .text), .required("path", \.path, .text), .optional("subject", \.subject, .text),
            .required("title", \.title, .text), .optional("about", \.about, .text), .list("because", \.because, .texts),
            .required("level", \.level, .word), .list("tags", \.tags, .texts), .required("rerun", \.rerun, .text),
        ])

    /// The fields of a case that has run.
    static let result: [JSONField<ResultsCase>] = [
        .optional("round", \.result.round, .integer(in: 1...ResultsNumber.largest)),
        .required("verdict", \.result.verdict, .word), .required("duration", \.result.duration, .count),
        .required("sources", \.sources, .count), .mark("interrupted", \.result.isInterrupted),
        .optional("capture", \.result.capturePath, .text), .optional("cause", \.result.cause, .text),
        .optional("expectation", \.expectation, expectation),
        .optional("alone", \.result.alone, alone), .list("findings", \.result.findings, .list(of: finding)),
        .list("timeline", \.result.timeline, .list(of: entry)),
        .optional("exploration", \.result.exploration, exploration),
        .list("crowds", \.result.crowds, .list(of: crowd), writesEmpty: false),
    ]

    /// The codec of an expectation. The key of the expectation is not written, because it is the key of the case.
    private static let expectation = JSONCodec.object(
        ExpectedVerdict(key: CaseKey(id: "", subject: nil), verdict: .failed, comment: nil, path: "", line: 0),
        [
            .required("verdict", \.verdict, .word), .defaulted("atTimes", \.isAtTimes, .flag),
            .required("path", \.path, .text), .required("line", \.line, .count), .optional("comment", \.comment, .text),
        ])

    static let alone = JSONCodec.object(
        LoneResult(verdict: .failed, after: ""),
        [.required("verdict", \.verdict, .word), .required("after", \.after, .text)])

    // MARK: The run

    private static let share = JSONCodec<Share>(
        "an object", encode: { .object([("index", .integer($0.index)), ("total", .integer($0.total))]) }
    ) { (value, _) throws(JSONContentError) in
        guard case .object = value else { return nil }
        let (index, total): (Int, Int) = (try value.required("index", .count), try value.required("total", .count))
        do throws(Share.Problem) {
            return try Share(index: index, total: total)
        } catch {
            throw JSONContentError("\(error)")
        }
    }

    /// Returns the codec of an ascending list of positions such as `[1, 2, 3, 7]`. Consecutive positions are written as
    /// a pair of the first and the last position.
    private static func places(most: Int) -> JSONCodec<[Int]> {
        JSONCodec("an array", encode: { .array(ranges($0).map { .array([.integer($0), .integer($1)]) }) }) {
            (value, _) throws(JSONContentError) in
            guard case .array(let ranges) = value else { return nil }
            var places: [Int] = []
            for range in ranges {
                guard case .array(let ends) = range, ends.count == 2, let first = ends[0].integer,
                    let last = ends[1].integer, first > places.last ?? 0, last >= first, last <= ResultsNumber.largest
                else {
                    throw JSONContentError(
                        "`places` must contain the first and the last number of each range, in order")
                }
                guard last - first < most - places.count else {
                    throw JSONContentError("`places` contains more cases than the file")
                }
                places += first...last
            }
            return places
        }
    }

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

    /// The codec of a script, which is written as text if its bytes are valid UTF-8.
    static let file = JSONCodec<SourceFile>("an object") { file in
        let text = String(decoding: file.bytes, as: UTF8.self)
        let isText = text.utf8.elementsEqual(file.bytes)
        return .object([
            ("path", .string(file.path)), isText ? ("text", .string(text)) : ("bytes", .latin1(file.bytes)),
        ])
    } decode: { (value, _) throws(JSONContentError) in
        guard case .object = value else { return nil }
        let path = try value.required("path", .text)
        if let bytes = try value.optional("bytes", .bytes) { return SourceFile(path: path, bytes: bytes) }
        return SourceFile(path: path, bytes: Array(try value.required("text", .text).utf8))
    }

    // MARK: Exploration

    static let exploration = JSONCodec.object(
        Exploration(counts: nil, written: []),
        [.optionalPart(\.counts, counts, named: "law"), .list("written", \.written, .list(of: writtenScenario))])

    private static let counts = JSONCodec.object(
        Exploration.Counts(law: .stream, tried: 0, left: 0, inconclusive: 0, isExhausted: false, seed: 0),
        [
            .required("law", \.law, law), .required("tried", \.tried, .count), .required("left", \.left, .count),
            .required("inconclusive", \.inconclusive, .count), .defaulted("exhausted", \.isExhausted, .flag),
            .required("seed", \.seed, .integer),
        ])

    private static let law = JSONCodec<Exploration.Law>(
        "a string", encode: { .string($0.rawValue) }
    ) { (value, _) throws(JSONContentError) in
        guard let text = value.text else { return nil }
        if let law = Exploration.Law(rawValue: text) { return law }
        throw JSONContentError("`law` must be stream or faults, not `\(Escaped.text(String(text.prefix(40))))`")
    }

    private static let writtenScenario = JSONCodec.object(
        Exploration.WrittenScenario(path: "", sentence: "", captures: [], failed: 0, runs: 0),
        [
            .required("path", \.path, .text), .required("sentence", \.sentence, .text),
            .list("captures", \.captures, .texts),
            .required("failed", \.failed, .count), .required("runs", \.runs, .count),
        ])
}

/// The JSON format of the observations in a case: findings, the timeline and crowds.
extension ResultsFormat {
    static let finding = JSONCodec.object(
        Finding(.error, ""),
        [
            .required("verdict", \.verdict, .word), .optional("at", \.span, place),
            .required("summary", \.summary, .text), .optional("expected", \.expected, .bytes),
            .optional("actual", \.actual, .bytes), .list("details", \.details, .texts), .list("hints", \.hints, .texts),
            .list("actors", \.actors, .list(of: actor)), .optional("rounds", \.rounds, .list(of: round)),
            .part(\.unexpectedEnd, unexpectedEnd),
        ])

    static let actor = JSONCodec.object(
        ActorState(name: "", state: ""), [.required("name", \.name, .text), .required("state", \.state, .text)])

    private static let round = JSONCodec.object(
        LoopRound(number: 0, values: []),
        [.required("number", \.number, .count), .list("values", \.values, .list(of: named))])

    private static let named = JSONCodec.object(
        NamedText(name: "", text: ""), [.required("name", \.name, .text), .required("text", \.text, .text)])

    private static let unexpectedEnd = JSONCodec<UnexpectedEnd?>("an object") { end in
        switch end {
        case .status(let code)?: .object([("endStatus", .integer(Int(code)))])
        case .signal(let number)?: .object([("endSignal", .integer(Int(number)))])
        case nil: .object([])
        }
    } decode: { (value, _) throws(JSONContentError) in
        let codes = JSONCodec<Int32>.integer(in: Int(Int32.min)...Int(Int32.max))
        if let signal = try value.optional("endSignal", codes) { return .signal(signal) }
        return .some(try value.optional("endStatus", codes).map { .status($0) })
    }

    private static let place = JSONCodec<SourceSpan>(
        "a place", encode: { .array([.integer($0.file), .integer($0.start), .integer($0.end)]) }
    ) { (value, _) throws(JSONContentError) in
        let numbers = try numbers(value, 3, "at").map { min($0, Int(Int32.max)) }
        return SourceSpan(file: numbers[0], start: numbers[1], end: numbers[2])
    }

    // MARK: The timeline

    static let entry = JSONCodec.object(
        TimelineEntry(time: 0, kind: .note("")), [.required("time", \.time, .signed), .part(\.kind, kind)])

    private static let kind = JSONCodec<TimelineEntry.Kind>("an object") { kind in
        .object(
            members(
                of: kind, place: place.encode, values: { .array($0.map(named.encode)) }, line: { .latin1($0) },
                packet: packet.members))
    } decode: { (value, _) throws(JSONContentError) in
        switch try value.required("kind", .text) {
        case "step":
            return .step(
                try value.required("at", place), try value.required("text", .text),
                values: try value.optional("values", .list(of: named)) ?? [])
        case "step-failed": return .stepFailed(try value.required("at", place))
        case "packet": return .packet(try packet.decode(value))
        case "output":
            return .output(
                actor: try value.required("actor", .text), isError: try value.required("stream", .text) == "stderr",
                try value.optional("line", .bytes) ?? [])
        case "event": return .event(actor: try value.required("actor", .text), try value.required("text", .text))
        case "note": return .note(try value.required("text", .text))
        case let other:
            throw JSONContentError("unknown `kind` of a timeline entry: `\(Escaped.text(String(other.prefix(40))))`")
        }
    }

    /// Returns the members of a timeline entry. The closures encode values that have another form in the JSON of
    /// events.
    static func members(
        of kind: TimelineEntry.Kind, place: (SourceSpan) -> JSONValue, values: ([NamedText]) -> JSONValue,
        line: ([UInt8]) -> JSONValue, packet: (TimelinePacket) -> [JSONValue.Member]
    ) -> [JSONValue.Member] {
        switch kind {
        case .step(let span, let text, let named):
            [("kind", .string("step")), ("at", place(span)), ("text", .string(text))]
                + (named.isEmpty ? [] : [("values", values(named))])
        case .stepFailed(let span): [("kind", .string("step-failed")), ("at", place(span))]
        case .packet(let content): [("kind", .string("packet"))] + packet(content)
        case .output(let actor, let isError, let bytes):
            [
                ("kind", .string("output")), ("actor", .string(actor)),
                ("stream", .string(isError ? "stderr" : "stdout")), ("line", line(bytes)),
            ]
        case .event(let actor, let text):
            [("kind", .string("event")), ("actor", .string(actor)), ("text", .string(text))]
        case .note(let text): [("kind", .string("note")), ("text", .string(text))]
        }
    }

    private static let packet = JSONCodec.object(
        TimelinePacket(""),
        [
            .required("text", \.text, .text), .optional("segment", \.segment, segment),
            .list("faults", \.faults, .texts, writesEmpty: false),
        ])

    private static let segment = JSONCodec.object(
        TimelinePacket.Segment(
            from: "", to: "", flags: "", sequence: 0, acknowledgment: nil, window: 0, payloadLength: 0, payload: [],
            marks: []),
        [
            .required("from", \.from, .text), .required("to", \.to, .text), .required("flags", \.flags, .text),
            .required("seq", \.sequence, .signed), .optional("ack", \.acknowledgment, .signed),
            .required("window", \.window, .count), .required("length", \.payloadLength, .count),
            .defaulted("payload", \.payload, .bytes), .list("marks", \.marks, .texts),
        ])

    // MARK: Crowds

    static let crowd = JSONCodec.object(
        CrowdResult(name: "", members: 0, counts: [], failures: [], latencies: []),
        [
            .required("name", \.name, .text), .required("members", \.members, .count),
            .required("counts", \.counts, crowdCounts), .list("failures", \.failures, .texts),
            .list("latencies", \.latencies, .list(of: latency)), .list("samples", \.samples, .list(of: sample)),
        ])

    private static let crowdCounts = JSONCodec<[(name: String, count: Int)]>(
        "an object", encode: { .object($0.map { ($0.name, .integer($0.count)) }) }
    ) { (value, _) throws(JSONContentError) in
        try namedNumbers(value)?.map { ($0, min(max(0, $1 ?? 0), ResultsNumber.largest)) }
    }

    private static let latency = JSONCodec.object(
        CrowdResult.Latency(wait: "", count: 0, failed: 0, percentiles: []),
        [
            .required("wait", \.wait, .text), .required("count", \.count, .count),
            .required("failed", \.failed, .count), .required("percentiles", \.percentiles, percentiles),
            .list("buckets", \.buckets, .list(of: bucket)),
        ])

    private static let percentiles = JSONCodec<[(name: String, time: Int64?)]>(
        "an object", encode: { .object($0.map { ($0.name, $0.time.map { .integer(Int($0)) } ?? .null) }) }
    ) { (value, _) throws(JSONContentError) in
        try namedNumbers(value)?.map { ($0, $1.map { Int64($0) }) }
    }

    static let bucket = JSONCodec<(upTo: Int64, count: Int)>(
        "an array", encode: { .array([.integer(Int($0.upTo)), .integer($0.count)]) }
    ) { (value, _) throws(JSONContentError) in
        let numbers = try numbers(value, 2, "buckets")
        return (Int64(numbers[0]), numbers[1])
    }

    private static let sample = JSONCodec<CrowdResult.Sample>("an array") { sample in
        .array(
            [
                Int(sample.time), sample.connected, sample.done, sample.failed, sample.sent, sample.received,
            ].map(JSONValue.integer))
    } decode: { (value, _) throws(JSONContentError) in
        let numbers = try numbers(value, 6, "samples")
        return CrowdResult.Sample(
            time: Int64(numbers[0]), connected: numbers[1], done: numbers[2], failed: numbers[3], sent: numbers[4],
            received: numbers[5])
    }

    // MARK: Numbers

    /// Returns exactly `count` non-negative whole numbers.
    static func numbers(_ value: JSONValue, _ count: Int, _ name: String) throws(JSONContentError) -> [Int] {
        guard case .array(let values) = value, values.count == count else {
            throw JSONContentError("each element of `\(name)` must have \(count) numbers")
        }
        return try values.map { (value) throws(JSONContentError) in
            guard let number = value.integer, (0...ResultsNumber.largest).contains(number) else {
                throw JSONContentError("each element of `\(name)` must have \(count) numbers")
            }
            return number
        }
    }

    /// Returns the members of an object in order, each a whole number or null; `nil` if the value is not an object.
    private static func namedNumbers(_ value: JSONValue) throws(JSONContentError) -> [(String, Int?)]? {
        guard case .object(let members) = value else { return nil }
        return try members.map { (name, value) throws(JSONContentError) in
            guard value.isNull || value.integer != nil else {
                throw JSONContentError("`\(Escaped.text(name))` must be a whole number or null, not \(value.kind)")
            }
            return (name, value.integer)
        }
    }
}

extension JSONCodec where Value: FixedWidthInteger & Sendable {
    /// The codec of a number from 0 to ``ResultsNumber/largest``.
    static var count: JSONCodec { .integer(in: 0...ResultsNumber.largest) }
    static var signed: JSONCodec { .integer(in: -ResultsNumber.largest...ResultsNumber.largest) }
}

/// The limit on numbers in a results file.
enum ResultsNumber {
    /// The largest accepted number. No measurement exceeds it, and adding several hundred such numbers does not
    /// overflow.
    static let largest = 1 << 54

    /// Adds two numbers of a results file.
    ///
    /// - Returns: the sum, at most ``largest``, so that a file that contains it can be read.
    static func sum(_ left: Int, _ right: Int) -> Int {
        let (sum, overflow) = left.addingReportingOverflow(right)
        return overflow ? largest : min(sum, largest)
    }
}
