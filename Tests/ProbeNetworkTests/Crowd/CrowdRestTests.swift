import ProbeBase
import Testing

@testable import ProbeCrowd

/// Tests the bytes that members received but no statement consumed.
struct CrowdRestTests {
    private static let second = Duration.seconds(1)
    private static let line = MemberProgram.Instruction.expect(.line(.any), within: second)
    private static let ask = MemberProgram.Instruction.send(pieces: [Array("PING\r\n".utf8)], pause: .zero)

    /// A script, the bytes that a member receives before a snapshot is requested, and the bytes that should remain
    /// unconsumed.
    struct Sample: Sendable, CustomTestStringConvertible {
        var name: String
        var instructions: [MemberProgram.Instruction]
        var received: [String]
        var rest: CrowdSnapshot.Rest?
        var testDescription: String { name }

        init(
            _ name: String, _ instructions: [MemberProgram.Instruction], _ received: String..., rest: String? = nil,
            count: Int? = nil
        ) {
            (self.name, self.received) = (name, received)
            self.instructions = [.connect(within: second)] + instructions
            self.rest = rest.map { CrowdSnapshot.Rest(bytes: Array($0.utf8), count: count ?? $0.utf8.count) }
        }
    }

    static let samples: [Sample] = [
        Sample("only an answer", [ask, line], "PONG\r\n"),
        Sample("an extra line", [ask, line], "PONG\r\nextra\r\n", rest: "extra\r\n"),
        Sample("an extra line later", [ask, line], "PONG\r\n", "extra\r\n", rest: "extra\r\n"),
        Sample("no expectation", [ask], "hello", rest: "hello"),
        Sample("no statement", [], "hello", rest: "hello"),
        Sample("an endless send", [.sendEndlessly([65], every: second)], "hello", rest: "hello"),
        Sample("accepted", [ask, line, .acceptRest], "PONG\r\nextra\r\n"),
        Sample("accepted beforehand", [.acceptRest, ask], "hello"),
        Sample("accepted later", [.wait(second), .acceptRest], "hello"),
        Sample("too many bytes", [.expect(.count(3), within: second)], "abcd", rest: "d"),
        Sample("after a delimiter", [.expect(.until([59]), within: second)], "a;b", rest: "b"),
        Sample("the rest of a line", [.expect(.line(.any), within: second)], "a\r\nb", rest: "b"),
        Sample("a line that may still be expected", [.wait(second), line], "PONG\r\n"),
        Sample("part of a line", [line], "PO"),
        Sample("more than the script expects", [.wait(second), line], "a\r\nb\r\n", rest: "b\r\n"),
        Sample(
            "another line than the script waits for", [.wait(second), .expect(.line(.equal([66])), within: second)],
            "a\r\n", rest: "a\r\n"),
        Sample("a close ahead", [.wait(second), .close], "hello", rest: "hello"),
        Sample("a reset ahead", [.wait(second), .reset], "hello"),
        Sample("closed at once", [line, .close], "PONG\r\nextra", rest: "extra"),
        Sample("reset", [line, .reset], "PONG\r\nextra"),
        Sample("in a later round", [ask, line, .wait(second), .jump(to: 1)], "a\r\nb\r\n", rest: "b\r\n"),
        Sample("a peer that sends unprompted", [line, .wait(second), .jump(to: 1)], "a\r\nb\r\nc\r\n"),
        Sample("nothing is read", [.stopReading], "hello", rest: "", count: 5),
        Sample("slow reading", [.read(count: 2, every: .seconds(9))], "hello", rest: "", count: 5),
        Sample("nothing is read, and the rest is ignored", [.acceptRest, .stopReading], "hello"),
        Sample("only an end", [.acceptRest, .expect(.eof, within: second)], "hello"),
    ]

    @Test(arguments: samples)
    func leftoverBytesAreReported(_ sample: Sample) {
        let crowd = FakeCrowd(sample.instructions)
        crowd.begin()
        for text in sample.received { crowd.deliver(text) }
        let snapshot = crowd.core.snapshot(at: crowd.now, latencies: false, rests: true)
        #expect(snapshot.failed == 0)
        #expect(snapshot.withRest == (sample.rest == nil ? 0 : 1))
        #expect(snapshot.rest == sample.rest)
        // A second snapshot reports the same number of members with unconsumed bytes as the first one.
        #expect(crowd.core.snapshot(at: crowd.now, latencies: false, rests: true).withRest == snapshot.withRest)
    }

    /// Bytes that are in the kernel's buffer when a snapshot is requested are counted, even if no event has announced
    /// them.
    @Test func unreadBytesInTheKernelCount() {
        let crowd = FakeCrowd([.connect(within: Self.second)], members: 3)
        crowd.begin()
        for member in 0..<2 { crowd.connections.deliver("late", to: member) }
        let snapshot = crowd.core.snapshot(at: crowd.now, latencies: false, rests: true)
        #expect((snapshot.withRest, snapshot.rest?.bytes) == (2, Array("late".utf8)))
    }

    @Test func connectionEndedByThePeerIsJudged() {
        for end in [CrowdRead.end, .failed("reset by the peer")] {
            let crowd = FakeCrowd([.connect(within: Self.second), Self.ask, .wait(Self.second)])
            crowd.begin()
            crowd.connections.deliver("hello", to: 0)
            crowd.deliver(end)
            // A reset fails a member that has not finished, and the member's unconsumed bytes are not reported as a
            // second problem.
            #expect(crowd.snapshot.withRest == (end == .end ? 1 : 0))
            #expect(crowd.snapshot.failed == (end == .end ? 0 : 1))
        }
    }

    @Test func reconnectingMemberCountsOnce() {
        let crowd = FakeCrowd([.connect(within: Self.second), Self.line, .close, .wait(Self.second), .jump(to: 0)])
        crowd.begin()
        for _ in 0..<3 {
            crowd.deliver("a\r\nb\r\n")
            crowd.pass(milliseconds: 1000)
        }
        #expect((crowd.snapshot.withRest, crowd.snapshot.failed) == (1, 0))
    }

    @Test func onlyTheFirstBytesAreKept() {
        let crowd = FakeCrowd([.connect(within: Self.second)])
        crowd.begin()
        for _ in 0..<10 { crowd.deliver(String(repeating: "x", count: 40)) }
        let rest = crowd.core.snapshot(at: crowd.now, latencies: false, rests: true).rest
        #expect(rest == CrowdSnapshot.Rest(bytes: Array(repeating: 120, count: 64), count: 400))
    }

    /// Returns a snapshot after encoding and decoding it, as if a worker had sent it.
    private static func sent(_ snapshot: CrowdSnapshot) throws -> CrowdSnapshot {
        try #require(CrowdSnapshot(json: JSONParser.parse(snapshot.json.encoded(.ascii).span)))
    }

    @Test func workerSnapshotsAreMerged() throws {
        var left = CrowdSnapshot()
        left.addRest(of: 2, .init(bytes: [0, 255], count: 7))
        var right = CrowdSnapshot()
        right.addRest(of: 3, .init(bytes: [65], count: 1))
        left.merge(try Self.sent(right))
        let read = try Self.sent(left)
        #expect((read.withRest, read.rest) == (5, .init(bytes: [0, 255], count: 7)))
    }
}
