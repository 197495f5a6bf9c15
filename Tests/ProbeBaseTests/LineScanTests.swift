import ProbeBase
import Testing

struct LineScanTests {
    static func scan(_ framing: Framing, _ chunks: [ArraySlice<UInt8>]) -> LineScan {
        var scan = LineScan(framing: framing)
        for chunk in chunks { scan.append(chunk.span) }
        scan.finish()
        return scan
    }

    @Test func linesHalvesOfTerminatorsAndTheLongestLine() {
        let stream = Array("ab\r\nlonger\r\n\n\rx\r\r\nlong\nest\r".utf8)
        let scan = Self.scan(.crlf, [stream[...]])
        #expect(scan.count == stream.count)
        #expect(scan.lineCount == 3)
        #expect(scan.longestLine == 4..<10)
        #expect(scan.unfinishedLine == 18..<27)
        #expect(scan.longestLength == 9)
        #expect(scan.bareTerminators.lineFeeds.offsets == [12, 22])
        #expect(scan.bareTerminators.carriageReturns.offsets == [13, 15, 26])
    }

    @Test(arguments: [
        "", "\r", "\n", "\r\n", "\n\r", "\r\r\n\n", "a\r\nb\r\n", "\r\n\r\n\r",
        "0123456\r\n01234567\r\n012345678\r\r\n0123\n5",
    ])
    func cutsChangeNothing(_ text: String) {
        let stream = Array(text.utf8)
        for framing in [Framing.crlf, .lf, .cr, .nul, .none] {
            let whole = Self.scan(framing, [stream[...]])
            #expect(Self.scan(framing, stream.indices.map { stream[$0...$0] }) == whole)
            for first in 0...stream.count {
                for second in first...stream.count {
                    let chunks = [stream[..<first], stream[first..<second], stream[second...]]
                    #expect(Self.scan(framing, chunks) == whole)
                }
            }
        }
    }

    @Test func otherTerminators() {
        let stream = Array("ab\nc\r\nd\0efg".utf8)
        #expect(Self.scan(.lf, [stream[...]]).lineCount == 2)
        #expect(Self.scan(.lf, [stream[...]]).longestLine == 0..<2)
        #expect(Self.scan(.cr, [stream[...]]).longestLine == 0..<4)
        #expect(Self.scan(.nul, [stream[...]]).longestLine == 0..<7)
        #expect(Self.scan(.none, [stream[...]]).longestLine == nil)
        #expect(Self.scan(.none, [stream[...]]).longestLength == stream.count)
        for framing in [Framing.lf, .cr, .nul, .none] {
            #expect(Self.scan(framing, [stream[...]]).bareTerminators.isEmpty)
        }
    }

    @Test func aLineIsAsLongAsItsContent() {
        #expect(Self.scan(.crlf, [Array("\r\n".utf8)[...]]).longestLine == 0..<0)
        #expect(Self.scan(.crlf, []).longestLine == nil)
    }

    @Test func aCRAtTheEndWaitsForWhatFollows() {
        var scan = LineScan()
        scan.append([0x61, 0x0D])
        #expect(scan.bareTerminators.isEmpty)
        scan.append([])
        scan.append([0x0A])
        scan.finish()
        #expect(scan.bareTerminators.isEmpty)
        #expect(scan.lineCount == 1)
    }

    @Test func occurrencesAreCountedAllAndKeptInPart() {
        let scan = Self.scan(.crlf, [Array(repeating: 0x0A, count: 1_000)[...]])
        #expect(scan.bareTerminators.lineFeeds.count == 1_000)
        #expect(scan.bareTerminators.lineFeeds.offsets == Array(0..<16))
    }
}
