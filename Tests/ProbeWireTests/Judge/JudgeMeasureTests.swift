import ProbeBase
import ProbeWire
import Testing

/// Tests of statements about times, sizes, lines and windows, with each possible verdict.
struct JudgeMeasureTests {
    // MARK: times and sizes

    @Test func gapsAreMeasuredBetweenSegments() {
        var connection = TestConnection.connected()
        connection.send(.server, at: 0, "a")
        #expect(connection.judge(.gap(index: nil, .greaterOrEqual, .nanoseconds(25_000_000))).outcome == .waiting)
        connection.wait(30)
        connection.send(.server, at: 1, "b")
        connection.wait(10)
        connection.send(.server, at: 0, "a")
        connection.wait(20)
        connection.send(.server, at: 2, "c")
        #expect(connection.judge(.gap(index: nil, .greaterOrEqual, .nanoseconds(25_000_000))) == .passed)
        #expect(connection.judge(.gap(index: 2, .equal, .nanoseconds(30_000_000))) == .passed)
        #expect(connection.judge(.gap(index: 3, .equal, .nanoseconds(1))).outcome == .waiting)
        connection.wait(12.1)
        connection.send(.server, at: 3, "d")
        let failure = connection.judge(.gap(index: nil, .greaterOrEqual, .nanoseconds(25_000_000))).failure
        #expect(failure?.summary == "gap 3 of the server is 12.1 ms, expected at least 25 ms")
        #expect(failure?.details == ["gap 1: 30 ms", "gap 2: 30 ms", "gap 3: 12.1 ms"])
    }

    @Test func sizesAndFirstByteAreMeasured() {
        var connection = TestConnection.connected()
        connection.wait(4)
        connection.send(.server, at: 0, "abcdef")
        connection.send(.server, at: 6, "gh")
        #expect(connection.judge(.largestSegment(.lessOrEqual, 6)) == .passed)
        #expect(connection.judge(.largestSegment(.less, 6)).outcome == .failed)
        #expect(connection.judge(.largestSegment(.greaterOrEqual, 7)).outcome == .waiting)
        #expect(connection.judge(.firstByte(within: .nanoseconds(5_000_000))) == .passed)
        #expect(connection.judge(.firstByte(within: .nanoseconds(4_000_000))).outcome == .failed)
        var clockRunsBack = TestConnection.connected()
        clockRunsBack.time -= 300_000
        clockRunsBack.send(.server, at: 0, "a")
        #expect(clockRunsBack.judge(.firstByte(within: .nanoseconds(0))) == .passed)
        var midway = TestConnection()
        midway.send(.server, at: 0, "a")
        #expect(midway.judge(.firstByte(within: .nanoseconds(0))).outcome == .inconclusive)
    }

    // MARK: lines

    @Test(
        arguments: [
            ("a\r\nb\r\n", .crlf, .passed), ("a\r\nb", .crlf, .waiting), ("a\r", .crlf, .waiting),
            ("", .crlf, .waiting),
            ("a\nb\r\n", .crlf, .failed), ("a\rb\r\n", .crlf, .failed), ("a\r\r\n", .crlf, .failed),
            ("\n", .crlf, .failed),
            ("a\nb\n", .lf, .passed), ("a\r\n", .lf, .failed), ("a\nb", .lf, .waiting), ("a\rb\n", .lf, .passed),
            ("a\rb\r", .cr, .passed), ("a\rb", .cr, .waiting), ("a\r\n", .cr, .failed), ("a\0b\0", .nul, .passed),
            ("a\0b", .nul, .waiting), ("ab", .u16, .failed), ("1:a,", .netstring, .failed),
            ("aENDbEND", .delimiter(Array("END".utf8)), .passed), ("aENDbEN", .delimiter(Array("END".utf8)), .waiting),
        ] as [(String, Framing, WireVerdict.Outcome)])
    func lineEndsAreJudgedWhateverTheCut(text: String, framing: Framing, outcome: WireVerdict.Outcome) {
        for cut in 0...text.utf8.count {
            var connection = TestConnection.connected()
            let all = Array(text.utf8)
            let parts = [all[..<cut], all[cut...]].map { String(decoding: $0, as: UTF8.self) }
            connection.send(.server, at: 0, parts[0])
            connection.send(.server, at: Int64(cut), parts[1])
            #expect(connection.judge(.lines(framing)).outcome == outcome)
            connection.send(.server, .fin, at: Int64(all.count))
            #expect(connection.judge(.lines(framing)).outcome == (outcome == .waiting ? .failed : outcome))
        }
    }

    @Test func lineFailureNamesTheOffset() {
        var connection = TestConnection.connected()
        connection.send(.server, at: 0, "one\r\ntwo\nthree\r\n")
        let failure = connection.judge(.lines(.crlf)).failure
        #expect(failure?.summary == "the server sent an LF without CR at offset 8")
        #expect(failure?.details.first == #"context: "one\r\ntwo\nthree\r\n""#)
    }

    @Test func longestLineCountsItsContent() {
        var connection = TestConnection.connected()
        connection.send(.server, at: 0, "abc\r\nabcdef\r\nx")
        #expect(connection.judge(.longestLine(.equal, 6)) == .passed)
        #expect(connection.judge(.longestLine(.lessOrEqual, 5)).failure?.details == ["the longest line is line 2 of 3"])
        #expect(connection.judge(.longestLine(.greaterOrEqual, 7)).outcome == .waiting)
        connection.send(.server, at: 14, "1234567")
        #expect(connection.judge(.longestLine(.lessOrEqual, 7)).outcome == .failed)
    }

    @Test func linesWithAGapAreInconclusive() {
        var connection = TestConnection.connected()
        connection.send(.server, at: 0, "a\r\n", cut: 1)
        connection.send(.server, at: 3, "\nb\r\n")
        #expect(connection.judge(.lines(.crlf)).outcome == .inconclusive)
        #expect(connection.judge(.longestLine(.lessOrEqual, 9)).outcome == .inconclusive)
        #expect(connection.judge(.lines(.nul)).outcome == .inconclusive)
        connection.send(.server, at: 7, "c\nd\r\n")
        #expect(connection.judge(.lines(.crlf)).outcome == .failed)
    }

    @Test(
        arguments: [
            ("\u{1}a\u{2}bc", .u8, 2), ("\0\u{1}a\0\u{2}b", .u16, 1), ("\0\0\0\u{1}a", .u32, 1),
            ("\0\0\0\0\0\0\0\0", .u64, 1),
            ("\u{1}a\0\u{5}", .varint, 2), ("a\r\nb\r\nc", .crlf, 2), ("a\nb\n", .lf, 2), ("a\rb\r", .cr, 2),
            ("a\0", .nul, 1), ("1:a,0:,12:b", .netstring, 2), ("aENDbENDc", .delimiter(Array("END".utf8)), 2),
            ("\0\0\u{1}a", .u24, 1), ("\u{1}\0a\u{1}\0", .u16le, 1), ("\u{1}\0\0\0a", .u32le, 1),
        ] as [(String, Framing, Int)])
    func messagesAreCountedByTheFraming(text: String, framing: Framing, count: Int) {
        var connection = TestConnection.connected()
        connection.send(.server, at: 0, text)
        #expect(connection.judge(.messages(.equal, count, framing)) == .passed)
        #expect(connection.judge(.messages(.greater, count, framing)).outcome == .waiting)
        #expect(connection.judge(.messages(.less, count, framing)).outcome == .failed)
        #expect(connection.judge(.messages(.equal, count, .none)).outcome == .failed)
    }

    // MARK: windows, urgent, packets

    @Test func windowsAreJudged() {
        var connection = TestConnection.connected()
        #expect(connection.judge(.zeroWindow, from: .client).outcome == .waiting)
        #expect(connection.judge(.window(.equal, 65536), from: .client) == .passed)
        #expect(connection.judge(.window(.greater, 65536), from: .client).outcome == .waiting)
        #expect(connection.judge(.window(.less, 65536), from: .client).outcome == .failed)
        let before = connection.time
        connection.send(.client, at: 0, window: 0)
        #expect(connection.judge(.zeroWindow, from: .client) == .passed)
        #expect(connection.conversation.shutWindow(of: .client, since: before) == connection.time)
        connection.wait(1)
        connection.send(.client, at: 0, window: 4)
        connection.wait(1)
        #expect(connection.conversation.shutWindow(of: .client, since: connection.time) == nil)
        #expect(connection.conversation.shutWindow(of: .client, since: before) != nil)
        connection.send(.server, .rst, at: 0)
        #expect(connection.judge(.zeroWindow).outcome == .failed)
        var midway = TestConnection()
        midway.send(.server, at: 0, "a")
        #expect(midway.judge(.window(.less, 5)).outcome == .inconclusive)
    }

    @Test func urgentDataAndPacketsAreCounted() {
        var connection = TestConnection.connected()
        #expect(connection.conversation.judge(.packets(.lessOrEqual, 3)) == .passed)
        #expect(connection.conversation.judge(.packets(.equal, 4)).outcome == .waiting)
        #expect(connection.conversation.judge(.packets(.less, 3)).outcome == .failed)
        connection.send(.server, .urg, at: 0, "!")
        #expect(connection.judge(.urgent) == .passed)
    }
}
