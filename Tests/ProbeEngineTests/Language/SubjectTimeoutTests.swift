import ProbeBase
import ProbeEvents
import ProbeTransport
import Synchronization
import Testing

/// The timeouts that are passed to a subject. `--time-scale` multiplies them in the same way as deadlines.
struct SubjectTimeoutTests {
    /// Creates `bsd` transports, and records their configurations.
    private final class Recorder: TransportFactory {
        private let configurations = Mutex<[TransportConfiguration]>([])

        var recorded: [TransportConfiguration] { configurations.withLock { $0 } }
        var name: String { "recorder" }
        var capabilities: Set<TransportCapability> { BSDTransportFactory().capabilities }

        func makeTransport(
            _ configuration: TransportConfiguration, handler: @escaping TransportHandler
        ) throws(TransportError) -> any Transport {
            configurations.withLock { $0.append(configuration) }
            return try BSDTransportFactory().makeTransport(configuration, handler: handler)
        }
    }

    @Test(arguments: [(0.2, 20, 200), (1, 100, 1000), (6, 600, 6000)])
    func timeoutsAreScaled(_ scale: Double, _ connect: Int, _ idle: Int) async throws {
        let factory = Recorder()
        let result = try await Stage.firstResult(
            """
            scenario "told"
            timeout 300s
            server S
            subject T -> S with connect-timeout 100s, idle-timeout 1000s
            T start
            S accept
            """, subject: InProcessSource(factory, names: SubjectNames()), timeScale: scale)
        #expect(result.verdict == .passed, "\(result.findings.map(Scene.texts))")
        #expect(factory.recorded.map(\.connectTimeout) == [.seconds(connect)])
        #expect(factory.recorded.map(\.idleTimeout) == [.seconds(idle)])
    }
}
