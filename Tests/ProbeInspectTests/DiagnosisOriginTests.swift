import ProbeBase
import ProbeDiagnose
import ProbeInspect
import ProbeReport
import ProbeWire
import Testing

/// Tests that `diagnose` finds out who sent a packet, who asks and who answers, and which flows belong together.
@Suite struct DiagnosisOriginTests {
    private func finding(_ id: FindingID, in report: DiagnosisReport) -> FlowFinding? {
        report.flows.first?.findings.first { $0.id == id }
    }

    /// Without a SYN, the ports show the roles. Only if they show nothing, the sender of the first packet is the client.
    @Test(arguments: [
        (UInt16(40_000), UInt16(80), true), (40_000, 5_432, true), (800, 2_049, true), (1_500, 3_306, false),
        (50_000, 40_000, false),
    ])
    func portsShowRolesWithoutSYN(client: UInt16, server: UInt16, areKnown: Bool) throws {
        let report = try diagnosis { capture, _ in
            var flow = CaptureBuilder.Connection(client: client, server: server)
            capture.send(&flow, .server, "an answer")
            capture.packet(flow, .client, flags: 0x10)
        }
        let flow = try #require(report.flows.first)
        #expect(flow.server.port == (areKnown ? server : client))
    }

    /// A client need not notice at once that the server has closed an idle connection, even if its protocol is unknown.
    @Test func idleConnectionWithoutBeginningIsPooled() throws {
        let report = try diagnosis { capture, connection in
            capture.send(&connection, .client, "a request")
            capture.send(&connection, .server, "an answer")
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

    /// If the beginning of a connection is missing and the server speaks first, the client answers.
    @Test(arguments: [true, false])
    func serverThatSpeaksFirstIsNotSlow(hasBeginning: Bool) throws {
        let report = try diagnosis { capture, connection in
            if hasBeginning { capture.open(connection) }
            for _ in 0..<4 {
                capture.send(&connection, .server, "a question")
                capture.send(&connection, .client, "an answer")
                capture.packet(connection, .server, flags: 0x10)
                capture.wait(milliseconds: 1_500)
            }
        }
        #expect((finding(.slowServer, in: report) != nil) == hasBeginning)
    }

    /// A reset alone shows nothing about its connection.
    @Test func resetAloneShowsNothing() throws {
        let report = try diagnosis { capture, connection in
            capture.packet(connection, .server, flags: 0x04)
        }
        #expect(report.flows.first?.findings.allSatisfy { $0.severity == .note } == true)
    }

    /// A small message after a long pause is no answer if the client replies to it with a message of the same length.
    @Test(arguments: [true, false])
    func pingOfServerIsNoSlowAnswer(isPing: Bool) throws {
        let report = try diagnosis(port: 1_194) { capture, connection in
            capture.open(connection)
            capture.send(&connection, .client, "a hello in some protocol")
            capture.send(&connection, .server, "a hello in the same protocol")
            capture.send(&connection, .client, "a message")
            capture.packet(connection, .server, flags: 0x10)
            capture.wait(milliseconds: 9_000)
            capture.send(&connection, .server, "ping")
            capture.send(&connection, .client, isPing ? "pong" : "another message")
            capture.packet(connection, .server, flags: 0x10)
        }
        #expect((finding(.slowServer, in: report) == nil) == isPing)
    }

    /// A device on the way that acknowledges data in the server's name does not show how long the path is.
    @Test(arguments: [true, false])
    func deviceThatAcknowledgesHidesPath(isFar: Bool) throws {
        let report = try diagnosis { capture, connection in
            capture.packet(connection, .client, flags: 0x02, skew: -1)
            capture.wait(milliseconds: 700)
            capture.packet(connection, .server, flags: 0x12, skew: -1)
            capture.packet(connection, .client, flags: 0x10)
            capture.send(&connection, .client, "a request")
            capture.packet(connection, .server, flags: 0x10)
            if isFar { capture.wait(milliseconds: 800) }
            capture.send(&connection, .server, "an answer")
            capture.packet(connection, .client, flags: 0x10)
        }
        #expect((finding(.slowHandshake, in: report)?.severity == .warning) == !isFar)
    }

    /// If the server never answers, the time until it closes shows how long the path behind such a device is.
    @Test(arguments: [true, false])
    func closeShowsPathBehindDevice(isFar: Bool) throws {
        let report = try diagnosis { capture, connection in
            capture.packet(connection, .client, flags: 0x02, skew: -1)
            capture.wait(milliseconds: 700)
            capture.packet(connection, .server, flags: 0x12, skew: -1)
            capture.packet(connection, .client, flags: 0x10)
            capture.send(&connection, .client, "a request")
            capture.packet(connection, .server, flags: 0x10)
            if isFar { capture.wait(milliseconds: 400) }
            capture.close(&connection)
        }
        #expect((finding(.slowHandshake, in: report)?.severity == .warning) == !isFar)
    }

    /// The answer began late, and the client closed in the middle of it.
    @Test func answerThatBeganLateIsTheServers() throws {
        let report = try diagnosis { capture, connection in
            capture.open(connection)
            capture.send(&connection, .client, "GET / HTTP/1.1\r\nHost: a.test\r\n\r\n")
            capture.packet(connection, .server, flags: 0x10)
            capture.wait(milliseconds: 800)
            capture.send(&connection, .server, "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nbegin")
            capture.packet(connection, .client, flags: 0x10)
            capture.wait(milliseconds: 200)
            capture.end(&connection, .client)
            capture.packet(connection, .server, flags: 0x10)
            capture.send(&connection, .server, "more")
            capture.packet(connection, .client, flags: 0x14)
        }
        let found = finding(.resetByClient, in: report)
        #expect(found?.side == .server && found?.certainty == .likely)
        #expect(found?.sentence.contains("its answer began only 800") == true)
    }

    /// A client that closes directly after its request does not do so because the answer is late.
    @Test func answerAfterImmediateCloseIsNotLate() throws {
        let report = try diagnosis { capture, connection in
            capture.open(connection)
            capture.send(&connection, .client, "a request")
            capture.end(&connection, .client)
            capture.packet(connection, .server, flags: 0x10)
            capture.wait(milliseconds: 800)
            capture.send(&connection, .server, "an answer")
            capture.packet(connection, .client, flags: 0x14)
        }
        #expect(finding(.resetByClient, in: report)?.side == .client)
    }

    /// After a usual timeout, the request may have been a long poll.
    @Test func usualTimeoutMayBeLongPoll() throws {
        let report = try diagnosis { capture, connection in
            capture.open(connection)
            capture.send(&connection, .client, "GET / HTTP/1.1\r\nHost: a.test\r\n\r\n")
            capture.packet(connection, .server, flags: 0x10)
            capture.wait(milliseconds: 30_000)
            capture.send(&connection, .server, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
            capture.packet(connection, .client, flags: 0x10)
            capture.close(&connection)
        }
        let found = finding(.slowServer, in: report)
        #expect(found?.severity == .warning && found?.certainty == .likely)
        #expect(found?.rivals.contains { $0.contains("long poll") } == true)
    }

    // MARK: TLS

    /// A TLS record. The second value is its first byte of content.
    private func record(_ type: UInt8, _ content: UInt8, length: UInt8) -> [UInt8] {
        [type, 3, 3, 0, length, content] + [UInt8](repeating: 0, count: Int(length) - 1)
    }

    /// A server that has answered before, and closes at once after an encrypted alert, says goodbye.
    @Test(arguments: [true, false])
    func alertBeforeCloseIsGoodbye(hasAnswered: Bool) throws {
        let report = try diagnosis(port: 443) { capture, connection in
            capture.open(connection)
            capture.send(&connection, .client, bytes: record(22, 1, length: 40))
            capture.send(&connection, .server, bytes: record(22, 2, length: 40))
            capture.send(&connection, .client, bytes: record(20, 1, length: 1) + record(22, 9, length: 40))
            capture.send(&connection, .server, bytes: record(20, 1, length: 1) + record(22, 9, length: 40))
            capture.send(&connection, .client, bytes: record(23, 9, length: 40))
            if hasAnswered {
                capture.send(&connection, .server, bytes: record(23, 9, length: 60))
                capture.send(&connection, .client, bytes: record(23, 9, length: 40))
            }
            capture.packet(connection, .server, flags: 0x10)
            capture.send(&connection, .server, bytes: record(21, 9, length: 26))
            capture.end(&connection, .server)
            capture.packet(connection, .client, flags: 0x10)
            capture.end(&connection, .client)
            capture.packet(connection, .server, flags: 0x10)
        }
        #expect((finding(.tlsAlert, in: report) == nil) == hasAnswered)
    }

    /// An alert that arrives after the server has closed is of no use to it, so the reset that answers the alert harms
    /// nobody. A request is lost.
    @Test(arguments: [true, false])
    func alertAfterCloseIsNoLoss(isAlert: Bool) throws {
        let report = try diagnosis(port: 443) { capture, connection in
            let finish = record(20, 1, length: 1) + record(22, 9, length: 40)
            capture.open(connection)
            capture.send(&connection, .client, bytes: record(22, 1, length: 40))
            capture.send(&connection, .server, bytes: record(22, 2, length: 40))
            capture.send(&connection, .client, bytes: finish)
            capture.send(&connection, .server, bytes: finish)
            capture.send(&connection, .client, bytes: record(23, 9, length: 40))
            capture.send(&connection, .server, bytes: record(23, 9, length: 60))
            capture.end(&connection, .server)
            capture.packet(connection, .client, flags: 0x10)
            capture.send(&connection, .client, bytes: record(isAlert ? 21 : 23, 9, length: isAlert ? 26 : 200))
            capture.packet(connection, .server, flags: 0x04)
        }
        #expect(finding(.resetByServer, in: report)?.severity == (isAlert ? .note : .problem))
    }

    /// Once both sides have finished the handshake, a client that waits before its first data does not stall it. If the
    /// handshake itself paused and went on, the pause is only a warning.
    @Test(arguments: [true, false])
    func pauseAfterHandshakeIsNoStall(isComplete: Bool) throws {
        let report = try diagnosis(port: 443) { capture, connection in
            let finish = record(20, 1, length: 1) + record(22, 9, length: 40)
            capture.open(connection)
            capture.send(&connection, .client, bytes: record(22, 1, length: 40))
            capture.send(&connection, .server, bytes: record(22, 2, length: 40))
            capture.packet(connection, .client, flags: 0x10)
            if !isComplete { capture.wait(milliseconds: 3_000) }
            capture.send(&connection, .client, bytes: finish)
            capture.send(&connection, .server, bytes: finish)
            capture.packet(connection, .client, flags: 0x10)
            if isComplete { capture.wait(milliseconds: 3_000) }
            capture.send(&connection, .client, bytes: record(23, 9, length: 40))
            capture.send(&connection, .server, bytes: record(23, 9, length: 60))
            capture.packet(connection, .client, flags: 0x10)
        }
        #expect(finding(.tlsHandshakeStalled, in: report)?.severity == (isComplete ? nil : .warning))
    }

    /// In the middle of a record, the side that spoke last is the one that stalls the handshake.
    @Test(arguments: [true, false])
    func restOfRecordIsMissing(isInside: Bool) throws {
        let report = try diagnosis(port: 443) { capture, connection in
            capture.open(connection)
            capture.send(&connection, .client, bytes: record(22, 1, length: 40))
            let answer = record(22, 2, length: 40)
            capture.send(&connection, .server, bytes: isInside ? Array(answer.dropLast(10)) : answer)
            capture.packet(connection, .client, flags: 0x10)
            capture.wait(milliseconds: 5_000)
            capture.end(&connection, .client)
            capture.packet(connection, .server, flags: 0x10)
        }
        let found = finding(.tlsHandshakeStalled, in: report)
        #expect(found?.side == (isInside ? .server : .client))
        #expect(finding(.requestUnfinished, in: report) == nil)
    }

    /// Data that is sent again unnecessarily does not hide where messages end.
    @Test func repeatedAnswerIsStillFollowed() throws {
        let answer = Array("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok".utf8)
        let report = try diagnosis { capture, connection in
            capture.open(connection)
            capture.send(&connection, .client, "GET / HTTP/1.1\r\nHost: a.test\r\n\r\n")
            let start = connection
            capture.send(&connection, .server, bytes: answer)
            capture.packet(connection, .client, flags: 0x10)
            capture.wait(milliseconds: 300)
            capture.packet(start, .server, flags: 0x18, payload: answer, identification: 2)
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

    // MARK: Other machines

    /// Two captures of one SYN-ACK, before and after a device changed its numbers.
    @Test func copyOfSYNACKIsNoWrongAnswer() throws {
        let report = try diagnosis { capture, connection in
            var other = connection
            other.serverBase &+= 0x2000_0000
            other.clientBase &+= 0x2000_0000
            capture.packet(connection, .client, flags: 0x02, skew: -1)
            capture.packet(other, .server, flags: 0x12, skew: -1, identification: 7)
            capture.packet(connection, .server, flags: 0x12, skew: -1, identification: 7)
            capture.packet(connection, .client, flags: 0x10)
            capture.send(&connection, .client, "a request")
            capture.packet(connection, .server, flags: 0x10, identification: 8)
        }
        #expect(finding(.wrongSYNAnswer, in: report) == nil)
    }

    /// A device that injects resets often sends several. None of them is an answer of the server.
    @Test func severalInjectedResetsAreNoWrongAnswer() throws {
        let report = try diagnosis { capture, connection in
            var other = connection
            other.clientBase += 5_000
            capture.packet(connection, .client, flags: 0x02, skew: -1)
            for _ in 0..<2 { capture.packet(other, .server, flags: 0x14, hopLimit: 50) }
            capture.packet(connection, .server, flags: 0x12, skew: -1)
            capture.packet(connection, .client, flags: 0x10)
            capture.send(&connection, .client, "a request")
            capture.packet(connection, .server, flags: 0x10)
            capture.send(&connection, .server, "an answer")
            capture.packet(connection, .client, flags: 0x10)
        }
        #expect(finding(.injectedReset, in: report) != nil && finding(.wrongSYNAnswer, in: report) == nil)
    }

    /// A server that accepts a SYN after it has refused an earlier one began to listen in the meantime. If it accepts the
    /// same SYN, another machine sent the reset.
    @Test(arguments: [true, false])
    func refusedSYNIsSentAgain(isSentAgain: Bool) throws {
        let report = try diagnosis { capture, connection in
            capture.packet(connection, .client, flags: 0x02, skew: -1)
            var refusing = connection
            refusing.serverBase = 0
            capture.packet(refusing, .server, flags: 0x14)
            if isSentAgain {
                capture.wait(milliseconds: 500)
                capture.packet(connection, .client, flags: 0x02, skew: -1)
            }
            capture.packet(connection, .server, flags: 0x12, skew: -1)
            capture.packet(connection, .client, flags: 0x10)
            capture.send(&connection, .client, "a request")
            capture.send(&connection, .server, "an answer")
            capture.packet(connection, .client, flags: 0x10)
        }
        #expect((finding(.injectedReset, in: report) == nil) == isSentAgain)
        #expect(finding(.refused, in: report)?.severity == (isSentAgain ? .warning : nil))
        #expect(finding(.synLost, in: report) == nil)
    }

    /// A reset beyond everything that the server has sent comes from a device that guesses.
    @Test(arguments: [true, false])
    func strayResetIsInjected(hasStray: Bool) throws {
        let report = try diagnosis { capture, connection in
            capture.open(connection)
            capture.send(&connection, .client, "a request")
            capture.packet(connection, .server, flags: 0x04, hopLimit: 20)
            if hasStray { capture.packet(connection, .server, flags: 0x04, skew: 12_503, hopLimit: 20) }
        }
        #expect(report.flows.first?.findings.first?.id == (hasStray ? .injectedReset : .resetByServer))
        #expect(report.flows.first?.findings.first?.certainty == .likely)
    }

    /// Some systems send resets with a hop limit of 255, and count the packets of all connections.
    @Test(arguments: [(UInt16(900), false), (40_000, true)])
    func otherInitialHopLimitIsTheServers(identification: UInt16, isInjected: Bool) throws {
        let report = try diagnosis { capture, connection in
            capture.open(connection)
            for text in ["one", "two", "three"] {
                capture.send(&connection, .server, text)
                capture.packet(connection, .client, flags: 0x10)
            }
            capture.packet(connection, .server, flags: 0x04, hopLimit: 255, identification: identification)
        }
        #expect((finding(.injectedReset, in: report) != nil) == isInjected)
    }

    // MARK: Several flows

    /// Flows that were busy only for a moment are idle most of the time, so their silence is no stall.
    @Test(arguments: [true, false])
    func onlyBusyFlowsStall(areBusy: Bool) throws {
        let report = try diagnosis { capture, _ in
            var connections = (0..<4).map { CaptureBuilder.Connection(client: 41_000 + UInt16($0), server: 80) }
            for connection in connections { capture.open(connection) }
            for pause: UInt64 in [700, 0] {
                for _ in 0..<(areBusy ? 50 : 2) {
                    for index in connections.indices {
                        capture.send(&connections[index], .client, "a request")
                        capture.send(&connections[index], .server, "an answer")
                    }
                    capture.wait(milliseconds: 20)
                }
                capture.wait(milliseconds: pause)
            }
        }
        #expect(report.shared.contains { $0.finding.id == .allFlowsStall } == areBusy)
    }

    /// SYNs with rising hop limits trace the route. The errors that they cause are no failures.
    @Test(arguments: [true, false])
    func tracedRouteIsNoFailure(isTraced: Bool) throws {
        let report = try diagnosis { capture, _ in
            for hop: UInt8 in 1...12 {
                let probe = CaptureBuilder.Connection(client: 41_000 + UInt16(hop), server: 80)
                capture.packet(probe, .client, flags: 0x02, skew: -1, hopLimit: isTraced ? hop : 64)
                capture.icmp(about: probe, .client, type: 11, code: 0, skew: -1)
                capture.wait(milliseconds: 1)
            }
        }
        #expect(report.shared.contains { $0.finding.id == .reconnectStorm } != isTraced)
        #expect(report.flows.allSatisfy { $0.findings.first?.severity == (isTraced ? .note : .problem) })
        #expect(report.flows.allSatisfy { $0.findings.first?.id == .icmpUnreachable })
    }

    /// A client that tries many ports of a host is reported once.
    @Test(arguments: [true, false])
    func manyFailedPortsAreScan(areRefused: Bool) throws {
        let report = try diagnosis { capture, _ in
            for port: UInt16 in 1...12 {
                let scanned = CaptureBuilder.Connection(client: 40_000, server: port)
                capture.packet(scanned, .client, flags: 0x02, skew: -1)
                if areRefused { capture.packet(scanned, .server, flags: 0x14) }
            }
        }
        let shared = try #require(report.shared.first)
        #expect(shared.finding.id == .portScan && shared.finding.side == .client && shared.flows.count == 12)
        #expect(report.flows.flatMap(\.findings).allSatisfy { $0.severity == .note || $0.partOf == .portScan })
    }

    /// A flood with false addresses need not be directed to one port.
    @Test(arguments: [true, false])
    func scatteredSYNsAreFlood(areFalse: Bool) throws {
        let report = try diagnosis { capture, _ in
            for number: UInt8 in 1...120 {
                var flow = CaptureBuilder.Connection(client: 40_000, server: 1_000 + UInt16(number))
                flow.host = areFalse ? number : 1
                capture.packet(flow, .client, flags: 0x02, skew: -1)
            }
        }
        #expect(report.shared.contains { $0.finding.id == .synFlood } == areFalse)
    }

    /// After a step of the clock, an interval is no evidence of a full queue.
    @Test func steppedClockShowsNoQueue() throws {
        let report = try diagnosis { capture, connection in
            capture.open(connection)
            capture.wait(milliseconds: 1_000)
            capture.send(&connection, .client, "a request")
            capture.packet(connection, .server, flags: 0x10)
            capture.time -= 3_000_000_000
            capture.packet(connection, .server, flags: 0x12, skew: -10)
        }
        #expect(finding(.acceptQueueFull, in: report) == nil && finding(.clockStepped, in: report) != nil)
    }
}
