import ProbeSockets
import Testing

struct InboxTests {
    /// Chunks `abc` at 1, `de` at 2, `fgh` at 3; a range is removed, and the bytes that stay keep their times.
    @Test(arguments: [0..<1, 0..<3, 1..<2, 2..<4, 3..<5, 1..<7, 5..<8, 4..<6, 0..<8])
    func removingFromTheMiddleKeepsTimes(_ range: Range<Int>) {
        for taken in 0..<3 {
            var inbox = Inbox()
            let chunks: [(String, Int64)] = [("abc", 1), ("de", 2), ("fgh", 3)]
            var times: [(UInt8, Int64)] = []
            for (text, time) in chunks {
                inbox.append(Array(text.utf8), at: MonotonicTime(nanoseconds: time))
                times += text.utf8.map { ($0, time) }
            }
            let taken = min(taken, range.lowerBound)
            inbox.drop(taken)
            times.removeFirst(taken)
            inbox.remove((range.lowerBound - taken)..<(range.upperBound - taken))
            times.removeSubrange((range.lowerBound - taken)..<(range.upperBound - taken))
            inbox.append([122], at: MonotonicTime(nanoseconds: 4))
            times.append((122, 4))
            #expect(inbox.received == 9)
            for (offset, (byte, time)) in times.enumerated() {
                #expect(inbox[offset] == byte)
                #expect(inbox.arrival(of: offset)?.nanoseconds == time)
            }
        }
    }
}
