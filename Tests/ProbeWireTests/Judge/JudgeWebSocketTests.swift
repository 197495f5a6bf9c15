import ProbeBase
import ProbeWire
import Testing

/// Tests of `frames`, and of `messages` with WebSocket framing, with each possible verdict.
struct JudgeWebSocketTests {
    private static let head = bytes("HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n\r\n")
    /// A message in two frames, with a ping frame between them, followed by a close frame.
    private static let frames: [UInt8] = [0x01, 1, 97, 0x89, 0, 0x80, 1, 98, 0x88, 2, 3, 0xE8]

    private func connection(_ sent: [UInt8], isOver: Bool = false) -> TestConnection {
        var connection = TestConnection.connected()
        if !sent.isEmpty { connection.send(.server, at: 0, bytes: sent) }
        if isOver { connection.send(.server, .fin, at: Int64(sent.count)) }
        return connection
    }

    @Test(arguments: [[], head])
    func framesAreCounted(head: [UInt8]) {
        var connection = connection(head + Self.frames)
        #expect(connection.judge(.frames(.equal, 4)) == .passed)
        #expect(connection.judge(.frames(.greaterOrEqual, 4)) == .passed)
        #expect(connection.judge(.frames(.equal, 5)).outcome == .waiting)
        #expect(connection.judge(.frames(.equal, 3)).outcome == .failed)
        #expect(connection.judge(.frames(.equal, 0)).outcome == .failed)
        #expect(connection.judge(.messages(.equal, 1, .websocket)) == .passed)
        #expect(connection.judge(.messages(.equal, 2, .websocket)).outcome == .waiting)
        connection.send(.server, .fin, at: Int64(head.count + Self.frames.count))
        #expect(connection.judge(.frames(.equal, 5)).outcome == .failed)
        #expect(connection.judge(.messages(.equal, 2, .websocket)).outcome == .failed)
    }

    @Test(arguments: [Comparison.equal, .greaterOrEqual, .less, .lessOrEqual])
    func withoutFramesNoCountIsSatisfied(comparison: Comparison) {
        for sent in [[], Self.head, Array(Self.head.dropLast()), bytes("HTTP/1.1 400 No\r\n\r\n")] {
            #expect(connection(sent).judge(.frames(comparison, 1)).outcome == .waiting)
            #expect(connection(sent, isOver: true).judge(.frames(comparison, 1)).outcome == .failed)
            #expect(connection(sent, isOver: true).judge(.frames(.equal, 0)) == .passed)
        }
        #expect(connection(Self.head + [0x81]).judge(.frames(.equal, 0)).outcome == .failed)
    }

    @Test func undecidableStreamIsInconclusive() {
        let hello: [UInt8] = [22, 3, 3, 0, 10, 2, 0, 0, 6, 3, 3, 9, 9, 9, 9]
        #expect(connection(hello).judge(.frames(.greaterOrEqual, 1)).outcome == .inconclusive)
        #expect(connection(hello).judge(.frames(.equal, 0)).outcome == .inconclusive)
        var cut = connection(Self.head)
        cut.send(.server, at: Int64(Self.head.count) + 5, bytes: Self.frames)
        cut.send(.server, .fin, at: Int64(Self.head.count + 5 + Self.frames.count))
        #expect(cut.judge(.frames(.equal, 4)).outcome != .passed)
        #expect(cut.judge(.frames(.equal, 0)).outcome != .passed)
    }

    @Test func lengthWithTheHighestBitFails() {
        let sent = Self.head + Self.frames + [0x82, 127, 0x80, 0, 0, 0, 0, 0, 0, 0]
        #expect(connection(sent).judge(.frames(.equal, 4)).outcome == .failed)
    }
}
