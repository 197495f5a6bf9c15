import ProbeBase
import Testing

@testable import ProbeInspect
@testable import ProbeWire

/// Tests of the time-sequence graph's SVG and of its axes.
@Suite struct TimeSequenceGraphTests {
    @Test(
        arguments: [
            (0, 1_200_000_000, "0.0 s|0.2 s|0.4 s|0.6 s|0.8 s|1.0 s|1.2 s"),
            (0, 60_000_000, "0 ms|10 ms|20 ms|30 ms|40 ms|50 ms|60 ms"),
            (-400, 400, "-400 ns|-200 ns|0 ns|200 ns|400 ns"),
            (0, 3_600_000_000_000, "0 min|10 min|20 min|30 min|40 min|50 min|60 min"),
        ] as [(Int64, Int64, String)])
    func timeTicksAreRound(low: Int64, high: Int64, labels: String) {
        let axis = GraphAxis(.time, from: low, to: high, count: 6)
        #expect(axis.ticks.map(\.label).joined(separator: "|") == labels)
    }

    @Test(
        arguments: [
            (0, 1, "0 B|1 B"), (0, 13, "0 B|5 B|10 B"), (0, 100_000, "0 kB|20 kB|40 kB|60 kB|80 kB|100 kB"),
            (-30, 2_500_000, "0.0 MB|0.5 MB|1.0 MB|1.5 MB|2.0 MB|2.5 MB"), (7, 7, "7 B|8 B"),
        ] as [(Int64, Int64, String)])
    func byteTicksAreRound(low: Int64, high: Int64, labels: String) {
        let axis = GraphAxis(.bytes, from: low, to: high, count: 5)
        #expect(axis.ticks.map(\.label).joined(separator: "|") == labels)
    }

    @Test(
        arguments: [
            (Int64.min / 4, Int64.max / 4), (0, Int64.max / 4), (-1, 1), (Int64.max / 4 - 3, Int64.max / 4),
            (1_000_000_000_000, 1_000_000_000_003),
        ] as [(Int64, Int64)])
    func anyRangeHasFewTicks(low: Int64, high: Int64) {
        for quantity in [GraphAxis.Quantity.time, .bytes] {
            let axis = GraphAxis(quantity, from: low, to: high, count: 6)
            #expect(axis.ticks.count <= 25)
            #expect(axis.ticks.allSatisfy { (0...1).contains(axis.place($0.value)) })
        }
    }

    /// All packets of the flow are within a millisecond, except one packet that is 36 years later, as in a damaged
    /// file.
    @Test func eventsBeforeAVeryLongPauseAreVisible() {
        var pauses = TracePauses()
        for time in [0, 300_000, 309_000, 1 << 60] as [Int64] { pauses.add(time) }
        let axis = GraphAxis(.time, from: -6000, to: 1 << 60 + 6000, count: 5, folds: pauses.folds)
        #expect(pauses.folds.count == 1)
        #expect(axis.ticks.count <= 12)
        #expect(axis.place(300_000) > 0.5 && axis.place(1 << 60) > axis.place(309_000))
    }

    @Test func graphMatchesGoldenPaths() throws {
        let graph = try graph(CaptureBuilder.greeting, of: .server)
        #expect(
            graph.path(.data)
                == "M307.6 350.9V203.5M304.6 350.9h6M304.6 203.5h6M362.6 203.5V140.4M359.6 203.5h6M359.6 140.4h6M417.6 140.4V119.3M414.6 140.4h6M414.6 119.3h6"
        )
        #expect(graph.path(.fin) == "M559.2 114.3l5 5l-5 5l-5 -5z")
        #expect(
            graph.description == """
                3 segments, 11 bytes in 60.09 ms, no retransmission, window never closed. The graph shows 60.09 ms from left to right \
                and sequence numbers from 0 to 17 upwards. Pauses of 30 ms and 30 ms without packets are shortened. The window extends above the graph, up to 525; there, its line is drawn at the \
                upper edge.
                """)
    }

    /// Pauses that make up most of the time are folded, unless the time of a later record in the file is within the
    /// pause.
    @Test func longPausesAreFolded() {
        var pauses = TracePauses()
        for time in [0, 1, 2, 60_000, 60_001] as [Int64] { pauses.add(time * 1_000_000) }
        #expect(pauses.folds == [2_100_000..<59_999_900_000])
        let axis = GraphAxis(.time, from: 0, to: 60_001_000_000, count: 5, folds: pauses.folds)
        #expect(axis.place(2_000_000) > 0.5)
        #expect(axis.place(60_000_000_000) < 0.8)
        #expect(
            zip(axis.ticks, axis.ticks.dropFirst()).allSatisfy { axis.place($1.value) - axis.place($0.value) > 0.1 })
        #expect(!axis.ticks.contains { pauses.folds[0].contains($0.value) })
        for time in stride(from: 30_000, to: 0, by: -5000) as StrideTo<Int64> { pauses.add(time * 1_000_000) }
        #expect(pauses.folds.isEmpty)
        #expect(pauses.times == 0...60_001_000_000)
        // If the flow consists only of pauses, no pause is folded.
        var few = TracePauses()
        for time in [0, 16_000, 213_000_000, 312_000_000] as [Int64] { few.add(time) }
        #expect(few.folds.isEmpty)
    }

    @Test func retransmissionHasItsOwnShape() throws {
        let graph = try graph(CaptureBuilder.troubled, of: .client)
        #expect(graph.path(.retransmission).contains("l8 8m0 -8l-8 8"))
        #expect(!graph.path(.data).contains("l8 8"))
    }

    @Test func reorderedAcknowledgmentIsNotDrawn() {
        var trace = SequenceTrace()
        for (time, acknowledgment) in [(1, 100), (2, 50), (3, 200)] as [(Int64, Int64)] {
            trace.add(
                packet(.server, acknowledgment: acknowledgment, window: acknowledgment == 50 ? 0 : 10), isSent: false,
                time: time)
        }
        #expect(trace.acknowledgments.points.map(\.value) == [100, 200])
        #expect(trace.edges.points.map(\.value) == [110, 210])
        #expect(trace.shutCount == 0)
    }

    /// The graph of a long flow is small, but still shows each retransmission and the closed window.
    @Test func longFlowHasASmallGraph() throws {
        var trace = SequenceTrace()
        var pauses = TracePauses()
        for index in 0..<60_000 {
            let time = Int64(index) * 10_000
            pauses.add(time)
            trace.add(packet(.client, sequence: Int64(index) * 1448 + 1, length: 1448), isSent: true, time: time)
            let window = index == 30_000 ? 0 : 65_535
            trace.add(
                packet(.server, acknowledgment: Int64(index) * 1448, window: window), isSent: false, time: time + 5000)
            if index % 10_000 == 9999 {
                trace.add(
                    packet(.client, sequence: Int64(index - 50) * 1448 + 1, length: 1448, kind: .retransmission),
                    isSent: true, time: time + 6000)
            }
        }
        let graph = TimeSequenceGraph(trace, direction: "client to server", id: "g", pauses: pauses)
        #expect(graph.drawn(.retransmission).count == 6)
        #expect(graph.drawn(.data).count <= TimeSequenceGraph.maxBars)
        #expect(graph.path(.data).utf8.count < 60_000)
        #expect(graph.path(.shutWindow).contains("l-6 9h12z"))
        #expect(graph.notes.contains { $0.hasPrefix("60,000 marks are drawn as ") })
        #expect(trace.summary == "60,006 segments, 86,880,000 bytes in 599.9 ms, 6 retransmissions, window closed once")
    }

    private func packet(
        _ side: ConversationSide, sequence: Int64 = 1, length: Int = 0, acknowledgment: Int64 = 1, window: Int = 1000,
        kind: SegmentKind? = nil
    ) -> InspectedPacket {
        InspectedPacket(
            summary: PacketSummary(
                conversation: 0, side: side, time: 0, packetIndex: 0, flags: [.ack], relativeSequence: sequence,
                relativeAcknowledgment: acknowledgment, window: window, payloadLength: length, payloadIsCut: false,
                kind: kind ?? (length > 0 ? .new : .control), isDuplicateAck: false, isWindowUpdate: false,
                isZeroWindow: window == 0, hasConflict: false, isUrgent: false, hasReachedLimit: false),
            comments: [])
    }

    private func graph(_ capture: [UInt8], of side: ConversationSide) throws -> TimeSequenceGraph {
        let observer = FlowsPageObserver(limit: 1)
        _ = try inspect(capture, limits: .deliveringParts, observer: observer)
        let record = try #require(observer.records[0])
        return TimeSequenceGraph(
            side == .client ? record.fromClient : record.fromServer, direction: "to the other", id: "g",
            pauses: record.pauses)
    }
}
