import ProbeBase
import ProbeWire
import Testing

struct ClassificationTests {
    /// Returns options with a timestamp.
    private func stamp(_ value: UInt32, echo: UInt32) -> TCPOptions {
        var options = TCPOptions()
        options.timestamp = TCPTimestamp(value: value, echo: echo)
        return options
    }

    /// Returns options with a DSACK block, which reports that the given bytes arrived twice.
    private func duplicate(_ connection: TestConnection, from start: Int, to end: Int) -> TCPOptions {
        var options = TCPOptions()
        let base = SequenceNumber(connection.serverISN) + 1
        options.sack.append(SACKBlock(start: base + start, end: base + end))
        return options
    }

    /// Linux sends the last segment again if the peer's program does not read. The peer's response shows that the
    /// original had arrived.
    @Test func repeatedLastSegmentIsATailLossProbe() {
        var connection = TestConnection.connected(serverISN: 0xffff_fffd)
        connection.send(.server, at: 0, "abc")
        connection.send(.server, at: 3, "def")
        connection.wait(5)
        #expect(connection.send(.server, at: 3, "def").kind == .tailLossProbe)
        connection.send(.client, at: 0, ack: 6, options: duplicate(connection, from: 3, to: 6))
        #expect(connection.conversation.judge(.noRetransmission) == .passed)
        #expect(connection.conversation.fromServer.repeats.map(\.kind) == [.tailLossProbe])
        #expect(connection.judge(.segmentCount(.equal, 2)) == .passed)
    }

    /// If the peer's response acknowledges only the probe, the original was lost.
    @Test func probeThatRepairedALossIsARetransmission() {
        var connection = TestConnection.connected()
        connection.send(.server, at: 0, "abc", options: stamp(100, echo: 1))
        connection.send(.server, at: 3, "def", options: stamp(100, echo: 1))
        connection.send(.client, at: 0, ack: 3, options: stamp(2, echo: 100))
        connection.wait(5)
        connection.send(.server, at: 3, "def", options: stamp(105, echo: 2))
        connection.send(.client, at: 0, ack: 6, options: stamp(7, echo: 105))
        #expect(connection.conversation.fromServer.repeats.map(\.kind) == [.retransmission])
        #expect(connection.conversation.judge(.noRetransmission).outcome == .failed)
        #expect(connection.judge(.retransmissions(.equal, 1)) == .passed)
    }

    /// The acknowledgment of the original crosses the probe, and no DSACK ever arrives. This exchange was captured
    /// while the receiving program was busy.
    @Test(arguments: [nil, 100] as [UInt32?])
    func acknowledgmentMayCrossTheProbe(echo: UInt32?) {
        var connection = TestConnection.connected()
        connection.send(.server, at: 0, "abcdef", options: stamp(100, echo: 1))
        connection.wait(5)
        #expect(connection.send(.server, at: 3, "def", options: stamp(105, echo: 1)).kind == .tailLossProbe)
        connection.send(.client, at: 0, ack: 6, options: echo.map { stamp(7, echo: $0) } ?? TCPOptions())
        connection.send(.server, at: 6, "ghi", options: stamp(105, echo: 7))
        connection.send(.client, at: 0, ack: 9, options: stamp(7, echo: 105))
        #expect(connection.conversation.fromServer.repeats.map(\.kind) == [.tailLossProbe])
        // Without timestamps, it is unknown which of the two segments was acknowledged.
        #expect(connection.conversation.judge(.noRetransmission).outcome == (echo == nil ? .inconclusive : .passed))
    }

    /// The first response to the probe has no DSACK, but the second response has one, which shows that the original had
    /// arrived.
    @Test func laterDSACKConfirmsTheProbe() {
        var connection = TestConnection.connected()
        connection.send(.server, at: 0, "abc", options: stamp(100, echo: 1))
        connection.wait(5)
        connection.send(.server, at: 0, "abc", options: stamp(105, echo: 1))
        connection.send(.client, at: 0, ack: 3, options: stamp(2, echo: 105))
        #expect(connection.conversation.judge(.noRetransmission).outcome == .failed)
        connection.send(.client, at: 0, ack: 3, options: duplicate(connection, from: 0, to: 3))
        #expect(connection.conversation.judge(.noRetransmission) == .passed)
        #expect(connection.conversation.fromServer.retransmissionCount == 0)
    }

    @Test func tailHasOneProbe() {
        var connection = TestConnection.connected()
        connection.send(.server, at: 0, "abc")
        connection.wait(5)
        #expect(connection.send(.server, at: 0, "abc").kind == .tailLossProbe)
        connection.wait(200)
        #expect(connection.send(.server, at: 0, "abc").kind == .retransmission)
        connection.send(.server, at: 3, "def")
        connection.wait(5)
        #expect(connection.send(.server, at: 3, "def").kind == .retransmission)
        connection.send(.client, at: 0, ack: 6)
        connection.send(.server, at: 6, "ghi")
        connection.wait(5)
        #expect(connection.send(.server, at: 6, "ghi").kind == .tailLossProbe)
    }

    @Test func repeatedFINIsATailLossProbe() {
        var connection = TestConnection.connected()
        connection.send(.server, at: 0, "abc")
        connection.send(.server, .fin, at: 3)
        connection.wait(5)
        #expect(connection.send(.server, .fin, at: 3).kind == .tailLossProbe)
        #expect(connection.conversation.fromServer.fin?.offset == 3)
    }

    @Test func probeNeedsSACKAndADelay() {
        var connection = TestConnection()
        connection.handshake(sack: false)
        connection.send(.server, at: 0, "abc")
        connection.wait(5)
        #expect(connection.send(.server, at: 0, "abc").kind == .retransmission)
        var doubled = TestConnection.connected()
        doubled.send(.server, at: 0, "abc")
        doubled.wait(0.01)
        #expect(doubled.send(.server, at: 0, "abc").kind == .retransmission)
    }

    @Test(arguments: ["", "x"])
    func oldByteAfterSilenceIsAKeepAlive(text: String) {
        var connection = TestConnection.connected(serverISN: 0xffff_ffff)
        connection.send(.server, at: 0, "abc")
        connection.send(.client, at: 0, ack: 3)
        connection.wait(1_000)
        let packet = connection.send(.server, at: 2, text)
        #expect(packet.kind == .keepAlive && !packet.hasConflict)
        #expect(connection.text(.server) == "abc" && connection.conversation.judge(.noRetransmission) == .passed)
    }

    @Test func idleConnectionHasKeepAlives() {
        var connection = TestConnection.connected()
        connection.wait(1_000)
        #expect(connection.send(.client, at: -1, ack: 0).kind == .keepAlive)
    }

    /// Linux probes a zero window with an old sequence number, while other systems send the next byte.
    @Test func bothKindsOfZeroWindowProbesAreRecognized() {
        var connection = TestConnection.connected()
        connection.send(.server, at: 0, "abc")
        #expect(connection.send(.client, at: 0, ack: 3, window: 0).isZeroWindow)
        connection.wait(200)
        #expect(connection.send(.server, at: 2).kind == .zeroWindowProbe)
        connection.send(.client, at: 0, ack: 3, window: 0)
        connection.wait(400)
        #expect(connection.send(.server, at: 3, "d").kind == .zeroWindowProbe)
        connection.send(.client, at: 0, ack: 3, window: 0)
        connection.wait(800)
        #expect(connection.send(.server, at: 3, "d").kind == .zeroWindowProbe)
        #expect(connection.send(.client, at: 0, ack: 3, window: 10).isWindowUpdate)
        #expect(connection.send(.server, at: 3, "def").kind == .new)
        let flow = connection.conversation.fromServer
        #expect(connection.text(.server) == "abcdef" && flow.retransmissionCount == 0)
        #expect(flow.segments.map(\.offset) == [0, 3] && flow.segments.map(\.length) == [3, 3])
        let window = connection.conversation.fromClient.window
        #expect(window.shutCount == 1 && window.largest == 65536 && window.smallest == 0)
        #expect(window.shuts.first?.openedAt != nil)
    }

    @Test func acceptedProbeByteIsData() {
        var connection = TestConnection.connected()
        connection.send(.server, at: 0, "abc")
        connection.send(.client, at: 0, ack: 3, window: 0)
        connection.send(.server, at: 3, "d")
        connection.send(.client, at: 0, ack: 4, window: 10)
        #expect(connection.send(.server, at: 4, "ef").kind == .new)
        #expect(connection.text(.server) == "abcdef")
    }

    @Test func retransmissionAfterThreeDuplicatesIsFast() {
        var connection = TestConnection.connected()
        for number in 0..<5 { connection.send(.server, at: Int64(number * 3), "abc") }
        connection.send(.client, at: 0, ack: 3, window: 512)
        for _ in 0..<3 { #expect(connection.send(.client, at: 0, ack: 3, window: 512).isDuplicateAck) }
        connection.wait(1)
        #expect(connection.send(.server, at: 3, "abc").kind == .fastRetransmission)
    }

    @Test func repeatedSYNIsARetransmission() {
        var connection = TestConnection()
        connection.send(.client, .syn, at: -1, ack: nil)
        connection.wait(1_000)
        #expect(connection.send(.client, .syn, at: -1, ack: nil).kind == .retransmission)
        let failure = connection.conversation.judge(.handshakeComplete).failure
        #expect(failure?.details == ["the client sent 2 SYNs"])
    }

    /// The gap is filled so late that the first transmission must have been lost before it could be captured.
    @Test func holeFilledLateIsARetransmission() {
        var connection = TestConnection.connected()
        connection.send(.server, at: 3, "def")
        connection.wait(200)
        #expect(connection.send(.server, at: 0, "abc").kind == .retransmission)
        #expect(connection.text(.server) == "abcdef")
    }

    @Test func windowIsScaled() {
        var connection = TestConnection.connected()
        #expect(connection.conversation.fromClient.window.last == 512 << 7)
        var plain = TestConnection()
        plain.handshake(scale: nil)
        #expect(plain.conversation.fromClient.window.last == 512)
        var absurd = TestConnection()
        absurd.handshake(scale: 255)
        #expect(absurd.conversation.fromClient.window.last == 512 << 14)
        #expect(connection.send(.client, .rst, at: 0, window: 0).isZeroWindow == false)
        #expect(connection.conversation.fromClient.window.shutCount == 0)
    }

    @Test func summaryDescribesTheSegment() {
        var connection = TestConnection.connected()
        let syn = TestConnection().conversation
        #expect(syn.packetCount == 0)
        let data = connection.send(.server, .psh, at: 0, "220 rea", window: 512)
        #expect(data.text(payload: bytes("220 rea").span) == #"P.  seq 1 ack 1 win 65536 len 7 "220 rea""#)
        connection.wait(5)
        let probe = connection.send(.server, .psh, at: 0, "220 rea", window: 512)
        #expect(probe.text(payload: [UInt8]().span) == "P.  seq 1 ack 1 win 65536 len 7  [tail-loss probe]")
        #expect(data.text(payload: bytes("a\u{1b}\r\n").span, payloadLimit: 3).hasSuffix(#""a\x1b\r"… (4 bytes)"#))
    }
}
