import ProbeBase
import Testing

/// Tests the offset at which the frames of a stream begin, and the number of frames.
struct WebSocketFramesTests {
    private static let request = Array("GET /chat HTTP/1.1\r\nHost: a\r\n\r\n".utf8)
    private static let switching = Array("HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n\r\n".utf8)

    private static let openings: [(String, WebSocketStart)] = [
        ("", .frames(at: 0)), ("\u{1}\u{1}G", .frames(at: 0)), ("GET", .undecided),
        ("GET / HTTP/1.1\r\n\r", .undecided),
        ("GET / HTTP/1.1\r\n\r\n", .frames(at: 18)), ("GET / HTTP/1.1\r\n\r\nGE", .undecided),
        ("CONNECT a HTTP/1.1\r\n\r\nGET / HTTP/1.1\r\n\r\n\u{1}", .frames(at: 40)), ("GET\u{1}", .frames(at: 0)),
        ("HTTP/1.1 101 X\r\n\r\nabc", .frames(at: 18)), ("HTTP/1.1 101 X\r\n", .undecided), ("HTTP", .undecided),
        ("HTTP/1.1 400 No\r\n\r\n", .refused(Array("HTTP/1.1 400 No".utf8))),
        ("HTTP/1.1 400 No\r\n\r\n\u{1}", .refused(Array("HTTP/1.1 400 No".utf8))),
        ("HTTP/1.1 401 No\r\nContent-Length: 3\r\n\r\nwhyHTTP/1.1 101 X\r\n\r\n", .frames(at: 59)),
        ("HTTP/1.1 401 No\r\nContent-Length: 9223372036854775807\r\n\r\n", .refused(Array("HTTP/1.1 401 No".utf8))),
        ("HTTP/1.1 200 OK\r\n\r\nHTTP/1.1 101 X\r\n\r\n", .frames(at: 37)),
        ("HTTP/1.1 103 Hints\r\n\r\n", .undecided),
        ("HTTP/1.1 103 Hints\r\n\r\nHTTP/1.1 101 X\r\n\r\n", .frames(at: 40)),
        ("HTTP/1.1\r\n\r\n", .refused(Array("HTTP/1.1".utf8))),
    ]

    @Test(arguments: openings)
    func openingsAreRecognized(_ text: String, _ expected: WebSocketStart) {
        #expect(WebSocketStart(Array(text.utf8).span) == expected)
    }

    @Test func framesAreCountedWhereverTheStreamEnds() throws {
        let start: [WebSocketFrame] = [
            WebSocketFrame(1, Array("a".utf8)), WebSocketFrame(9, []), .close(1000, Array("bye".utf8)),
        ]
        var frames = start
        frames[0].isFinal = false
        frames.insert(WebSocketFrame(0, [UInt8](repeating: 7, count: 70_000)), at: 2)
        frames[2].key = [1, 2, 3, 4]
        let encoded = try frames.map { try #require($0.encoded()) }
        let ends = encoded.reduce(into: [Self.switching.count]) { $0.append($0.last! + $1.count) }
        let stream = Self.switching + encoded.flatMap(\.self)
        for cut in Array(0..<200) + Array((stream.count - 20)...stream.count) {
            let found = WebSocketFrames(Array(stream[..<cut]).span)
            #expect(found.count == ends.dropFirst().count { $0 <= cut })
            #expect(found.messageCount == (cut >= ends[3] ? 1 : 0))
            if cut < ends[0] {
                #expect(found.rest == .unfinishedHead(seen: cut) || cut == 0)
            } else if ends.contains(cut) {
                #expect(found.rest == .nothing)
            } else if case .unfinished(let offset, let seen, _) = found.rest {
                #expect(offset + seen == cut && ends.contains(offset))
            } else {
                Issue.record("\(cut): \(found.rest)")
            }
        }
    }

    @Test func lengthWithTheHighestBitIsInvalid() {
        let bytes: [UInt8] = [0x81, 0] + [0x82, 127, 0x80, 0, 0, 0, 0, 0, 0, 0, 9]
        let found = WebSocketFrames(bytes.span)
        #expect(found.count == 1)
        #expect(found.rest == .tooLong(offset: 2, 1 << 63))
        #expect(WebSocketFrames(([0x82, 127] + [UInt8](repeating: 0x7F, count: 8)).span).count == 0)
    }

    @Test(arguments: 0..<300)
    func arbitraryBytesNeverTrap(seed: Int) {
        var random = LinearGenerator(state: UInt64(seed))
        let start = [[], Self.request, Self.switching][seed % 3]
        let bytes =
            start + (0..<Int.random(in: 0..<200, using: &random)).map { _ in UInt8.random(in: 0...255, using: &random) }
        let found = WebSocketFrames(bytes.span)
        #expect(found.count <= bytes.count / 2 && found.messageCount <= found.count)
    }
}

/// A generator that produces the same numbers in each run (Knuth's MMIX).
private struct LinearGenerator: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return state ^ state >> 29
    }
}
