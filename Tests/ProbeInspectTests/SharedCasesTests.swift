import Glibc
import ProbeBase
import ProbeEvents
import ProbeInspect
import ProbeScenario
import ProbeWire
import Testing

private let sharedCases: String? = ["../shared/cases/captures/", "shared/cases/captures/"].first {
    (path: String) in access(path, R_OK) == 0
}

/// Tests with captures from other projects that were once judged incorrectly. The captures are in a folder next to the
/// project.
@Suite(.enabled(if: sharedCases != nil, "there are no case captures next to the project"))
struct SharedCasesTests {
    private func inspect(_ name: String, limits: ConversationLimits = .live) throws -> Inspection {
        Inspection.of(try CaptureSource(path: (sharedCases ?? "") + name), limits: limits)
    }

    private func verdicts(_ text: String, _ name: String, flow: Int) throws -> [Verdict] {
        let list = try WireCheck.parse(path: "a", bytes: Array(text.utf8), framing: .crlf) { (_) throws(LoadError) in
            throw .notFound
        }.get()
        let run = CheckRun(list.checks, on: try inspect(name), filter: ConnectionFilter(number: flow))
        return run.outcomes.map(\.verdict)
    }

    struct Row: Sendable {
        var name: String
        var flow = 0
        var bytes: [Int64]
        var handshake: ConnectionReport.Handshake
        var close: String
        var anomalies: [String: Int] = [:]
    }

    @Test(arguments: [
        Row(name: "01-multiple-synack.pcapng", bytes: [517, 5_427], handshake: .partlyCaptured, close: "open"),
        Row(
            name: "02-multiple-synack-tfo.pcap", bytes: [839, 6_068], handshake: .complete,
            close: "server FIN, client FIN, client RST"),
        Row(
            name: "04-client-side-only.pcapng", flow: 3, bytes: [1_174, 0], handshake: .partlyCaptured, close: "open"),
        Row(
            name: "13-printer-tlp.pcapng", bytes: [119_352, 106], handshake: .complete, close: "open",
            anomalies: ["retransmissions": 2, "tail-loss-probes": 0]),
        Row(
            name: "15-tlp-counted-twice.pcap.gz", bytes: [216, 0], handshake: .complete,
            close: "client FIN, server FIN",
            anomalies: ["retransmissions": 6, "tail-loss-probes": 0, "retransmissions-or-probes": 0]),
        Row(
            name: "19-ignored-rst.pcap", bytes: [338, 79], handshake: .complete,
            close: "server RST (ignored), client RST (ignored)"),
    ])
    func flowIsReadCorrectly(row: Row) throws {
        let report = try inspect(row.name).report(row.flow)
        #expect(ConversationSide.allCases.map { report.bytes(from: $0) } == row.bytes)
        #expect(report.handshake == row.handshake && report.closeText == row.close)
        for (id, count) in row.anomalies {
            #expect((report.anomalies.first { $0.id == id }?.count ?? 0) == count, "\(id)")
        }
    }

    @Test(arguments: [
        ("04-client-side-only.pcapng", 3, "wire no rst", Verdict.inconclusive),
        ("04-client-side-only.pcapng", 3, "wire handshake complete", .inconclusive),
        ("04-client-side-only.pcapng", 2, "wire no retransmission", .inconclusive),
        ("04-client-side-only.pcapng", 2, "wire client -> server sacks >= 1", .passed),
        ("13-printer-tlp.pcapng", 0, "wire client -> server retransmissions 2", .passed),
        ("19-ignored-rst.pcap", 0, "wire no rst", .failed),
        ("19-ignored-rst.pcap", 0, "wire rst from server", .inconclusive),
        ("21-syn-retransmission-called-fin.pcapng", 0, "wire client -> server retransmissions 0", .failed),
    ])
    func statementHasTheCorrectVerdict(name: String, flow: Int, text: String, verdict: Verdict) throws {
        #expect(try verdicts(text, name, flow: flow) == [verdict])
    }

    /// A packet that was captured on both sides of a router was not sent twice.
    @Test func packetsOnBothSidesOfARouterAreDuplicates() throws {
        let report = try inspect("17-captured-twice.pcap.gz").report(0)
        let copies = report.anomalies.first { $0.id == "captured-twice" }?.count ?? 0
        #expect(copies > 450)
        #expect(report.conversation.packetCount + copies == 1_458)
    }

    @Test func retransmittedSYNIsNamed() throws {
        let flow = try inspect("21-syn-retransmission-called-fin.pcapng").report(0).conversation
        guard case .failed(let failure) = flow.judge(.noRetransmission) else {
            Issue.record("the statement did not fail")
            return
        }
        let details = failure.details
        #expect(details.count == 2 && details.allSatisfy { $0.hasSuffix("retransmission, SYN") })
    }
}
