import ProbeBase
import Synchronization
import Testing

@testable import ProbeTransport

struct ReconnectingTransportTests {
    /// A fake connection whose events are determined by the test.
    private final class FakeConnection: Transport {
        let handler: TransportHandler

        init(_ handler: @escaping TransportHandler) { self.handler = handler }

        func start() throws(TransportError) {}
        func send(_ message: [UInt8]) throws(TransportError) {}
        func stop() throws(TransportError) {}
    }

    /// A reconnecting transport under test, with its latest connection and the events that were passed to its handler.
    private final class Bench: Sendable {
        let connection = Mutex<FakeConnection?>(nil)
        let events = Mutex<[TransportEvent]>([])
        let depth = Mutex((now: 0, most: 0))
        let onEvent = Mutex<(@Sendable (TransportEvent) -> Void)?>(nil)

        func transport() throws -> ReconnectingTransport {
            var configuration = TransportConfiguration(host: "127.0.0.1", port: 1)
            configuration.reconnect = TransportReconnect(shortest: .seconds(60), longest: .seconds(60))
            return try ReconnectingTransport(
                configuration,
                handler: { event in
                    self.depth.withLock { $0 = ($0.now + 1, max($0.most, $0.now + 1)) }
                    self.events.withLock { $0.append(event) }
                    self.onEvent.withLock { $0 }?(event)
                    self.depth.withLock { $0.now -= 1 }
                },
                connect: { handler throws(TransportError) in
                    let connection = FakeConnection(handler)
                    self.connection.withLock { $0 = connection }
                    return connection
                })
        }

        func emit(_ event: TransportEvent) { connection.withLock { $0 }?.handler(event) }
    }

    @Test func handlerMayCauseFurtherEvents() throws {
        let bench = Bench()
        bench.onEvent.withLock {
            $0 = { [unowned bench] event in
                if event == .started { for number in 0..<1000 { bench.emit(.line([UInt8(number % 256)])) } }
            }
        }
        let transport = try bench.transport()
        try transport.start()
        bench.emit(.started)
        let events = bench.events.withLock { $0 }
        #expect(events.count == 1001 && events.first == .started)
        #expect(events.dropFirst().enumerated().allSatisfy { $0.element == .line([UInt8($0.offset % 256)]) })
        #expect(bench.depth.withLock { $0.most } == 1)
    }

    @Test func handlerMayCallTheTransport() throws {
        let bench = Bench()
        let transport = try bench.transport()
        let failures = Mutex(0)
        bench.onEvent.withLock {
            $0 = { [weak transport] event in
                guard case .line = event else { return }
                do { try transport?.send([1]) } catch { failures.withLock { $0 += 1 } }
            }
        }
        try transport.start()
        bench.emit(.started)
        bench.emit(.line([2]))
        #expect(failures.withLock { $0 } == 0)
        #expect(bench.events.withLock { $0 } == [.started, .line([2])])
    }
}
