import ProbeTransport
import ProbeTransportNIO
import Synchronization
import Testing

/// Tests the listeners of the transports that deliver lines, except `flyingsocks`, which is covered by end-to-end
/// tests.
@Suite(.serialized) struct ListenerTests {
    /// A transport factory as a test argument.
    struct Kind: Sendable, CustomTestStringConvertible {
        let factory: any TransportFactory

        var testDescription: String { factory.name }
    }

    static let kinds: [Kind] = [
        Kind(factory: BSDTransportFactory()), Kind(factory: NIOTransportFactory()),
    ]

    private static func stopped(_ reason: StopReason) -> TransportEvent { .stopped(reason, detail: nil) }

    private final class Connections: Sendable {
        let mailboxes = Mutex<[Int: EventMailbox]>([:])

        func handler(_ number: Int) -> TransportHandler {
            let mailbox = EventMailbox()
            mailboxes.withLock { $0[number] = mailbox }
            return mailbox.handler
        }

        subscript(_ number: Int) -> EventMailbox? { mailboxes.withLock { $0[number] } }
    }

    private func listen(
        _ kind: Kind, host: String = "127.0.0.1", port: UInt16 = 0
    ) throws -> (any TransportListener, EventMailbox, Connections) {
        let events = EventMailbox()
        let connections = Connections()
        let listener = try kind.factory.makeListener(
            TransportConfiguration(host: host, port: port), handler: events.handler,
            accepted: { connections.handler($0) })
        return (listener, events, connections)
    }

    private func accepted(_ events: EventMailbox) throws -> any Transport {
        guard case .accepted(let transport)? = events.next() else { throw PeerError(call: "accepted", code: 0) }
        return transport
    }

    @Test(arguments: kinds) func acceptedConnectionsExchangeData(_ kind: Kind) throws {
        let (listener, events, connections) = try listen(kind)
        #expect(listener.port != 0)
        for number in 1...3 {
            let peer = try LoopbackPeer(connectingTo: listener.port)
            let transport = try accepted(events)
            let mailbox = try #require(connections[number])
            #expect(mailbox.next() == .started)
            #expect(throws: TransportError.alreadyStarted) { try transport.start() }
            try peer.write("hello \(number)\r\nres")
            #expect(mailbox.next() == .line(Array("hello \(number)".utf8)))
            try transport.send(Array("welcome".utf8))
            #expect(try peer.text(9) == "welcome\r\n")
            peer.halfClose()
            #expect(mailbox.throughStop() == [.leftover(Array("res".utf8)), Self.stopped(.eof)])
            #expect(try peer.readToEnd().end == .eof)
        }
        listener.stop()
        #expect(events.throughStop() == [Self.stopped(.stopped)])
    }

    @Test(arguments: kinds) func stoppedListenerRefuses(_ kind: Kind) throws {
        // Another suite may get the freed port at once. A successful connection therefore proves nothing, and another
        // round is needed.
        var isRefused = false
        for _ in 0..<5 where !isRefused {
            let (listener, events, _) = try listen(kind)
            listener.stop()
            #expect(events.next() == Self.stopped(.stopped))
            do { _ = try LoopbackPeer(connectingTo: listener.port) } catch is PeerError { isRefused = true }
        }
        #expect(isRefused)
    }

    @Test(arguments: kinds) func stoppingKeepsAcceptedConnections(_ kind: Kind) throws {
        let (listener, events, connections) = try listen(kind)
        let peer = try LoopbackPeer(connectingTo: listener.port)
        let transport = try accepted(events)
        #expect(connections[1]?.next() == .started)
        listener.stop()
        listener.stop()
        #expect(events.next() == Self.stopped(.stopped))
        try transport.send(Array("still here".utf8))
        try transport.stop()
        let (bytes, end) = try peer.readToEnd()
        #expect(bytes == Array("still here\r\n".utf8))
        #expect(end == .eof)
        peer.close()
        #expect(connections[1]?.throughStop() == [Self.stopped(.stopped)])
        #expect(events.waiting.isEmpty)
    }

    @Test(arguments: kinds) func unreferencedConnectionIsClosed(_ kind: Kind) throws {
        let (listener, events, _) = try listen(kind)
        let peer = try LoopbackPeer(connectingTo: listener.port)
        _ = try accepted(events)
        #expect(try peer.readToEnd().end == .eof)
        listener.stop()
        #expect(events.throughStop() == [Self.stopped(.stopped)])
    }

    @Test(arguments: kinds) func usedPortIsNamedInTheError(_ kind: Kind) throws {
        let (listener, _, _) = try listen(kind)
        let error = #expect(throws: TransportError.self) { try listen(kind, port: listener.port) }
        // The code of the error consists of the address and the message of the transport's library.
        let code = try #require(error?.code)
        #expect(code.hasPrefix("127.0.0.1:\(listener.port): ") && code.contains("ddress already in use"))
    }

    @Test(arguments: kinds, ["203.0.113.1", "", "nul\0inside"])
    func foreignAddressIsAnError(_ kind: Kind, _ host: String) {
        #expect(throws: TransportError.self) { try listen(kind, host: host) }
    }

    @Test(arguments: kinds) func listensOnIPv6(_ kind: Kind) throws {
        let (listener, events, connections) = try listen(kind, host: "::1")
        let client = EventMailbox()
        let transport = try kind.factory.makeTransport(
            TransportConfiguration(host: "::1", port: listener.port), handler: client.handler)
        try transport.start()
        let other = try accepted(events)
        #expect(connections[1]?.next() == .started)
        try other.send(Array("six".utf8))
        try other.stop()
        #expect(client.throughStop() == [.started, .line(Array("six".utf8)), Self.stopped(.eof)])
        #expect(connections[1]?.throughStop() == [Self.stopped(.stopped)])
        listener.stop()
        #expect(events.throughStop() == [Self.stopped(.stopped)])
    }
}
