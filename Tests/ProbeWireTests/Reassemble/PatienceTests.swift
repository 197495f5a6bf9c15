import ProbeBase
import ProbeWire
import Testing

/// Tests of how long a stream waits for missing bytes that the peer has acknowledged.
struct PatienceTests {
    private static func patient(waitingBytes: Int = 1 << 20, totalBytes: Int = 1 << 30) -> ConversationLimits {
        var limits = ConversationLimits(
            keptBytes: 1 << 20, waitingBytes: waitingBytes, keptEvents: 16, totalBytes: totalBytes)
        limits.gapTolerance = .memory
        return limits
    }

    private static func connection(_ limits: ConversationLimits) -> TestConnection {
        var connection = TestConnection(limits: limits)
        connection.handshake()
        return connection
    }

    /// A segment that arrives minutes and thousands of segments late, after both FINs, is still added to the stream.
    @Test(arguments: [ConversationSide.client, .server])
    func lateSegmentFindsItsPlace(side: ConversationSide) {
        var connection = Self.connection(Self.patient())
        connection.send(side, at: 0, "abc")
        for number in 0..<5_000 {
            connection.send(side, at: Int64(6 + number * 3), "xyz")
            connection.send(side.opposite, at: 0, ack: Int64(9 + number * 3))
            connection.wait(100)
        }
        connection.send(side, [.fin], at: 15_006)
        connection.send(side.opposite, [.fin], at: 0, ack: 15_007)
        #expect(connection.text(side) == "abc")
        connection.send(side, at: 3, "def")
        let half = connection.conversation.halfConnection(from: side)
        #expect(connection.text(side) == "abcdef" + String(repeating: "xyz", count: 5_000))
        #expect(half.isComplete && half.missing == nil && !half.stream.hasReachedLimit)
    }

    /// A stream is complete even if it arrives in reverse order, one byte per segment.
    @Test func reversedStreamIsComplete() {
        var connection = Self.connection(Self.patient())
        for offset in (0..<10_000).reversed() { connection.send(.server, at: Int64(offset), "x") }
        let stream = connection.conversation.fromServer.stream
        #expect(stream.deliveredLength == 10_000 && stream.gaps.isEmpty && !stream.hasReachedLimit)
    }

    /// If memory runs out, the stream skips a gap that the peer has acknowledged. The limit is reported as reached only
    /// if the missing bytes arrive later.
    @Test func memoryLimitGivesUpReceivedGaps() {
        var connection = Self.connection(Self.patient(waitingBytes: 4_000))
        for number in 0..<10 {
            connection.send(.server, at: Int64(100 + number * 1_000), String(repeating: "x", count: 1_000))
            connection.send(.client, at: 0, ack: Int64(1_100 + number * 1_000))
        }
        let stream = connection.conversation.fromServer.stream
        #expect(stream.deliveredLength == 10_000 && !stream.hasReachedLimit)
        #expect(stream.gaps == [StreamGap(offset: 0, length: 100, cause: .notCaptured)])
        // The summary of a packet with late bytes reports that the limit was reached.
        let late = connection.send(.server, at: 20, "late")
        #expect(late.hasReachedLimit)
        let after = connection.conversation.fromServer.stream
        #expect(after.gaps == [StreamGap(offset: 0, length: 100, cause: .limitReached)] && after.lateLength == 4)
    }

    /// If the limit for all connections together is exceeded, idle connections skip gaps that their peers have
    /// acknowledged.
    @Test func globalMemoryLimitGivesUpReceivedGaps() {
        var limits = Self.patient(totalBytes: 50_000)
        limits.keptBytes = 0
        var table = ConversationTable(limits: limits)
        let line = [UInt8](repeating: 0x61, count: 1_000)
        func segment(_ port: UInt16, _ sequence: UInt32, _ count: Int, isFromServer: Bool = false) -> DecodedTCP {
            let client = SocketEndpoint(address: .loopbackV4, port: port)
            let server = SocketEndpoint(address: .loopbackV4, port: 80)
            return DecodedTCP(
                source: isFromServer ? server : client, destination: isFromServer ? client : server,
                sequence: SequenceNumber(isFromServer ? 1 : sequence),
                acknowledgment: SequenceNumber(isFromServer ? sequence : 1), flags: .ack, payload: 0..<count,
                payloadLength: count)
        }
        for port in 1...200 as ClosedRange<UInt16> {
            table.add(segment(port, 0, 10), payload: line.span.extracting(0..<10), time: 0)
            table.add(segment(port, 20, 1_000), payload: line.span, time: 0)
            table.add(segment(port, 1_020, 0, isFromServer: true), payload: line.span.extracting(0..<0), time: 0)
        }
        #expect(!table.hasUsedUpMemory && !table.hasReachedTotal && !table.hasLateBytes)
        // Port 2 belongs to a connection whose gap was skipped, and port 200 to a connection that is still waiting for
        // missing bytes.
        for port in [2, 200] as [UInt16] {
            table.add(segment(port, 10, 10), payload: line.span.extracting(0..<10), time: 0)
        }
        #expect(table.hasLateBytes)
        #expect(table.conversations[1].fromClient.stream.hasReachedLimit)
        #expect(table.conversations[1].fromClient.stream.gaps.map(\.cause) == [.limitReached])
        let last = table.conversations[199].fromClient.stream
        #expect(last.deliveredLength == 1_020 && last.gaps.isEmpty && !last.hasReachedLimit)
    }

    /// If the snap length cut off bytes, a retransmission of those bytes is not counted as late.
    @Test func truncatedSegmentIsNotAnAbandonedGap() {
        var connection = Self.connection(Self.patient())
        connection.send(.server, at: 0, "abcdef", cut: 3)
        connection.send(.server, at: 0, "abcdef", cut: 3)
        connection.send(.server, at: 0, "abcdef")
        #expect(!connection.conversation.fromServer.stream.hasReachedLimit)
        #expect(connection.conversation.fromServer.stream.gaps.map(\.cause) == [.cutShort])
    }

    /// Segments in any order, with any times and with acknowledgments between them, result in the same stream that was
    /// sent.
    @Test(arguments: 1...30 as ClosedRange<UInt64>)
    func timesDoNotAffectTheStream(seed: UInt64) {
        var random = SeededRandom(seed: seed &* 0x9e37_79b9)
        let text = (0..<3_000).map { _ in "abcdefghij;|".randomElement(using: &random) ?? "a" }.map(String.init)
        var pieces: [(range: Range<Int>, place: Int)] = []
        var start = 0
        while start < text.count {
            let end = min(text.count, start + Int.random(in: 1...40, using: &random))
            // Most segments are in order, but some are thousands of bytes late and some are repeated.
            let isLate = Int.random(in: 0..<10, using: &random) == 0
            pieces.append((start..<end, isLate ? Int.random(in: start...4_000, using: &random) : start))
            if Int.random(in: 0..<20, using: &random) == 0 { pieces.append((start..<end, end + 400)) }
            start = end
        }
        pieces.sort { $0.place < $1.place }
        let kinds: [(Int, inout SeededRandom) -> UInt64] = [
            { number, _ in UInt64(number) * 1_000_000 }, { _, _ in 0 }, { number, _ in UInt64(1_000_000 - number) },
            { _, random in random.next() }, { number, random in UInt64(number) * 1_000 + random.next() % 100_000_000 },
        ]
        for (kind, time) in kinds.enumerated() {
            var times = SeededRandom(seed: seed)
            var connection = Self.connection(Self.patient())
            for (number, piece) in pieces.enumerated() {
                for side in ConversationSide.allCases {
                    connection.time = time(number, &times)
                    let ack = Int64(pieces[...number].map(\.range.upperBound).max() ?? 0)
                    connection.send(
                        side, at: Int64(piece.range.lowerBound), ack: ack, text[piece.range].joined())
                }
            }
            connection.conversation.finish()
            for side in ConversationSide.allCases {
                #expect(connection.text(side) == text.joined(), "times of kind \(kind)")
                #expect(connection.conversation.halfConnection(from: side).stream.gaps.isEmpty)
            }
        }
    }
}
