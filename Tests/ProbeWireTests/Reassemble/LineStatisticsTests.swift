import ProbeWire
import Testing

/// Tests that counting lines many bytes at a time gives the same result as counting byte by byte, wherever the stream
/// is split into segments.
@Suite struct LineStatisticsTests {
    /// A reference implementation that processes the whole stream byte by byte.
    private struct Plain: Equatable {
        var crlf = 0
        var bareLF: [Int64] = []
        var bareCR: [Int64] = []
        var longest: Int64 = 0
        var longestLine = 0
        var unfinished: [UInt8] = []

        init(_ bytes: [UInt8]) {
            for (index, byte) in bytes.enumerated() {
                let isAfterCR = index > 0 && bytes[index - 1] == 0x0d
                if byte == 0x0d, index + 1 < bytes.count, bytes[index + 1] != 0x0a { bareCR.append(Int64(index)) }
                unfinished.append(byte)
                guard byte == 0x0a else { continue }
                if isAfterCR { crlf += 1 } else { bareLF.append(Int64(index)) }
                let content = Int64(unfinished.count - (isAfterCR ? 2 : 1))
                if content > longest || longestLine == 0 {
                    longest = content
                    longestLine = crlf + bareLF.count
                }
                unfinished = []
            }
        }
    }

    private func expect(
        _ lines: LineStatistics, for bytes: [UInt8], _ sourceLocation: SourceLocation = #_sourceLocation
    ) {
        let plain = Plain(bytes)
        #expect(lines.crlfCount == plain.crlf, sourceLocation: sourceLocation)
        #expect(
            lines.bareLFCount == plain.bareLF.count && lines.firstBareLF == plain.bareLF.first,
            sourceLocation: sourceLocation)
        #expect(
            lines.bareCRCount == plain.bareCR.count && lines.firstBareCR == plain.bareCR.first,
            sourceLocation: sourceLocation)
        #expect(
            lines.longestContent == plain.longest && lines.longestLine == plain.longestLine,
            sourceLocation: sourceLocation)
        #expect(lines.unfinishedLength == Int64(plain.unfinished.count), sourceLocation: sourceLocation)
        #expect(lines.unfinishedHead == Array(plain.unfinished.prefix(64)), sourceLocation: sourceLocation)
        #expect(lines.endsWithCR == (bytes.last == 0x0d), sourceLocation: sourceLocation)
        #expect(lines.bareExcerpt.isEmpty == (plain.bareLF + plain.bareCR).isEmpty, sourceLocation: sourceLocation)
    }

    @Test(arguments: 1...200 as ClosedRange<UInt64>)
    func cutsMakeNoDifference(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        // The list includes control bytes, and bytes that differ from CR and LF only in the highest bit, which a search
        // of many bytes at once may confuse with CR and LF.
        let seldom: [UInt8] = [0x0d, 0x0a, 0x0d, 0x0a, 0x09, 0x00, 0x0b, 0x1a, 0x8a, 0x8d, 0xff]
        let often = Int.random(in: 1...60, using: &random)
        let bytes = (0..<Int.random(in: 0...600, using: &random)).map { _ in
            Int.random(in: 0..<often, using: &random) == 0
                ? seldom[Int.random(in: 0..<seldom.count, using: &random)]
                : UInt8.random(in: 0x20...0x7e, using: &random)
        }
        var lines = LineStatistics()
        var position = 0
        while position < bytes.count {
            let end = min(bytes.count, position + Int.random(in: 1...250, using: &random))
            lines.feed(bytes.span.extracting(position..<end), quotes: true)
            position = end
        }
        expect(lines, for: bytes)
    }

    /// All line endings are found in a payload that is longer than the pieces into which the search divides it.
    @Test(arguments: [4_095, 4_096, 4_097, 4_159, 4_160, 8_192, 8_193, 20_000])
    func longPayloadIsSearchedCompletely(length: Int) {
        for place in [0, 62, 63, 64, 4_030, 4_031, 4_032, 4_094, 4_095, 4_096, 4_097, 8_190, 8_191, 8_192, length - 2] {
            for end in [[0x0a], [0x0d], [0x0d, 0x0a], [0x0d, 0x0d, 0x0a], [0x0a, 0x0a]] as [[UInt8]]
            where place + end.count <= length {
                var bytes = [UInt8](repeating: 0x78, count: length)
                bytes.replaceSubrange(100..<102, with: [0x0d, 0x0a])
                bytes.replaceSubrange(place..<place + end.count, with: end)
                var lines = LineStatistics()
                lines.feed(bytes.span, quotes: true)
                expect(lines, for: bytes)
            }
        }
    }

    /// A line ending is found at every offset, in payloads whose lengths are near multiples of the number of bytes that
    /// are searched at once.
    @Test(arguments: [1, 7, 8, 9, 15, 16, 17, 31, 63, 64, 65, 79, 80, 127, 128, 129, 150])
    func lineEndIsFoundAtEveryOffset(length: Int) {
        for place in 0..<length {
            for end in [[0x0a], [0x0d], [0x0d, 0x0a]] as [[UInt8]] where place + end.count <= length {
                var bytes = [UInt8](repeating: 0x78, count: length)
                bytes.replaceSubrange(place..<place + end.count, with: end)
                var lines = LineStatistics()
                lines.feed(bytes.span, quotes: true)
                expect(lines, for: bytes)
            }
        }
    }
}
