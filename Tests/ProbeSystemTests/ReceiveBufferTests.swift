import ProbeBase
import ProbeSystem
import Testing

struct ReceiveBufferTests {
    /// The chunks `abc`, `de` and `fgh` arrive at the times 1, 2 and 3. After a range is removed, the other bytes keep
    /// their times.
    @Test(arguments: [0..<1, 0..<3, 1..<2, 2..<4, 3..<5, 1..<7, 5..<8, 4..<6, 0..<8])
    func removalFromTheMiddleKeepsTimes(_ range: Range<Int>) {
        for taken in 0..<3 {
            var buffer = ReceiveBuffer()
            let chunks: [(String, Int64)] = [("abc", 1), ("de", 2), ("fgh", 3)]
            var times: [(UInt8, Int64)] = []
            for (text, time) in chunks {
                buffer.append(Array(text.utf8), at: MonotonicTime(nanoseconds: time))
                times += text.utf8.map { ($0, time) }
            }
            let taken = min(taken, range.lowerBound)
            buffer.drop(taken)
            times.removeFirst(taken)
            buffer.remove([(range.lowerBound - taken)..<(range.upperBound - taken)])
            times.removeSubrange((range.lowerBound - taken)..<(range.upperBound - taken))
            buffer.append([122], at: MonotonicTime(nanoseconds: 4))
            times.append((122, 4))
            #expect(buffer.received == 9)
            for (offset, (byte, time)) in times.enumerated() {
                #expect(buffer[offset] == byte)
                #expect(buffer.arrival(of: offset)?.nanoseconds == time)
            }
        }
    }

    /// Searches for every needle over a small alphabet at every offset, before and after bytes were consumed, and
    /// compares the results with those of a naive search.
    @Test func searchFindsTheFirstCompleteMatch() {
        let stream = Array("\r\r\na\r\n\r\n\rb\n\r\n".utf8)
        let needles = ["\r\n", "\n", "\r\r", "\r\n\r\n", "b", "x", "", "\n\r\n"].map { Array($0.utf8) }
        for dropped in 0..<stream.count {
            var buffer = ReceiveBuffer()
            buffer.append(stream, at: MonotonicTime(nanoseconds: 1))
            buffer.drop(dropped)
            let rest = Array(stream[dropped...])
            for needle in needles {
                for offset in 0...rest.count {
                    let plain = (offset...rest.count).first { rest[$0...].starts(with: needle) }
                    #expect(buffer.firstIndex(of: needle, from: offset) == plain)
                }
            }
        }
    }

    @Test func differenceIsFoundInTheCommonLength() {
        var buffer = ReceiveBuffer()
        #expect(buffer.firstDifference(from: [1]) == nil)
        buffer.append(Array("..abcdef".utf8), at: MonotonicTime(nanoseconds: 1))
        buffer.drop(2)
        #expect(buffer.firstDifference(from: []) == nil)
        #expect(buffer.firstDifference(from: Array("abc".utf8)) == nil)
        #expect(buffer.firstDifference(from: Array("abcdefgh".utf8)) == nil)
        #expect(buffer.firstDifference(from: Array("xbcdef".utf8)) == 0)
        #expect(buffer.firstDifference(from: Array("abcdeX".utf8)) == 5)
        #expect(buffer.firstDifference(from: Array("abXdeX".utf8)) == 2)
    }
}
