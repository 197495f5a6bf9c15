import ProbeBase
import ProbeTransport
import Testing

extension TransportConformance {
    static let framing: [ConformanceCheck] = [
        ConformanceCheck("frame.two-lines-one-segment") { bench in
            let link = try bench.link()
            try link.peer.write("a\r\nb\r\n")
            link.peer.halfClose()
            try link.expect([line("a"), line("b"), stopped(.eof)])
        },
        ConformanceCheck("frame.crlf-at-every-offset") { bench in
            let stream = Array("220 ready\r\n\r\n250 ok\r\n".utf8)
            for offset in 0...stream.count {
                let link = try bench.link()
                try link.peer.write(pieces: [Array(stream[..<offset]), Array(stream[offset...])])
                link.peer.halfClose()
                try link.expect([line("220 ready"), line(""), line("250 ok"), stopped(.eof)])
            }
        },
        ConformanceCheck("frame.byte-at-a-time") { bench in
            let link = try bench.link()
            try link.peer.write(pieces: Array("hello\r\n".utf8).map { [$0] })
            link.peer.halfClose()
            try link.expect([line("hello"), stopped(.eof)])
        },
        ConformanceCheck("frame.empty-lines") { bench in
            let link = try bench.link()
            try link.peer.write("\r\n\r\n")
            link.peer.halfClose()
            try link.expect([line(""), line(""), stopped(.eof)])
        },
        ConformanceCheck("frame.lone-cr-is-data, bare-lf-policy, cr-cr-lf, partial-delim-false-start") { bench in
            let link = try bench.link()
            try link.peer.write("a\rb\r\nc\nd\r\n\r\r\n\r\rX\r\n")
            link.peer.halfClose()
            try link.expect([line("a\rb"), line("c\nd"), line("\r"), line("\r\rX"), stopped(.eof)])
        },
        ConformanceCheck("frame.1000-lines-one-segment") { bench in
            let link = try bench.link()
            try link.peer.write((0..<1000).map { "line \($0)\r\n" }.joined())
            link.peer.halfClose()
            try link.expect((0..<1000).map { line("line \($0)") } + [stopped(.eof)])
        },
        ConformanceCheck("frame.none", needs: [.data]) { bench in
            let link = try bench.link(framing: .none)
            try link.peer.write("a\r\nb")
            link.peer.halfClose()
            var data: [UInt8] = []
            for event in link.events.throughStop() {
                switch event {
                case .data(let bytes): data += bytes
                default: #expect(event == stopped(.eof))
                }
            }
            #expect(data == Array("a\r\nb".utf8))
        },
    ]

    static let limits: [ConformanceCheck] = [
        ConformanceCheck("limit.max-exact", needs: [.maxLine]) { bench in
            let link = try bench.link()
            let text = String(repeating: "x", count: 1024)
            try link.peer.write(text + "\r\n" + text + "\r\n")
            link.peer.halfClose()
            try link.expect([line(text), line(text), stopped(.eof)])
        },
        ConformanceCheck("limit.max-plus-1, error-once", needs: [.maxLine]) { bench in
            let link = try bench.link()
            try link.peer.write("before\r\n" + String(repeating: "x", count: 1025) + "\r\nafter\r\n")
            try link.expect([line("before"), stopped(.tooLong)])
        },
        ConformanceCheck("limit.max-plus-1-split", needs: [.maxLine]) { bench in
            let link = try bench.link(maxLine: 8)
            try link.peer.write(pieces: [Array("ok\r\n12345".utf8), Array("6789".utf8), Array("\r\n".utf8)])
            try link.expect([line("ok"), stopped(.tooLong)])
        },
        ConformanceCheck("limit.limit-hit-on-delimiter", needs: [.maxLine]) { bench in
            let link = try bench.link(maxLine: 8)
            try link.peer.write(pieces: [Array("12345678".utf8), [13], [10]])
            link.peer.halfClose()
            try link.expect([line("12345678"), stopped(.eof)])
        },
        ConformanceCheck("limit.no-newline-flood", needs: [.maxLine]) { bench in
            let link = try bench.link()
            try link.peer.write([UInt8](repeating: 0x61, count: 200_000))
            try link.expect([stopped(.tooLong)])
        },
        ConformanceCheck("limit.reply-survives-too-long", needs: [.maxLine, .send]) { bench in
            let link = try bench.link(maxLine: 8)
            try link.transport.send(Array("last words".utf8))
            try link.peer.write("123456789" + String(repeating: "x", count: 100_000))
            let (bytes, end) = try link.peer.readToEnd()
            #expect(bytes == Array("last words\r\n".utf8))
            #expect(end == .eof)
            #expect(link.events.throughStop() == [stopped(.tooLong)])
        },
    ]

    static let encoding: [ConformanceCheck] = [
        ConformanceCheck("enc.utf8-split, invalid-utf8, nul, 8bit-bom, unicode-ls-vt-not-terminator") { bench in
            let link = try bench.link()
            let odd: [UInt8] = Array("\u{FEFF}grün \u{1F600} \u{2028}\u{0B}\u{85}".utf8) + [0xc3, 0x28, 0xff, 0]
            let all = (0...255).map { UInt8($0) }.filter { $0 != 10 }
            try link.peer.write(pieces: odd.map { [$0] } + [[13, 10]])
            try link.peer.write(all + [13, 10])
            link.peer.halfClose()
            try link.expect([.line(odd), .line(all), stopped(.eof)])
        },
        ConformanceCheck("enc.outgoing-crlf-injection", needs: [.send, .stop]) { bench in
            let link = try bench.link()
            #expect(throws: TransportError.invalid) { try link.transport.send(Array("RCPT\r\nDATA".utf8)) }
            try link.transport.send(Array("fine".utf8))
            try link.transport.stop()
            #expect(try link.peer.readToEnd().bytes == Array("fine\r\n".utf8))
            try link.expect([stopped(.stopped)])
        },
    ]
}
