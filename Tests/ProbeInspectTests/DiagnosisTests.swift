import ProbeBase
import ProbeDiagnose
import ProbeInspect
import ProbeReport
import ProbeWire
import Testing

/// Tests findings on captures that are built packet by packet. `Tests/Diagnosis` tests all findings on real captures.
@Suite struct DiagnosisTests {
    /// A slow answer counts as the server's delay, but the time until the client's next request does not.
    @Test func slowAnswerIsFound() throws {
        let report = try diagnosis { capture, connection in
            capture.open(connection)
            capture.send(&connection, .client, "GET")
            capture.packet(connection, .server, flags: 0x10)
            capture.wait(milliseconds: 4_000)
            capture.send(&connection, .server, "answer")
            capture.packet(connection, .client, flags: 0x10)
            capture.close(&connection)
        }
        let flow = try #require(report.flows.first)
        let finding = try #require(flow.findings.first)
        #expect(finding.id == .slowServer && finding.severity == .warning && finding.certainty == .likely)
        #expect(finding.evidence == [4, 6])
        #expect(flow.budget[.serverThinks] / 1_000_000_000 == 3 || flow.budget[.serverThinks] / 1_000_000_000 == 4)
    }

    @Test func refusalIsFound() throws {
        let report = try diagnosis { capture, connection in
            capture.packet(connection, .client, flags: 0x02, skew: -1)
            capture.packet(connection, .server, flags: 0x14)
        }
        #expect(report.flows.first?.findings.map(\.id) == [.refused])
        #expect(report.flows.first?.budget[.handshake] == report.flows.first?.duration)
    }

    /// The window is 0, and the client's probes are answered with 0.
    @Test func closedWindowIsFound() throws {
        let report = try diagnosis { capture, connection in
            capture.open(connection)
            capture.stopReading(&connection)
        }
        let finding = try #require(report.flows.first?.findings.first)
        #expect(finding.id == .closedWindow && finding.severity == .problem && finding.certainty == .certain)
        #expect(finding.side == .server)
    }

    /// An exchange without a fault has nothing above a note, and its budget is exact.
    @Test func healthyExchangeHasNoWarning() throws {
        let report = try diagnosis(CaptureBuilder.greeting)
        let flow = try #require(report.flows.first)
        #expect(flow.findings.allSatisfy { $0.severity == .note })
        #expect(flow.budget.total == flow.duration)
    }

    /// A clock that is set from 1970 to today must not overflow anything.
    @Test func clockFrom1970IsNoTrap() throws {
        for isReset in [false, true] {
            var capture = CaptureBuilder()
            var connection = CaptureBuilder.Connection(client: 40_000, server: 80)
            capture.time = 1_000_000_000
            capture.open(connection)
            capture.send(&connection, .client, "GET")
            capture.time = 1_800_000_000_000_000_000
            if isReset {
                capture.packet(connection, .server, flags: 0x14)
            } else {
                capture.send(&connection, .server, "answer")
            }
            let report = try diagnosis(capture.bytes)
            let flow = try #require(report.flows.first)
            #expect(flow.budget.total == flow.duration)
            let text = DiagnosisText(width: 80, paint: .plain, isVerbose: false, isAbsolute: true).block(flow)
            #expect(text.contains("where the time went"))
        }
    }

    /// Times at the limits of their type must not overflow anything, whatever is computed from them.
    @Test(arguments: [
        [0, 1 << 63, UInt64.max, 0, 1 << 62], [UInt64.max, UInt64.max - 1, 0, UInt64.max, 5],
        [0, 5_000_000_000_000_000_000, 15_000_000_000_000_000_000, 15_000_000_000_000_000_001, 4],
    ])
    func extremeTimesAreNoTrap(_ times: [UInt64]) throws {
        for start in times.indices {
            var capture = CaptureBuilder()
            var connection = CaptureBuilder.Connection(client: 40_000, server: 80)
            let steps: [(inout CaptureBuilder, inout CaptureBuilder.Connection) -> Void] = [
                { $0.open($1) }, { $0.send(&$1, .client, "GET") }, { $0.packet($1, .server, flags: 0x10, window: 0) },
                { $0.send(&$1, .server, "answer") }, { $0.packet($1, .client, flags: 0x14) },
            ]
            for (index, step) in steps.enumerated() {
                capture.time = min(times[(start + index) % times.count], UInt64.max - 100_000)
                step(&capture, &connection)
            }
            for flow in try diagnosis(capture.bytes).flows { #expect(flow.budget.total == flow.duration) }
        }
    }

    /// Whatever a capture contains, the shares of each flow add up to its duration, and two threads find the same as
    /// one.
    @Test(arguments: 1...12)
    func sharesAddUp(seed: UInt64) throws {
        let folder = try TemporaryFolder()
        let path = try folder.write("capture", RandomCapture(seed: seed, segments: 2_000).bytes)
        let reports = try [1, 2].map {
            Inspection.diagnosing(try CaptureSource(path: path), workers: $0).diagnosis(ConnectionFilter())
        }
        #expect(!reports[0].flows.isEmpty)
        for flow in reports[0].flows {
            #expect(flow.budget.total == flow.duration)
            #expect(flow.budget.used.allSatisfy { $0.time > 0 })
        }
        let texts = reports.map { report in
            report.flows.map { DiagnosisJSON.line($0, file: "capture") } + [
                DiagnosisJSON.summary(report, file: "capture")
            ]
        }
        #expect(texts[0] == texts[1])
    }
}
