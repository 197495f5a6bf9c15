import ProbeBase
import ProbeEvents
import ProbeScenario

/// Reads the parts of a file of results: the values that ``ResultsEncoding`` writes.
enum ResultsDecoding {
    /// - Parameter mostPlaces: how many cases the file can have; more are a mistake, and would take much memory.
    static func head(_ fields: ResultsFields, mostPlaces: Int) throws(ResultsProblem) -> ResultsHead {
        let plan = try fields.object("plan")
        let shard = try fields.object("shard")
        var head = ResultsHead(
            planHash: try plan.text("hash"), planCases: try plan.integer("cases"),
            places: try places(shard, most: mostPlaces))
        head.version = try fields.text("toolVersion")
        head.division = try plan.text("division")
        head.share = try share(shard)
        if fields["crowdShare"] != nil { head.crowdShare = try share(fields.object("crowdShare")) }
        head.attempt = try fields.integer("attempt", 1...ResultsFields.largest)
        head.isStrict = try fields.flag("strict")
        head.hasSeveralSubjects = try fields.flag("severalSubjects")
        head.expectedResults = try fields.integerIfAny("expectedResults")
        head.startedAt = try fields.integerIfAny("startedAt", -ResultsFields.largest...ResultsFields.largest).map {
            Int64($0)
        }
        if let last = head.places.last, last > head.planCases {
            throw ResultsProblem("`places` has case \(last) of \(head.planCases)")
        }
        return head
    }

    private static func share(_ fields: ResultsFields) throws(ResultsProblem) -> Share {
        let (index, total) = (try fields.integer("index"), try fields.integer("total"))
        do throws(Share.Problem) {
            return try Share(index: index, total: total)
        } catch {
            throw ResultsProblem("\(error)")
        }
    }

    private static func places(_ fields: ResultsFields, most: Int) throws(ResultsProblem) -> [Int] {
        var places: [Int] = []
        for value in try fields.list("places") {
            guard case .array(let ends) = value, ends.count == 2, let first = ends[0].integer,
                let last = ends[1].integer, first > places.last ?? 0, last >= first, last <= ResultsFields.largest
            else { throw ResultsProblem("`places` must have the first and the last number of each range, in order") }
            guard last - first < most - places.count else {
                throw ResultsProblem("`places` has more cases than the file")
            }
            places += first...last
        }
        return places
    }

    static func end(_ fields: ResultsFields) throws(ResultsProblem) -> ResultsEnd {
        var end = ResultsEnd()
        end.isComplete = try fields.requiredFlag("complete")
        end.exitCode = Int32(try fields.integer("exitCode", 0...255))
        end.interruptedBy = try fields.integerIfAny("interruptedBy", 1...64).map { Int32($0) }
        end.duration = Int64(try fields.integer("duration"))
        let packets = try fields.object("packets")
        (end.packetsCaptured, end.packetsDropped) = (try packets.integer("captured"), try packets.integer("dropped"))
        (end.notes, end.runErrors) = (try fields.texts("notes"), try fields.texts("runErrors"))
        end.hasGivenUpSubject = try fields.flag("givenUpSubject")
        end.notRun = try fields.integer("notRun")
        return end
    }

    static func planned(_ fields: ResultsFields) throws(ResultsProblem) -> PlannedCase {
        PlannedCase(
            id: try fields.text("id"), path: try fields.text("path"), subject: try fields.textIfAny("subject"),
            title: try fields.text("title"), about: try fields.textIfAny("about"), because: try fields.texts("because"),
            level: try fields.word("level"), tags: try fields.texts("tags"), rerun: try fields.text("rerun"))
    }

    static func result(
        _ fields: ResultsFields, _ item: PlannedCase, sources: SourceMap
    ) throws(ResultsProblem) -> CaseResult {
        var findings: [Finding] = []
        for value in try fields.list("findings") { findings.append(try finding(ResultsFields(value))) }
        var timeline: [TimelineEntry] = []
        for value in try fields.list("timeline") { timeline.append(try entry(ResultsFields(value))) }
        var result = CaseResult(
            item, verdict: try fields.word("verdict"), findings: findings, timeline: timeline, sources: sources,
            duration: Int64(try fields.integer("duration")), capturePath: try fields.textIfAny("capture"))
        for value in try fields.list("crowds") { result.crowds.append(try crowd(ResultsFields(value))) }
        result.round = try fields.integerIfAny("round", 1...ResultsFields.largest)
        result.isInterrupted = try fields.flag("interrupted")
        if fields["exploration"] != nil { result.exploration = try exploration(fields.object("exploration")) }
        if fields["alone"] != nil {
            let alone = try fields.object("alone")
            result.alone = LoneResult(verdict: try alone.word("verdict"), after: try alone.text("after"))
        }
        return result
    }

    static func expectation(_ fields: ResultsFields, of key: CaseKey) throws(ResultsProblem) -> ExpectedVerdict {
        ExpectedVerdict(
            key: key, verdict: try fields.word("verdict"), isAtTimes: try fields.flag("atTimes"),
            comment: try fields.textIfAny("comment"), path: try fields.text("path"), line: try fields.integer("line"))
    }

    static func file(_ fields: ResultsFields) throws(ResultsProblem) -> SourceFile {
        let path = try fields.text("path")
        if let bytes = try fields.bytesIfAny("bytes") { return SourceFile(path: path, bytes: bytes) }
        return SourceFile(path: path, bytes: Array(try fields.text("text").utf8))
    }

    // MARK: What happened

    private static func finding(_ fields: ResultsFields) throws(ResultsProblem) -> Finding {
        var finding = Finding(
            try fields.word("verdict"), at: try fields["at"].map(place), try fields.text("summary"),
            expected: try fields.bytesIfAny("expected"), actual: try fields.bytesIfAny("actual"),
            details: try fields.texts("details"), hints: try fields.texts("hints"))
        for value in try fields.list("actors") {
            let actor = try ResultsFields(value)
            finding.actors.append(ActorState(name: try actor.text("name"), state: try actor.text("state")))
        }
        if fields["rounds"] != nil {
            var rounds: [LoopRound] = []
            for value in try fields.list("rounds") {
                let round = try ResultsFields(value)
                rounds.append(LoopRound(number: try round.integer("number"), values: try named(round)))
            }
            finding.rounds = rounds
        }
        let codes = Int(Int32.min)...Int(Int32.max)
        if let status = try fields.integerIfAny("endStatus", codes) { finding.unexpectedEnd = .status(Int32(status)) }
        if let signal = try fields.integerIfAny("endSignal", codes) { finding.unexpectedEnd = .signal(Int32(signal)) }
        return finding
    }

    private static func entry(_ fields: ResultsFields) throws(ResultsProblem) -> TimelineEntry {
        let kind: TimelineEntry.Kind
        switch try fields.text("kind") {
        case "step": kind = .step(try place(of: fields), try fields.text("text"), values: try named(fields))
        case "step-failed": kind = .stepFailed(try place(of: fields))
        case "packet": kind = .packet(try packet(fields))
        case "output":
            kind = .output(
                actor: try fields.text("actor"), isError: try fields.text("stream") == "stderr",
                try fields.bytesIfAny("line") ?? [])
        case "event": kind = .event(actor: try fields.text("actor"), try fields.text("text"))
        case "note": kind = .note(try fields.text("text"))
        case let other:
            throw ResultsProblem("there is no `kind` of entries `\(Escaped.text(String(other.prefix(40))))`")
        }
        let time = try fields.integer("time", -ResultsFields.largest...ResultsFields.largest)
        return TimelineEntry(time: Int64(time), kind: kind)
    }

    private static func packet(_ fields: ResultsFields) throws(ResultsProblem) -> TimelinePacket {
        var packet = TimelinePacket(try fields.text("text"), faults: try fields.texts("faults"))
        guard fields["segment"] != nil else { return packet }
        let parts = try fields.object("segment")
        let all = -ResultsFields.largest...ResultsFields.largest
        packet.segment = TimelinePacket.Segment(
            from: try parts.text("from"), to: try parts.text("to"), flags: try parts.text("flags"),
            sequence: Int64(try parts.integer("seq", all)),
            acknowledgment: try parts.integerIfAny("ack", all).map { Int64($0) }, window: try parts.integer("window"),
            payloadLength: try parts.integer("length"), payload: try parts.bytesIfAny("payload") ?? [],
            marks: try parts.texts("marks"))
        return packet
    }

    private static func crowd(_ fields: ResultsFields) throws(ResultsProblem) -> CrowdResult {
        var counts: [(name: String, count: Int)] = []
        for (name, number) in try fields.object("counts").numbers() {
            counts.append((name, min(max(0, number ?? 0), ResultsFields.largest)))
        }
        var latencies: [CrowdResult.Latency] = []
        for value in try fields.list("latencies") { latencies.append(try latency(ResultsFields(value))) }
        var crowd = CrowdResult(
            name: try fields.text("name"), members: try fields.integer("members"), counts: counts,
            failures: try fields.texts("failures"), latencies: latencies)
        for value in try fields.list("samples") {
            let numbers = try Self.numbers(value, 6, "samples")
            crowd.samples.append(
                CrowdResult.Sample(
                    time: Int64(numbers[0]), connected: numbers[1], done: numbers[2], failed: numbers[3],
                    sent: numbers[4], received: numbers[5]))
        }
        return crowd
    }

    private static func latency(_ fields: ResultsFields) throws(ResultsProblem) -> CrowdResult.Latency {
        let percentiles = try fields.object("percentiles").numbers().map { (name: $0, time: $1.map { Int64($0) }) }
        var latency = CrowdResult.Latency(
            wait: try fields.text("wait"), count: try fields.integer("count"), failed: try fields.integer("failed"),
            percentiles: percentiles)
        for value in try fields.list("buckets") {
            let numbers = try Self.numbers(value, 2, "buckets")
            latency.buckets.append((Int64(numbers[0]), numbers[1]))
        }
        return latency
    }

    // MARK: Parts

    /// So many whole numbers that are not negative.
    static func numbers(_ value: JSONValue, _ count: Int, _ name: String) throws(ResultsProblem) -> [Int] {
        guard case .array(let values) = value, values.count == count else {
            throw ResultsProblem("each of `\(name)` must be \(count) numbers")
        }
        var numbers: [Int] = []
        for value in values {
            guard let number = value.integer, (0...ResultsFields.largest).contains(number) else {
                throw ResultsProblem("each of `\(name)` must be \(count) numbers")
            }
            numbers.append(number)
        }
        return numbers
    }

    private static func place(of fields: ResultsFields) throws(ResultsProblem) -> SourceSpan {
        guard let value = fields["at"] else { throw ResultsProblem("`at` is missing; it must be a place") }
        return try place(value)
    }

    private static func place(_ value: JSONValue) throws(ResultsProblem) -> SourceSpan {
        let numbers = try numbers(value, 3, "at")
        let largest = Int(Int32.max)
        return SourceSpan(
            file: min(numbers[0], largest), start: min(numbers[1], largest), end: min(numbers[2], largest))
    }

    private static func named(_ fields: ResultsFields) throws(ResultsProblem) -> [NamedText] {
        var values: [NamedText] = []
        for value in try fields.list("values") {
            let named = try ResultsFields(value)
            values.append(NamedText(name: try named.text("name"), text: try named.text("text")))
        }
        return values
    }
}

extension CaseResult {
    init(
        _ item: PlannedCase, verdict: Verdict, findings: [Finding] = [], timeline: [TimelineEntry] = [],
        sources: SourceMap, duration: Int64, capturePath: String?
    ) {
        self.init(
            id: item.id, path: item.path, sources: sources, title: item.title, about: item.about,
            because: item.because, level: item.level, tags: item.tags, subject: item.subject, verdict: verdict,
            findings: findings, timeline: timeline, duration: duration, capturePath: capturePath, rerun: item.rerun)
    }
}
