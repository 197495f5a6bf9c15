import ProbeBase
import ProbeWire
import Testing

/// Tests that hostile captures can't cause excessive use of memory or time.
struct BoundsTests {
    private func frame(port: UInt16, flags: UInt8 = 2, sequence: UInt32 = 1, payload: [UInt8] = []) -> [UInt8] {
        PacketBuilder.ethernet(
            PacketBuilder(sourcePort: port, sequence: sequence, flags: flags, payload: payload).ipv4())
    }

    private func add(_ frame: [UInt8], to analysis: inout CaptureAnalysis) -> PacketSummary? {
        analysis.add(
            frame.span, linkType: .ethernet, originalLength: frame.count, time: UInt64(analysis.packetCount) * 1_000,
            index: analysis.packetCount)
    }

    /// Connections beyond the maximum number are not followed, but their packets are counted. Connections that began
    /// earlier are still followed.
    @Test func connectionsOverTheLimitAreCounted() {
        var limits = ConversationLimits.passing
        limits.maxConversations = 10
        var analysis = CaptureAnalysis(limits: limits)
        for port in 1...30 as ClosedRange<UInt16> {
            #expect((add(frame(port: port), to: &analysis) == nil) == (port > 10))
        }
        #expect(analysis.table.conversations.count == 10 && analysis.unfollowedCount == 20)
        #expect(analysis.table.hasReachedTotal && analysis.tcpPacketCount == 30)
        #expect(add(frame(port: 3, flags: 0x10, sequence: 2, payload: [1]), to: &analysis)?.conversation == 2)
        // The table has no room for a new connection that reuses a port. Neither its SYN nor its later packets belong
        // to the earlier connection.
        #expect(add(frame(port: 3, sequence: 900_000), to: &analysis) == nil)
        #expect(add(frame(port: 3, flags: 0x10, sequence: 900_001, payload: [1]), to: &analysis) == nil)
        #expect(add(frame(port: 4, flags: 0x10, sequence: 2, payload: [1]), to: &analysis)?.conversation == 3)
        #expect(analysis.table.conversations.count == 10 && analysis.unfollowedCount == 22)
    }

    /// If many streams have gaps that are never filled, the waiting bytes and the lists of gaps stay within the shared
    /// limit.
    @Test func gapsOfAllStreamsStayWithinTheLimit() {
        var limits = ConversationLimits(keptBytes: 0, waitingBytes: 1_000, keptEvents: 4, totalBytes: 50_000)
        limits.keptSegments = 0
        var analysis = CaptureAnalysis(limits: limits)
        for number in 0..<20_000 {
            _ = add(
                frame(port: UInt16(1 + number % 40), flags: 0x10, sequence: UInt32(number / 40 * 3), payload: [0]),
                to: &analysis)
        }
        analysis.finish()
        let streams = analysis.table.conversations.map(\.fromClient.stream)
        #expect(streams.reduce(0) { $0 + $1.gaps.count } * MemoryLayout<StreamGap>.stride < 80_000)
        #expect(streams.allSatisfy { $0.deliveredLength == 500 })
        #expect(analysis.table.hasReachedTotal)
    }

    /// When a segment spans thousands of gaps, each gap is visited only once.
    @Test func lateSegmentVisitsItsGapsOnce() {
        var connection = TestConnection.connected(serverISN: 0)
        for number in 0..<3_000 { connection.send(.server, at: Int64(number * 2 + 1), "x") }
        connection.conversation.finish()
        #expect(connection.conversation.fromServer.stream.gaps.count == 3_000)
        connection.send(.server, at: 0, String(repeating: "x", count: 6_000))
        let stream = connection.conversation.fromServer.stream
        #expect(stream.lateLength == 3_000 && stream.conflictCount == 0)
        connection.send(.server, at: 0, String(repeating: "xy", count: 3_000))
        #expect(connection.conversation.fromServer.stream.conflictCount == 1)
        #expect(connection.conversation.fromServer.stream.firstConflict == 1)
    }

    /// For arbitrary bytes, the analysis never traps and never keeps more bytes than have arrived.
    @Test(arguments: 1...20 as ClosedRange<UInt64>)
    func randomBytesNeverTrap(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        var analysis = CaptureAnalysis(limits: .passing)
        let types: [LinkType] = [.ethernet, .null, .raw, .loop, .linuxSLL, .linuxSLL2, .ipv4, .ipv6]
        for number in 0..<2_000 {
            var packet = (0..<Int.random(in: 0...120, using: &random)).map { _ in
                UInt8.random(in: 0...255, using: &random)
            }
            let type = types[number % types.count]
            // For every other seed, the packets begin with bytes that resemble an IPv4 header for TCP.
            if packet.count > 24, seed % 2 == 0 {
                packet[0] = 0x45
                packet[9] = 6
            }
            analysis.add(
                packet.span, linkType: type, originalLength: packet.count + Int.random(in: 0...9_000, using: &random),
                time: random.next(), index: number)
        }
        analysis.finish()
        #expect(analysis.packetCount == 2_000 && analysis.table.conversations.count <= 2_000)
    }
}
