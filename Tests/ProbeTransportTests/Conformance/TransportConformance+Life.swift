import ProbeBase
import Glibc
import ProbeTransport
import Testing

extension TransportConformance {
    static let timeouts: [ConformanceCheck] = [
        ConformanceCheck("time.connect-blackhole, conn.backlog-full", needs: [.connectTimeout]) { bench in
            let listener = try LoopbackListener(backlog: 0)
            let filler = try LoopbackPeer(connectingTo: listener.port)
            let (transport, events) = try bench.make(port: listener.port, connectTimeout: .milliseconds(150))
            let clock = ContinuousClock()
            let start = clock.now
            try transport.start()
            #expect(events.throughStop() == [stopped(.timeout)])
            #expect(clock.now - start >= .milliseconds(150))
            filler.close()
        },
        ConformanceCheck("time.idle", needs: [.idleTimeout]) { bench in
            let clock = ContinuousClock()
            // The transport's time may run as soon as it is connected.
            let start = clock.now
            let link = try bench.link(idleTimeout: .milliseconds(100))
            try link.peer.write("half a li")
            let seen = link.events.throughStop()
            #expect(seen == [stopped(.timeout)] || seen == [leftover("half a li"), stopped(.timeout)])
            #expect(clock.now - start >= .milliseconds(100))
        },
        ConformanceCheck("time.write-timeout-full-window", needs: [.idleTimeout, .send, .data]) { bench in
            let listener = try LoopbackListener(receiveBuffer: 4096)
            let (transport, events) = try bench.make(
                port: listener.port, framing: .none, idleTimeout: .milliseconds(150))
            let payload = [UInt8](repeating: 0x66, count: 8 << 20)
            // On the transport's own thread: its time can't run out before.
            events.react { [weak transport] event in
                if event == .started { #expect(throws: Never.self) { try transport?.send(payload) } }
            }
            try transport.start()
            let peer = try listener.accept()
            // It was sent: what runs out is not the time of a connection that nobody uses.
            #expect(try peer.read(1) == [0x66])
            #expect(events.throughStop() == [.started, stopped(.timeout)])
            peer.close()
        },
        ConformanceCheck("time.idle-is-not-a-slow-handler", needs: [.idleTimeout]) { bench in
            let listener = try LoopbackListener()
            let idle = Duration.milliseconds(300)
            let (transport, events) = try bench.make(port: listener.port, idleTimeout: idle)
            let entered = EventMailbox()
            let written = EventMailbox()
            events.react { event in
                guard event == line("a") else { return }
                entered.handler(event)
                // When the handler returns at last, the next line has long been there.
                _ = written.next()
                let clock = ContinuousClock()
                let end = clock.now + idle * 2
                while clock.now < end { usleep(1000) }
            }
            try transport.start()
            let peer = try listener.accept()
            try peer.write("a\r\n")
            #expect(entered.next() == line("a"))
            try peer.write("b\r\n")
            written.handler(.started)
            #expect(events.throughStop() == [.started, line("a"), line("b"), stopped(.timeout)])
        },
        ConformanceCheck("time.no-timer-after-close", needs: [.idleTimeout, .stop]) { bench in
            let listener = try LoopbackListener()
            let (transport, events) = try bench.make(port: listener.port, idleTimeout: .milliseconds(50))
            // On the transport's own thread: its time can't run out before.
            events.react { [weak transport] event in
                if event == .started { #expect(throws: Never.self) { try transport?.stop() } }
            }
            try transport.start()
            let peer = try listener.accept()
            #expect(events.throughStop() == [.started, stopped(.stopped)])
            // A second connection's timer of the same length has run out: the first one's would have too.
            let other = try bench.link(idleTimeout: .milliseconds(100))
            #expect(other.events.throughStop() == [stopped(.timeout)])
            #expect(events.waiting.isEmpty)
            peer.close()
        },
    ]

    static let connecting: [ConformanceCheck] = [
        ConformanceCheck("conn.refused, reset.during-connect") { bench in
            let port = try LoopbackListener().port
            let (transport, events) = try bench.make(port: port)
            try transport.start()
            #expect(events.throughStop() == [stopped(.refused)])
        },
        ConformanceCheck("conn.accept-delay", needs: [.send]) { bench in
            let listener = try LoopbackListener()
            let (transport, events) = try bench.make(port: listener.port)
            try transport.start()
            #expect(events.next() == .started)
            try transport.send(Array("early".utf8))
            #expect(events.next() == .sent(7))
            let peer = try listener.accept()
            #expect(try peer.text(7) == "early\r\n")
        },
        ConformanceCheck("conn.v6-only") { bench in
            let listener = try LoopbackListener(ipv6: true)
            let (transport, events) = try bench.make(port: listener.port, host: "::1")
            try transport.start()
            try listener.accept().write("six\r\n")
            #expect(events.throughStop() == [.started, line("six"), stopped(.eof)])
        },
        ConformanceCheck("conn.v4-only, localhost-v6-refused") { bench in
            let listener = try LoopbackListener()
            let (transport, events) = try bench.make(port: listener.port, host: "localhost")
            try transport.start()
            try listener.accept().write("four\r\n")
            #expect(events.throughStop() == [.started, line("four"), stopped(.eof)])
        },
        ConformanceCheck("conn.bad-name") { bench in
            for host in ["no such host", String(repeating: "x", count: 300), "nul\0inside"] {
                let (transport, events) = try bench.make(port: 9, host: host)
                try transport.start()
                #expect(events.throughStop() == [stopped(.other)])
            }
        },
    ]

    static let lifeCycle: [ConformanceCheck] = [
        ConformanceCheck("life.double-start", needs: [.stop]) { bench in
            let link = try bench.link()
            #expect(throws: TransportError.alreadyStarted) { try link.transport.start() }
            try link.transport.stop()
            try link.expect([stopped(.stopped)])
            #expect(throws: TransportError.alreadyStarted) { try link.transport.start() }
        },
        ConformanceCheck("life.stop-before-start", needs: [.stop]) { bench in
            let (transport, events) = try bench.make(port: 9)
            try transport.stop()
            #expect(throws: TransportError.stopped) { try transport.start() }
            #expect(throws: TransportError.stopped) { try transport.send([]) }
            try transport.stop()
            #expect(events.waiting.isEmpty)
        },
        ConformanceCheck("life.stop-while-connecting", needs: [.stop]) { bench in
            let listener = try LoopbackListener(backlog: 0)
            let filler = try LoopbackPeer(connectingTo: listener.port)
            let (transport, events) = try bench.make(port: listener.port)
            try transport.start()
            try transport.send(Array("never".utf8))
            try transport.stop()
            #expect(throws: TransportError.stopped) { try transport.send([]) }
            #expect(events.throughStop() == [stopped(.stopped)])
            filler.close()
        },
        ConformanceCheck("life.stop-inside-callback", needs: [.stop]) { bench in
            for trigger in [TransportEvent.started, line("a")] {
                let listener = try LoopbackListener()
                let (transport, events) = try bench.make(port: listener.port)
                events.react { [weak transport] event in
                    if event == trigger { #expect(throws: Never.self) { try transport?.stop() } }
                }
                try transport.start()
                let peer = try listener.accept()
                try peer.write("a\r\nb\r\n")
                #expect(try peer.readToEnd().end == .eof)
                let expected = trigger == .started ? [.started] : [.started, line("a")]
                #expect(events.throughStop() == expected + [stopped(.stopped)])
            }
        },
        ConformanceCheck("life.write-after-stop", needs: [.stop, .send]) { bench in
            let link = try bench.link()
            try link.transport.stop()
            #expect(throws: TransportError.stopped) { try link.transport.send(Array("x".utf8)) }
            try link.expect([stopped(.stopped)])
            #expect(throws: TransportError.stopped) { try link.transport.send(Array("x".utf8)) }
        },
        ConformanceCheck("life.operations-before-start", needs: [.halfClose, .stopReading, .resumeReading]) { bench in
            let (transport, events) = try bench.make(port: 9)
            #expect(throws: TransportError.notStarted) { try transport.halfClose() }
            #expect(throws: TransportError.notStarted) { try transport.stopReading() }
            #expect(throws: TransportError.notStarted) { try transport.resumeReading() }
            #expect(events.waiting.isEmpty)
        },
    ]
}
