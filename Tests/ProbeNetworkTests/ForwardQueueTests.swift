import ProbeBase
import Testing

@testable import ProbeProxy

/// Tests the bytes that a proxy forwards, and the times at which it forwards them. Times are passed as arguments.
@Suite struct ForwardQueueTests {
    private static let start = MonotonicTime(nanoseconds: 1_000_000_000)

    private func at(_ milliseconds: Int) -> MonotonicTime { Self.start + .milliseconds(milliseconds) }

    private func queue(_ text: String, _ style: ForwardStyle<Resolved> = ForwardStyle(), count: Int? = nil)
        -> ForwardQueue
    {
        var queue = ForwardQueue()
        queue.forward(style, count: count)
        queue.append(Array(text.utf8), at: Self.start)
        return queue
    }

    /// Returns the forwarded pieces, with a `|` after each piece that is sent in a separate segment. The clock is
    /// advanced whenever the queue waits.
    private func pieces(_ queue: inout ForwardQueue, until last: Int = 10_000) -> [String] {
        var now = Self.start
        var result: [String] = []
        for _ in 0..<1000 {
            switch queue.next(at: now) {
            case .write(let bytes, let isApart):
                result.append(String(decoding: bytes, as: UTF8.self) + (isApart ? "|" : ""))
            case .end(let end): result.append("<\(end)>")
            case .wait(let moment):
                if moment > at(last) { return result }
                now = moment
            case .idle: return result
            }
        }
        return result
    }

    @Test func plainBytesPassUnchanged() {
        var plain = queue("abc")
        plain.append(Array("de".utf8), at: at(1))
        #expect(!plain.isTransparent)
        #expect(pieces(&plain) == ["abc", "de"])
        #expect(plain.isTransparent)
    }

    @Test func piecesHaveTheGivenSize() {
        var cut = queue("abcde", ForwardStyle(cut: .inPieces(of: 2)))
        #expect(pieces(&cut) == ["ab|", "cd|", "e|"])
    }

    @Test func cutOffsetsCountFromTheStreamStart() {
        var cut = queue("ab", ForwardStyle(cut: .at([3, 7])))
        #expect(pieces(&cut) == ["ab"])
        cut.append(Array("cdefghij".utf8), at: at(1))
        #expect(pieces(&cut) == ["c|", "defg|", "hij"])
    }

    @Test func seededCutsDoNotDependOnArrival() {
        func places(_ sizes: [Int]) -> [Int] {
            var queue = queue("", ForwardStyle(cut: .random(seed: 7)))
            var (position, places): (Int, [Int]) = (0, [])
            for size in sizes {
                queue.append([UInt8](repeating: 0, count: size), at: Self.start)
                while case .write(let bytes, let isApart) = queue.next(at: Self.start) {
                    position += bytes.count
                    if isApart { places.append(position) }
                }
            }
            return places
        }
        #expect(places([500]) == places([1, 99, 100, 7, 293]))
        #expect(places([500]).count > 4)
    }

    @Test func returnedBytesAreCutAtTheSameOffsets() {
        var cut = queue("abcdef", ForwardStyle(cut: .at([2, 4])))
        #expect(cut.next(at: Self.start) == .write(Array("ab".utf8), isApart: true))
        #expect(cut.next(at: Self.start) == .write(Array("cd".utf8), isApart: true))
        cut.putBack(Array("cd".utf8))
        cut.hold()
        #expect(cut.next(at: Self.start) == .idle)
        cut.release()
        #expect(pieces(&cut) == ["cd|", "ef"])
    }

    @Test func paceIsKeptBetweenPieces() {
        var paced = queue("abc", ForwardStyle(cut: .inPieces(of: 1), pace: .every(.milliseconds(5))))
        #expect(paced.next(at: at(0)) == .write([97], isApart: true))
        #expect(paced.next(at: at(3)) == .wait(until: at(5)))
        #expect(paced.next(at: at(6)) == .write([98], isApart: true))
        #expect(paced.next(at: at(10)) == .wait(until: at(11)))
    }

    @Test func rateIsAnAverage() {
        var slow = queue(String(repeating: "x", count: 1000), ForwardStyle(pace: .rate(1000)))
        var (now, sent) = (Self.start, 0)
        while sent < 500 {
            switch slow.next(at: now) {
            case .write(let bytes, _): sent += bytes.count
            case .wait(let moment): now = moment
            default: return
            }
        }
        #expect(now >= at(480) && now <= at(520))
    }

    @Test func delayAppliesToBytesAndEnd() {
        var late = queue("a", ForwardStyle(delay: .milliseconds(50)))
        late.append(.fin, at: at(10))
        #expect(late.next(at: at(20)) == .wait(until: at(50)))
        #expect(late.next(at: at(50)) == .write([97], isApart: false))
        #expect(late.next(at: at(50)) == .wait(until: at(60)))
        #expect(late.next(at: at(60)) == .end(.fin))
        #expect(late.next(at: at(61)) == .idle)
    }

    @Test func joinedBytesAreOneWriteAfterAPause() {
        var joined = queue("a", ForwardStyle(isJoined: true))
        joined.append([98], at: at(3))
        #expect(joined.next(at: at(4)) == .wait(until: at(8)))
        #expect(joined.next(at: at(8)) == .write([97, 98], isApart: false))
        joined.append([99], at: at(9))
        joined.append(.fin, at: at(9))
        #expect(joined.next(at: at(9)) == .write([99], isApart: false))
    }

    @Test func joiningIsBounded() {
        var joined = queue("a", ForwardStyle(isJoined: true))
        for moment in 1..<200 { joined.append([98], at: at(moment)) }
        #expect(joined.next(at: at(99)) == .wait(until: at(100)))
    }

    @Test func bytesAndEndAreHeld() {
        var held = queue("ab")
        held.hold()
        held.append(.fin, at: at(1))
        #expect(held.next(at: at(2)) == .idle)
        held.release()
        #expect(pieces(&held) == ["ab", "<fin>"])
    }

    @Test func countedBytesPassThenTheQueueHolds() {
        var part = queue("abcdef", count: 4)
        #expect(pieces(&part) == ["abcd"])
        #expect(part.gate == .held && part.waiting == 2)
        part.release()
        #expect(pieces(&part) == ["ef"])
    }

    @Test func discardKeepsTheEnd() {
        var dropped = queue("abc")
        dropped.discard()
        dropped.append([100], at: at(1))
        dropped.append(.fin, at: at(1))
        #expect(pieces(&dropped) == ["<fin>"])
    }

    @Test func insertedBytesPassWhileHeld() {
        var held = queue("b")
        held.hold()
        held.insert([97])
        #expect(pieces(&held) == ["a"])
        held.release()
        #expect(pieces(&held) == ["b"])
    }

    @Test func replacementSpansPieces() {
        var changed = queue("xa")
        changed.replace(Array("abc".utf8), with: Array("Z".utf8), at: at(1))
        changed.append(Array("b".utf8), at: at(2))
        #expect(pieces(&changed) == ["x"])
        changed.append(Array("cab".utf8), at: at(3))
        #expect(pieces(&changed) == ["Z"])
        changed.append(.fin, at: at(4))
        #expect(pieces(&changed) == ["ab", "<fin>"])
    }

    @Test(arguments: [
        ("aab", "ab", "x", "ax"), ("ababab", "ab", "", ""), ("aaaa", "aa", "a", "aa"), ("abcabd", "abd", "!", "abc!"),
    ])
    func replacementDoesNotDependOnCuts(text: String, wanted: String, replacement: String, result: String) {
        for size in 1...text.utf8.count {
            var replacer = ByteReplacement(Array(wanted.utf8), with: Array(replacement.utf8))
            var (output, rest): ([UInt8], ArraySlice<UInt8>) = ([], Array(text.utf8)[...])
            while !rest.isEmpty {
                output += replacer.pass(Array(rest.prefix(size)))
                rest = rest.dropFirst(size)
            }
            #expect(String(decoding: output + replacer.finish(), as: UTF8.self) == result)
        }
    }

    @Test func deliberateEndFollowsFlowingBytesAndDropsHeldOnes() {
        var flowing = queue("ab")
        flowing.finish(.halfClose, at: at(1))
        #expect(pieces(&flowing) == ["ab", "<halfClose>"])
        var held = queue("ab")
        held.hold()
        held.finish(.close, at: at(1))
        #expect(pieces(&held) == ["<close>"])
    }

    @Test func resetReplacesAPendingFIN() {
        var queue = queue("a")
        queue.hold()
        queue.append(.fin, at: at(1))
        queue.append(.reset, at: at(2))
        queue.release()
        #expect(pieces(&queue) == ["a", "<reset>"])
    }
}
