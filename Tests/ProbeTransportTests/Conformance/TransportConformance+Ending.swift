import ProbeBase
import ProbeTransport
import Testing

extension TransportConformance {
    static let closing: [ConformanceCheck] = [
        ConformanceCheck("close.eof-mid-line", needs: [.leftover]) { bench in
            let link = try bench.link()
            try link.peer.write("one\r\ntw")
            link.peer.halfClose()
            try link.expect([line("one"), leftover("tw"), stopped(.eof)])
        },
        ConformanceCheck("close.lines-plus-fin-one-segment") { bench in
            let link = try bench.link()
            try link.peer.write("a\r\nb\r\nc\r\n")
            link.peer.close()
            #expect(link.events.throughStop() == [line("a"), line("b"), line("c"), stopped(.eof)])
        },
        ConformanceCheck("close.eof-right-after-cr", needs: [.leftover]) { bench in
            let link = try bench.link()
            try link.peer.write("x\r")
            link.peer.halfClose()
            try link.expect([leftover("x\r"), stopped(.eof)])
        },
        ConformanceCheck("close.half-close-reply", needs: [.send, .halfClose]) { bench in
            let link = try bench.link()
            try link.transport.send(Array("QUIT".utf8))
            try link.transport.halfClose()
            let (bytes, end) = try link.peer.readToEnd()
            #expect(bytes == Array("QUIT\r\n".utf8))
            #expect(end == .eof)
            try link.peer.write("221 bye\r\n")
            link.peer.close()
            #expect(link.events.throughStop() == [line("221 bye"), stopped(.eof)])
        },
        ConformanceCheck("close.peer-half-close-then-we-write", needs: [.send]) { bench in
            let listener = try LoopbackListener()
            let (transport, events) = try bench.make(port: listener.port)
            let answer = [UInt8](repeating: 0x61, count: 6 << 20)
            events.react { [weak transport] event in
                if case .line = event { #expect(throws: Never.self) { try transport?.send(answer) } }
            }
            try transport.start()
            let peer = try listener.accept()
            try peer.write("ask\r\n")
            peer.halfClose()
            let (bytes, end) = try peer.readToEnd()
            // Not as one expectation of two arrays: their difference would take minutes to be told.
            let isWhole = bytes == answer + [13, 10]
            #expect(isWhole, "\(bytes.count) bytes came")
            #expect(end == .eof)
            #expect(events.throughStop() == [.started, line("ask"), stopped(.eof)])
        },
        ConformanceCheck("close.after-writing", needs: [.send, .stop]) { bench in
            let link = try bench.link()
            for number in 0..<1000 { try link.transport.send(Array("line \(number)".utf8)) }
            try link.transport.stop()
            let (bytes, end) = try link.peer.readToEnd()
            #expect(bytes == Array((0..<1000).map { "line \($0)\r\n" }.joined().utf8))
            #expect(end == .eof)
            link.peer.close()
            #expect(link.events.throughStop() == [stopped(.stopped)])
        },
        ConformanceCheck("close.unread-data-rst", needs: [.send, .stop, .stopReading, .data]) { bench in
            // A reply that lies in the sender's kernel when the transport closes: an RST would destroy it there.
            let link = try bench.link(framing: .none, receiveBuffer: 4096)
            let reply = [UInt8](repeating: 0x65, count: 200_000)
            try link.transport.stopReading()
            _ = link.peer.writeUntilFull(0x64, limit: 64 << 20)
            try link.transport.send(reply)
            try link.transport.stop()
            let (bytes, end) = try link.peer.readToEnd()
            let isWhole = bytes == reply
            #expect(isWhole, "\(bytes.count) bytes came")
            #expect(end == .eof)
            link.peer.close()
            // One read that was in hand when reading was stopped may still have been delivered.
            #expect(link.events.throughStop().last == stopped(.stopped))
        },
        ConformanceCheck("close.immediate") { bench in
            let listener = try LoopbackListener()
            let (transport, events) = try bench.make(port: listener.port)
            try transport.start()
            try listener.accept().close()
            #expect(events.throughStop() == [.started, stopped(.eof)])
        },
        ConformanceCheck("close.stop-exactly-once, stop-no-delegate-after", needs: [.stop]) { bench in
            let link = try bench.link()
            try link.transport.stop()
            try link.transport.stop()
            #expect(link.events.next() == stopped(.stopped))
            try link.transport.stop()
            try link.peer.write("late\r\n")
            link.peer.halfClose()
            #expect(try link.peer.readToEnd().end == .eof)
            #expect(link.events.waiting.isEmpty)
        },
    ]

    static let resets: [ConformanceCheck] = [
        ConformanceCheck("reset.after-line") { bench in
            for _ in 0..<20 {
                let link = try bench.link()
                try link.peer.write("one\r\n")
                #expect(link.events.next() == line("one"))
                link.peer.reset()
                #expect(link.events.throughStop() == [stopped(.reset)])
            }
        },
        ConformanceCheck("reset.mid-line") { bench in
            let link = try bench.link()
            try link.peer.write(pieces: [Array("one\r\n".utf8), Array("tw".utf8)])
            #expect(link.events.next() == line("one"))
            link.peer.reset()
            let rest = link.events.throughStop()
            #expect(rest == [stopped(.reset)] || rest == [leftover("tw"), stopped(.reset)])
        },
        ConformanceCheck("reset.instant") { bench in
            for _ in 0..<20 {
                let listener = try LoopbackListener()
                let (transport, events) = try bench.make(port: listener.port)
                try transport.start()
                try listener.accept().reset()
                let seen = events.throughStop()
                #expect(seen == [.started, stopped(.reset)])
            }
        },
        ConformanceCheck("reset.while-writing", needs: [.send]) { bench in
            let link = try bench.link(receiveBuffer: 4096)
            try link.transport.send([UInt8](repeating: 0x65, count: 8 << 20))
            #expect(try link.peer.read(1) == [0x65])
            link.peer.reset()
            #expect(link.events.throughStop().last == stopped(.reset))
        },
        ConformanceCheck("reset.found-by-a-write", needs: [.send, .stopReading, .resumeReading, .data]) { bench in
            let payload = [UInt8](repeating: 0x65, count: 8 << 20)
            for _ in 0..<10 {
                let link = try bench.link(framing: .none, receiveBuffer: 4096)
                try link.transport.stopReading()
                try link.transport.send(payload)
                #expect(try link.peer.read(1) == [0x65])
                // Nobody reads: the write that is under way meets the RST first, and takes the error with it.
                link.peer.reset()
                // One that notices a reset also while nobody reads may have stopped.
                do { try link.transport.resumeReading() } catch TransportError.stopped {}
                #expect(link.events.throughStop().last == stopped(.reset))
            }
        },
        ConformanceCheck("reset.vs-fin-distinguished") { bench in
            for _ in 0..<20 {
                let first = try bench.link()
                first.peer.close()
                #expect(first.events.throughStop() == [stopped(.eof)])
                let second = try bench.link()
                second.peer.reset()
                #expect(second.events.throughStop() == [stopped(.reset)])
            }
        },
    ]
}
