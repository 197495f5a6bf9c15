import ProbeBase
import ProbeTransport
import Testing

extension TransportConformance {
    /// 8 MiB: about twice what loopback absorbs.
    private static let big = [UInt8](repeating: 0x62, count: 8 << 20)

    static let writing: [ConformanceCheck] = [
        ConformanceCheck("write.short-write, progress-monotone", needs: [.send, .sent, .stop, .data]) { bench in
            let link = try bench.link(framing: .none, receiveBuffer: 4096)
            try link.transport.send(big)
            #expect(try link.peer.read(big.count) == big)
            var sent = 0
            while sent < big.count, let event = link.events.next() {
                guard case .sent(let count) = event else {
                    Issue.record("\(event) instead of sent")
                    break
                }
                #expect(count > 0)
                sent += count
            }
            #expect(sent == big.count)
            try link.transport.stop()
            try link.expect([stopped(.stopped)])
        },
        ConformanceCheck("write.order-many-tags", needs: [.send, .halfClose]) { bench in
            let link = try bench.link()
            for number in 0..<1000 { try link.transport.send(Array("tag \(number)".utf8)) }
            try link.transport.halfClose()
            let (bytes, end) = try link.peer.readToEnd()
            #expect(bytes == Array((0..<1000).map { "tag \($0)\r\n" }.joined().utf8))
            #expect(end == .eof)
            link.peer.close()
            try link.expect([stopped(.eof)])
        },
        ConformanceCheck("write.before-start", needs: [.send, .stop]) { bench in
            let listener = try LoopbackListener()
            let (transport, events) = try bench.make(port: listener.port)
            #expect(throws: TransportError.notStarted) { try transport.send([1]) }
            try transport.start()
            try transport.send(Array("early".utf8))
            let peer = try listener.accept()
            #expect(try peer.text(7) == "early\r\n")
            peer.close()
            #expect(events.throughStop() == [.started, stopped(.eof)])
        },
        ConformanceCheck("write.empty", needs: [.send, .sent, .data, .stop]) { bench in
            let link = try bench.link(framing: .none)
            try link.transport.send([])
            #expect(link.events.next() == .sent(0))
            try link.transport.stop()
            try link.expect([stopped(.stopped)])
        },
    ]

    static let backPressure: [ConformanceCheck] = [
        ConformanceCheck("flow.resume-after-stall", needs: [.send, .halfClose]) { bench in
            let link = try bench.link(receiveBuffer: 4096)
            try link.transport.send(big)
            try link.transport.halfClose()
            // The rest waits until the peer, which has a small buffer, goes on reading.
            let first = try link.peer.read(1)
            try link.peer.write("still here\r\n")
            #expect(link.events.nextButSent() == line("still here"))
            let (bytes, end) = try link.peer.readToEnd()
            let isWhole = first + bytes == big + [13, 10]
            #expect(isWhole, "\(bytes.count) bytes came")
            #expect(end == .eof)
            link.peer.close()
            try link.expect([stopped(.eof)])
        },
        ConformanceCheck("flow.consumer-paused", needs: [.stopReading, .resumeReading, .data]) { bench in
            let link = try bench.link(framing: .none)
            try link.transport.stopReading()
            let limit = 256 << 20
            let written = link.peer.writeUntilFull(0x63, limit: limit)
            #expect(written < limit)
            #expect(link.events.waiting.reduce(0) { $0 + size($1) } <= 64 * 1024)
            try link.transport.resumeReading()
            link.peer.halfClose()
            #expect(link.events.throughStop().reduce(0) { $0 + size($1) } == written)
        },
        ConformanceCheck("flow.pause-inside-callback", needs: [.stopReading, .resumeReading]) { bench in
            let listener = try LoopbackListener()
            let (transport, events) = try bench.make(port: listener.port)
            events.react { [weak transport] event in
                if case .line = event { #expect(throws: Never.self) { try transport?.stopReading() } }
            }
            try transport.start()
            let peer = try listener.accept()
            try peer.write("a\r\nb\r\n")
            peer.halfClose()
            #expect(events.next() == .started)
            var seen: [TransportEvent] = []
            while let event = events.nextButSent() {
                seen.append(event)
                if case .stopped = event { break }
                // What was in hand may be delivered all the same, and the end with it.
                do { try transport.resumeReading() } catch TransportError.stopped {}
            }
            #expect(seen == [line("a"), line("b"), stopped(.eof)])
        },
        ConformanceCheck("flow.eof-while-paused", needs: [.stopReading, .resumeReading, .leftover]) { bench in
            let link = try bench.link()
            try link.transport.stopReading()
            try link.peer.write("one\r\ntw")
            link.peer.halfClose()
            try link.transport.resumeReading()
            try link.expect([line("one"), leftover("tw"), stopped(.eof)])
        },
        ConformanceCheck("flow.reset-while-paused", needs: [.stopReading, .resumeReading]) { bench in
            let link = try bench.link()
            try link.transport.stopReading()
            try link.peer.write("one\r\n")
            link.peer.reset()
            // A reset is no input: who is told of it while nothing is read may have stopped already.
            do { try link.transport.resumeReading() } catch TransportError.stopped {}
            #expect(link.events.throughStop() == [line("one"), stopped(.reset)])
        },
    ]

    private static func size(_ event: TransportEvent) -> Int {
        if case .data(let bytes) = event { bytes.count } else { 0 }
    }
}
