import ProbeBase
import ProbeEvents
import ProbeScenario
import Testing

@testable import ProbeReport

/// Tests the page of `--html`: its content, its omissions, and the escaping of untrusted text.
@Suite struct HTMLRecorderTests {
    private static func page(
        _ events: [RunEvent], options: ReportOptions = .sample(), limits: PageCases.Limits = PageCases.Limits()
    ) -> String {
        HTMLRecorder(path: "report.html", options: options, limits: limits).written(events)
    }

    private static func run(_ results: [CaseResult], _ summary: RunSummary? = nil) -> [RunEvent] {
        var tally = RunTally(planned: [], rules: RunRules())
        for result in results { tally.count(result) }
        var last = RunSummary()
        last.duration = 1_500_000_000
        return [.started(caseCount: results.count)] + results.map { .caseEnded($0) }
            + [.ended(tally.complete(summary ?? last))]
    }

    /// Returns a packet of a timeline.
    static func packet(
        at time: Int64, _ from: String, _ to: String, _ flags: String, sequence: Int64 = 1, _ payload: String = "",
        marks: [String] = [], faults: [String] = []
    ) -> TimelineEntry {
        let bytes = Array(payload.utf8)
        let segment = TimelinePacket.Segment(
            from: from, to: to, flags: flags, sequence: sequence, acknowledgment: 1, window: 65536,
            payloadLength: bytes.count, payload: bytes, marks: marks)
        return TimelineEntry(
            time: time, kind: .packet(TimelinePacket("\(from) -> \(to)", segment: segment, faults: faults)))
    }

    static var withPackets: CaseResult {
        var result = Samples.passed
        let send = "S send \"220 rea\" | \"dy\\r\" | \"\\n\"  every 30ms"
        result.timeline = [
            TimelineEntry(time: 100_000, kind: .step(Samples.span("T start"), "T start")),
            packet(at: 200_000, "T", "S", "S", sequence: 0), packet(at: 210_000, "S", "T", "S.", sequence: 0),
            packet(at: 220_000, "T", "S", "."),
            TimelineEntry(time: 300_000, kind: .step(Samples.span(send), send)),
            packet(at: 400_000, "S", "T", "P.", sequence: 1, "220 rea"),
            packet(at: 30_400_000, "S", "T", "P.", sequence: 8, "dy\r", faults: ["a.scn:3 link S -> T drop data 2"]),
            packet(at: 31_000_000, "S", "T", "P.", sequence: 8, "dy\r", marks: ["retransmission"]),
            packet(at: 60_400_000, "S", "T", "P.", sequence: 11, "\n"),
            packet(at: 61_000_000, "T", "S", ".", marks: ["zero window"]), packet(at: 62_000_000, "T", "S", "F."),
            packet(at: 63_000_000, "S", "T", "R"),
            TimelineEntry(time: 64_000_000, kind: .event(actor: "T", "stopped eof")),
        ]
        return result
    }

    static var crowd: CrowdResult {
        var latency = CrowdResult.Latency(
            wait: "connect", count: 300, failed: 2,
            percentiles: [("p50", 1_000_000), ("p99", 20_000_000), ("max", nil)])
        latency.buckets = [(900_000, 120), (1_000_000, 100), (5_000_000, 79), (20_000_000, 1)]
        let other = CrowdResult.Latency(
            wait: "line", count: 10, failed: 0, percentiles: [("p50", 1_000_000), ("p99", 2_000_000)])
        var crowd = CrowdResult(
            name: "W", members: 302, counts: [("connected", 300), ("sent", 1_200_000)], failures: ["2 of 302: refused"],
            latencies: [latency, other])
        crowd.samples = (0..<20).map { index in
            CrowdResult.Sample(
                time: Int64(index) * 100_000_000, connected: min(300, index * 40), done: index * 3, failed: index / 10,
                sent: index * 60_000, received: index * index * 1_000)
        }
        return crowd
    }

    @Test func pageMatchesGoldenText() throws {
        var results = Samples.all.map(\.result) + [Self.withPackets]
        results[results.count - 1].id = "packets"
        results[results.count - 1].crowds = [Self.crowd]
        var events = Samples.events
        events.insert(.caseEnded(results[results.count - 1]), at: events.count - 1)
        try GoldenText.check(Self.page(events), "run.html")
    }

    @Test func recorderKeepsTheContract() {
        RecorderContract.verify { HTMLRecorder(path: "x/r.html", options: $1) }
    }

    @Test func pageHasEveryCase() {
        let page = Self.page(Samples.events)
        for (_, result) in Samples.all where result.verdict != .passed {
            #expect(page.contains(HTMLText.text(result.findings[0].summary).markup), "\(result.verdict)")
        }
        #expect(page.contains("later[x=1]") && page.contains("later[x=2]"))
        #expect(page.contains("interrupted by SIGINT"))
        #expect(page.contains("no capture: permission denied"))
        #expect(page.contains("<mark>T <u>expect line &quot;220 ready&quot;</u></mark>"))
    }

    @Test func diagramDescribesThePackets() throws {
        let diagram = try #require(CaseDiagram(Self.withPackets).value)
        #expect(diagram.lifelines == ["T", "S"])
        let arrows = diagram.rows.compactMap { row -> (SequenceDiagram.Arrow, SequenceDiagram.Tone)? in
            if case .arrow(let arrow) = row.content { (arrow, row.tone) } else { nil }
        }
        #expect(
            arrows.map(\.0.label) == [
                "SYN", "SYN ACK", "ACK 1", "\"220 rea\" 7 bytes  ✂ cut here", "\"dy\\r\" 3 bytes",
                "\"dy\\r\" 3 bytes, retransmission  ✂ cut here", "\"\\n\" 1 byte", "ACK 1, zero window", "FIN", "RST",
            ])
        #expect(
            arrows.map(\.1) == [
                .turn, .turn, .faint, .plain, .fault, .unusual, .plain, .unusual, .turn, .fault,
            ])
        #expect(arrows.map(\.0.isLost) == [false, false, false, false, true, false, false, false, false, false])
        #expect(arrows[4].0.remarks == ["a.scn:3 link S -> T drop data 2"])
    }

    @Test func untrustedTextIsEscaped() {
        let hostile = "</script><script>alert(1)</script>\u{1b}]0;x\u{7}\u{202e}<img src=x onerror=y>\"'&"
        var result = Samples.failedBytes
        result.sources = SourceMap([SourceFile(path: hostile, bytes: Array(hostile.utf8))])
        (result.id, result.title, result.about, result.because) = (hostile, hostile, hostile, [hostile])
        (result.tags, result.subject, result.capturePath, result.rerun) = ([hostile], hostile, hostile, hostile)
        result.findings = [
            Finding(
                .failed, at: SourceSpan(start: 3, end: 9), hostile, expected: Array(hostile.utf8), actual: [0xff, 0],
                details: [hostile], hints: [hostile], actors: [ActorState(name: hostile, state: hostile)])
        ]
        result.timeline = [
            Self.packet(at: 0, hostile, hostile + "2", "P.", hostile, marks: [hostile], faults: [hostile]),
            TimelineEntry(time: 1, kind: .event(actor: hostile, hostile)), TimelineEntry(time: 2, kind: .note(hostile)),
            TimelineEntry(time: 3, kind: .output(actor: hostile, isError: true, Array(hostile.utf8))),
            TimelineEntry(time: 4, kind: .step(SourceSpan(start: 0, end: 4), hostile)),
        ]
        var crowd = Self.crowd
        (crowd.name, crowd.failures) = (hostile, [hostile])
        crowd.latencies[0].wait = hostile
        result.crowds = [crowd]
        var summary = RunSummary()
        summary.runErrors = [hostile]
        let page = Self.page([.message(hostile)] + Self.run([result], summary))
        #expect(!page.contains("<script") && !page.contains("<img"))
        #expect(!page.unicodeScalars.contains { ($0.value < 0x20 && $0 != "\n") || $0.value == 0x202E })
        #expect(
            !page.contains("http://")
                || page.components(of: "http://").allSatisfy { $0.hasPrefix("www.w3.org/2000/svg") })
    }

    @Test func roundsWithDifferentVerdictsAreFlaky() {
        var results: [CaseResult] = []
        for round in 1...60 {
            var result = round % 20 == 3 ? Samples.failedBytes : Samples.passed
            result.round = round
            results.append(result)
            var steady = Samples.result(.passed, id: "steady")
            steady.round = round
            results.append(steady)
        }
        let page = Self.page(Self.run(results))
        #expect(page.contains("3 failed, 57 passed of 60 rounds"))
        #expect(!page.contains("60 passed of 60 rounds"))
        // For each case, the page lists the first round that passed and all rounds that failed.
        #expect(page.components(of: "<details class=\"case ").count == 5)
        #expect(page.contains("115 further rounds"))
    }

    @Test func tenThousandResultsFitInThirtyMegabytes() {
        var recorder = HTMLRecorder(path: "report.html", options: .sample())
        var failed = Samples.failedBytes
        failed.timeline += Self.withPackets.timeline
        for index in 0..<10_000 {
            var result = index % 8 == 0 ? failed : Self.withPackets
            (result.id, result.path) = ("suite/group/a-case-\(index)", "Scenarios/suite/group/a-case-\(index).scn")
            result.about = "Clients that look for a bare LF pass every other test."
            _ = recorder.record(.caseEnded(result), at: 0)
        }
        let page = recorder.record(.ended(RunSummary()), at: 0)
        #expect(page.count > 5_000_000 && page.count < 30_000_000, "\(page.count) bytes")
    }

    @Test func leastImportantDetailsAreOmittedFirst() {
        var results: [CaseResult] = []
        for index in 0..<200 {
            var result = Self.withPackets
            result.id = "passed/\(index)"
            results.append(result)
        }
        for index in 0..<20 {
            var result = Samples.failedBytes
            result.id = "failed/\(index)"
            results.append(result)
        }
        let whole = Self.page(Self.run(results))
        #expect(whole.components(of: "<svg role").count == 220)
        #expect(!whole.contains("omitted"))
        // The rounds that passed share one script, and each failed round has its own script.
        #expect(whole.components(of: "class=\"script\"").count == 21)
        var limits = PageCases.Limits()
        limits.passedDiagrams = 100_000
        let smaller = Self.page(Self.run(results), limits: limits)
        #expect(smaller.utf8.count < whole.utf8.count)
        #expect((21..<120).contains(smaller.components(of: "<svg role").count))
        #expect(smaller.contains("sequence diagrams omitted, because the page would be too large"))
        // A case that did not pass keeps its diagram while the diagram of another case can be omitted.
        limits.all = 420_000
        let small = Self.page(Self.run(results), limits: limits)
        #expect(small.components(of: "id=\"failed/").filter { $0.contains("<svg role") }.count == 20)
        (limits.all, limits.least) = (1_000, 60_000)
        let least = Self.page(Self.run(results), limits: limits)
        #expect(least.utf8.count < 200_000 && !least.contains("<svg role"))
        #expect(least.contains("counted, but not listed"))
    }
}

extension String {
    /// Returns the parts of the text after each occurrence of `text`, up to the next occurrence.
    fileprivate func components(of text: String) -> [Substring] {
        var parts: [Substring] = []
        var rest = self[...]
        while let found = rest.firstRange(of: text) {
            rest = rest[found.upperBound...]
            let end = rest.firstRange(of: text)?.lowerBound ?? rest.endIndex
            parts.append(rest[..<end])
        }
        return parts
    }
}
