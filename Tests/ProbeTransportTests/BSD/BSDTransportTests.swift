import ProbeBase
import CShims
import Glibc
import Testing

@testable import ProbeTransport

/// Tests properties of the transport `bsd` that the conformance suite can't test: its limits, its thread and its
/// descriptors.
@Suite(.serialized) struct BSDTransportTests {
    private static let big = [UInt8](repeating: 0x62, count: 8 << 20)
    private static func stopped(_ reason: StopReason) -> TransportEvent { .stopped(reason, detail: nil) }

    /// Returns a transport whose mailbox is closed when its thread has ended.
    private func make(
        port: UInt16, framing: Framing = .crlf, limits: BSDConnectionState.Limits = .init()
    ) throws -> (BSDTransport, EventMailbox) {
        let events = EventMailbox()
        let transport = try BSDTransportFactory().makeTransport(
            TransportConfiguration(host: "127.0.0.1", port: port, framing: framing), limits: limits,
            handler: events.handler, threadEnded: { events.close() })
        return (transport, events)
    }

    @Test func nothingIsReportedAfterTheStop() throws {
        for _ in 0..<20 {
            let listener = try LoopbackListener()
            let (transport, events) = try make(port: listener.port)
            try transport.start()
            let peer = try listener.accept()
            #expect(events.next() == .started)
            try peer.write("a\r\nb\r\n")
            #expect(events.next() == .line([0x61]))
            try transport.stop()
            try peer.write("c\r\nd\r\n")
            peer.halfClose()
            #expect(events.waitUntilClosed())
            let rest = events.throughStop()
            // The delivery of an event may have begun before `stop()` was called, so the event may still arrive.
            #expect(rest == [Self.stopped(.stopped)] || rest == [.line([0x62]), Self.stopped(.stopped)])
            #expect(events.waiting.isEmpty)
        }
    }

    @Test func writeAfterThePeerClosedIsABrokenPipe() throws {
        let listener = try LoopbackListener()
        let (transport, events) = try make(port: listener.port, framing: .none)
        try transport.start()
        let peer = try listener.accept()
        #expect(events.next() == .started)
        try transport.stopReading()
        // A program that another test is starting has a copy of the socket until it calls `exec`. Until then, closing
        // the socket would not send the FIN, so `halfClose` sends the FIN.
        peer.halfClose()
        peer.close()
        // The message is larger than the kernel's buffer, so its last bytes are written after its first bytes have
        // caused an RST.
        try transport.send(Self.big)
        try transport.resumeReading()
        #expect(events.throughStop() == [Self.stopped(.brokenPipe)])
        #expect(events.waitUntilClosed())
        #expect(events.waiting.isEmpty)
    }

    @Test func stopWithANonReadingPeerIsBounded() throws {
        let listener = try LoopbackListener(receiveBuffer: 4096)
        let (transport, events) = try make(
            port: listener.port, framing: .none, limits: .init(linger: 100_000_000, drain: 50_000_000))
        try transport.start()
        let peer = try listener.accept()
        #expect(events.next() == .started)
        try transport.send(Self.big)
        try transport.stop()
        #expect(events.throughStop() == [Self.stopped(.stopped)])
        #expect(events.waitUntilClosed())
        // The transport must not send a FIN, which would mean that the data is complete.
        let (bytes, end) = try peer.readToEnd()
        #expect(bytes.count < Self.big.count)
        #expect(end == .reset)
    }

    @Test func eofWithANonReadingPeerIsBounded() throws {
        let listener = try LoopbackListener(receiveBuffer: 4096)
        let (transport, events) = try make(
            port: listener.port, framing: .none, limits: .init(linger: 100_000_000, drain: 50_000_000))
        try transport.start()
        let peer = try listener.accept()
        #expect(events.next() == .started)
        try transport.send(Self.big)
        peer.halfClose()
        #expect(events.throughStop() == [Self.stopped(.timeout)])
        #expect(events.waitUntilClosed())
        #expect(try peer.readToEnd().end == .reset)
    }

    @Test func releaseWhileConnectingEndsTheThreadSilently() throws {
        let listener = try LoopbackListener(backlog: 0)
        let filler = try LoopbackPeer(connectingTo: listener.port)
        let events: EventMailbox
        do {
            let (transport, mailbox) = try make(port: listener.port)
            events = mailbox
            try transport.start()
            try transport.send([1])
        }
        #expect(events.waitUntilClosed())
        #expect(events.waiting.isEmpty)
        filler.close()
    }

    @Test func releaseWhileStartedWritesAndClosesSilently() throws {
        let listener = try LoopbackListener()
        let events: EventMailbox
        let peer: LoopbackPeer
        do {
            let (transport, mailbox) = try make(port: listener.port)
            events = mailbox
            try transport.start()
            peer = try listener.accept()
            #expect(events.next() == .started)
            try transport.send(Array("bye".utf8))
            #expect(events.next() == .sent(5))
            try transport.send(Array("bye".utf8))
        }
        let (bytes, end) = try peer.readToEnd()
        #expect(bytes == Array("bye\r\nbye\r\n".utf8))
        #expect(end == .eof)
        peer.close()
        #expect(events.waitUntilClosed())
        #expect(events.waiting.allSatisfy { $0 == .sent(5) })
    }

    @Test func releaseInsideTheHandlerIsAllowed() throws {
        let listener = try LoopbackListener()
        let (transport, events) = try make(port: listener.port)
        let holder = Holder(transport)
        events.react { event in
            if case .line = event { holder.release() }
        }
        try transport.start()
        let peer = try listener.accept()
        try peer.write("a\r\nb\r\n")
        #expect(events.next() == .started)
        #expect(events.next() == .line([0x61]))
        holder.release()
        withExtendedLifetime(transport) {}
        try transport.stop()
        #expect(try peer.readToEnd().end == .eof)
        peer.close()
        #expect(events.waitUntilClosed())
    }

    @Test func handlerIsReleasedAfterTheStop() throws {
        let listener = try LoopbackListener()
        weak var watched: BSDTransport?
        let ended = EventMailbox()
        do {
            let holder = Holder(nil)
            let transport = try BSDTransportFactory().makeTransport(
                TransportConfiguration(host: "127.0.0.1", port: listener.port), limits: .init(),
                handler: { event in
                    ended.handler(event)
                    withExtendedLifetime(holder) {}
                }, threadEnded: { ended.close() })
            holder.hold(transport)
            watched = transport
            try transport.start()
            try listener.accept().close()
        }
        #expect(ended.throughStop() == [.started, Self.stopped(.eof)])
        #expect(ended.waitUntilClosed())
        // The closure that ran on the thread is released shortly after the thread has reported its end.
        while watched != nil { sched_yield() }
    }

    /// The test runs in a separate process, because descriptors and threads are counted for the whole process.
    @Test func descriptorsAndThreadsDoNotLeak() async {
        await #expect(processExitsWith: .success) { try BSDTransportTests().manyRounds() }
    }

    private func manyRounds() throws {
        let listener = try LoopbackListener()
        let port = listener.port
        func round(_ kind: Int) throws {
            let (transport, events) = try make(port: port)
            if kind == 0 { return }
            try transport.start()
            let peer = try listener.accept()
            if kind > 1 { #expect(events.next() == .started) }
            switch kind {
            case 1: try transport.stop()
            case 2: try transport.stop()
            case 3: peer.reset()
            default: break
            }
            peer.close()
            #expect(events.waitUntilClosed())
        }
        for kind in 0...4 { try round(kind) }
        let before = try count("/proc/self/fd")
        for turn in 0..<300 { try round(turn % 5) }
        // The threads of the last few connections may not have ended yet.
        #expect(try count("/proc/self/fd") < before + 60)
    }

    private func count(_ folder: String) throws -> Int {
        guard let handle = opendir(folder) else { throw PeerError(call: "opendir", code: errno) }
        defer { closedir(handle) }
        var count = 0
        while readdir(handle) != nil { count += 1 }
        return count
    }
}

/// Holds a transport until a handler releases it.
///
/// `@unchecked Sendable` is safe, because `held` is accessed only while `lock` is held.
private final class Holder: @unchecked Sendable {
    private var held: BSDTransport?
    private let lock = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)

    init(_ transport: BSDTransport?) {
        pthread_mutex_init(lock, nil)
        held = transport
    }

    deinit {
        pthread_mutex_destroy(lock)
        lock.deallocate()
    }

    func hold(_ transport: BSDTransport) { exchange(transport) }
    func release() { exchange(nil) }

    private func exchange(_ transport: BSDTransport?) {
        pthread_mutex_lock(lock)
        let old = held
        held = transport
        pthread_mutex_unlock(lock)
        withExtendedLifetime(old) {}
    }
}
