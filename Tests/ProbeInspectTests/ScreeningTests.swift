import ProbeDiagnose
import ProbeInspect
import ProbeReport
import ProbeWire
import Testing

/// Tests that screening finds what diagnosing all flows finds, except for notes.
@Suite struct ScreeningTests {
    private typealias Connection = CaptureBuilder.Connection

    /// Returns the findings that are more than notes, in a comparable form.
    private func findings(_ report: DiagnosisReport) -> [String] {
        report.flows.filter { $0.severity.map { $0 != .note } ?? false }.map { DiagnosisJSON.line($0, file: "f") }
            + report.shared.filter { $0.finding.severity != .note }.map { "\($0.finding.id.rawValue) \($0.flows)" }
    }

    /// Checks that screening a capture gives the same findings as diagnosing it, and returns its report.
    @discardableResult
    private func screened(
        _ bytes: [UInt8], location: SourceLocation = #_sourceLocation
    ) throws -> DiagnosisReport {
        let folder = try TemporaryFolder()
        let path = try folder.write("capture", bytes)
        let all = Inspection.diagnosing(try CaptureSource(path: path)).diagnosis(ConnectionFilter())
        var report = all
        for workers in [1, 2] {
            report = Inspection.screening(try CaptureSource(path: path), workers: workers).diagnosis(ConnectionFilter())
            #expect(findings(report) == findings(all), sourceLocation: location)
            #expect(report.flowCount == all.flows.count, sourceLocation: location)
        }
        return report
    }

    /// A builder of captures whose windows never limit a transfer.
    private static var builder: CaptureBuilder {
        var builder = CaptureBuilder()
        builder.window = 65_535
        return builder
    }

    /// Adds a healthy exchange of small messages that begins with a handshake and ends with a close.
    private func exchange(_ capture: inout CaptureBuilder, port: UInt16, messages: Int = 4) {
        var connection = Connection(client: port, server: 9_000)
        capture.open(connection)
        for _ in 0..<messages {
            capture.send(&connection, .client, "ask me")
            capture.wait(milliseconds: 3)
            capture.send(&connection, .server, "answer")
            capture.packet(connection, .client, flags: 0x10)
            capture.wait(milliseconds: 20)
        }
        capture.end(&connection, .client)
        capture.end(&connection, .server)
        capture.packet(connection, .client, flags: 0x10)
    }

    @Test func healthyFlowsAreNotExamined() throws {
        var capture = Self.builder
        for port in 40_000..<40_005 as Range<UInt16> { exchange(&capture, port: port) }
        let report = try screened(capture.bytes)
        #expect(report.healthyCount == 5)
        #expect(report.flows.isEmpty)
    }

    /// The numbers of the flows, and their findings, are those in the whole capture.
    @Test func onlyTheSuspectIsExamined() throws {
        var capture = Self.builder
        exchange(&capture, port: 40_000)
        let refused = Connection(client: 40_001, server: 9_000)
        capture.packet(refused, .client, flags: 0x02, skew: -1)
        capture.packet(refused, .server, flags: 0x14, skew: -1)
        exchange(&capture, port: 40_002)
        let report = try screened(capture.bytes)
        #expect(report.healthyCount == 2)
        #expect(report.flows.map(\.number) == [1])
        #expect(report.flows.first?.findings.first?.id == .refused)
    }

    /// The final sentence counts all flows.
    @Test func summaryCountsScreenedFlows() throws {
        var capture = Self.builder
        for port in 40_000..<40_003 as Range<UInt16> { exchange(&capture, port: port) }
        let report = try screened(capture.bytes)
        let text = DiagnosisText(width: 120, paint: Paint(isOn: false), isVerbose: false, isAbsolute: false)
        #expect(text.summary(report, noteCount: 0) == "none of 3 flows has a problem; `--verbose` also finds notes\n")
    }

    // MARK: One rule each

    @Test func slowAnswersAreExamined() throws {
        var capture = Self.builder
        exchange(&capture, port: 40_000)
        var connection = Connection(client: 40_001, server: 9_000)
        capture.open(connection)
        for round in 0..<3 {
            capture.send(&connection, .client, "ask")
            capture.packet(connection, .server, flags: 0x10)
            for port in 41_000..<41_020 as Range<UInt16> {
                capture.wait(milliseconds: 20)
                exchange(&capture, port: port + UInt16(round) * 100, messages: 1)
            }
            capture.send(&connection, .server, "answer")
            capture.packet(connection, .client, flags: 0x10)
        }
        capture.close(&connection)
        #expect(try screened(capture.bytes).flows.contains { $0.findings.first?.id == .slowServer })
    }

    @Test func heldBackSegmentsAreExamined() throws {
        var capture = Self.builder
        var connection = Connection(client: 40_000, server: 9_000)
        capture.open(connection)
        for _ in 0..<4 {
            capture.send(&connection, .client, "first half")
            capture.wait(milliseconds: 40)
            capture.packet(connection, .server, flags: 0x10)
            capture.send(&connection, .client, "second half")
            capture.wait(milliseconds: 1)
            capture.send(&connection, .server, "answer")
            capture.packet(connection, .client, flags: 0x10)
            capture.wait(milliseconds: 5)
        }
        capture.close(&connection)
        #expect(try screened(capture.bytes).flows.first?.findings.first?.id == .nagleDelayedAck)
    }

    /// A sender may also wait before a full segment.
    @Test func segmentsBeforeFullOnesAreExamined() throws {
        var capture = Self.builder
        var connection = Connection(client: 40_000, server: 9_000)
        capture.open(connection)
        for _ in 0..<8 {
            capture.send(&connection, .client, "header")
            capture.wait(milliseconds: 40)
            capture.packet(connection, .server, flags: 0x10)
            capture.send(&connection, .client, bytes: [UInt8](repeating: 7, count: 1_460))
            capture.wait(milliseconds: 1)
            capture.send(&connection, .server, "answer")
            capture.packet(connection, .client, flags: 0x10)
            capture.wait(milliseconds: 5)
        }
        capture.close(&connection)
        #expect(try !screened(capture.bytes).flows.isEmpty)
    }

    /// A time that is damaged, or close to the largest possible one, is no trap.
    @Test func extremeTimesAreNoTrap() throws {
        var capture = Self.builder
        exchange(&capture, port: 40_000)
        capture.time = .max - 1_000_000_000
        exchange(&capture, port: 40_001)
        capture.time = 1_000
        exchange(&capture, port: 40_002)
        try screened(capture.bytes)
    }

    /// A message that remains incomplete is found although the peer goes on sending.
    @Test func incompleteRequestIsExamined() throws {
        var capture = Self.builder
        var connection = Connection(client: 40_000, server: 9_000)
        capture.open(connection)
        capture.send(&connection, .client, "POST / HTTP/1.1\r\nContent-Length: 100\r\n\r\nbegin")
        for _ in 0..<20 {
            capture.wait(milliseconds: 150)
            capture.send(&connection, .server, "HTTP/1.1 100 Continue\r\n\r\n")
            capture.packet(connection, .client, flags: 0x10)
        }
        capture.close(&connection)
        #expect(try screened(capture.bytes).flows.first?.findings.first?.id == .requestUnfinished)
    }

    @Test func slowDripIsExamined() throws {
        var capture = Self.builder
        var connection = Connection(client: 40_000, server: 9_000)
        capture.open(connection)
        capture.send(&connection, .client, "GET /long HTTP/1.1\r\n")
        for _ in 0..<30 {
            capture.wait(milliseconds: 400)
            capture.send(&connection, .client, "a")
            capture.packet(connection, .server, flags: 0x10)
        }
        capture.close(&connection)
        #expect(try screened(capture.bytes).flows.first?.findings.first?.id == .slowDrip)
    }

    @Test func tlsIsExamined() throws {
        var capture = Self.builder
        var connection = Connection(client: 40_000, server: 9_000)
        capture.open(connection)
        capture.send(&connection, .client, bytes: [22, 3, 1, 0, 4, 1, 0, 0, 0])
        capture.send(&connection, .server, bytes: [21, 3, 3, 0, 2, 2, 40])
        capture.close(&connection)
        #expect(try screened(capture.bytes).flows.first?.findings.first?.id == .tlsAlert)
    }

    /// A sender that fills a window of 16 KiB in each round trip of 20 ms, captured at either end.
    @Test(arguments: [false, true]) func limitingWindowIsExamined(isAtReceiver: Bool) throws {
        var capture = Self.builder
        var connection = Connection(client: 40_000, server: 9_000)
        capture.packet(connection, .client, flags: 0x02, skew: -1, window: 16_384)
        if !isAtReceiver { capture.wait(milliseconds: 20) }
        capture.packet(connection, .server, flags: 0x12, skew: -1, window: 16_384)
        if isAtReceiver { capture.wait(milliseconds: 20) }
        capture.packet(connection, .client, flags: 0x10, window: 16_384)
        for _ in 0..<80 {
            for _ in 0..<11 { capture.send(&connection, .client, bytes: [UInt8](repeating: 7, count: 1_460)) }
            if !isAtReceiver { capture.wait(milliseconds: 20) }
            capture.packet(connection, .server, flags: 0x10, window: 16_384)
            if isAtReceiver { capture.wait(milliseconds: 20) }
        }
        capture.close(&connection)
        #expect(try screened(capture.bytes).flows.first?.findings.isEmpty == false)
    }

    /// Other flows may affect what is found about several flows.
    @Test func failuresOfSeveralFlowsExamineAllFlows() throws {
        var capture = Self.builder
        exchange(&capture, port: 40_000)
        for port in 40_001..<40_005 as Range<UInt16> {
            let refused = Connection(client: port, server: 9_000)
            capture.packet(refused, .client, flags: 0x02, skew: -1)
            capture.packet(refused, .server, flags: 0x14, skew: -1)
        }
        let report = try screened(capture.bytes)
        #expect(report.healthyCount == 0)
        #expect(report.shared.contains { $0.finding.id == .connectionsRefusedUnderLoad })
    }

    /// Flows that pause together are no sign of a stall if other flows go on.
    @Test func suspectsThatPauseTogetherDoNotStall() throws {
        var capture = Self.builder
        var polls = (0..<3).map { Connection(client: 42_000 + UInt16($0), server: 9_000) }
        for index in polls.indices { capture.open(polls[index]) }
        for round in 0..<6 as Range<UInt16> {
            for index in polls.indices {
                for _ in 0..<3 {
                    capture.send(&polls[index], .client, "poll")
                    capture.send(&polls[index], .server, "none")
                }
                capture.packet(polls[index], .client, flags: 0x10)
            }
            for port in 0..<8 as Range<UInt16> { exchange(&capture, port: 43_000 + round * 10 + port) }
        }
        let report = try screened(capture.bytes)
        #expect(report.healthyCount == 48)
        #expect(report.shared.isEmpty)
    }

    // MARK: Random captures

    @Test(arguments: 1...12 as ClosedRange<UInt64>) func randomCapturesGiveTheSameFindings(seed: UInt64) throws {
        try screened(RandomCapture(seed: seed, segments: 1_500).bytes)
    }

    /// Flows that are healthy, or nearly so.
    @Test(arguments: 1...60 as ClosedRange<UInt64>) func mildCapturesGiveTheSameFindings(seed: UInt64) throws {
        try screened(MildCapture(seed: seed).bytes)
    }
}
