import ProbeBase
import ProbeWire
import Testing

/// Tests of several SYN-ACKs with different sequence numbers (RFC 9293, section 3.10.7.3), and of resets that the
/// receiver ignores (RFC 5961).
struct OtherSYNTests {
    private func segment(
        _ side: ConversationSide, _ flags: TCPFlags, _ sequence: UInt32, ack: UInt32? = nil, length: Int = 0
    ) -> DecodedTCP {
        DecodedTCP(
            source: side == .client ? TestConnection.client : TestConnection.server,
            destination: side == .client ? TestConnection.server : TestConnection.client,
            sequence: SequenceNumber(sequence), acknowledgment: SequenceNumber(ack ?? 0),
            flags: ack == nil ? flags : flags.union(.ack), payload: 0..<length, payloadLength: length)
    }

    private func table(_ segments: [DecodedTCP]) -> ConversationTable {
        var table = ConversationTable()
        for (index, tcp) in segments.enumerated() {
            let payload = [UInt8](repeating: UInt8(ascii: "a"), count: tcp.payloadLength)
            table.add(tcp, payload: payload.span, time: 1_767_225_600_000_000_000 + UInt64(index) * 1_000_000)
        }
        table.finish()
        return table
    }

    /// The client may acknowledge any of the SYN-ACKs, whether the sequence number of that SYN-ACK is close to that of
    /// the first SYN-ACK or far from it, and whether or not the client's SYN was captured.
    @Test(arguments: [5_000, 5_100, 3_000_000_000, 1_000_000_000] as [UInt32], [true, false])
    func acknowledgedSYNACKBeginsTheStream(accepted: UInt32, hasSYN: Bool) throws {
        let first: [DecodedTCP] = hasSYN ? [segment(.client, .syn, 100)] : []
        let table = table(
            first + [
                segment(.server, .syn, 5_000, ack: 101), segment(.server, .syn, 5_100, ack: 101),
                segment(.server, .syn, 3_000_000_000, ack: 101), segment(.server, .syn, 1_000_000_000, ack: 101),
                segment(.client, .psh, 101, ack: accepted + 1, length: 7),
                segment(.server, .psh, accepted + 1, ack: 108, length: 20),
                segment(.server, .syn, 5_050, ack: 101), segment(.server, .fin, accepted + 21, ack: 108),
            ])
        let flow = try #require(table.conversations.first)
        #expect(table.conversations.count == 1 && flow.fromServer.stream.deliveredLength == 20)
        #expect(flow.fromServer.fin?.offset == 20 && flow.fromServer.stream.gaps.isEmpty)
        #expect((flow.handshakeTime != nil) == hasSYN && flow.handshakeRoundTrip == nil)
    }

    @Test func manySYNACKsAreBounded() throws {
        var segments = [segment(.client, .syn, 100)]
        for number in 0..<1_000 as Range<UInt32> { segments.append(segment(.server, .syn, number * 70_000, ack: 101)) }
        segments += [segment(.client, .psh, 101, ack: 1, length: 3), segment(.server, .psh, 1, ack: 104, length: 9)]
        let flow = try #require(table(segments).conversations.first)
        #expect(flow.fromServer.stream.deliveredLength == 9)
    }

    /// A forged RST and a forged FIN precede the SYN-ACK, and the client continues.
    @Test func forgedResetDoesNotSplitTheConnection() throws {
        let table = table([
            segment(.client, .syn, 100), segment(.server, .rst, 777, ack: 101), segment(.server, .fin, 777, ack: 101),
            segment(.client, .rst, 101), segment(.server, .syn, 5_000, ack: 101), segment(.client, [], 101, ack: 5_001),
            segment(.client, .psh, 101, ack: 5_001, length: 5), segment(.server, .psh, 5_001, ack: 106, length: 8),
        ])
        let flow = try #require(table.conversations.first)
        #expect(table.conversations.count == 1 && flow.handshakeTime != nil && !flow.isClosed)
        #expect(flow.fromServer.rst == nil && flow.fromServer.refusedRST?.refusal == .ignored)
        #expect(flow.fromClient.rst == nil && flow.fromClient.refusedRST?.refusal == .ignored)
        #expect(flow.fromServer.stream.deliveredLength == 8 && flow.fromClient.stream.deliveredLength == 5)
        #expect(flow.judge(.noReset).outcome == .failed && flow.judge(.rst(from: .server)).outcome == .inconclusive)
    }

    /// An RST in the middle of a connection takes effect unless both sides continue the connection.
    @Test(arguments: [true, false])
    func resetIsIgnoredIfBothSidesContinue(continues: Bool) {
        var connection = TestConnection.connected()
        connection.send(.server, at: 0, "abc")
        connection.send(.client, at: 0, ack: 3)
        connection.send(.server, .rst, at: 3, ack: nil)
        // The packet may have been in flight when the RST arrived, so the packet does not prove that the receiver
        // ignored the RST.
        connection.send(.client, at: 0, ack: 3, "request")
        #expect(connection.conversation.fromServer.rst != nil)
        if continues { connection.send(.server, at: 3, ack: 7, "def") }
        #expect((connection.conversation.fromServer.rst == nil) == continues)
        #expect(connection.conversation.judge(.rst(from: .server)).outcome == (continues ? .inconclusive : .passed))
        #expect(connection.conversation.judge(.noReset).outcome == .failed)
    }

    /// A receiver obeys an RST only if its sequence number is the next one that the receiver expects. The analysis
    /// accepts any number within the data in flight, because this data may or may not have arrived.
    @Test(
        arguments: [(2, true), (3, false), (6, false), (7, true), (60_000, true), (-100, true)] as [(Int64, Bool)])
    func resetOutsideTheWindowIsNotAccepted(offset: Int64, isOutside: Bool) {
        var connection = TestConnection.connected()
        connection.send(.server, at: 0, "abc")
        connection.send(.client, at: 0, ack: 3)
        connection.send(.server, at: 3, "def")
        connection.send(.server, .rst, at: offset, ack: nil)
        let verdict = connection.conversation.judge(.rst(from: .server))
        #expect(verdict.outcome == (isOutside ? .inconclusive : .passed))
        if case .inconclusive(let text) = verdict { #expect(text.contains("RST outside the window")) }
        let failure = connection.conversation.judge(.noReset).failure
        #expect(failure?.summary.contains("outside the window") == isOutside)
        #expect(connection.conversation.isClosed == !isOutside)
        // An RST outside the window has no effect, even after both sides have closed the connection.
        connection.send(.server, .fin, at: 6, ack: 0)
        connection.send(.client, .fin, at: 0, ack: 7)
        if isOutside { #expect(connection.conversation.judge(.noReset).outcome == .failed) }
    }

    /// A client that has sent a SYN obeys only an RST that acknowledges the SYN.
    @Test(arguments: [101, 100, nil] as [UInt32?])
    func refusalMustAcknowledgeTheSYN(ack: UInt32?) throws {
        let flow = try #require(
            table([segment(.client, .syn, 100), segment(.server, .rst, 0, ack: ack)]).conversations.first)
        #expect((flow.fromServer.rst != nil) == (ack == 101))
    }

    /// A SYN-ACK that arrives very late still belongs to the connection whose SYN it acknowledges.
    @Test(arguments: [5_000, 5_100] as [UInt32])
    func lateSYNACKBelongsToItsConnection(sequence: UInt32) {
        let ended = [
            segment(.client, .syn, 100), segment(.server, .syn, 5_000, ack: 101), segment(.client, [], 101, ack: 5_001),
            segment(.server, .psh, 5_001, ack: 101, length: 4), segment(.client, .rst, 101, ack: 5_005),
        ]
        #expect(table(ended + [segment(.server, .syn, sequence, ack: 101)]).conversations.count == 1)
        #expect(table(ended + [segment(.server, .syn, 7_000, ack: 901)]).conversations.count == 2)
    }

    /// Whether an RST outside the window closed the connection depends on packets that may be missing from the capture.
    @Test func closerIsUncertainAfterAnOutOfWindowReset() {
        var connection = TestConnection.connected()
        connection.send(.server, at: 0, "abc")
        connection.send(.client, at: 0, ack: 3)
        connection.send(.server, .rst, at: 60_000, ack: nil)
        connection.wait(10)
        #expect(connection.conversation.judge(.closedFirst(by: .server)).outcome == .inconclusive)
        connection.send(.client, .fin, at: 0, ack: 3)
        #expect(connection.conversation.judge(.closedFirst(by: .client)).outcome == .inconclusive)
    }
}
