import ProbeBase
import ProbeWire
import Testing

struct ConversationTableTests {
    private func packet(
        _ flags: TCPFlags, _ sequence: UInt32, ack: UInt32 = 0, fromServer: Bool = false, port: UInt16 = 40_000
    ) -> DecodedTCP {
        let client = SocketEndpoint(address: .loopbackV4, port: port)
        return DecodedTCP(
            source: fromServer ? TestConnection.server : client,
            destination: fromServer ? client : TestConnection.server,
            sequence: SequenceNumber(sequence), acknowledgment: SequenceNumber(ack), flags: flags)
    }

    private func table(_ packets: [DecodedTCP]) -> ConversationTable {
        var table = ConversationTable()
        for (number, packet) in packets.enumerated() {
            table.add(packet, payload: [UInt8]().span, time: UInt64(number) * 1_000_000)
        }
        return table
    }

    @Test func bothDirectionsAreOneConnection() {
        let table = table([
            packet(.syn, 1), packet([.syn, .ack], 9, ack: 2, fromServer: true), packet(.syn, 1, port: 5),
        ])
        #expect(table.conversations.map(\.packetCount) == [2, 1])
        #expect(table.conversations.first?.client.port == 40_000)
        #expect(table.conversations.map(\.number) == [0, 1])
    }

    @Test func reusedPortsAreAnotherConnection() {
        let table = table([
            packet(.syn, 1), packet([.rst, .ack], 0, ack: 2, fromServer: true), packet(.syn, 100),
            packet([.syn, .ack], 200, ack: 101, fromServer: true), packet(.ack, 101, ack: 201), packet(.syn, 100),
        ])
        #expect(table.conversations.map(\.packetCount) == [2, 4])
        #expect(
            table.indices(between: TestConnection.server, and: SocketEndpoint(address: .loopbackV4, port: 40_000)) == [
                0, 1,
            ])
        #expect(
            table.latestIndex(between: SocketEndpoint(address: .loopbackV4, port: 40_000), and: TestConnection.server)
                == 1)
        #expect(table.conversations[1].handshakeTime != nil)
    }

    /// A SYN-ACK that was captured before the SYN belongs to the same connection.
    @Test func synAckBeforeItsSYNBelongsToTheConnection() {
        let table = table([
            packet([.syn, .ack], 9, ack: 2, fromServer: true), packet(.syn, 1), packet(.ack, 2, ack: 10),
        ])
        #expect(table.conversations.count == 1)
        #expect(table.conversations.first?.client.port == 40_000)
        #expect(table.conversations.first?.judge(.handshakeComplete) == .passed)
    }

    @Test func splitHandshakeIsOneConnection() {
        let table = table([
            packet(.syn, 1), packet(.ack, 0, ack: 2, fromServer: true), packet(.syn, 9, fromServer: true),
            packet([.syn, .ack], 1, ack: 10), packet(.ack, 10, ack: 2, fromServer: true),
        ])
        #expect(table.conversations.count == 1)
        #expect(table.conversations.first?.fromClient.initialSequence == SequenceNumber(1))
    }

    /// The total memory of many connections is limited even if each connection is within its own limits. The summary of
    /// the packet that exceeds the total limit reports that the limit was reached.
    @Test func memoryOfAllConnectionsIsBounded() {
        var table = ConversationTable(
            limits: ConversationLimits(keptBytes: 10_000, waitingBytes: 10_000, keptEvents: 10, totalBytes: 20_000))
        let payload = [UInt8](repeating: 1, count: 500)
        var reached = 0
        for number in 0..<200 {
            var tcp = packet(.ack, UInt32(number / 50 * 1_000), port: UInt16(1_000 + number % 50))
            tcp.payload = 0..<500
            tcp.payloadLength = 500
            let summary = table.add(tcp, payload: payload.span, time: UInt64(number))
            if summary.hasReachedLimit { reached += 1 }
        }
        #expect(table.hasReachedTotal && reached >= 1)
        let streams = table.conversations.map(\.fromClient.stream)
        #expect(streams.reduce(0) { $0 + $1.bytes.count } <= 20_500)
        table.finish()
        let finished = table.conversations.map(\.fromClient.stream)
        #expect(finished.allSatisfy { $0.deliveredLength == 2_000 && $0.gaps.count == 3 })
        #expect(finished.contains { $0.gaps.contains { $0.cause == .limitReached } })
    }

    /// Even if a table has more conversations than fit into one chunk of memory, a copy of the table is independent of
    /// the original, and neither of them loses a conversation.
    @Test func copiesAreIndependent() {
        var table = ConversationTable()
        for number in 0..<5_000 {
            table.add(
                packet(.syn, 1, port: UInt16(1_000 + number)), payload: [UInt8]().span, time: UInt64(number))
        }
        var copy = table
        for number in stride(from: 0, to: 5_000, by: 7) {
            copy.add(
                packet([.syn, .ack], 9, ack: 2, fromServer: true, port: UInt16(1_000 + number)),
                payload: [UInt8]().span, time: 5_000)
        }
        copy.add(packet(.syn, 1, port: 7), payload: [UInt8]().span, time: 5_001)
        #expect(table.conversations.count == 5_000 && copy.conversations.count == 5_001)
        #expect(table.conversations.allSatisfy { $0.packetCount == 1 && $0.lastTime == UInt64($0.number) })
        #expect(copy.conversations.map(\.number) == Array(0...5_000))
        #expect(
            copy.conversations.dropLast().allSatisfy { $0.packetCount == ($0.number.isMultiple(of: 7) ? 2 : 1) })
        let ports: [UInt16] = Array(1_000..<6_000) + [7]
        #expect(copy.conversations.map(\.client.port) == ports)
    }

    @Test func framesAreDecodedAndAdded() throws {
        var table = ConversationTable()
        let frame = PacketBuilder.ethernet(PacketBuilder(payload: bytes("hello")).ipv4())
        let summary = try table.add(
            CapturedPacket(time: 5, originalLength: frame.count, bytes: frame), linkType: .ethernet)
        #expect(summary?.payloadLength == 5 && summary?.side == .client)
        #expect(table.conversations.first?.fromClient.stream.bytes == bytes("hello"))
        let arp = PacketBuilder.ethernet([0, 1], type: 0x0806)
        #expect(try table.add(CapturedPacket(time: 5, originalLength: 16, bytes: arp), linkType: .ethernet) == nil)
    }
}

/// Tests of the memory layout of the fields that every packet touches. With another layout, reading a capture with
/// thousands of flows would take longer.
struct ConversationLayoutTests {
    @Test func hotFieldsShareCacheLines() throws {
        #expect(MemoryLayout<Conversation>.offset(of: \.fromClient) == 64)
        let server = try #require(MemoryLayout<Conversation>.offset(of: \.fromServer))
        #expect(server == 384)
        #expect(MemoryLayout<Conversation>.size <= 704)
        // A packet from the peer touches one cache line of a flow, and a packet that carries data of the flow touches
        // two more.
        #expect(MemoryLayout<HalfConnection>.offset(of: \.window) == 48)
        let stream = try #require(MemoryLayout<HalfConnection>.offset(of: \.stream))
        let lines = try #require(MemoryLayout<StreamAssembler>.offset(of: \.lines))
        let flags = try #require(MemoryLayout<LineStatistics>.offset(of: \.isInterrupted))
        #expect(stream + lines + flags < 192)
    }
}
