import Testing

@testable import ProbeTransport

@Suite struct ReadQueueTests {
    private static func bytes(_ text: String) -> [UInt8] { Array(text.utf8) }

    /// Queues all reads, adds the pieces one by one, and returns the answers to the reads.
    private static func answers(_ reads: [TransportRead], _ pieces: [[UInt8]], limit: Int = 1024) throws -> [String] {
        var queue = ReadQueue(limit: limit)
        for (index, read) in reads.enumerated() {
            try queue.append(.init(wanted: read, timeout: nil, tag: index + 1), now: 0)
        }
        var found: [String] = []
        for piece in pieces {
            queue.received(piece)
            while case .answer(let bytes, let tag) = queue.next(now: 0) {
                found.append("\(tag) " + String(decoding: bytes, as: UTF8.self))
            }
        }
        return found
    }

    @Test(arguments: [
        (
            [TransportRead.length(4), .until(bytes("\r\n")), .length(2)], "HEADline\r\nxy",
            ["1 HEAD", "2 line\r\n", "3 xy"]
        ),
        ([.until(bytes("\r\n")), .length(1)], "a\r\n\r", ["1 a\r\n", "2 \r"]),
        ([.until(bytes("ab")), .until(bytes("ba"))], "aabbba", ["1 aab", "2 bba"]),
        ([.until(bytes("aab"))], "aaaab", ["1 aaaab"]),
        ([.until(bytes("\0")), .until(bytes("\n"))], "\0\n", ["1 \0", "2 \n"]),
        ([.length(3), .length(3)], "abcde", ["1 abc"]),
    ])
    func answersDoNotDependOnCuts(_ reads: [TransportRead], _ stream: String, _ wanted: [String]) throws {
        let stream = Self.bytes(stream)
        #expect(try Self.answers(reads, [stream]) == wanted)
        #expect(try Self.answers(reads, stream.map { [$0] }) == wanted)
        for cut in 0...stream.count {
            #expect(try Self.answers(reads, [Array(stream[..<cut]), Array(stream[cut...])]) == wanted, "cut at \(cut)")
        }
    }

    @Test func anyReturnsAllAvailableBytes() throws {
        let found = try Self.answers(
            [.any, .length(2), .any], [Self.bytes("abc"), Self.bytes("d"), Self.bytes("efg")])
        #expect(found == ["1 abc", "2 de", "3 fg"])
    }

    /// At most `limit` bytes may precede the delimiter. A violation of the limit is reported as soon as it is certain.
    @Test(arguments: [
        ("abcd\r\n", ReadQueue.Outcome.answer(bytes("abcd\r\n"), tag: 1)),
        ("abcd\r", .waiting), ("abcd", .waiting), ("abcde", .tooLong(tag: 1)), ("abcd\rx", .tooLong(tag: 1)),
        ("abcde\r\n", .tooLong(tag: 1)), ("\r\nabcdefgh", .answer(bytes("\r\n"), tag: 1)),
    ])
    func limitAppliesToContent(_ stream: String, _ outcome: ReadQueue.Outcome) throws {
        for pieces in [[Self.bytes(stream)], Self.bytes(stream).map { [$0] }] {
            var queue = ReadQueue(limit: 4)
            try queue.append(.init(wanted: .until(Self.bytes("\r\n")), timeout: nil, tag: 1), now: 0)
            var last = ReadQueue.Outcome.waiting
            for piece in pieces where last == .waiting {
                queue.received(piece)
                last = queue.next(now: 0)
            }
            #expect(last == outcome)
        }
    }

    @Test(arguments: [TransportRead.length(0), .length(-1), .until([])])
    func emptyReadIsInvalid(_ read: TransportRead) {
        var queue = ReadQueue(limit: 4)
        #expect(throws: TransportError.invalid) {
            try queue.append(.init(wanted: read, timeout: nil, tag: 1), now: 0)
        }
        #expect(!queue.isAsked)
    }

    @Test func timeoutStartsWhenTheReadIsOldest() throws {
        var queue = ReadQueue(limit: 4)
        try queue.append(.init(wanted: .length(2), timeout: 100, tag: 1), now: 0)
        try queue.append(.init(wanted: .length(2), timeout: 50, tag: 2), now: 10)
        #expect(queue.deadline == 100)
        queue.received(Self.bytes("ab"))
        #expect(queue.next(now: 90) == .answer(Self.bytes("ab"), tag: 1))
        #expect(queue.deadline == 140)
        queue.received(Self.bytes("cd"))
        #expect(queue.next(now: 100) == .answer(Self.bytes("cd"), tag: 2))
        #expect(queue.deadline == nil)
    }

    @Test func idleQueueWithBytesWantsNoMore() throws {
        var queue = ReadQueue(limit: 4)
        #expect(queue.wantsMore)
        queue.received(Self.bytes("ab"))
        #expect(!queue.wantsMore)
        #expect(queue.next(now: 0) == .waiting)
        try queue.append(.init(wanted: .length(3), timeout: nil, tag: 1), now: 0)
        #expect(queue.wantsMore)
        #expect(queue.unread == Self.bytes("ab"))
    }
}
