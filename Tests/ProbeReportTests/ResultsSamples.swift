import ProbeBase
import ProbeEvents
import ProbeScenario

@testable import ProbeReport

/// Sample results of shards, in the format that `run --results` writes.
enum ResultsSamples {
    /// A result in which every field that a recorder reads has a distinct value.
    static var full: CaseResult {
        var finding = Finding(
            .failed, at: Samples.span("S accept"), "what was \"expected\" did not come \u{1b}[31m",
            expected: Array(0...255), actual: [], details: ["one", ""], hints: ["a hint"],
            actors: [ActorState(name: "S", state: "waits")])
        finding.rounds = [LoopRound(number: 3, values: [NamedText(name: "i", text: "301")])]
        finding.unexpectedEnd = .signal(11)
        var plain = Finding(.error, "without a place")
        plain.rounds = []
        plain.unexpectedEnd = .status(7)
        let segment = TimelinePacket.Segment(
            from: "S", to: "T", flags: "P.", sequence: 1, acknowledgment: 7, window: 65536, payloadLength: 3,
            payload: [0, 0x80, 0xff], marks: ["zero window"])
        var result = CaseResult(
            id: "full[x=\"é\"]", path: "Scenarios/crlf.scn", sources: Samples.sources, title: "é – ✓", about: "about",
            because: ["a", "b"], level: .should, tags: ["t"], subject: "bsd", verdict: .failed,
            findings: [finding, plain],
            timeline: [
                TimelineEntry(
                    time: -5, kind: .step(Samples.span("T start"), "T start", values: finding.rounds?[0].values ?? [])),
                TimelineEntry(time: 1, kind: .stepFailed(Samples.span("T start"))),
                TimelineEntry(time: 2, kind: .packet(TimelinePacket("S -> T", segment: segment, faults: ["dropped"]))),
                TimelineEntry(time: 3, kind: .packet(TimelinePacket("?"))),
                TimelineEntry(time: 4, kind: .output(actor: "P", isError: true, [0x1b, 0xff])),
                TimelineEntry(time: 5, kind: .event(actor: "T", "started")), TimelineEntry(time: 6, kind: .note("n")),
            ], duration: 12_345, capturePath: "out/full.pcapng", rerun: "tcpprobe run x")
        result.crowds = [crowd()]
        result.round = 2
        result.isInterrupted = true
        result.alone = LoneResult(verdict: .passed, after: "other")
        result.exploration = Exploration(
            counts: Exploration.Counts(law: .faults, tried: 9, left: 1, inconclusive: 2, isExhausted: true, seed: -3),
            written: [
                Exploration.WrittenScenario(path: "s.scn", sentence: "cut at 3", captures: ["c"], failed: 1, runs: 2)
            ])
        return result
    }

    static func crowd(scale: Int = 1) -> CrowdResult {
        var latency = CrowdResult.Latency(
            wait: "line", count: 10 * scale, failed: scale,
            percentiles: [("p50", 20), ("p90", 30), ("p99.9", nil), ("max", nil)])
        latency.buckets = [(10, 4 * scale), (20, 3 * scale), (30, 2 * scale)]
        var crowd = CrowdResult(
            name: "W", members: 10 * scale, counts: [("began", 10 * scale), ("sent", 100 * scale)],
            failures: ["1 member failed"], latencies: [latency])
        crowd.samples = [
            CrowdResult.Sample(time: 5, connected: scale, done: 0, failed: 0, sent: 50 * scale, received: 1),
            CrowdResult.Sample(time: 10, connected: 9 * scale, done: 1, failed: scale, sent: 100 * scale, received: 2),
        ]
        return crowd
    }

    static func planned(_ result: CaseResult) -> PlannedCase {
        PlannedCase(
            id: result.id, path: result.path, subject: result.subject, title: result.title, about: result.about,
            because: result.because, level: result.level, tags: result.tags, rerun: result.rerun)
    }

    static func passed(_ id: String) -> CaseResult {
        var result = Samples.result(.passed, id: id)
        result.capturePath = nil
        return result
    }

    static func head(_ share: String, of cases: Int, places: [Int], attempt: Int = 1) throws -> ResultsHead {
        var head = ResultsHead(
            planHash: "0123456789abcdef0123456789abcdef", planCases: cases, places: places)
        (head.version, head.share, head.attempt) = ("0.1.0", try Share(share), attempt)
        head.division = head.share.isWhole ? ResultsHead.whole : "hash"
        head.startedAt = 1_795_300_200
        return head
    }

    /// Returns the bytes of a results file.
    static func bytes(
        _ head: ResultsHead, _ results: [CaseResult], notRun: [PlannedCase] = [], rules: RunRules = RunRules(),
        count: Int? = nil, end: RunSummary = RunSummary()
    ) -> [UInt8] {
        var planned: [PlannedCase] = []
        for item in results.map(Self.planned) + notRun where !planned.contains(item) { planned.append(item) }
        var set = RecorderSet(planned: planned, rules: rules)
        let written = Written()
        set.attach(ResultsRecorder(head: head, planned: planned, rules: rules)) { written.bytes += $0 }
        set.record(.started(caseCount: count ?? results.count + notRun.count), at: 0)
        for result in results { set.record(.caseEnded(result), at: 1) }
        set.record(.ended(end), at: 2)
        return written.bytes
    }

    /// The output of a recorder. Only one thread uses it, so `@unchecked` is safe.
    private final class Written: @unchecked Sendable {
        var bytes: [UInt8] = []
    }

    /// Returns the file of a shard in which all cases passed. The id of each case is `c` followed by its position in
    /// the plan.
    static func shard(
        _ share: String, of cases: Int, places: [Int], attempt: Int = 1, path: String? = nil,
        change: (inout ResultsHead) -> Void = { _ in }
    ) throws -> ResultsFile {
        var head = try head(share, of: cases, places: places, attempt: attempt)
        change(&head)
        return try ResultsFile(path: path ?? "\(share).json", bytes: bytes(head, places.map { passed("c\($0)") }))
    }
}
