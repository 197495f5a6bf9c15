import ProbeBase
import ProbeTransport
import Testing

/// What one check of the conformance kit works with: a kind of transport, and peers on loopback.
struct ConformanceBench: Sendable {
    let factory: any TransportFactory

    /// A transport, its events and the peer that it is connected to; `started` has been taken.
    struct Link {
        let transport: any Transport
        let events: EventMailbox
        let peer: LoopbackPeer
    }

    func make(
        port: UInt16, host: String = "127.0.0.1", framing: Framing = .crlf, maxLine: Int = 1024,
        connectTimeout: Duration? = nil, idleTimeout: Duration? = nil
    ) throws -> (any Transport, EventMailbox) {
        let events = EventMailbox()
        let configuration = TransportConfiguration(
            host: host, port: port, framing: framing, maxLine: maxLine, connectTimeout: connectTimeout,
            idleTimeout: idleTimeout)
        return (try factory.makeTransport(configuration, handler: events.handler), events)
    }

    /// Some libraries have only some of the framings.
    func supports(_ framing: Framing) -> Bool {
        do throws(TransportError) {
            _ = try factory.makeTransport(TransportConfiguration(host: "127.0.0.1", port: 9, framing: framing)) { _ in }
            return true
        } catch {
            return error != .unsupported
        }
    }

    func link(
        framing: Framing = .crlf, maxLine: Int = 1024, receiveBuffer: CInt? = nil, idleTimeout: Duration? = nil
    ) throws -> Link {
        let listener = try LoopbackListener(receiveBuffer: receiveBuffer)
        let (transport, events) = try make(
            port: listener.port, framing: framing, maxLine: maxLine, idleTimeout: idleTimeout)
        try transport.start()
        let peer = try listener.accept()
        #expect(events.next() == .started)
        return Link(transport: transport, events: events, peer: peer)
    }
}

extension ConformanceBench.Link {
    /// Everything up to the stop is exactly this; the transport has then closed its side, and says nothing more.
    func expect(_ expected: [TransportEvent], location: SourceLocation = #_sourceLocation) throws {
        #expect(events.throughStop(location: location) == expected, sourceLocation: location)
        _ = try peer.readToEnd()
        #expect(events.waiting.isEmpty, sourceLocation: location)
    }
}

/// One requirement of every transport, named as in the list of conformance cases.
struct ConformanceCheck: Sendable, CustomTestStringConvertible {
    let id: String
    let needs: Set<TransportCapability>
    let run: @Sendable (ConformanceBench) throws -> Void

    /// A check of transports that deliver lines by themselves; or where `asking` is true, of those that read when they are asked to.
    init(
        _ id: String, asking: Bool = false, needs: Set<TransportCapability> = [],
        _ run: @escaping @Sendable (ConformanceBench) throws -> Void
    ) {
        self.id = id
        self.needs = needs.union(asking ? [.connect, .reads] : [.connect, .lines])
        self.run = run
    }

    var testDescription: String { id }
}

/// The kit: every check, for any kind of transport.
enum TransportConformance {
    static let checks: [ConformanceCheck] =
        framing + lengths + limits + writing + closing + resets + timeouts + backPressure + connecting + lifeCycle
        + encoding + asking

    static func line(_ text: String) -> TransportEvent { .line(Array(text.utf8)) }
    static func leftover(_ text: String) -> TransportEvent { .leftover(Array(text.utf8)) }
    static func stopped(_ reason: StopReason) -> TransportEvent { .stopped(reason, detail: nil) }
}
