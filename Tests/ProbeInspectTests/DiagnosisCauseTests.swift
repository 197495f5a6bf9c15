import ProbeBase
import ProbeDiagnose
import ProbeInspect
import ProbeReport
import ProbeWire
import Testing

/// Tests that `diagnose` names no cause, and no side, that the packets don't show.
@Suite struct DiagnosisCauseTests {
    private static let request = "GET / HTTP/1.1\r\nHost: a.test\r\n\r\n"
    private static let answer = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"

    private func finding(_ id: FindingID, in report: DiagnosisReport) -> FlowFinding? {
        report.flows.first?.findings.first { $0.id == id }
    }

    /// Only an answer to a request whose end is known is certainly an answer.
    @Test(arguments: [true, false])
    func slowAnswerIsCertainOnlyForHTTP(isHTTP: Bool) throws {
        let report = try diagnosis { capture, connection in
            capture.open(connection)
            capture.send(&connection, .client, isHTTP ? Self.request : "SELECT 1;")
            capture.packet(connection, .server, flags: 0x10)
            capture.wait(milliseconds: 4_000)
            capture.send(&connection, .server, isHTTP ? Self.answer : "one row")
            capture.packet(connection, .client, flags: 0x10)
            capture.close(&connection)
        }
        let found = finding(.slowServer, in: report)
        #expect(found?.severity == .warning && found?.certainty == (isHTTP ? .certain : .likely))
    }

    /// The keep-alives that both sides of a BGP session send are no answers.
    @Test func keepAlivesOfApplicationsAreNoAnswers() throws {
        let report = try diagnosis(port: 179) { capture, connection in
            capture.open(connection)
            for wait: UInt64 in [10, 10, 60_000, 60_000] {
                capture.send(&connection, .client, "a keep-alive of BGP")
                capture.packet(connection, .server, flags: 0x10)
                capture.wait(milliseconds: wait)
                capture.send(&connection, .server, "a keep-alive of BGP")
                capture.packet(connection, .client, flags: 0x10)
            }
        }
        #expect(finding(.slowServer, in: report) == nil)
    }

    /// Packets that are missing before a window closes don't change what the later packets show.
    @Test func missingPacketsWeakenOnlyWhatTheyTouch() throws {
        let report = try diagnosis { capture, connection in
            capture.open(connection)
            capture.send(&connection, .client, "GET")
            capture.lose(&connection, .server, 100)
            capture.packet(connection, .client, flags: 0x10)
            capture.wait(milliseconds: 100)
            capture.stopReading(&connection)
        }
        let findings = try #require(report.flows.first).findings
        #expect(findings.first?.id == .closedWindow)
        #expect(findings.first?.severity == .problem && findings.first?.certainty == .certain)
        #expect(findings.contains { $0.id == .captureDroppedPackets })
    }

    /// Data that is never acknowledged and never sent again shows that the capture of the flow has ended, so that what
    /// follows is no silence.
    @Test(arguments: [true, false])
    func endOfExcerptIsNoSilence(isExcerpt: Bool) throws {
        let report = try diagnosis { capture, connection in
            capture.open(connection)
            capture.send(&connection, .client, Self.request)
            capture.send(&connection, .server, "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nok")
            capture.packet(connection, .client, flags: 0x10)
            if isExcerpt { capture.send(&connection, .client, Self.request) }
            capture.wait(milliseconds: 30_000)
            capture.open(CaptureBuilder.Connection(client: 40_001, server: 80))
        }
        #expect((finding(.requestUnfinished, in: report) == nil) == isExcerpt)
    }

    /// A SYN whose length is wrong has no data unless it has the option of Fast Open, or its data was captured.
    @Test func dataOfSYNMustBeKnown() throws {
        let report = try diagnosis { capture, connection in
            capture.packet(
                connection, .client, flags: 0x02, payload: [UInt8](repeating: 0x61, count: 12), skew: -1, cut: 12)
            capture.packet(connection, .server, flags: 0x12, skew: -1)
            capture.packet(connection, .client, flags: 0x10)
            capture.close(&connection)
        }
        #expect(finding(.fastOpenRejected, in: report) == nil)
    }

    /// Connections that are opened at the same time are no reaction to a failure.
    @Test(arguments: [true, false])
    func stormNeedsReconnections(isParallel: Bool) throws {
        let report = try diagnosis { capture, connection in
            let connections = (0..<12).map { CaptureBuilder.Connection(client: 41_000 + UInt16($0), server: 80) }
            if isParallel { for connection in connections { capture.open(connection) } }
            for connection in connections {
                if !isParallel { capture.open(connection) }
                capture.packet(connection, .server, flags: 0x14)
            }
        }
        #expect(report.shared.contains { $0.finding.id == .reconnectStorm } == !isParallel)
    }

    /// A server that waits for the first data, or misses an ACK, also repeats its SYN-ACK.
    @Test func repeatedSYNACKAloneIsNote() throws {
        let report = try diagnosis { capture, connection in
            capture.open(connection)
            capture.wait(milliseconds: 1_000)
            capture.packet(connection, .server, flags: 0x12, skew: -1)
            capture.packet(connection, .client, flags: 0x10)
            capture.wait(milliseconds: 100)
            capture.send(&connection, .client, "GET")
            capture.packet(connection, .server, flags: 0x10)
        }
        #expect(finding(.acceptQueueFull, in: report)?.severity == .note)
    }

    /// Without a SYN, the roles of the two sides are not certain.
    @Test func assumedRolesAreNotCertain() throws {
        let report = try diagnosis { capture, connection in
            capture.send(&connection, .client, bytes: [UInt8](repeating: 0x61, count: 512))
            capture.packet(connection, .server, flags: 0x10, window: 0)
            for _ in 0..<5 {
                capture.wait(milliseconds: 400)
                capture.packet(connection, .client, flags: 0x10, skew: -1)
                capture.packet(connection, .server, flags: 0x10, window: 0)
            }
        }
        let found = finding(.closedWindow, in: report)
        #expect(found?.severity == .problem && found?.certainty == .likely)
    }

    /// A client repeats a SYN that was answered with a challenge ACK, although the SYN was not lost.
    @Test func answeredSYNIsNotLost() throws {
        let report = try diagnosis { capture, connection in
            var older = connection
            older.clientBase += 5_000
            capture.packet(connection, .client, flags: 0x02, skew: -1)
            capture.packet(older, .server, flags: 0x10)
            capture.wait(milliseconds: 1_000)
            capture.packet(connection, .client, flags: 0x02, skew: -1)
            capture.packet(connection, .server, flags: 0x12, skew: -1)
            capture.packet(connection, .client, flags: 0x10)
            capture.close(&connection)
        }
        #expect(finding(.wrongSYNAnswer, in: report) != nil)
        #expect(finding(.synLost, in: report) == nil)
    }

    /// A handshake that takes as long as later round trips shows a long path, not a slow server.
    @Test func longPathIsNoSlowHandshake() throws {
        let report = try diagnosis { capture, connection in
            capture.packet(connection, .client, flags: 0x02, skew: -1)
            capture.wait(milliseconds: 1_200)
            capture.packet(connection, .server, flags: 0x12, skew: -1)
            capture.packet(connection, .client, flags: 0x10)
            capture.send(&connection, .client, Self.request)
            capture.wait(milliseconds: 1_200)
            capture.send(&connection, .server, Self.answer)
            capture.packet(connection, .client, flags: 0x10)
        }
        #expect(report.flows.first?.findings.allSatisfy { $0.severity == .note } == true)
        #expect(finding(.slowHandshake, in: report)?.side == .pathToServer)
    }

    /// The time to a refusal begins with the SYN that it answers.
    @Test func eachSYNHasItsOwnRefusal() throws {
        let report = try diagnosis { capture, connection in
            for _ in 0..<3 {
                capture.packet(connection, .client, flags: 0x02, skew: -1)
                capture.packet(connection, .server, flags: 0x14)
                capture.wait(milliseconds: 500)
            }
        }
        let found = finding(.refused, in: report)
        #expect(found?.sentence.contains("each of 3 SYNs with a reset within 10 us") == true)
    }

    /// The client gives up after a second, and resets the connection when the answer arrives.
    @Test func lateAnswerIsTheServers() throws {
        let report = try diagnosis { capture, connection in
            capture.open(connection)
            capture.send(&connection, .client, Self.request)
            capture.packet(connection, .server, flags: 0x10)
            capture.wait(milliseconds: 1_000)
            capture.end(&connection, .client)
            capture.packet(connection, .server, flags: 0x10)
            capture.wait(milliseconds: 20)
            capture.send(&connection, .server, Self.answer)
            capture.packet(connection, .client, flags: 0x14)
        }
        let found = finding(.resetByClient, in: report)
        #expect(found?.side == .server && found?.sentence.contains("after the request") == true)
        let thinking = try #require(report.flows.first).budget[.serverThinks]
        #expect(thinking > 1_000_000_000)
    }

    /// A client notices that the server has closed an idle connection when it uses the connection again.
    @Test func pooledConnectionIsNote() throws {
        let report = try diagnosis { capture, connection in
            capture.open(connection)
            capture.send(&connection, .client, Self.request)
            capture.send(&connection, .server, Self.answer)
            capture.packet(connection, .client, flags: 0x10)
            capture.wait(milliseconds: 5_000)
            capture.end(&connection, .server)
            capture.packet(connection, .client, flags: 0x10)
            capture.wait(milliseconds: 4_000)
            capture.end(&connection, .client)
            capture.packet(connection, .server, flags: 0x10)
        }
        #expect(finding(.halfClosed, in: report)?.severity == .note)
    }

    /// A person who types is no slow client.
    @Test(arguments: [
        (UInt16(23), "a request that is longer than a command", FindingSeverity.note),
        (2_323, "l", .note), (2_323, "a request that is longer than a command", .warning),
    ])
    func typingIsNote(port: UInt16, request: String, severity: FindingSeverity) throws {
        let report = try diagnosis(port: port) { capture, connection in
            capture.open(connection)
            for _ in 0..<5 {
                capture.send(&connection, .client, request)
                capture.send(&connection, .server, "an answer")
                capture.packet(connection, .client, flags: 0x10)
                capture.wait(milliseconds: 900)
            }
            capture.close(&connection)
        }
        #expect(finding(.slowClient, in: report)?.severity == severity)
    }

    /// The refusals that a port scan causes share a block.
    @Test func refusalsOfPortScanAreGrouped() throws {
        let report = try diagnosis { capture, connection in
            for port: UInt16 in 1...5 {
                let scanned = CaptureBuilder.Connection(client: 40_000, server: port)
                capture.packet(scanned, .client, flags: 0x02, skew: -1)
                capture.packet(scanned, .server, flags: 0x14)
            }
            capture.open(connection)
        }
        #expect(report.groups.map(\.count).max() == 5)
        let group = try #require(report.groups.first { $0.count == 5 })
        let text = DiagnosisText(width: 200, paint: .plain, isVerbose: false, isAbsolute: false).block(group)
        #expect(text.contains("also 4 flows from 127.0.0.1 to 127.0.0.1 with the same finding: 1, 2, 3, 4"))
    }

    /// A copy of a SYN does not show that the client received anything.
    @Test func copiedSYNIsStillNotAnswered() throws {
        let report = try diagnosis { capture, connection in
            capture.packet(connection, .client, flags: 0x02, skew: -1)
            capture.packet(connection, .client, flags: 0x02, skew: -1)
            capture.wait(milliseconds: 1_000)
            capture.packet(connection, .client, flags: 0x02, skew: -1)
        }
        #expect(report.flows.first?.findings.map(\.id) == [.noAnswer])
        #expect(finding(.noAnswer, in: report)?.severity == .problem)
    }
}
