import ProbeBase
import ProbeWire
import Testing

/// Tests of statements about the bytes and the segments that a side has sent, with each possible verdict.
struct JudgeTests {
    // MARK: bytes

    @Test func bytesWaitThenPass() {
        var connection = TestConnection.connected()
        let expected = bytes("220 ready\r\n")
        #expect(connection.judge(.bytes(expected)).failure?.summary == "the server sent nothing, expected 11 bytes")
        connection.send(.server, at: 0, "220 rea")
        let waiting = connection.judge(.bytes(expected))
        #expect(waiting.outcome == .waiting && waiting.failure?.actual == bytes("220 rea"))
        connection.send(.server, at: 7, "dy\r\n")
        #expect(connection.judge(.bytes(expected)) == .passed)
        connection.send(.server, at: 11, "more")
        let failed = connection.judge(.bytes(expected))
        #expect(failed.outcome == .failed && failed.failure?.summary == "the server sent 4 bytes more than expected")
    }

    @Test func differentBytesFailAtTheFirstDifference() {
        var connection = TestConnection.connected()
        connection.send(.server, at: 0, "220 ready\n")
        let failure = connection.judge(.bytes(bytes("220 ready\r\n"))).failure
        #expect(failure?.summary == "the server sent unexpected bytes; first difference at offset 9")
        #expect(failure?.details == ["check the terminator: received LF instead of CRLF"])
        #expect(connection.judge(.bytes(bytes("220 r"))).outcome == .failed)
        #expect(connection.judge(.bytes([])).outcome == .failed)
    }

    @Test func bytesAfterTheEndFail() {
        var connection = TestConnection.connected()
        #expect(connection.judge(.bytes([])) == .passed)
        connection.send(.server, at: 0, "ab")
        connection.send(.server, .fin, at: 2)
        #expect(connection.judge(.bytes(bytes("abc"))).outcome == .failed)
        var reset = TestConnection.connected()
        reset.send(.client, .rst, at: 0)
        #expect(reset.judge(.bytes(bytes("abc"))).outcome == .failed)
    }

    @Test func missingBytesAreInconclusive() {
        var connection = TestConnection.connected()
        connection.send(.server, at: 0, "ab")
        connection.send(.server, at: 4, "ef")
        #expect(connection.judge(.bytes(bytes("abcdef"))).outcome == .waiting)
        connection.send(.client, at: 0, ack: 6)
        #expect(connection.judge(.bytes(bytes("abcdef"))).outcome == .inconclusive)
        #expect(connection.judge(.bytes(bytes("axcdef"))).outcome == .failed)
        #expect(connection.judge(.bytes(bytes("ab"))).outcome == .failed)
        var cut = TestConnection.connected()
        cut.send(.server, at: 0, "abcd", cut: 2)
        #expect(
            cut.judge(.bytes(bytes("abcd")))
                == .inconclusive("2 bytes from the server at offset 2 were cut off by the capture's snap length"))
        #expect(cut.judge(.bytes(bytes("xbcd"))).outcome == .failed)
    }

    // MARK: segments

    @Test func segmentsPassOneByOne() {
        var connection = TestConnection.connected()
        let expected = ["220 rea", "dy\r", "\n"].map { bytes($0) }
        #expect(connection.judge(.segments(expected)).outcome == .waiting)
        connection.send(.server, at: 0, "220 rea")
        connection.wait(5)
        connection.send(.server, at: 0, "220 rea")
        connection.send(.server, at: 7, "dy\r")
        #expect(connection.judge(.segments(expected)).outcome == .waiting)
        connection.send(.server, at: 10, "\n")
        #expect(connection.judge(.segments(expected)) == .passed)
        connection.send(.server, at: 11, "x")
        #expect(connection.judge(.segments(expected)).outcome == .failed)
    }

    @Test func timesAreRelativeToAKnownTimeline() {
        var connection = TestConnection.connected()
        connection.send(.server, at: 0, "ab")
        let names = SideNames(
            client: "C", server: "S", origin: (connection.conversation.firstTime ?? 0) - 1_000_000)
        let verdict = connection.conversation.judge(
            .halfConnection(.segments([bytes("a"), bytes("b")]), from: .server), names: names)
        guard case .failed(let failure) = verdict else {
            Issue.record("the statement did not fail: \(verdict)")
            return
        }
        #expect(failure.details.contains(#"seen 1: "ab" at 1.300 ms"#), "\(failure.details)")
    }

    @Test func coalescedSegmentsFail() {
        var connection = TestConnection.connected()
        connection.send(.server, at: 0, "ab")
        let failure = connection.judge(.segments([bytes("a"), bytes("b")])).failure
        #expect(failure?.summary == "the server sent the expected bytes, but in different segments")
        #expect(failure?.details.prefix(3) == [#"expected 1: "a""#, #"expected 2: "b""#, #"seen 1: "ab" at +300 us"#])
        #expect(
            connection.judge(.segments([bytes("ax")])).failure?.summary
                == "the server sent unexpected bytes in data segment 1")
    }

    @Test func uncertainSegmentsAreInconclusive() {
        var cut = TestConnection.connected()
        cut.send(.server, at: 0, "abcd", cut: 2)
        #expect(cut.judge(.segments([bytes("abcd")])).outcome == .inconclusive)
        #expect(cut.judge(.segments([bytes("xbcd")])).outcome == .failed)
        #expect(cut.judge(.segments([bytes("abcde")])).outcome == .failed)
        #expect(cut.judge(.segmentCount(.equal, 1)).outcome == .inconclusive)
        var gap = TestConnection.connected()
        gap.send(.server, at: 0, "ab")
        gap.send(.server, at: 4, "ef")
        gap.send(.client, at: 0, ack: 6)
        #expect(gap.judge(.segments(["ab", "cd", "ef"].map { bytes($0) })).outcome == .inconclusive)
        #expect(gap.judge(.segments(["xx", "cd", "ef"].map { bytes($0) })).outcome == .failed)
        #expect(gap.judge(.segmentCount(.greaterOrEqual, 2)) == .passed)
        #expect(gap.judge(.segmentCount(.greaterOrEqual, 3)).outcome == .inconclusive)
        #expect(gap.judge(.segmentCount(.lessOrEqual, 1)).outcome == .failed)
        #expect(gap.judge(.segmentCount(.lessOrEqual, 3)).outcome == .inconclusive)
    }

    @Test func tooFewSegmentsFailAtTheEnd() {
        var connection = TestConnection.connected()
        connection.send(.server, .fin, at: 0, "a")
        #expect(connection.judge(.segments([bytes("a"), bytes("b")])).outcome == .failed)
        #expect(connection.judge(.segments([bytes("a")])) == .passed)
        #expect(connection.judge(.segmentCount(.greaterOrEqual, 2)).outcome == .failed)
    }

    @Test func statementWithoutDataWaitsThenFails() {
        var connection = TestConnection.connected()
        let statements: [HalfConnectionStatement<Resolved>] = [
            .segmentCount(.lessOrEqual, 3), .largestSegment(.lessOrEqual, 1460),
            .gap(index: nil, .less, .nanoseconds(5)),
            .gap(index: 1, .less, .nanoseconds(5)), .lines(.crlf), .longestLine(.lessOrEqual, 80), .segments([]),
            .messages(.lessOrEqual, 3, .crlf), .firstByte(within: .nanoseconds(1_000)), .urgent,
        ]
        for statement in statements { #expect(connection.judge(statement).outcome == .waiting, "\(statement)") }
        connection.send(.server, .fin, at: 0)
        for statement in statements { #expect(connection.judge(statement).outcome == .failed, "\(statement)") }
        #expect(connection.judge(.segmentCount(.equal, 0)) == .passed)
    }
}
