import ProbeBase
import ProbeDiagnose
import ProbeInspect
import ProbeReport
import ProbeWire
import Testing

/// Tests what the diagnosis concludes from data that was sent more than once.
@Suite struct RepeatedDataTests {
    private static func flow(_ build: (inout CaptureBuilder, inout CaptureBuilder.Connection) -> Void) throws
        -> FlowDiagnosis
    {
        try #require(diagnosis(build).flows.first)
    }

    private static func all(_ flow: FlowDiagnosis) -> [FlowFinding] { flow.findings + flow.suppressed }

    /// The bytes of a SACK option with one block.
    private static func sack(_ start: UInt32, _ end: UInt32) -> [UInt8] {
        var bytes: [UInt8] = [1, 1, 5, 10]
        for value in [start, end] {
            for shift in [UInt32(24), 16, 8, 0] { bytes.append(UInt8(truncatingIfNeeded: value >> shift)) }
        }
        return bytes
    }

    private static let segment = [UInt8](repeating: 0x61, count: 1_000)

    /// Builds a capture in which the first of three segments is sent again after 300 ms.
    private static func repeating(
        request: Bool, isAnswered: Bool
    ) -> (inout CaptureBuilder, inout CaptureBuilder.Connection) -> Void {
        { capture, connection in
            capture.open(connection)
            let start = connection
            for _ in 0..<3 { capture.send(&connection, .server, bytes: segment) }
            capture.wait(milliseconds: 300)
            if request {
                capture.packet(
                    start, .client, flags: 0x10,
                    options: sack(connection.serverBase + 1_000, connection.serverBase + 3_000))
            }
            capture.packet(start, .server, flags: 0x18, payload: segment)
            if isAnswered { capture.packet(connection, .client, flags: 0x10) }
        }
    }

    /// The bytes of a timestamp option.
    private static func stamp(_ value: UInt32, echo: UInt32) -> [UInt8] {
        var bytes: [UInt8] = [1, 1, 8, 10]
        for number in [value, echo] {
            for shift in [UInt32(24), 16, 8, 0] { bytes.append(UInt8(truncatingIfNeeded: number >> shift)) }
        }
        return bytes
    }

    /// An acknowledgment that echoes the timestamp of the original shows that the original arrived (RFC 3522). If it
    /// echoes that of the retransmission, the original was lost.
    @Test(arguments: [true, false])
    func echoShowsWhichTransmissionArrived(isOriginal: Bool) throws {
        let flow = try Self.flow { capture, connection in
            capture.open(connection)
            let start = connection
            capture.packet(
                start, .server, flags: 0x18, payload: Self.segment, options: Self.stamp(1_000, echo: 1))
            capture.wait(milliseconds: 1_500)
            capture.packet(
                start, .server, flags: 0x18, payload: Self.segment, options: Self.stamp(2_500, echo: 1))
            connection.serverSent += UInt32(Self.segment.count)
            capture.wait(milliseconds: 20)
            capture.packet(
                connection, .client, flags: 0x10, options: Self.stamp(1_600, echo: isOriginal ? 1_000 : 2_500))
            capture.wait(milliseconds: 500)
        }
        let ids = Self.all(flow).map(\.id)
        #expect(ids.contains(.timeoutStall) == !isOriginal)
        #expect(ids.contains(.loss) == !isOriginal)
        #expect(ids.contains(.spuriousRetransmission) == isOriginal)
    }

    /// The packets of a timeout that turned out to be unnecessary are no evidence for another one.
    @Test func acquittedTimeoutLeavesNoEvidence() throws {
        let flow = try Self.flow { capture, connection in
            capture.open(connection)
            for (sent, isOriginal) in [(UInt32(1_000), true), (5_000, false)] {
                let start = connection
                for value in [sent, sent + 1_500] {
                    capture.packet(
                        start, .server, flags: 0x18, payload: Self.segment, options: Self.stamp(value, echo: 1))
                    if value == sent { capture.wait(milliseconds: 1_500) }
                }
                connection.serverSent += UInt32(Self.segment.count)
                capture.wait(milliseconds: 20)
                capture.packet(
                    connection, .client, flags: 0x10,
                    options: Self.stamp(sent + 600, echo: isOriginal ? sent : sent + 1_500))
                capture.wait(milliseconds: 500)
            }
        }
        let finding = try #require(Self.all(flow).first { $0.id == .timeoutStall })
        #expect(finding.evidence == [7, 8])
    }

    /// Nobody waits for a FIN that is sent again.
    @Test func repeatedFINIsNoStall() throws {
        let flow = try Self.flow { capture, connection in
            capture.open(connection)
            capture.send(&connection, .server, "bye")
            capture.packet(connection, .client, flags: 0x10)
            for _ in 0..<3 {
                capture.packet(connection, .server, flags: 0x11)
                capture.wait(milliseconds: 2_000)
            }
            capture.lose(&connection, .server, 1)
            capture.packet(connection, .client, flags: 0x10)
        }
        #expect(Self.all(flow).allSatisfy { $0.id != .timeoutStall || $0.severity == .note })
    }

    /// Data that did not reach the capture point was sent shortly before the packet that followed it.
    @Test func waitBeginsAtTheHole() throws {
        let flow = try Self.flow { capture, connection in
            capture.open(connection)
            capture.send(&connection, .server, bytes: Self.segment)
            capture.packet(connection, .client, flags: 0x10)
            capture.wait(milliseconds: 5_000)
            let start = connection
            capture.lose(&connection, .server, 1_000)
            capture.send(&connection, .server, bytes: Self.segment)
            capture.packet(start, .client, flags: 0x10)
            capture.wait(milliseconds: 700)
            capture.packet(start, .server, flags: 0x18, payload: Self.segment)
            capture.packet(connection, .client, flags: 0x10)
        }
        let finding = try #require(Self.all(flow).first { $0.id == .timeoutStall })
        guard case .seconds(let longest)? = finding.numbers.first(where: { $0.key == "longest" })?.value else {
            Issue.record("The finding lacks a number.")
            return
        }
        #expect(longest < 1_000_000_000)
    }

    /// Nagle's algorithm never holds back a full segment.
    @Test func waitBeforeFullSegmentIsNotNagles() throws {
        let flow = try Self.flow { capture, connection in
            let mss: [UInt8] = [2, 4, 4, 0xec]
            capture.packet(connection, .client, flags: 0x02, skew: -1, options: mss)
            capture.packet(connection, .server, flags: 0x12, skew: -1, options: [2, 4, 5, 0xb4])
            capture.packet(connection, .client, flags: 0x10)
            capture.packet(connection, .server, flags: 0x10, window: 65_000)
            for _ in 0..<6 {
                capture.send(&connection, .client, bytes: [UInt8](repeating: 0x61, count: 1_260))
                capture.send(&connection, .client, "the end of a message")
                capture.wait(milliseconds: 40)
                capture.packet(connection, .server, flags: 0x10, window: 65_000)
            }
            capture.send(&connection, .client, bytes: [UInt8](repeating: 0x61, count: 1_260))
        }
        let finding = try #require(Self.all(flow).first { $0.id == .nagleDelayedAck })
        #expect(finding.certainty == .likely && !finding.sentence.contains("Nagle"))
    }

    /// Packets that are missing elsewhere don't change what happened again and again.
    @Test func missingPacketsDontTouchOtherOccurrences() throws {
        let flow = try Self.flow { capture, connection in
            capture.open(connection)
            capture.packet(connection, .client, flags: 0x10, window: 65_000)
            for number in 0..<10 {
                capture.send(&connection, .server, "small")
                capture.wait(milliseconds: 40)
                capture.packet(connection, .client, flags: 0x10, window: 65_000)
                if number == 7 {
                    capture.lose(&connection, .server, 100)
                    capture.packet(connection, .client, flags: 0x10, window: 65_000)
                }
            }
        }
        #expect(flow.findings.contains { $0.id == .captureDroppedPackets })
        #expect(flow.findings.contains { $0.id == .nagleDelayedAck && $0.severity == .warning })
    }

    /// A SACK block makes the sender repeat a segment at once, however long ago it sent the segment.
    @Test func requestedSegmentIsNoTimeout() throws {
        let flow = try Self.flow(Self.repeating(request: true, isAnswered: true))
        #expect(!Self.all(flow).contains { $0.id == .timeoutStall })
        #expect(flow.budget[.timeout] == 0)
    }

    @Test func silenceIsTimeout() throws {
        let flow = try Self.flow(Self.repeating(request: false, isAnswered: true))
        let finding = try #require(Self.all(flow).first { $0.id == .timeoutStall })
        #expect(finding.certainty == .certain)
        #expect(flow.budget[.timeout] >= 195_000_000)
    }

    /// If the data is never acknowledged, the peer may have vanished.
    @Test func unansweredTimeoutIsNotCertain() throws {
        let flow = try Self.flow(Self.repeating(request: false, isAnswered: false))
        let finding = try #require(Self.all(flow).first { $0.id == .timeoutStall })
        #expect(finding.certainty == .likely && finding.rivals.contains("a peer that vanished"))
    }

    @Test func threeSendsInTenSecondsAreSilence() throws {
        let flow = try Self.flow { capture, connection in
            capture.open(connection)
            for _ in 0..<3 {
                capture.packet(connection, .client, flags: 0x18, payload: Array("GET".utf8))
                capture.wait(milliseconds: 5_500)
            }
        }
        #expect(flow.findings.first?.id == .vanished && flow.findings.first?.certainty == .likely)
    }

    /// A client that reports that it received the SYN-ACK twice has lost nothing.
    @Test func repeatedSYNWasNotLost() throws {
        let flow = try Self.flow { capture, connection in
            capture.packet(connection, .client, flags: 0x02, skew: -1)
            capture.packet(connection, .server, flags: 0x12, skew: -1)
            capture.wait(milliseconds: 400)
            capture.packet(connection, .server, flags: 0x12, skew: -1)
            capture.packet(connection, .client, flags: 0x10)
            let base = connection.serverBase
            capture.packet(connection, .client, flags: 0x10, options: Self.sack(base - 1, base))
            capture.send(&connection, .client, "GET")
            capture.packet(connection, .server, flags: 0x10)
        }
        #expect(!Self.all(flow).contains { $0.id == .synLost })
        #expect(Self.all(flow).contains { $0.id == .spuriousRetransmission && $0.severity == .note })
    }

    /// A repeated FIN is not a lost packet of data.
    @Test func repeatedFINIsNoLoss() throws {
        let flow = try Self.flow { capture, connection in
            capture.open(connection)
            capture.send(&connection, .server, "bye")
            capture.packet(connection, .client, flags: 0x10)
            for _ in 0..<4 {
                capture.packet(connection, .server, flags: 0x11)
                capture.wait(milliseconds: 300)
            }
        }
        #expect(!Self.all(flow).contains { $0.id == .loss })
    }

    /// A device that changes sequence numbers, captured on both of its sides, is no reason to doubt the connection.
    @Test(arguments: [true, false])
    func translatedCopiesAreCapturedTwice(isClosed: Bool) throws {
        let flow = try Self.flow { capture, connection in
            capture.open(connection)
            for text in ["one", "two", "three"] {
                var translated = connection
                translated.serverBase &+= 0x2000_0000
                capture.send(&connection, .server, text)
                capture.packet(translated, .server, flags: 0x18, payload: Array(text.utf8))
                capture.packet(connection, .client, flags: 0x10)
                capture.wait(milliseconds: 20)
            }
            if isClosed { capture.close(&connection) }
        }
        #expect(flow.findings.contains { $0.id == .capturedTwice })
        #expect(flow.findings.allSatisfy { $0.severity == .note })
    }

    /// The same IP identification shows that a packet was captured again after several routers, not sent again.
    @Test(arguments: [true, false])
    func copiesBehindRoutersAreNoLosses(areCopies: Bool) throws {
        let flow = try Self.flow { capture, connection in
            capture.open(connection)
            for number: UInt16 in 10..<20 {
                let start = connection
                capture.packet(connection, .server, flags: 0x18, payload: Self.segment, identification: number)
                capture.packet(
                    start, .server, flags: 0x18, payload: Self.segment, hopLimit: 62,
                    identification: areCopies ? number : number + 100)
                capture.lose(&connection, .server, UInt32(Self.segment.count))
                capture.packet(connection, .client, flags: 0x10)
                capture.wait(milliseconds: 20)
            }
        }
        #expect(flow.findings.contains { $0.id == .capturedTwice } == areCopies)
        #expect(Self.all(flow).contains { $0.id == .loss || $0.id == .spuriousRetransmission } != areCopies)
    }

    /// A back-off series shows that no acknowledgment arrived, even if the other direction was not captured.
    @Test(arguments: [false, true])
    func unansweredSeriesOfOneDirectionIsPossible(isClosed: Bool) throws {
        let flow = try Self.flow { capture, connection in
            for wait in [UInt64(200), 400, 800, 1_600, 0] {
                capture.packet(
                    connection, .client, flags: isClosed && wait == 0 ? 0x19 : 0x18, payload: Self.segment)
                capture.wait(milliseconds: wait)
            }
        }
        let finding = try #require(flow.findings.first { $0.id == .vanished })
        #expect(finding.severity == .note && finding.certainty == .possible)
    }

    /// A large packet never arrives, and its data comes in small pieces after a timeout.
    @Test func pieceOfLargePacketShowsBlackHole() throws {
        let flow = try Self.flow { capture, connection in
            capture.packet(connection, .client, flags: 0x02, skew: -1, options: [2, 4, 5, 0xb4])
            capture.packet(connection, .server, flags: 0x12, skew: -1, options: [2, 4, 5, 0xb4])
            capture.packet(connection, .client, flags: 0x10)
            capture.send(&connection, .client, "GET")
            let start = connection
            capture.lose(&connection, .server, 1_460)
            capture.send(&connection, .server, bytes: [UInt8](repeating: 0x62, count: 500))
            capture.packet(start, .client, flags: 0x10)
            capture.wait(milliseconds: 2_000)
            var next = start
            for size in [536, 536, 388] {
                capture.send(&next, .server, bytes: [UInt8](repeating: 0x63, count: size))
                capture.packet(next, .client, flags: 0x10)
            }
            capture.packet(connection, .client, flags: 0x10)
        }
        let finding = try #require(flow.findings.first)
        #expect(finding.id == .mtuBlackHole && finding.certainty == .likely && finding.side == .pathToClient)
    }

    /// A large packet that arrived in the end, in its full size, did not meet a black hole. If its data was sent again in
    /// a smaller packet, that packet may be the one that arrived.
    @Test(arguments: [false, true])
    func largePacketThatArrivesIsNoBlackHole(isSplit: Bool) throws {
        let large = [UInt8](repeating: 0x61, count: 1_460)
        let flow = try Self.flow { capture, connection in
            capture.packet(connection, .client, flags: 0x02, skew: -1, options: [2, 4, 5, 0xb4])
            capture.packet(connection, .server, flags: 0x12, skew: -1, options: [2, 4, 5, 0xb4])
            capture.packet(connection, .client, flags: 0x10)
            capture.send(&connection, .client, "GET")
            capture.packet(connection, .server, flags: 0x10)
            let start = connection
            capture.send(&connection, .client, bytes: large)
            for wait in [UInt64(300), 600] {
                capture.wait(milliseconds: wait)
                capture.packet(start, .client, flags: 0x18, payload: large)
            }
            if isSplit { capture.packet(start, .client, flags: 0x18, payload: Array(large.prefix(536))) }
            capture.wait(milliseconds: 100)
            capture.packet(connection, .server, flags: 0x10)
        }
        #expect(flow.findings.contains { $0.id == .mtuBlackHole } == isSplit)
    }

    /// A sender that sends small segments although others are outstanding does not use Nagle's algorithm.
    @Test(arguments: [false, true])
    func smallSegmentsInFlightRefuteNagle(areInFlight: Bool) throws {
        let flow = try Self.flow { capture, connection in
            capture.open(connection)
            capture.packet(connection, .client, flags: 0x10, window: 65_000)
            for _ in 0..<4 {
                capture.send(&connection, .server, "small")
                if areInFlight { capture.send(&connection, .server, "small") }
                capture.wait(milliseconds: 40)
                capture.packet(connection, .client, flags: 0x10, window: 65_000)
            }
            capture.send(&connection, .server, "small")
        }
        #expect(Self.all(flow).contains { $0.id == .nagleDelayedAck } == !areInFlight)
        #expect((flow.budget[.nagle] > 0) == !areInFlight)
        #expect(flow.budget.total == flow.duration)
    }

    /// A retransmission timer takes at least 195 ms to expire, whatever the capture contains.
    @Test(arguments: 1...12)
    func timeoutsTakeTime(seed: UInt64) throws {
        let folder = try TemporaryFolder()
        let path = try folder.write("capture", RandomCapture(seed: seed, segments: 2_000).bytes)
        let report = Inspection.diagnosing(try CaptureSource(path: path)).diagnosis(ConnectionFilter())
        for finding in report.flows.flatMap(Self.all) where finding.id == .timeoutStall {
            let numbers = Dictionary(uniqueKeysWithValues: finding.numbers.map { ($0.key, $0.value) })
            guard case .seconds(let time)? = numbers["timeout"], case .seconds(let longest)? = numbers["longest"],
                case .integer(let count)? = numbers["timeouts"]
            else {
                Issue.record("The finding lacks a number.")
                continue
            }
            #expect(Int(time) >= Int(count) * 195_000_000 && time >= longest)
        }
    }
}
