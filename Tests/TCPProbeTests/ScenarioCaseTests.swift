import Dispatch
import Glibc
import Synchronization
import TCPProbe
import Testing

/// Tests the library in the way in which another project's package would use it, through public names only.
@Suite struct ScenarioCaseTests {
    /// A script file that is removed when this object is released.
    private final class Script: Sendable {
        let path: String

        init(_ text: String) throws {
            var template = Array("/tmp/tcpprobe-library-XXXXXX.scn".utf8CString)
            let descriptor = mkstemps(&template, 4)
            try #require(descriptor >= 0)
            defer { close(descriptor) }
            let bytes = Array(text.utf8)
            try #require(write(descriptor, bytes, bytes.count) == bytes.count)
            path = String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
        }

        deinit { unlink(path) }
    }

    /// Creates transports that connect and send correctly, except for at most one flaw.
    private struct Talker: TransportFactory {
        var forgets = false
        var stopsAgain = false
        let name = "talker"
        let capabilities: Set<TransportCapability> = [.connect, .send, .lines, .stop]

        func makeTransport(
            _ configuration: TransportConfiguration, handler: @escaping TransportHandler
        ) throws(TransportError) -> any Transport {
            try Connection(configuration, forgets, stopsAgain, handler)
        }
    }

    /// A connection that blocks its caller while it connects and writes. Blocking is allowed, because each subject has
    /// its own queue.
    private final class Connection: Transport {
        private let port: UInt16
        private let forgets: Bool
        private let stopsAgain: Bool
        private let handler: TransportHandler
        private let socket = Mutex<Int32?>(nil)

        init(
            _ configuration: TransportConfiguration, _ forgets: Bool, _ stopsAgain: Bool,
            _ handler: @escaping TransportHandler
        ) throws(TransportError) {
            guard configuration.host == "127.0.0.1" else { throw .unsupported }
            port = configuration.port
            self.forgets = forgets
            self.stopsAgain = stopsAgain
            self.handler = handler
        }

        deinit { if let socket = socket.withLock({ $0 }) { close(socket) } }

        func start() throws(TransportError) {
            let descriptor = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
            var address = sockaddr_in()
            address.sin_family = sa_family_t(AF_INET)
            address.sin_port = port.bigEndian
            address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
            let code = withUnsafeBytes(of: address) { bytes in
                Glibc.connect(
                    descriptor, bytes.assumingMemoryBound(to: sockaddr.self).baseAddress, socklen_t(bytes.count))
            }
            socket.withLock { $0 = descriptor }
            handler(code == 0 ? .started : .stopped(.refused, detail: nil))
        }

        func send(_ message: [UInt8]) throws(TransportError) {
            guard let descriptor = socket.withLock({ $0 }) else { throw .notStarted }
            if forgets { return }
            let line = message + [13, 10]
            _ = Glibc.send(descriptor, line, line.count, Int32(MSG_NOSIGNAL))
        }

        func stop() throws(TransportError) {
            let descriptor = socket.withLock { socket in
                defer { socket = nil }
                return socket
            }
            guard let descriptor else { return }
            close(descriptor)
            handler(.stopped(.stopped, detail: nil))
            if stopsAgain { Connection.stopAgain(handler) }
        }

        /// Reports `stopped` repeatedly after a delay, so that it does not matter when the thread is scheduled.
        private static func stopAgain(_ handler: @escaping TransportHandler) {
            DispatchQueue.global().async {
                usleep(10_000)
                for _ in 0..<1000 {
                    handler(.stopped(.stopped, detail: nil))
                    usleep(2_000)
                }
            }
        }
    }

    private static let greeting = """
        scenario "a line arrives"
        about "It is what the transport is for."
        because "somebody/something#1"
        level should
        tag writing
        let word = "hello"
        timeout 1s

        server  S
        subject T -> S

        T start
        S accept
        T send line word
        S expect line word
        S ignore rest
        T stop

        """

    @Test func caseHasItsMetadata() throws {
        let script = try Script(ScenarioCaseTests.greeting)
        let cases = try ScenarioCase.cases(in: script.path)
        let scenario = try #require(cases.first)
        #expect(cases.count == 1)
        #expect(script.path.hasSuffix("/\(scenario.id).scn"))
        #expect(scenario.title == "a line arrives")
        #expect(scenario.about == "It is what the transport is for.")
        #expect(scenario.because == ["somebody/something#1"])
        #expect(scenario.level == .should)
        #expect(scenario.tags == ["writing"])
        #expect("\(scenario)" == scenario.id)
    }

    @Test func conformingTransportPasses() async throws {
        let script = try Script(ScenarioCaseTests.greeting)
        let scenario = try #require(try ScenarioCase.cases(in: script.path).first)
        let outcome = await scenario.run(on: Talker())
        #expect(outcome.verdict == .passed, "\(outcome)")
        #expect(outcome.isAcceptable)
    }

    @Test func failingTransportReportsTheTimeline() async throws {
        let script = try Script(ScenarioCaseTests.greeting)
        let scenario = try #require(try ScenarioCase.cases(in: script.path, setting: ["word": "salut"]).first)
        let outcome = await scenario.run(on: Talker(forgets: true))
        #expect(outcome.verdict == .failed)
        #expect(outcome.isAcceptable)
        #expect(!outcome.isAcceptable(strict: true))
        for part in [
            "FAILED       \(scenario.id)  (should)", "S expect line word", "salut",
            "because:   somebody/something#1",
        ] {
            #expect(outcome.description.contains(part), "\(outcome)")
        }
        #expect(!outcome.description.contains("run again"))
    }

    /// The second `stopped` is reported after the case has passed but before its outcome has been returned.
    @Test func secondStopFails() async throws {
        let script = try Script(ScenarioCaseTests.greeting)
        let scenario = try #require(try ScenarioCase.cases(in: script.path).first)
        let outcome = await scenario.run(on: Talker(stopsAgain: true))
        #expect(outcome.verdict == .failed, "\(outcome)")
        #expect(outcome.description.contains("after it had reported"), "\(outcome)")
    }

    @Test func unclaimedCapabilityIsUnsupported() async throws {
        let script = try Script(
            "scenario \"half\"\nserver S\nsubject T -> S\nT start\nS accept\nT half-close\nS expect eof\n")
        let scenario = try #require(try ScenarioCase.cases(in: script.path).first)
        let outcome = await scenario.run(on: Talker())
        #expect(outcome.verdict == .unsupported)
        #expect(outcome.isAcceptable(strict: true))
        #expect(outcome.description.contains("half-close"))
    }

    @Test func casesRunConcurrently() async throws {
        let script = try Script(
            ScenarioCaseTests.greeting.replacing("let word = \"hello\"", with: "each word = \"a\", \"b\", \"c\""))
        let cases = try ScenarioCase.cases(in: script.path)
        #expect(cases.count == 3)
        let verdicts = await withTaskGroup(of: ScenarioOutcome.Verdict.self) { group in
            for scenario in cases + cases + cases {
                group.addTask { await scenario.run(on: Talker()).verdict }
            }
            return await group.reduce(into: []) { $0.append($1) }
        }
        #expect(verdicts == Array(repeating: .passed, count: 9))
    }

    @Test func programsAreNotStartedUnlessAllowed() async throws {
        let script = try Script("scenario \"program\"\nprocess P = true\nP start\nP expect exit 0\n")
        let scenario = try #require(try ScenarioCase.cases(in: script.path).first)
        let outcome = await scenario.run(on: Talker())
        #expect(outcome.verdict != .passed)
        #expect(!outcome.isAcceptable || outcome.verdict == .skipped, "\(outcome)")
    }

    @Test(arguments: [
        ("/nowhere/at/all.scn", "no such file or folder"),
        ("/dev/null", "scenario"),
    ])
    func pathWithoutScenariosIsExplained(_ path: String, _ says: String) throws {
        let problem = #expect(throws: ScenarioProblem.self) { try ScenarioCase.cases(in: path) }
        #expect(problem?.description.contains(says) == true, "\(problem?.description ?? "")")
    }

    @Test func scriptErrorHasItsLocation() throws {
        let script = try Script("scenario \"wrong\"\nserver S\nS acept\n")
        let problem = #expect(throws: ScenarioProblem.self) { try ScenarioCase.cases(in: script.path) }
        #expect(problem?.description.contains(":3:3:") == true, "\(problem?.description ?? "")")
        #expect(problem?.description.contains("accept") == true)
    }
}
