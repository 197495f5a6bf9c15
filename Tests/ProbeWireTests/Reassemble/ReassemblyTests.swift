import ProbeBase
import ProbeWire
import Testing

struct ReassemblyTests {
    /// Initial sequence numbers with which the stream wraps around inside data, at the start of data and at the end of
    /// data.
    static let edges: [UInt32] = [
        0, 1_000, 0xffff_ffff, 0xffff_fffe, 0xffff_fffc, 0xffff_fff9, 0xffff_fff5, 0x7fff_fffe,
    ]

    @Test(arguments: edges)
    func orderedSegmentsFormTheStream(isn: UInt32) {
        var connection = TestConnection.connected(clientISN: isn, serverISN: isn &+ 3)
        connection.send(.server, at: 0, "220 rea")
        connection.send(.server, at: 7, "dy\r\n")
        connection.send(.server, [.fin], at: 11)
        let flow = connection.conversation.fromServer
        #expect(connection.text(.server) == "220 ready\r\n")
        #expect(flow.segments.map(\.offset) == [0, 7] && flow.segments.map(\.length) == [7, 4])
        #expect(flow.fin?.offset == 11 && flow.isComplete && flow.missing == nil)
        #expect(flow.repeats.isEmpty)
    }

    @Test(arguments: edges)
    func reorderedSegmentsAreJoined(isn: UInt32) {
        var connection = TestConnection.connected(serverISN: isn)
        connection.send(.server, at: 6, "ghi")
        #expect(
            connection.conversation.fromServer.missing == HalfConnection.MissingPart(offset: 0, length: 6, cause: nil))
        connection.send(.server, [.fin], at: 9)
        #expect(connection.send(.server, at: 3, "def").kind == .outOfOrder)
        connection.send(.server, at: 0, "abc")
        let flow = connection.conversation.fromServer
        #expect(connection.text(.server) == "abcdefghi" && flow.missing == nil && flow.isComplete)
        #expect(flow.segments.map(\.offset) == [6, 3, 0] && flow.retransmissionCount == 0)
    }

    @Test(arguments: edges)
    func retransmissionAddsNothing(isn: UInt32) {
        var connection = TestConnection.connected(serverISN: isn)
        connection.send(.server, at: 0, "abc")
        connection.send(.server, at: 3, "def")
        connection.wait(200)
        #expect(connection.send(.server, at: 0, "abc").kind == .retransmission)
        connection.send(.client, at: 0, ack: 6)
        #expect(connection.send(.server, at: 3, "def").kind == .spuriousRetransmission)
        connection.send(.server, at: 6, "ghi")
        let flow = connection.conversation.fromServer
        #expect(connection.text(.server) == "abcdefghi")
        #expect(flow.segments.map(\.offset) == [0, 3, 6] && flow.retransmissionCount == 2)
        #expect(flow.stream.conflictCount == 0)
    }

    /// In a live capture, if the peer has acknowledged missing bytes, the stream waits for them only until three more
    /// segments have arrived.
    @Test(arguments: edges)
    func acknowledgedGapIsAwaitedForThreeSegments(isn: UInt32) {
        var connection = TestConnection.connected(serverISN: isn)
        connection.send(.server, at: 0, "abc")
        connection.send(.server, at: 6, "ghi")
        connection.send(.client, at: 0, ack: 9)
        connection.wait(30_000)
        for (offset, text) in [(9, "j"), (10, "k"), (11, "l")] { connection.send(.server, at: Int64(offset), text) }
        #expect(connection.text(.server) == "abc" && connection.conversation.fromServer.stream.hasWaiting)
        connection.send(.server, at: 12, "mno")
        let flow = connection.conversation.fromServer
        #expect(connection.text(.server) == "abcghijklmno" && !flow.stream.hasWaiting)
        #expect(flow.stream.gaps == [StreamGap(offset: 3, length: 3, cause: .notCaptured)])
        #expect(flow.missing == HalfConnection.MissingPart(offset: 3, length: 3, cause: .notCaptured))
        #expect(connection.send(.server, at: 3, "def").kind == .spuriousRetransmission)
        #expect(connection.text(.server) == "abcghijklmno")
        #expect(connection.conversation.fromServer.stream.lateLength == 3)
        #expect(!connection.conversation.fromServer.stream.hasReachedLimit)
    }

    /// A gap is filled even if the acknowledgment was captured before the data that it acknowledges.
    @Test(arguments: edges)
    func gapIsFilledAfterItsAcknowledgment(isn: UInt32) {
        var connection = TestConnection.connected(serverISN: isn)
        connection.send(.server, at: 3, "def")
        connection.send(.client, at: 0, ack: 9)
        connection.send(.server, at: 6, "ghi")
        connection.wait(3)
        connection.send(.server, at: 0, "abc")
        connection.wait(3)
        connection.send(.server, at: 9, "jkl")
        #expect(connection.text(.server) == "abcdefghijkl")
        #expect(connection.conversation.fromServer.stream.gaps.isEmpty)
    }

    /// If the missing bytes are not all acknowledged, they may still be retransmitted, so the stream waits for them.
    @Test(arguments: [Int64(0), 3, 5])
    func unacknowledgedGapIsAwaited(acknowledged: Int64) {
        var connection = TestConnection.connected()
        connection.send(.server, at: 0, "abc")
        connection.send(.server, at: 6, "ghi")
        connection.send(.client, at: 0, ack: acknowledged)
        connection.wait(30_000)
        connection.send(.server, at: 9, "jkl")
        connection.wait(30_000)
        connection.send(.server, at: 12, "mno")
        connection.wait(200)
        #expect(connection.send(.server, at: 3, "def").kind == .retransmission)
        #expect(connection.text(.server) == "abcdefghijklmno")
        #expect(connection.conversation.fromServer.stream.gaps.isEmpty)
    }

    /// If a segment repeats earlier bytes and continues with new ones, only the new bytes are a first transmission.
    @Test(arguments: edges)
    func overlapAddsItsNewBytes(isn: UInt32) {
        var connection = TestConnection.connected(serverISN: isn)
        connection.send(.server, at: 0, "abcd")
        #expect(connection.send(.server, at: 2, "cdef").kind == .retransmission)
        let flow = connection.conversation.fromServer
        #expect(connection.text(.server) == "abcdef" && flow.stream.conflictCount == 0)
        #expect(flow.segments.map(\.offset) == [0, 4] && flow.segments.map(\.length) == [4, 2])
    }

    @Test(arguments: edges)
    func overlapWithDifferentBytesIsAConflict(isn: UInt32) {
        var connection = TestConnection.connected(serverISN: isn)
        connection.send(.server, at: 0, "abcd")
        #expect(connection.send(.server, at: 2, "XYef").hasConflict)
        #expect(connection.text(.server) == "abcdef")
        #expect(connection.conversation.fromServer.stream.firstConflict == 2)
    }

    @Test(arguments: edges)
    func overlapWithDifferentWaitingBytesIsAConflict(isn: UInt32) {
        var connection = TestConnection.connected(serverISN: isn)
        connection.send(.server, at: 4, "EFGH")
        #expect(connection.send(.server, at: 2, "cdefghij").hasConflict)
        #expect(!connection.send(.server, at: 8, "ij").hasConflict)
        connection.send(.server, at: 0, "ab")
        #expect(connection.text(.server) == "abcdEFGHij")
        #expect(connection.conversation.fromServer.stream.conflictCount == 1)
    }

    @Test func gapIsReportedAndNeverFilled() {
        var connection = TestConnection.connected()
        connection.send(.server, at: 0, "abc")
        connection.send(.server, at: 10, "xyz")
        connection.send(.client, at: 0, ack: 13)
        #expect(
            connection.conversation.fromServer.missing
                == HalfConnection.MissingPart(offset: 3, length: 7, cause: .notCaptured))
        connection.conversation.finish()
        let stream = connection.conversation.fromServer.stream
        #expect(stream.bytes == bytes("abcxyz"))
        #expect(stream.gaps == [StreamGap(offset: 3, length: 7, cause: .notCaptured)])
        #expect(stream.kept(10..<13) == bytes("xyz")[...] && stream.kept(5..<6) == nil)
        #expect(stream.firstBytes == bytes("abc")[...])
    }

    @Test func missingBytesBeforeTheFINAreAGap() {
        var connection = TestConnection.connected()
        connection.send(.server, at: 0, "abc")
        connection.send(.server, [.fin], at: 9)
        #expect(!connection.conversation.fromServer.isComplete)
        connection.conversation.finish()
        #expect(
            connection.conversation.fromServer.stream.gaps == [StreamGap(offset: 3, length: 6, cause: .notCaptured)])
    }

    @Test func truncatedBytesAreAGap() {
        var connection = TestConnection.connected()
        connection.send(.server, at: 0, "abcdef", cut: 4)
        connection.send(.server, at: 6, "ghi")
        let stream = connection.conversation.fromServer.stream
        #expect(stream.bytes == bytes("abghi"))
        #expect(stream.gaps == [StreamGap(offset: 2, length: 4, cause: .cutShort)])
        #expect(connection.conversation.fromServer.segments.map(\.isCut) == [true, false])
    }

    @Test func withoutASYNTheFirstSegmentBeginsTheStream() {
        var connection = TestConnection()
        connection.send(.client, at: 50, ack: 20, "PING")
        connection.send(.server, at: 20, ack: 54, "PONG")
        connection.send(.client, at: 54, ack: 24, "QUIT")
        #expect(connection.text(.client) == "PINGQUIT" && connection.text(.server) == "PONG")
        #expect(connection.conversation.fromClient.initialSequence == nil)
        #expect(connection.conversation.judge(.handshakeComplete).outcome == .inconclusive)
    }

    @Test func dataWithTheSYNBeginsTheStream() {
        var connection = TestConnection()
        connection.send(.client, .syn, at: -1, ack: nil, "GET")
        connection.send(.server, .syn, at: -1, ack: 3)
        connection.send(.client, at: 3, ack: 0, " /")
        #expect(connection.text(.client) == "GET /")
        #expect(connection.conversation.judge(.handshakeComplete).outcome == .passed)
    }

    @Test func segmentFarOutsideTheWindowIsReported() {
        var connection = TestConnection.connected()
        connection.send(.server, at: 0, "abc")
        #expect(connection.send(.server, at: 1 << 30 + 100, "evil").kind == .outOfWindow)
        connection.send(.server, at: 3, "def")
        #expect(connection.text(.server) == "abcdef" && connection.conversation.fromServer.missing == nil)
    }

    /// The number of bytes that may wait after a gap is limited. When the limit is reached, the gap is skipped and
    /// reported.
    @Test func waitingBytesAreBounded() {
        var connection = TestConnection(
            limits: ConversationLimits(keptBytes: 1 << 20, waitingBytes: 4_000, keptEvents: 1_000))
        connection.handshake()
        for number in 0..<10 {
            connection.send(.server, at: Int64(100 + number * 1_000), String(repeating: "x", count: 1_000))
        }
        let stream = connection.conversation.fromServer.stream
        #expect(stream.hasReachedLimit && stream.bytes.count == 10_000)
        #expect(stream.gaps == [StreamGap(offset: 0, length: 100, cause: .limitReached)])
        connection.send(.server, at: 0, String(repeating: "a", count: 100))
        #expect(connection.conversation.fromServer.stream.lateLength == 100)
    }

    @Test func keptBytesAreBounded() {
        var connection = TestConnection(limits: ConversationLimits(keptBytes: 4, waitingBytes: 4_000, keptEvents: 2))
        connection.handshake()
        for number in 0..<4 { connection.send(.server, at: Int64(number * 3), "ab\n") }
        let flow = connection.conversation.fromServer
        #expect(flow.stream.bytes == bytes("ab\na") && !flow.stream.isKeptWhole && flow.stream.deliveredLength == 12)
        #expect(flow.segments.count == 2 && flow.segmentCount == 4 && flow.stream.lines.lineCount == 4)
        #expect(connection.judge(.bytes(bytes("ab\nab\nab\nab\n"))).outcome == .inconclusive)
        #expect(connection.judge(.bytes(bytes("ab\na"))).outcome == .failed)
        #expect(connection.judge(.bytes(bytes("ax"))).outcome == .failed)
        #expect(connection.judge(.segmentCount(.equal, 4)).outcome == .passed)
        #expect(connection.judge(.lines(.lf)).outcome == .passed)
        #expect(connection.judge(.gap(index: nil, .less, .nanoseconds(1))).outcome == .inconclusive)
    }

    /// Every order of arrival, with repetitions and overlaps, results in the same stream that was sent.
    @Test(arguments: 1...40)
    func everyOrderOfArrivalGivesTheStream(seed: UInt64) {
        var random = SeededRandom(seed: seed &* 0x9e37_79b9)
        let text = (0..<200).map { String(UnicodeScalar(UInt8(97 + $0 % 26))) }.joined()
        var connection = TestConnection.connected(serverISN: UInt32.max &- UInt32.random(in: 0..<250, using: &random))
        var pieces = stride(from: 0, to: 200, by: 10).map { $0..<$0 + 10 }
        for _ in 0..<20 {
            let start = Int.random(in: 0..<200, using: &random)
            pieces.append(start..<Int.random(in: start + 1...200, using: &random))
        }
        pieces.shuffle(using: &random)
        for piece in pieces {
            let part = String(Array(text)[piece])
            connection.send(.server, at: Int64(piece.lowerBound), part)
        }
        let flow = connection.conversation.fromServer
        #expect(connection.text(.server) == text && flow.stream.conflictCount == 0 && flow.missing == nil)
        #expect(flow.segments.reduce(0) { $0 + $1.length } >= 200)
    }

    /// With hostile sequence numbers, lengths and flags, the table never traps, and its memory is limited.
    @Test func hostileSegmentsNeverTrap() {
        var random = SeededRandom(seed: 4)
        var table = ConversationTable(
            limits: ConversationLimits(keptBytes: 10_000, waitingBytes: 10_000, keptEvents: 100))
        let noise = (0..<64).map { _ in UInt8.random(in: 0...255, using: &random) }
        for round in 0..<20_000 {
            let length = Int.random(in: 0...64, using: &random)
            let isNear = round % 4 != 0
            let number =
                isNear
                ? UInt32.random(in: 0...2_000, using: &random) : UInt32.random(in: 0...UInt32.max, using: &random)
            var tcp = DecodedTCP(
                source: TestConnection.client, destination: TestConnection.server, sequence: SequenceNumber(number),
                acknowledgment: SequenceNumber(UInt32.random(in: 0...UInt32.max, using: &random)),
                flags: TCPFlags(rawValue: UInt16.random(in: 0...511, using: &random)),
                window: UInt16.random(in: 0...3, using: &random), payload: 0..<length,
                payloadLength: length + (round % 7 == 0 ? 1_000 : 0))
            // Most SYN flags are removed, because each SYN might begin a new connection, which would then receive too
            // few packets.
            if round % 50 != 0 { tcp.flags.remove(.syn) }
            if Bool.random(using: &random) { swap(&tcp.source, &tcp.destination) }
            table.add(
                tcp, payload: noise.span.extracting(0..<length), time: UInt64.random(in: 0...UInt64.max, using: &random)
            )
        }
        table.finish()
        #expect(!table.conversations.isEmpty)
        for conversation in table.conversations {
            for side in ConversationSide.allCases {
                #expect(conversation.halfConnection(from: side).stream.bytes.count <= 10_000)
                for framing in Framing.allCases {
                    _ = conversation.judge(.halfConnection(.messages(.equal, 3, framing), from: side))
                    _ = conversation.judge(.halfConnection(.lines(framing), from: side))
                }
                for statement: HalfConnectionStatement<Resolved> in [
                    .bytes([1, 2, 3]), .segments([[1], [2]]), .gap(index: nil, .less, .nanoseconds(5)),
                    .longestLine(.less, 3),
                    .firstByte(within: .nanoseconds(5)), .largestSegment(.less, 9), .window(.greater, 3), .zeroWindow,
                    .urgent,
                ] { _ = conversation.judge(.halfConnection(statement, from: side)) }
                _ = conversation.judge(.closedFirst(by: side))
                _ = conversation.verifyPieces(from: side, streamOffset: 3, lengths: [4, 5])
            }
            _ = conversation.judge(.noRetransmission)
        }
    }
}
