import ProbeBase
import ProbeInspect
import ProbeWire
import Testing

/// Tests that the streams of a capture don't depend on the times of its packets.
@Suite struct LateSegmentTests {
    /// Returns a copy of a capture file with microsecond timestamps, in which the packets' times are replaced.
    private static func retimed(_ file: [UInt8], _ time: (Int) -> UInt64) -> [UInt8] {
        var bytes = file
        var offset = 24
        var number = 0
        while offset + 16 <= bytes.count {
            let stamp = time(number)
            for (place, value) in [(0, stamp / 1_000_000), (4, stamp % 1_000_000)] {
                for byte in 0..<4 {
                    bytes[offset + place + byte] = UInt8(truncatingIfNeeded: value >> UInt64(8 * byte))
                }
            }
            let length = (0..<4).reduce(0) { $0 | Int(bytes[offset + 8 + $1]) << (8 * $1) }
            offset += 16 + length
            number += 1
        }
        return bytes
    }

    /// Returns a description of the streams in a capture. Checks that the streams are the same on one thread, on two
    /// threads, and with an observer.
    private func streams(_ bytes: [UInt8], folder: borrowing TemporaryFolder) throws -> [String] {
        let path = try folder.write("capture", bytes)
        func texts(_ inspection: Inspection) -> [String] {
            inspection.analysis.table.conversations.flatMap { conversation in
                ConversationSide.allCases.map { side in
                    let stream = conversation.halfConnection(from: side).stream
                    return "\(conversation.number) \(side) \(stream.deliveredLength) \(stream.gaps) \(stream.lines)"
                }
            }
        }
        let alone = texts(Inspection.of(try CaptureSource(path: path), workers: 1))
        #expect(texts(Inspection.of(try CaptureSource(path: path), workers: 2)) == alone)
        let joined = JoinedStreams()
        let deliverableParts = Inspection.of(try CaptureSource(path: path), limits: .deliveringParts, observer: joined)
        #expect(texts(deliverableParts) == alone)
        return alone + joined.text
    }

    @Test(arguments: 1...6 as ClosedRange<UInt64>)
    func timesDoNotAffectStreams(seed: UInt64) throws {
        let folder = try TemporaryFolder()
        let capture = RandomCapture(seed: seed, segments: 1_200).bytes
        let expected = try streams(capture, folder: folder)
        #expect(expected.contains { $0.contains("notCaptured") })
        var state = seed
        func random() -> UInt64 {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return state >> 24
        }
        let kinds: [(Int) -> UInt64] = [
            { _ in 0 }, { UInt64(4_000_000_000 - $0 * 50_000) }, { _ in random() % 4_000_000_000_000 },
            { UInt64($0) * 1_000_000_000 }, { UInt64($0 * 10) + random() % 1_000_000 },
        ]
        for kind in kinds { #expect(try streams(Self.retimed(capture, kind), folder: folder) == expected) }
    }

    /// A capture in which a segment appears several seconds and hundreds of segments after its acknowledgment.
    private static let late: [UInt8] = {
        var capture = CaptureBuilder()
        var connection = CaptureBuilder.Connection(client: 40_000, server: 80)
        capture.open(connection)
        capture.send(&connection, .client, "first\r\n")
        capture.lose(&connection, .client, 6)
        for _ in 0..<300 {
            capture.send(&connection, .client, "line\r\n")
            capture.packet(connection, .server, flags: 0x10)
            capture.wait(milliseconds: 10)
        }
        capture.close(&connection)
        capture.packet(
            connection, .client, flags: 0x18, payload: Array("late\r\n".utf8), skew: -Int32(300 * 6 + 6 + 1))
        return capture.bytes
    }()

    @Test(arguments: [1, 2])
    func lateSegmentIsCounted(workers: Int) throws {
        let folder = try TemporaryFolder()
        let path = try folder.write("late.pcapng", Self.late)
        let inspection = Inspection.of(try CaptureSource(path: path), workers: workers)
        let stream = inspection.analysis.table.conversations[0].fromClient.stream
        #expect(stream.deliveredLength == 7 + 6 + 1_800 && stream.gaps.isEmpty && stream.lines.crlfCount == 302)
        #expect(!inspection.analysis.table.hasReachedTotal && !stream.hasReachedLimit)
    }

    /// `--follow` and `--extract` output the late segment, even if the capture is read from a pipe, which can't be read
    /// twice.
    @Test func lateSegmentIsDelivered() throws {
        let folder = try TemporaryFolder()
        let file = try folder.write("late.pcapng", Self.late)
        let expected = "first\r\nlate\r\n" + String(repeating: "line\r\n", count: 300)
        let joined = JoinedStreams()
        _ = Inspection.of(try CaptureSource(path: file), limits: .deliveringParts, observer: joined)
        #expect(joined.bytes["0 client"] == Array(expected.utf8))
        let joinedAgain = JoinedStreams()
        let inspection = Inspection.of(try piped(Self.late), limits: .deliveringParts, observer: joinedAgain)
        #expect(joinedAgain.bytes["0 client"] == Array(expected.utf8) && joinedAgain.gaps.isEmpty)
        #expect(inspection.problem == nil)
    }

    /// If the waiting segments exceed the memory limit, the stream skips the gap, and reports the missing bytes as late
    /// when they arrive.
    @Test func gapIsGivenUpForLackOfMemory() throws {
        let folder = try TemporaryFolder()
        let path = try folder.write("late.pcapng", Self.late)
        var limits = ConversationLimits.counting
        limits.waitingBytes = 1_000
        let inspection = Inspection.of(try CaptureSource(path: path), limits: limits)
        let stream = inspection.analysis.table.conversations[0].fromClient.stream
        #expect(stream.gaps == [StreamGap(offset: 7, length: 6, cause: .limitReached)] && stream.hasReachedLimit)
        #expect(stream.deliveredLength == 7 + 1_800 && stream.lateLength == 6)
    }

    /// A gap that is never filled is reported in the same way whether or not the memory limit was reached.
    @Test(arguments: [1_000, 1 << 20])
    func unfilledGapIsReported(waitingBytes: Int) throws {
        var capture = CaptureBuilder()
        var connection = CaptureBuilder.Connection(client: 40_000, server: 80)
        capture.open(connection)
        capture.lose(&connection, .client, 6)
        for _ in 0..<300 {
            capture.send(&connection, .client, "line\r\n")
            capture.packet(connection, .server, flags: 0x10)
        }
        var limits = ConversationLimits.counting
        limits.waitingBytes = waitingBytes
        let inspection = Inspection.of(try piped(capture.bytes), limits: limits)
        let stream = inspection.analysis.table.conversations[0].fromClient.stream
        #expect(stream.gaps == [StreamGap(offset: 0, length: 6, cause: .notCaptured)] && !stream.hasReachedLimit)
    }
}
