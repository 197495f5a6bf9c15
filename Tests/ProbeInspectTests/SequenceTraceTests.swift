import ProbeWire
import Testing

@testable import ProbeInspect

/// Tests that the data of a time-sequence graph remains small and that no visible detail is lost.
@Suite struct SequenceTraceTests {
    @Test func joinedBarsCoverEveryPacket() {
        // There are a thousand bars per column, and one bar far away from all other bars.
        var bars = (0..<100_000).map {
            SequenceBar(time: Int64($0) * 1000, low: Int64($0) * 10, high: Int64($0) * 10 + 10)
        }
        bars.append(SequenceBar(time: 50_000_000, low: 5, high: 6))
        let joined = SequenceBar.joined(bars, columns: 100, rows: 50, limit: 1000)
        #expect(joined.count <= 1000)
        #expect(joined.count >= 100)
        #expect(joined.reduce(0) { $0 + $1.count } == bars.count)
        #expect(joined.map(\.low).min() == 0)
        #expect(joined.map(\.high).max() == 1_000_000)
        // The isolated bar is not joined with the bars far above it.
        #expect(joined.contains { $0.low == 5 && $0.high == 6 && $0.start == 50_000_000 })
    }

    @Test func barCountIsLimitedForAnyDistribution() {
        var bars: [SequenceBar] = []
        var state: UInt64 = 7
        for _ in 0..<20_000 {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            let low = Int64(state >> 33)
            bars.append(SequenceBar(time: Int64(state % 1_000_003), low: low, high: low + 100))
        }
        for limit in [1, 100, 5000] {
            let joined = SequenceBar.joined(bars, columns: 700, rows: 350, limit: limit)
            #expect(joined.count <= max(limit, 2))
            #expect(joined.reduce(0) { $0 + $1.count } == bars.count)
        }
        #expect(SequenceBar.joined([], columns: 10, rows: 10, limit: 10).isEmpty)
        let one = SequenceBar(time: -5, low: 3, high: 3)
        #expect(SequenceBar.joined([one], columns: 0, rows: 0, limit: 0) == [one])
    }

    @Test func sampledLineKeepsDips() {
        var line = SampledLine()
        for index in 0..<200_000 { line.add(index == 77_777 ? 0 : 1000 + Int64(index % 7), at: Int64(index)) }
        #expect(line.points.count <= 8192)
        #expect(line.points.contains { $0.value == 0 && $0.time == 77_777 })
        #expect(line.points.first?.time == 0)
        #expect(line.points.last?.time == 199_999)
        let few = SampledLine.reduced(line.points, columns: 10)
        #expect(few.count <= 40)
        #expect(few.contains { $0.value == 0 })
    }

    @Test func sampledLineIsSortedByTime() {
        var line = SampledLine()
        for time in [5, 3, 9, 1, 9, 4] as [Int64] { line.add(time * 10, at: time) }
        #expect(line.points.map(\.time) == [1, 3, 4, 5, 9, 9])
        // Two points suffice for a value that doesn't change.
        var flat = SampledLine()
        for time in 0..<1000 { flat.add(3, at: Int64(time)) }
        #expect(flat.points == [.init(time: 0, value: 3), .init(time: 999, value: 3)])
    }

    @Test func summariesDescribeTheTrace() throws {
        #expect(
            try traces(CaptureBuilder.greeting).server.summary
                == "3 segments, 11 bytes in 60.09 ms, no retransmission, window never closed")
        let troubled = try traces(CaptureBuilder.troubled)
        #expect(
            troubled.client.summary == "3 segments, 16 bytes in 60 us, 1 retransmission, window never closed")
        #expect(troubled.client.bars(.retransmission).map(\.high) == [11])
        #expect(troubled.server.bars(.rst).count == 1)
        #expect(troubled.server.summary.hasPrefix("0 segments, 0 bytes"))
    }

    @Test func windowsBlocksAndDuplicatesAreMarked() throws {
        var capture = CaptureBuilder()
        var connection = CaptureBuilder.Connection(client: 40_000, server: 25)
        capture.open(connection)
        capture.send(&connection, .client, "abcdefghij")
        // The server has received bytes 21 to 30, closes its window, and then reopens it.
        let sack: [UInt8] = [1, 1, 5, 10] + [0, 0, 4, 0xfd] + [0, 0, 5, 7]
        capture.packet(connection, .server, flags: 0x10, window: 0, options: sack)
        capture.packet(connection, .server, flags: 0x10, window: 0)
        capture.packet(connection, .server, flags: 0x10, window: 400)
        capture.packet(connection, .server, flags: 0x10, window: 0)
        let trace = try traces(capture.bytes).client
        #expect(trace.shutCount == 2)
        #expect(trace.count(.shutWindow) == 3)
        #expect(trace.summary.hasSuffix("window closed 2 times"))
        #expect(trace.bars(.sack).map(\.low) == [277])
        #expect(trace.bars(.sack).map(\.high) == [287])
        #expect(trace.edges.points.map(\.value).contains(411))
    }

    /// The receiver's window is known even before a packet from the sender has been captured.
    @Test func windowIsKnownBeforeTheSenderIsSeen() throws {
        var capture = CaptureBuilder()
        let connection = CaptureBuilder.Connection(client: 40_000, server: 25)
        for window in [100, 0, 100] as [UInt16] { capture.packet(connection, .client, flags: 0x10, window: window) }
        let trace = try traces(capture.bytes).server
        #expect(trace.summary == "0 segments, 0 bytes in 20 us, no retransmission, window closed once")
        #expect(trace.bars(.shutWindow).map(\.low) == [1])
    }

    /// A flow is drawn even if only one side was captured, or if times go backwards or are as far apart as a file can
    /// express.
    @Test func oddTimesAndOneSidedFlowsAreDrawn() throws {
        var capture = CaptureBuilder()
        var connection = CaptureBuilder.Connection(client: 40_000, server: 25, clientBase: 0xffff_fffa)
        for time in [1_000_000_000, 0, 900, UInt64.max >> 1, 5] {
            capture.time = time
            capture.send(&connection, .client, "over the wrap\n")
        }
        let observer = FlowsPageObserver(limit: 1)
        _ = try inspect(capture.bytes, limits: .deliveringParts, observer: observer)
        let record = try #require(observer.records[0])
        let trace = record.fromClient
        #expect(trace.byteCount == 70)
        #expect(trace.summary.contains("no packets from the receiver in the capture"))
        let graph = TimeSequenceGraph(
            trace, direction: "client to server", id: "g", pauses: record.pauses)
        #expect(!graph.path(.data).isEmpty)
    }

    private func traces(_ capture: [UInt8]) throws -> (client: SequenceTrace, server: SequenceTrace) {
        let observer = FlowsPageObserver(limit: 1)
        _ = try inspect(capture, limits: .deliveringParts, observer: observer)
        let record = try #require(observer.records[0])
        return (record.fromClient, record.fromServer)
    }
}
