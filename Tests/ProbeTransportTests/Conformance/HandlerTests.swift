import ProbeBase
import ProbeTransport
import ProbeTransportNIO
import Testing

/// Tests actions that a handler may perform but no scenario can express: calling operations during an event, and taking
/// a long time.
@Suite(.serialized) struct HandlerTests {
    struct Kind: Sendable, CustomTestStringConvertible {
        let factory: any TransportFactory

        var testDescription: String { factory.name }

        func make(port: UInt16, idleTimeout: Duration? = nil) throws -> (any Transport, EventMailbox) {
            let events = EventMailbox()
            let configuration = TransportConfiguration(host: "127.0.0.1", port: port, idleTimeout: idleTimeout)
            return (try factory.makeTransport(configuration, handler: events.handler), events)
        }
    }

    private static func kinds(_ needs: TransportCapability...) -> [Kind] {
        let factories: [any TransportFactory] = [
            BSDTransportFactory(), AsyncSocketTransportFactory(), NIOTransportFactory(),
        ]
        return factories.filter { $0.capabilities.isSuperset(of: [.lines] + needs) }.map { Kind(factory: $0) }
    }

    private static func line(_ text: String) -> TransportEvent { .line(Array(text.utf8)) }
    private static func stopped(_ reason: StopReason) -> TransportEvent { .stopped(reason, detail: nil) }

    @Test(arguments: kinds(.stop), [TransportEvent.started, line("a")])
    func stopDuringAnEventDeliversNothingMore(_ kind: Kind, _ trigger: TransportEvent) throws {
        let listener = try LoopbackListener()
        let (transport, events) = try kind.make(port: listener.port)
        events.react { [weak transport] event in
            if event == trigger { #expect(throws: Never.self) { try transport?.stop() } }
        }
        try transport.start()
        let peer = try listener.accept()
        try peer.write("a\r\nb\r\n")
        let end = try peer.readToEnd().end
        // NIO closes a channel by closing its descriptor even if there is unread input, which resets the connection.
        #expect(end == .eof || kind.factory.name == "nio")
        let expected = trigger == .started ? [.started] : [.started, Self.line("a")]
        #expect(events.throughStop() == expected + [Self.stopped(.stopped)])
    }

    @Test(arguments: kinds(.stopReading, .resumeReading))
    func stopReadingDuringAnEventHoldsTheNext(_ kind: Kind) throws {
        let listener = try LoopbackListener()
        let (transport, events) = try kind.make(port: listener.port)
        events.react { [weak transport] event in
            if case .line = event { #expect(throws: Never.self) { try transport?.stopReading() } }
        }
        try transport.start()
        let peer = try listener.accept()
        try peer.write("a\r\nb\r\n")
        peer.halfClose()
        #expect(events.next() == .started)
        var seen: [TransportEvent] = []
        while let event = events.nextExceptSent() {
            seen.append(event)
            if case .stopped = event { break }
            // An event whose delivery has already begun may still arrive, followed by `stopped`.
            do { try transport.resumeReading() } catch TransportError.stopped {}
        }
        #expect(seen == [Self.line("a"), Self.line("b"), Self.stopped(.eof)])
    }

    @Test(arguments: kinds(.idleTimeout))
    func slowHandlerDoesNotMakeTheConnectionIdle(_ kind: Kind) throws {
        let listener = try LoopbackListener()
        let idle = Duration.milliseconds(300)
        let (transport, events) = try kind.make(port: listener.port, idleTimeout: idle)
        let entered = EventMailbox()
        let written = EventMailbox()
        events.react { event in
            guard event == Self.line("a") else { return }
            entered.handler(event)
            // The handler for the first line returns only long after the second line has arrived.
            _ = written.next()
            let clock = ContinuousClock()
            let end = clock.now + idle * 2
            while clock.now < end {}
        }
        try transport.start()
        let peer = try listener.accept()
        try peer.write("a\r\n")
        #expect(entered.next() == Self.line("a"))
        try peer.write("b\r\n")
        written.handler(.started)
        #expect(events.throughStop() == [.started, Self.line("a"), Self.line("b"), Self.stopped(.timeout)])
    }

    @Test(arguments: kinds(.send, .stop))
    func misplacedOperationsAreErrors(_ kind: Kind) throws {
        let (transport, events) = try kind.make(port: 9)
        for operation in PlainOperation.allCases where kind.factory.capabilities.contains(operation.capability) {
            #expect(throws: TransportError.notStarted) { try transport.perform(operation) }
        }
        try transport.stop()
        #expect(throws: TransportError.stopped) { try transport.send([1]) }
        #expect(throws: TransportError.stopped) { try transport.start() }
        #expect(events.waiting.isEmpty)
    }
}
