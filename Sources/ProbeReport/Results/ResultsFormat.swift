import ProbeBase
import ProbeEvents
import ProbeScenario

/// What a file of results has of a case that has run, besides what was known before.
struct ResultsCase: Sendable {
    var result: CaseResult
    /// The index of the case's sources among those of the file.
    var sources = 0
    var expectation: ExpectedVerdict?
}

/// The parts of a file of results as JSON, for writing and reading; `docs/results.schema.json` describes them.
///
/// Bytes are strings of U+0000 to U+00FF, a character each, so that text protocols can be read. A place is `[file, start, end]`: an index
/// into the case's sources, and offsets.
enum ResultsFormat {
    /// Everything before the cases. What says who wrote the file, ``ResultsFile`` reads by itself.
    ///
    /// - Parameter mostPlaces: how many cases a file that is read can have; more are a mistake, and would take much memory.
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

    /// How the run ended: the last member.
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

    /// What is known of a case before it runs; its place in the plan stands before that.
    static let planned = JSONCodec.object(
        PlannedCase(id: "", path: "", subject: nil),
        [
            .required("id", \.id, .text), .required("path", \.path, .text), .optional("subject", \.subject, .text),
            .required("title", \.title, .text), .optional("about", \.about, .text), .list("because", \.because, .texts),
            .required("level", \.level, .word), .list("tags", \.tags, .texts), .required("rerun", \.rerun, .text),
        ])

    /// What follows of a case that has run.
    static let result: [JSONField<ResultsCase>] = [
        .optional("round", \.result.round, .integer(in: 1...ResultsNumber.largest)),
        .required("verdict", \.result.verdict, .word), .required("duration", \.result.duration, .count),
        .required("sources", \.sources, .count), .mark("interrupted", \.result.isInterrupted),
        .optional("capture", \.result.capturePath, .text), .optional("expectation", \.expectation, expectation),
        .optional("alone", \.result.alone, alone), .list("findings", \.result.findings, .list(of: finding)),
        .list("timeline", \.result.timeline, .list(of: entry)),
        .optional("exploration", \.result.exploration, exploration),
        .list("crowds", \.result.crowds, .list(of: crowd), writesEmpty: false),
    ]

    /// Without its key, which is that of the case.
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

    /// `[1, 2, 3, 7]` as the first and the last of each run of numbers.
    private static func places(most: Int) -> JSONCodec<[Int]> {
        JSONCodec("an array", encode: { .array(ranges($0).map { .array([.integer($0), .integer($1)]) }) }) {
            (value, _) throws(JSONContentError) in
            guard case .array(let ranges) = value else { return nil }
            var places: [Int] = []
            for range in ranges {
                guard case .array(let ends) = range, ends.count == 2, let first = ends[0].integer,
                    let last = ends[1].integer, first > places.last ?? 0, last >= first, last <= ResultsNumber.largest
                else {
                    throw JSONContentError("`places` must have the first and the last number of each range, in order")
                }
                guard last - first < most - places.count else {
                    throw JSONContentError("`places` has more cases than the file")
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

    /// A script: as text where it is text.
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
