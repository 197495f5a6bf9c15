import SampleStream
import TCPProbe

/// Adapts `SampleStream` as a transport under test.
final class SampleStreamSubject: Transport {
    private let stream: SampleStream

    init(_ configuration: TransportConfiguration, handler: @escaping TransportHandler) {
        stream = SampleStream(
            host: configuration.host, port: Int(configuration.port), limit: configuration.maxLine
        ) { event in
            switch event {
            case .connected: handler(.started)
            case .sample(let bytes): handler(.message(bytes))
            case .closed(let reason, let rest):
                if !rest.isEmpty { handler(.leftover(rest)) }
                handler(Self.stopped(reason))
            }
        }
    }

    func start() throws(TransportError) { stream.open() }

    func send(_ message: [UInt8]) throws(TransportError) {
        do { try stream.send(message) } catch { throw .invalid }
    }

    func stop() throws(TransportError) { stream.close() }

    private static func stopped(_ reason: SampleStream.Reason) -> TransportEvent {
        switch reason {
        case .end: .stopped(.eof, detail: nil)
        case .closed: .stopped(.stopped, detail: nil)
        case .refused: .stopped(.refused, detail: nil)
        case .reset: .stopped(.reset, detail: nil)
        case .tooLong: .stopped(.tooLong, detail: nil)
        case .malformed(let text): .stopped(.protocol, detail: text)
        case .other(let text): .stopped(.other, detail: text)
        }
    }
}

/// Creates a client for each connection of a case.
struct SampleStreamFactory: TransportFactory {
    let name = "swift-protobuf"
    let capabilities: Set<TransportCapability> = [.connect, .send, .messages, .protobuf, .stop, .leftover, .maxLine]

    func makeTransport(
        _ configuration: TransportConfiguration, handler: @escaping TransportHandler
    ) throws(TransportError) -> any Transport {
        guard configuration.framing == .varint, configuration.parsesProtobuf else { throw .unsupported }
        return SampleStreamSubject(configuration, handler: handler)
    }
}
