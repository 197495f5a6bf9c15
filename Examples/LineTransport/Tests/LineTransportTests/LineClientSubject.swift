import LineTransport
import TCPProbe

/// Adapts `LineClient` as a transport under test, by translating its events to tcpprobe's events.
final class LineClientSubject: Transport {
    private let client: LineClient

    init(_ configuration: TransportConfiguration, handler: @escaping TransportHandler) {
        client = LineClient(host: configuration.host, port: configuration.port, limit: configuration.maxLine) { event in
            switch event {
            case .connected: handler(.started)
            case .line(let line): handler(.line(line))
            case .closed(let reason, let rest):
                if !rest.isEmpty { handler(.leftover(rest)) }
                handler(LineClientSubject.stopped(reason))
            }
        }
    }

    func start() throws(TransportError) {
        do { try client.open() } catch { throw .alreadyStarted }
    }

    func send(_ message: [UInt8]) throws(TransportError) {
        do throws(LineClient.Misuse) {
            try client.send(message)
        } catch {
            throw error == .containsTerminator ? .invalid : .stopped
        }
    }

    func stop() throws(TransportError) { client.close() }

    private static func stopped(_ reason: LineClient.Reason) -> TransportEvent {
        switch reason {
        case .end: .stopped(.eof, detail: nil)
        case .closed: .stopped(.stopped, detail: nil)
        case .reset: .stopped(.reset, detail: nil)
        case .refused: .stopped(.refused, detail: nil)
        case .tooLong: .stopped(.tooLong, detail: nil)
        case .failed(let code): .stopped(.other, detail: "errno \(code)")
        }
    }
}

/// Creates a client for each connection of a case.
struct LineClientFactory: TransportFactory {
    let name = "line-client"
    /// The capabilities that the suite tests. A case that requires any other capability is `unsupported`.
    let capabilities: Set<TransportCapability> = [.connect, .send, .lines, .stop, .leftover, .maxLine]

    func makeTransport(
        _ configuration: TransportConfiguration, handler: @escaping TransportHandler
    ) throws(TransportError) -> any Transport {
        guard configuration.framing == .crlf else { throw .unsupported }
        return LineClientSubject(configuration, handler: handler)
    }
}
