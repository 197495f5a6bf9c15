import ProbeBase
import ProbeWire
import Testing

/// Tests of the streams in whole files, and of variations that must not affect the result.
struct WholeFileTests {
    /// The generator records what each side sent, so the streams can be verified without another tool.
    @Test(arguments: 1...60 as ClosedRange<UInt64>)
    func streamsMatchTheSentBytes(seed: UInt64) throws {
        var exchange = KnownExchange(seed: seed)
        let file = ReadFile(RandomTraffic.pcap(exchange.packets()))
        try #require(file.analysis.table.conversations.count == 1)
        let conversation = file.analysis.table.conversations[0]
        for (side, sent) in zip([ConversationSide.client, .server], exchange.sent) {
            let stream = conversation.halfConnection(from: side).stream
            #expect(stream.bytes == sent.bytes)
            #expect(stream.gaps.map { Int($0.offset)..<Int($0.offset + $0.length) } == sent.lost)
            #expect(stream.conflictCount == 0)
        }
    }

    /// The result does not depend on the chunks into which a file is split.
    @Test(arguments: Corpus.names)
    func chunkSizeMakesNoDifference(name: String) {
        let bytes = Corpus.bytes(name)
        let whole = ReadFile(bytes)
        for chunk in [1, 13, 1_000] where bytes.count / chunk < 60_000 {
            let pieces = ReadFile(bytes, chunk: chunk)
            #expect(pieces.records == whole.records && pieces.packets == whole.packets && pieces.error == whole.error)
        }
    }

    /// Random changes to the bytes of a real file cause an error or change the packets, but never cause a trap. Large
    /// files are omitted, because they differ from the others only in length.
    @Test(arguments: Corpus.names.filter { Corpus.bytes($0).count < 100_000 })
    func alteredFilesNeverTrap(name: String) {
        let original = Corpus.bytes(name)
        var random = SeededRandom(seed: UInt64(original.count))
        for _ in 0..<40 {
            var bytes = original
            for _ in 0..<Int.random(in: 1...8, using: &random) {
                bytes[Int.random(in: 0..<bytes.count, using: &random)] = UInt8.random(in: 0...255, using: &random)
            }
            if Bool.random(using: &random) { bytes.removeLast(Int.random(in: 0..<bytes.count, using: &random)) }
            let file = ReadFile(bytes)
            #expect(file.records.count == file.reader.packetCount)
        }
    }
}
