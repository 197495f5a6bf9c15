import ProbeBase
import ProbeReport
import ProbeWire
import Testing

@testable import ProbeDiagnose
@testable import ProbeInspect

/// Tests of the diagnosis on the page that `diagnose --html` and `inspect --html` write.
@Suite struct DiagnosisPageTests {
    // MARK: Findings

    @Test func findingsPrecedeTheFactsAndTheGraphs() throws {
        let page = try page(CaptureBuilder.troubled)
        let section = try #require(page.firstRange(of: "<section class=\"flow\" id=\"flow-1\""))
        let rest = page[section.lowerBound...]
        let places = try [
            "<h3>Findings</h3>", "<span class=\"cell failed\">problem</span>", "<span class=\"tag\">certain</span>",
            "<span class=\"tag\">side: server</span>", "<code>refused</code>", "<dt>Evidence</dt>",
            "<dt>Next step</dt>", "<h3>Where the time went</h3>", "<h3>Facts</h3>",
            "<h3>Time and sequence numbers</h3>",
        ].map { try #require(rest.firstRange(of: $0), "\($0)").lowerBound }
        #expect(places == places.sorted())
    }

    @Test func evidenceLinksToTheLadder() throws {
        let page = try page(CaptureBuilder.troubled)
        let links = page.matches(of: /href="#(packet-\d+)" aria-label="Packet \d+"/).map { String($0.output.1) }
        #expect(!links.isEmpty)
        for link in links { #expect(page.ranges(of: "id=\"\(link)\"").count == 1, "\(link)") }
        let ids = page.matches(of: /\sid="([^"]+)"/).map { String($0.output.1) }
        #expect(Set(ids).count == ids.count)
        for target in page.matches(of: /(?:href="#|aria-(?:labelledby|describedby)=")([^"]+)"/) {
            #expect(ids.contains(String(target.output.1)), "\(target.output.1)")
        }
    }

    @Test func laddersIncludeTheEvidence() throws {
        let capture = Self.stalled(packets: 600)
        let inspection = try inspect(capture)
        let report = try Self.report(capture)
        let cited = report.evidence(of: [0]).filter { $0 > 200 && $0 < inspection.packetCount - 30 }
        #expect(!cited.isEmpty)
        let page = try page(capture)
        for packet in cited { #expect(page.contains("<a href=\"#packet-\(packet)\""), "\(packet)") }
    }

    @Test func packetsOutsideTheLaddersAreNotLinked() throws {
        let markup = try FindingMarkup(linked: [7]).html(Self.flow([Self.finding(evidence: [7, 9])])).markup
        #expect(markup.contains("packets <a href=\"#packet-7\" aria-label=\"Packet 7\">7</a>, 9<"))
        let one = try FindingMarkup(linked: []).html(Self.flow([Self.finding(evidence: [9])])).markup
        #expect(one.contains("<dd>packet 9</dd>"))
    }

    @Test func textFromTheCaptureIsEscaped() throws {
        let evil = "</p><script>alert(1)</script>\" onload=\"x\u{1b}[2J\u{202e}`<b>`"
        var finding = Self.finding(evidence: [1])
        (finding.sentence, finding.next, finding.rivals) = (evil, evil, [evil])
        let markup =
            try FindingMarkup(linked: []).html(Self.flow([finding], suppressed: [finding])).markup
            + FindingMarkup(linked: []).section([SharedFinding(finding: finding, flows: [0])], shown: []).markup
        for word in ["<script", "<b>", "\u{1b}", "\u{202e}", "\" onload"] { #expect(!markup.contains(word), "\(word)") }
        #expect(markup.contains("&lt;script&gt;alert(1)&lt;/script&gt;&quot; onload=&quot;x\\x1b[2J"))
        #expect(markup.contains("<code>&lt;b&gt;</code>"))
    }

    @Test func flowWithoutFindingsIsReported() throws {
        let markup = try FindingMarkup(linked: []).html(Self.flow([])).markup
        #expect(markup == "<h3>Findings</h3><p class=\"soft\">No problem was found.</p>")
    }

    @Test func notesAndExplainedFindingsAreCollapsed() throws {
        var (note, explained) = (Self.finding(evidence: []), Self.finding(evidence: []))
        note.severity = .note
        let notes = try FindingMarkup(linked: []).html(Self.flow([note, note])).markup
        #expect(notes.contains(">No problem was found.</p><details><summary>2 notes</summary><ul class=\"answers\">"))
        explained.suppressedBy = .refused
        let markup = try FindingMarkup(linked: []).html(
            Self.flow([Self.finding(evidence: [])], suppressed: [explained])
        ).markup
        #expect(markup.contains("<summary>1 finding explained by others</summary>"))
        #expect(markup.contains("explained by refused"))
    }

    @Test func findingsAboutSeveralFlowsAreAtTheTop() throws {
        var capture = CaptureBuilder()
        for port in 1...12 as ClosedRange<UInt16> {
            let connection = CaptureBuilder.Connection(client: 40_000 + port, server: 25)
            capture.packet(connection, .client, flags: 0x02, skew: -1)
            capture.packet(connection, .server, flags: 0x14, skew: -1)
        }
        let page = try page(capture.bytes)
        let places = try ["<section id=\"findings\"", "<code>reconnect-storm</code>", "<h2 id=\"flows\">"].map {
            try #require(page.firstRange(of: $0), "\($0)").lowerBound
        }
        #expect(places == places.sorted())
        #expect(page.contains("<dt>Flows</dt><dd><a href=\"#flow-0\" aria-label=\"Flow 0\">0</a>, "))
        #expect(page.contains(" part of <a href=\"#findings\">reconnect-storm</a>"))
    }

    // MARK: The time budget

    @Test func partsFillTheBar() {
        let budgets: [[Int64]] = [
            [1], [1, 1, 1], [1, 999_999_999], [333, 333, 334, 7], [1, 1 << 60], [5, 10_000, 5, 10_000, 5, 5, 5, 5, 5],
        ]
        for times in budgets {
            let states = FlowState.allCases.filter { !$0.isTransfer }
            let rows = zip(states, times).map { BudgetRow(state: $0, time: $1, limit: nil) }
            let parts = BudgetBar.parts(rows)
            #expect(parts.map(\.number) == Array(1...times.count))
            var end = 0
            for part in parts {
                #expect(part.start == end && part.width >= 0)
                end += part.width
            }
            #expect(end == 10_000, "\(times)")
        }
    }

    @Test func barIsDescribedByItsLegend() throws {
        let flow = try #require(try Self.report(Self.stalled(packets: 4)).flows.first)
        let bar = try #require(BudgetBar(flow, id: "flow-0-b"))
        #expect(bar.parts.reduce(0) { $0 + $1.row.time } == flow.duration)
        let markup = bar.html.markup
        #expect(
            markup.contains(
                "<svg class=\"bar\" role=\"img\" aria-labelledby=\"flow-0-b-t\" aria-describedby=\"flow-0-b-l\">"
                    + "<title id=\"flow-0-b-t\">Time budget of flow 0</title>"))
        #expect(markup.contains("<ol id=\"flow-0-b-l\" class=\"states\">"))
        #expect(markup.ranges(of: "<li>").count == bar.parts.count)
        // Wide parts have the numbers of their lines in the legend.
        let wide = bar.parts.filter { $0.width >= 600 }
        #expect(!wide.isEmpty && wide.count < bar.parts.count)
        #expect(markup.matches(of: /<text [^>]*>(\d+)</).map { Int($0.output.1) } == wide.map(\.number))
        let widths = markup.matches(of: /\swidth="(\d+)\.(\d\d)%"/).map {
            (Int($0.output.1) ?? 0) * 100 + (Int($0.output.2) ?? 0)
        }
        #expect(widths.reduce(0, +) == 10_000)
        #expect(markup.contains(", &lt;1 %</span>"))
    }

    @Test func flowOfOnePacketHasNoBar() throws {
        var capture = CaptureBuilder()
        capture.packet(CaptureBuilder.Connection(client: 40_000, server: 25), .client, flags: 0x02, skew: -1)
        let page = try page(capture.bytes)
        #expect(page.contains("<h3>Findings</h3>") && !page.contains("Where the time went"))
    }

    // MARK: The order

    @Test func flowsWithProblemsComeFirst() throws {
        var capture = CaptureBuilder()
        for port in 1...60 as ClosedRange<UInt16> {
            var connection = CaptureBuilder.Connection(client: 40_000 + port, server: 25)
            if port == 58 {
                connection.server = 26
                capture.packet(connection, .client, flags: 0x02, skew: -1)
                capture.packet(connection, .server, flags: 0x14, skew: -1)
            } else {
                capture.open(connection)
                capture.send(&connection, .client, "x")
                capture.close(&connection)
            }
        }
        let page = try page(capture.bytes)
        let sections = page.matches(of: /<section class="flow" id="flow-(\d+)"/).map { String($0.output.1) }
        #expect(sections.count == 50)
        #expect(sections.prefix(3) == ["57", "0", "1"])
        #expect(page.contains("1 of 60 flows has a problem"))
        #expect(page.contains("data-label=\"finding\">problem: refused"))
        #expect(page.contains("Use --flow, --port and --with to choose other flows."))
        #expect(page.contains("Written by tcpprobe diagnose --html."))
        // The page of `inspect` keeps the order of the capture.
        let inspected = try self.page(capture.bytes, isDiagnosis: false)
        #expect(inspected.firstMatch(of: /<section class="flow" id="flow-(\d+)"/)?.output.1 == "0")
        #expect(!inspected.contains("data-label=\"finding\""))
        #expect(inspected.contains("<h3>Findings</h3>"))
    }

    @Test func flowsWithOnlySharedFindingsComeAfterOthers() throws {
        var part = Self.finding(evidence: [])
        part.partOf = .reconnectStorm
        var (note, warning) = (Self.finding(evidence: []), Self.finding(evidence: []))
        note.severity = .note
        warning.severity = .warning
        let findings = [[], [note], [part], [warning], [Self.finding(evidence: [])]]
        let flows = try findings.enumerated().map { try Self.flow($1, number: $0) }
        #expect(DiagnosisReport(flows: flows, shared: [], remarks: []).first.map(\.number) == [4, 3, 2])
    }

    @Test func pipeHasTheSamePage() throws {
        let source = try piped(CaptureBuilder.troubled)
        let observer = FlowsPageObserver(limit: FlowsPage.maxFlows)
        let inspection = Inspection.diagnosing(source, limits: .deliveringParts, observer: observer)
        let page = FlowsPage(
            inspection, filter: ConnectionFilter(), options: FlowsPage.Options(name: "a", isDiagnosis: true),
            records: observer.records, report: inspection.diagnosis(ConnectionFilter()))
        #expect(String(decoding: page.bytes, as: UTF8.self) == (try self.page(CaptureBuilder.troubled)))
    }

    // MARK: Helpers

    private static func report(_ capture: [UInt8]) throws -> DiagnosisReport {
        let folder = try TemporaryFolder()
        return Inspection.diagnosing(try CaptureSource(path: folder.write("capture", capture)))
            .diagnosis(ConnectionFilter())
    }

    private func page(_ capture: [UInt8], isDiagnosis: Bool = true) throws -> String {
        let report = try Self.report(capture)
        let inspection = try inspect(capture)
        var chosen = ConnectionFilter()
        let numbers = FlowsPage.numbers(inspection, ConnectionFilter(), nil, worst: isDiagnosis ? report : nil)
        let shown = Set(numbers.prefix(FlowsPage.maxFlows))
        chosen.numbers = shown
        let observer = FlowsPageObserver(limit: FlowsPage.maxFlows, evidence: report.evidence(of: shown))
        _ = try inspect(capture, limits: .deliveringParts, filter: chosen, observer: observer)
        let page = FlowsPage(
            inspection, filter: ConnectionFilter(), options: FlowsPage.Options(name: "a", isDiagnosis: isDiagnosis),
            records: observer.records, report: report)
        return String(decoding: page.bytes, as: UTF8.self)
    }

    /// A capture with a transfer to a server that stops reading in the middle for five seconds.
    private static func stalled(packets: Int) -> [UInt8] {
        var capture = CaptureBuilder()
        var connection = CaptureBuilder.Connection(client: 40_000, server: 25)
        capture.open(connection)
        for index in 0..<packets {
            let isLast = index == packets / 2
            capture.send(&connection, .client, bytes: [UInt8](repeating: 0x78, count: isLast ? 512 : 100))
            capture.packet(connection, .server, flags: 0x10, window: isLast ? 0 : 512)
            guard isLast else { continue }
            for _ in 0..<4 {
                capture.wait(milliseconds: 1_250)
                capture.packet(connection, .client, flags: 0x10, skew: -1)
                capture.packet(connection, .server, flags: 0x10, window: 0)
            }
            capture.packet(connection, .server, flags: 0x10)
        }
        capture.close(&connection)
        return capture.bytes
    }

    private static func finding(evidence: [Int]) -> FlowFinding {
        FlowFinding(
            id: .halfClosed, severity: .problem, certainty: .certain, side: .server, evidence: evidence,
            sentence: "The server stopped reading.", next: "find out why", rivals: [], numbers: [], explained: 0)
    }

    /// Returns the diagnosis of a flow with the given findings.
    private static func flow(
        _ findings: [FlowFinding], suppressed: [FlowFinding] = [], number: Int = 0
    ) throws -> FlowDiagnosis {
        var capture = CaptureBuilder()
        for port in 0...UInt16(number) {
            capture.open(CaptureBuilder.Connection(client: 40_000 + port, server: 25))
        }
        var flow = try #require(try report(capture.bytes).flows.last)
        (flow.findings, flow.suppressed) = (findings, suppressed)
        return flow
    }
}
