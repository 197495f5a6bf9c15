import ProbeTransport
import Testing

/// Checks of transports that read only when they are asked to.
extension TransportConformance {
    private static func data(_ text: String) -> TransportEvent { .data(Array(text.utf8)) }

    static let asking: [ConformanceCheck] = [
        ConformanceCheck("read.any-length-mix, frame.delim-consumed", asking: true) { bench in
            for asksFirst in [true, false] {
                let link = try bench.link()
                let stream = "HEADline\r\nx"
                if !asksFirst { try link.peer.write(stream) }
                try link.transport.read(.length(4), timeout: nil)
                try link.transport.read(.until([13, 10]), timeout: nil)
                try link.transport.read(.any, timeout: nil)
                if asksFirst { try link.peer.write(stream) }
                for expected in ["HEAD", "line\r\n", "x"] { #expect(link.events.next() == data(expected)) }
                link.peer.close()
                #expect(link.events.throughStop() == [stopped(.eof)])
            }
        },
        ConformanceCheck("read.prebuffer-kept", asking: true) { bench in
            let link = try bench.link()
            try link.peer.write("abcdef")
            link.peer.halfClose()
            for (count, expected) in [(1, "a"), (2, "bc"), (3, "def")] {
                try link.transport.read(.length(count), timeout: nil)
                #expect(link.events.next() == data(expected))
            }
            try link.expect([stopped(.eof)])
        },
        ConformanceCheck("read.byte-at-a-time", asking: true) { bench in
            let link = try bench.link()
            for _ in 0..<2 { try link.transport.read(.until([13, 10]), timeout: nil) }
            try link.peer.write(pieces: Array("a\r\rb\r\n\r\n".utf8).map { [$0] })
            link.peer.halfClose()
            try link.expect([data("a\r\rb\r\n"), data("\r\n"), stopped(.eof)])
        },
        ConformanceCheck("close.eof-mid-read", asking: true, needs: [.leftover]) { bench in
            for read in [TransportRead.length(4), .until([13, 10])] {
                let link = try bench.link()
                try link.transport.read(read, timeout: nil)
                try link.peer.write("tw\r")
                link.peer.halfClose()
                try link.expect([leftover("tw\r"), stopped(.eof)])
            }
        },
        ConformanceCheck("close.immediate", asking: true) { bench in
            let link = try bench.link()
            link.peer.close()
            #expect(link.events.throughStop() == [stopped(.eof)])
        },
        ConformanceCheck("reset.what-came-before-is-read", asking: true) { bench in
            let link = try bench.link()
            try link.transport.read(.any, timeout: nil)
            try link.peer.write("one")
            #expect(link.events.next() == data("one"))
            link.peer.reset()
            #expect(link.events.throughStop() == [stopped(.reset)])
        },
        ConformanceCheck("time.read-timeout", asking: true) { bench in
            let link = try bench.link()
            let clock = ContinuousClock()
            let start = clock.now
            try link.transport.read(.length(4), timeout: .milliseconds(50))
            try link.peer.write("abc")
            let seen = link.events.throughStop()
            #expect(seen == [stopped(.timeout)] || seen == [leftover("abc"), stopped(.timeout)])
            #expect(clock.now - start >= .milliseconds(50))
            #expect(try link.peer.readToEnd().end == .eof)
        },
        ConformanceCheck("time.a-read-in-time-has-no-timer", asking: true, needs: [.stop]) { bench in
            let link = try bench.link()
            try link.transport.read(.length(1), timeout: .milliseconds(20))
            try link.peer.write("a")
            let first = link.events.next()
            // A machine that stood still may have let it run out.
            guard first == data("a") else { return #expect(first == stopped(.timeout)) }
            let other = try bench.link()
            try other.transport.read(.length(1), timeout: .milliseconds(40))
            #expect(other.events.throughStop() == [stopped(.timeout)])
            #expect(link.events.waiting.isEmpty)
            try link.transport.stop()
            try link.expect([stopped(.stopped)])
        },
        ConformanceCheck("limit.until", asking: true, needs: [.maxLine]) { bench in
            for (content, isTaken) in [("abcd", true), ("abcde", false)] {
                let link = try bench.link(maxLine: 4)
                try link.transport.read(.until([13, 10]), timeout: nil)
                try link.peer.write(content + "\r\n")
                link.peer.halfClose()
                let seen = link.events.throughStop()
                #expect(seen.last == stopped(isTaken ? .eof : .tooLong))
                #expect(seen.contains(data(content + "\r\n")) == isTaken)
            }
        },
        ConformanceCheck("read.invalid, read.before-start, read.after-stop", asking: true, needs: [.stop]) { bench in
            let (transport, events) = try bench.make(port: 9)
            #expect(throws: TransportError.notStarted) { try transport.read(.any, timeout: nil) }
            #expect(events.waiting.isEmpty)
            let link = try bench.link()
            for read in [TransportRead.length(0), .until([])] {
                #expect(throws: TransportError.invalid) { try link.transport.read(read, timeout: nil) }
            }
            try link.transport.stop()
            #expect(throws: TransportError.stopped) { try link.transport.read(.any, timeout: nil) }
            try link.expect([stopped(.stopped)])
        },
        ConformanceCheck("flow.nobody-asks", asking: true, needs: [.stop]) { bench in
            let link = try bench.link(receiveBuffer: 4096)
            let count = link.peer.writeUntilFull(0x64, limit: 64 << 20)
            try link.transport.read(.length(count), timeout: nil)
            let isWhole = link.events.next() == .data([UInt8](repeating: 0x64, count: count))
            #expect(isWhole)
            try link.transport.stop()
            #expect(link.events.throughStop() == [stopped(.stopped)])
        },
        ConformanceCheck("close.after-writing", asking: true, needs: [.send, .sent, .stop]) { bench in
            let link = try bench.link()
            for number in 0..<1000 { try link.transport.send(Array("line \(number)".utf8)) }
            try link.transport.stop()
            let (bytes, end) = try link.peer.readToEnd()
            #expect(bytes == Array((0..<1000).map { "line \($0)\r\n" }.joined().utf8))
            #expect(end == .eof)
            link.peer.close()
            let seen = link.events.throughStop()
            #expect(seen.last == stopped(.stopped))
        },
    ]
}
