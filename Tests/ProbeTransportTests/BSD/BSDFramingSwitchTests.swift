import ProbeBase
import Synchronization
import Testing

@testable import ProbeTransport

/// Tests changes of the framing in the middle of a stream, when the remaining bytes of the received segment contain
/// complete messages in the new framing.
@Suite struct BSDFramingSwitchTests {
    private final class Holder: Sendable {
        let transport = Mutex<(any Transport)?>(nil)
    }

    @Test func switchInTheHandlerReframesTheRest() throws {
        let listener = try LoopbackListener()
        let events = EventMailbox()
        let holder = Holder()
        let transport = try BSDTransportFactory().makeTransport(
            TransportConfiguration(host: "127.0.0.1", port: listener.port)
        ) { event in
            // The error is ignored because a handler can't throw. If `setFraming` fails, the events differ from those
            // that the test expects.
            if case .line = event { try? holder.transport.withLock { $0 }?.setFraming(.u16) }
            events.handler(event)
        }
        holder.transport.withLock { $0 = transport }
        defer { holder.transport.withLock { $0 = nil } }
        try transport.start()
        let peer = try listener.accept()
        try peer.write("A\r\n\0\u{2}\r\n\0\u{1}x")
        #expect(events.next() == .started)
        #expect(events.next() == .line([0x41]))
        #expect(events.next() == .message([13, 10]))
        #expect(events.next() == .message([0x78]))
        try transport.stop()
    }

    @Test(
        arguments: Framing.allCases.filter { $0 != .websocket } + [
            .delimiter(Array("END".utf8)), .delimiter([255, 0]),
        ],
        ["bsd", "async-socket"])
    func switchFramesLaterMessages(framing: Framing, name: String) throws {
        let listener = try LoopbackListener()
        let events = EventMailbox()
        let factory: any TransportFactory = name == "bsd" ? BSDTransportFactory() : AsyncSocketTransportFactory()
        let transport = try factory.makeTransport(
            TransportConfiguration(host: "127.0.0.1", port: listener.port), handler: events.handler)
        try transport.start()
        let peer = try listener.accept()
        #expect(events.next() == .started)
        try transport.send([0x61])
        try transport.setFraming(framing)
        try transport.send([0x62, 0x63])
        try transport.setFraming(.crlf)
        try transport.send([0x64])
        let whole = [0x61, 13, 10] + (try FrameEncoder(framing: framing).encode([0x62, 0x63])) + [0x64, 13, 10]
        #expect(try peer.read(whole.count) == whole)
        try transport.stop()
    }

    @Test func switchNeedsAnOpenConnection() throws {
        let transport = try BSDTransportFactory().makeTransport(
            TransportConfiguration(host: "127.0.0.1", port: 1)
        ) { _ in }
        #expect(throws: TransportError.notStarted) { try transport.setFraming(.u16) }
        #expect(throws: TransportError.unsupported) { try transport.setFraming(.websocket) }
    }
}
