import ProbeWire
import Testing

/// Tests that the fast path for ordinary packets gives the same results as the readable path.
struct FastPathTests {
    private static let limits: [ConversationLimits] = [
        .passing, .live, ConversationLimits(keptBytes: 300, waitingBytes: 500, keptEvents: 4, totalBytes: 2_000),
    ]

    @Test(arguments: 1...40 as ClosedRange<UInt64>, [0, 1, 2])
    func fastPathGivesTheSameResult(seed: UInt64, limit: Int) throws {
        var traffic = RandomTraffic(seed: seed * 7_919)
        let file = RandomTraffic.pcap(traffic.packets(600))
        var long = CaptureAnalysis(limits: Self.limits[limit])
        var summaries: [PacketSummary] = []
        var reader = CaptureFileReader()
        try reader.feed(file.span) { record, bytes in
            let summary = long.add(
                bytes, linkType: record.linkType, originalLength: record.originalLength, time: record.time,
                index: record.index)
            if let summary { summaries.append(summary) }
        }
        #expect(summaries.count == 600)

        var short = CaptureAnalysis(limits: Self.limits[limit])
        var unusual: [Int: PacketSummary] = [:]
        var otherReader = CaptureFileReader()
        var random = SeededRandom(seed: seed)
        var position = 0
        while position < file.count {
            let end = min(file.count, position + Int.random(in: 1...5_000, using: &random))
            try short.pass(file.span.extracting(position..<end), through: &otherReader) { record, summary in
                unusual[record.index] = summary
            }
            position = end
        }
        for summary in summaries {
            if let seen = unusual[summary.packetIndex] {
                #expect(seen == summary)
            } else {
                #expect(summary.marks.isEmpty && (summary.kind == .new || summary.kind == .control))
            }
        }
        // If not all 600 packets were processed as unusual ones, the fast path was used for the others.
        #expect(unusual.count < 600)
        long.finish()
        short.finish()
        #expect(short.packetCount == long.packetCount && short.tcpPacketCount == long.tcpPacketCount)
        // All members of each conversation are compared, including private ones.
        #expect(short.table.conversations.count == long.table.conversations.count)
        for (one, other) in zip(short.table.conversations, long.table.conversations) {
            #expect(String(reflecting: one) == String(reflecting: other))
        }
    }

    /// The fast path and the readable path give the same results for whole files, including files from other projects.
    @Test(arguments: Corpus.names, [0, 1, 2])
    func fastPathAgreesOnTheCorpus(name: String, limit: Int) {
        func analysed(isFast: Bool) -> (CaptureAnalysis, CaptureFileError?) {
            var analysis = CaptureAnalysis(limits: Self.limits[limit])
            var reader = CaptureFileReader()
            var failure: CaptureFileError?
            do throws(CaptureFileError) {
                let bytes = Corpus.bytes(name)
                if isFast {
                    try analysis.pass(bytes.span, through: &reader) { _, _ in }
                } else {
                    try reader.feed(bytes.span) { record, packet in
                        analysis.add(
                            packet, linkType: record.linkType, originalLength: record.originalLength,
                            time: record.time, index: record.index)
                    }
                }
                try reader.finish()
            } catch {
                failure = error
            }
            analysis.finish()
            return (analysis, failure)
        }
        let (fast, fastError) = analysed(isFast: true)
        let (long, longError) = analysed(isFast: false)
        #expect(fastError == longError && fast.packetCount == long.packetCount)
        #expect(fast.tcpPacketCount == long.tcpPacketCount && fast.undecodableCount == long.undecodableCount)
        #expect(fast.table.conversations.count == long.table.conversations.count)
        for (one, other) in zip(fast.table.conversations, long.table.conversations) {
            #expect(String(reflecting: one) == String(reflecting: other))
        }
    }

    /// If shares of a capture are analyzed separately and merged, the result equals the result of a single analysis.
    @Test(arguments: 1...10 as ClosedRange<UInt64>, [2, 3])
    func mergedSharesEqualOneAnalysis(seed: UInt64, count: Int) throws {
        var traffic = RandomTraffic(seed: seed * 104_729, connections: 12)
        let file = RandomTraffic.pcap(traffic.packets(900))
        func analysed(_ share: ConnectionShare) throws -> CaptureAnalysis {
            var analysis = CaptureAnalysis(limits: .live, share: share)
            var reader = CaptureFileReader()
            try analysis.pass(file.span, through: &reader) { _, _ in }
            analysis.finish()
            return analysis
        }
        let whole = try analysed(.all)
        var merged = try analysed(ConnectionShare(0, of: count))
        let before = merged.table.conversations.map(\.client)
        for number in 1..<count {
            let other = try analysed(ConnectionShare(number, of: count))
            let numbers = merged.merge(other)
            for (old, new) in numbers.other.enumerated() {
                #expect(merged.table.conversations[new].client == other.table.conversations[old].client)
            }
        }
        #expect(before.count < whole.table.conversations.count)
        #expect(merged.packetCount == whole.packetCount && merged.tcpPacketCount == whole.tcpPacketCount)
        #expect(merged.table.conversations.map(\.number) == whole.table.conversations.map(\.number))
        for (one, other) in zip(merged.table.conversations, whole.table.conversations) {
            #expect(String(reflecting: one) == String(reflecting: other))
            #expect(
                merged.table.latestIndex(between: one.client, and: one.server)
                    == whole.table.latestIndex(between: one.client, and: one.server))
        }
    }
}
