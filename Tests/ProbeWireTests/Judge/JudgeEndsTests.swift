import ProbeBase
import ProbeWire
import Testing

/// Tests of statements about the beginning and the end of connections and about the pieces of a send, with each
/// possible verdict.
struct JudgeEndsTests {
    // MARK: open and close

    @Test func handshakeNeedsAllThreeSegments() {
        var connection = TestConnection()
        #expect(
            connection.conversation.judge(.handshakeComplete).failure?.summary
                == "the capture contains no SYN from the client")
        connection.send(.client, .syn, at: -1, ack: nil)
        #expect(
            connection.conversation.judge(.handshakeComplete).failure?.summary
                == "the capture contains no SYN-ACK from the server")
        connection.send(.server, .syn, at: -1, ack: 0)
        #expect(connection.conversation.judge(.handshakeComplete).outcome == .waiting)
        connection.send(.client, at: 0)
        #expect(connection.conversation.judge(.handshakeComplete) == .passed)
        var refused = TestConnection()
        refused.send(.client, .syn, at: -1, ack: nil)
        refused.send(.server, .rst, at: -1, ack: 0, window: 0)
        let failure = refused.conversation.judge(.handshakeComplete).failure
        #expect(failure?.summary == "the server sent an RST before the handshake was complete")
    }

    @Test func finAndRSTAreAwaited() {
        var connection = TestConnection.connected()
        #expect(connection.conversation.judge(.fin(from: .server)).outcome == .waiting)
        #expect(connection.conversation.judge(.rst(from: .server)).outcome == .waiting)
        #expect(connection.conversation.judge(.noReset) == .passed)
        connection.send(.server, .fin, at: 0)
        #expect(connection.conversation.judge(.fin(from: .server)) == .passed)
        connection.send(.client, .rst, at: 0)
        #expect(connection.conversation.judge(.rst(from: .client)) == .passed)
        #expect(connection.conversation.judge(.fin(from: .client)).outcome == .failed)
        let names = SideNames(client: "T", server: "S")
        #expect(connection.conversation.judge(.noReset, names: names).failure?.summary == "T sent an RST")
        var other = TestConnection.connected()
        other.send(.client, .rst, at: 0)
        #expect(
            other.conversation.judge(.fin(from: .server)).failure?.summary.contains("reset the connection first")
                == true)
    }

    /// An RST in response to a late acknowledgment does not abort the connection. An RST that has the ACK flag, or is
    /// sent before both FINs are acknowledged, aborts the connection.
    @Test func rstAfterBothFINsIsHarmless() {
        var closed = TestConnection.connected()
        closed.send(.server, .fin, at: 0)
        closed.send(.client, .fin, at: 0, ack: 1)
        var early = closed
        early.send(.client, .rst, at: 1, ack: nil, window: 0)
        #expect(early.conversation.judge(.noReset).outcome == .failed)
        closed.send(.server, at: 1, ack: 1)
        var answered = closed
        answered.send(.client, .rst, at: 1, ack: nil, window: 0)
        #expect(answered.conversation.judge(.noReset) == .passed)
        #expect(answered.conversation.judge(.rst(from: .client)) == .passed)
        closed.send(.client, .rst, at: 1, ack: 1, window: 0)
        #expect(closed.conversation.judge(.noReset).outcome == .failed)
    }

    /// If one side's FIN acknowledges the other side's FIN, it was sent later, whatever the timestamps are.
    @Test(arguments: [0xffff_ffff, 1_000, 0xffff_fffe] as [UInt32])
    func acknowledgmentShowsWhoClosedFirst(isn: UInt32) {
        var connection = TestConnection.connected(clientISN: isn, serverISN: isn)
        #expect(connection.conversation.judge(.closedFirst(by: .server)).outcome == .waiting)
        connection.send(.server, .fin, at: 0)
        #expect(connection.conversation.judge(.closedFirst(by: .server)) == .passed)
        #expect(connection.conversation.judge(.closedFirst(by: .client)).outcome == .failed)
        connection.time -= 436_000
        connection.send(.client, .fin, at: 0, ack: 1)
        #expect(connection.conversation.judge(.closedFirst(by: .server)) == .passed)
        let failure = connection.conversation.judge(.closedFirst(by: .client)).failure
        #expect(failure?.summary == "the server closed first, not the client")
    }

    @Test func timeShowsWhoClosedFirst() {
        var connection = TestConnection.connected()
        connection.send(.client, .fin, at: 0, ack: 0)
        connection.wait(0.3)
        connection.send(.server, .fin, at: 0, ack: 0)
        #expect(connection.conversation.judge(.closedFirst(by: .client)).outcome == .inconclusive)
        var apart = TestConnection.connected()
        apart.send(.client, .fin, at: 0, ack: 0)
        apart.wait(3)
        apart.send(.server, .fin, at: 0, ack: 0)
        #expect(apart.conversation.judge(.closedFirst(by: .client)) == .passed)
        #expect(apart.conversation.judge(.closedFirst(by: .server)).outcome == .failed)
    }

    // MARK: pieces

    @Test func piecesAreProvedBySegments() {
        var connection = TestConnection.connected()
        connection.send(.server, at: 0, "ab")
        #expect(
            connection.conversation.verifyPieces(from: .server, streamOffset: 0, lengths: [2, 3])
                == .notSeen("the capture contains 2 of 5 bytes"))
        connection.send(.server, at: 2, "cd")
        connection.send(.server, at: 4, "e")
        connection.wait(5)
        connection.send(.server, at: 0, "abcd")
        #expect(connection.conversation.segmentBoundaries(from: .server) == [0, 2, 4, 5])
        #expect(connection.conversation.verifyPieces(from: .server, streamOffset: 0, lengths: [2, 3]) == .exact)
        #expect(connection.conversation.verifyPieces(from: .server, streamOffset: 2, lengths: [0, 2, 1]) == .exact)
        #expect(
            connection.conversation.verifyPieces(from: .server, streamOffset: 0, lengths: [2, 1, 2])
                == .coalesced(["pieces 2 to 3 were sent in one segment of 2 bytes at +300 us"]))
        #expect(connection.conversation.verifyPieces(from: .server, streamOffset: 0, lengths: []) == .exact)
    }

    @Test func coalescedPiecesAreNotProved() {
        var connection = TestConnection.connected()
        connection.send(.server, at: 0, "abcdef")
        #expect(
            connection.conversation.verifyPieces(from: .server, streamOffset: 2, lengths: [4])
                == .coalesced(["data sent before and piece 1 were sent in one segment of 6 bytes at +300 us"]))
        #expect(
            connection.conversation.verifyPieces(from: .server, streamOffset: 0, lengths: [4])
                == .coalesced(["piece 1 and data sent after were sent in one segment of 6 bytes at +300 us"]))
        #expect(
            connection.conversation.verifyPieces(from: .server, streamOffset: 1, lengths: [1, 1])
                == .coalesced(
                    [
                        "data sent before, pieces 1 to 2 and data sent after were sent in one segment of 6 bytes at +300 us"
                    ]
                ))
        var gap = TestConnection.connected()
        gap.send(.server, at: 2, "c")
        gap.send(.client, at: 0, ack: 3)
        #expect(
            gap.conversation.verifyPieces(from: .server, streamOffset: 0, lengths: [2, 1])
                == .inconclusive("the capture lacks 2 bytes of this send"))
    }
}
