import ChatClient
import Synchronization
import TCPProbe

/// Adapts `ChatClient` as a transport under test. It reports what a user would see: `Ada says hello`, or `* Ada has
/// joined` for a message from the room.
final class ChatClientSubject: Transport {
    private let client: ChatClient
    private let isOurStop: IsOurStop

    /// Whether the script has asked the subject to stop.
    private final class IsOurStop: Sendable {
        let value = Atomic(false)
    }

    init(_ configuration: TransportConfiguration, reading: ChatClient.Reading, handler: @escaping TransportHandler) {
        let isOurStop = IsOurStop()
        self.isOurStop = isOurStop
        client = ChatClient(
            host: configuration.host, port: Int(configuration.port), name: "learner", reading: reading
        ) { event in
            switch event {
            case .connected: handler(.started)
            case .message(let message):
                handler(.line(Array((message.name.map { "\($0) says " } ?? "* ").utf8) + Array(message.text.utf8)))
            case .closed(let failure):
                let isOurs = isOurStop.value.load(ordering: .acquiring)
                handler(.stopped(isOurs ? .stopped : failure == nil ? .eof : .other, detail: failure.map { "\($0)" }))
            }
        }
    }

    func start() throws(TransportError) { client.open() }

    func send(_ message: [UInt8]) throws(TransportError) { client.say(String(decoding: message, as: UTF8.self)) }

    func stop() throws(TransportError) {
        isOurStop.value.store(true, ordering: .releasing)
        client.close()
    }
}

/// Creates a client for each connection of a scenario.
struct ChatClientFactory: TransportFactory {
    let reading: ChatClient.Reading
    var name: String { reading == .lines ? "chat-client" : "tutorial-client" }
    /// The capabilities that a scenario can require.
    let capabilities: Set<TransportCapability> = [.connect, .send, .lines, .stop]

    func makeTransport(
        _ configuration: TransportConfiguration, handler: @escaping TransportHandler
    ) throws(TransportError) -> any Transport {
        guard configuration.framing == .lf else { throw .unsupported }
        return ChatClientSubject(configuration, reading: reading, handler: handler)
    }
}
