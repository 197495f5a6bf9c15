import Glibc
import ProbeBase
import ProbeSystem
import ProbeTransport
import ProbeTransportNIO
import TCPProbe
import Testing

/// Runs the conformance suite on the NIO transport through the library. `.ci/run` runs the suite on `bsd` and
/// `async-socket` through the tool. `flyingsocks` runs on Swift's small thread pool, which a case may block, so it is
/// covered by end-to-end tests in a separate program.
struct TransportConformanceTests {
    /// A case and the transport that runs it.
    struct Trial: Sendable, CustomTestStringConvertible {
        let scenario: ScenarioCase
        let factory: any TransportFactory

        var testDescription: String { "\(factory.name) \(scenario.id)" }
    }

    private static let factories: [any TransportFactory] = [
        BSDTransportFactory(), AsyncSocketTransportFactory(), NIOTransportFactory(),
    ]

    /// The settings of all runs. Deadlines are long, because the machine may be busy with other tests.
    private static let settings = ScenarioSettings(timeScale: 10)

    static let trials: Result<[Trial], any Error> = Result {
        let factory = NIOTransportFactory()
        return try ScenarioCase.conformance().map { Trial(scenario: $0, factory: factory) }
    }

    /// The known failures, keyed by `TRANSPORT CASE`. Each value is the reason, and whether the case fails only
    /// sometimes (`failed?`).
    private static let known: [String: (reason: String, isAtTimes: Bool)] = {
        let package = #filePath.split(separator: "/").dropLast(4).joined(separator: "/")
        // The error is ignored, because an unreadable list is noticed anyway: without the list, the known failures fail
        // the tests.
        guard let bytes = try? InputFile.contents(of: "/\(package)/Scenarios/conformance/known/nio.txt", limit: 1 << 20)
        else { return [:] }
        var known: [String: (reason: String, isAtTimes: Bool)] = [:]
        for line in String(decoding: bytes, as: UTF8.self).split(separator: "\n") where !line.hasPrefix("#") {
            let parts = line.split(separator: "#", maxSplits: 1)
            let words = parts[0].split(separator: " ")
            if words.count > 1, parts.count > 1 {
                let reason = parts[1].drop { $0 == " " }
                known["\(words[0]) \(words[1])"] = (String(reason), words.last == "failed?")
            }
        }
        return known
    }()

    @Test(arguments: factories.filter { $0.framings != nil }.map(\.name))
    func listedFramingsAreSupported(name: String) throws {
        let factory = try #require(Self.factories.first { $0.name == name })
        for framing in Framing.allCases + [.delimiter([69, 0])] {
            let configuration = TransportConfiguration(host: "127.0.0.1", port: 1, framing: framing)
            // `makeTransport` throws if the transport does not support the framing.
            let made = try? factory.makeTransport(configuration) { _ in }
            #expect((made != nil) == factory.framings?.offers(framing), "\(framing)")
        }
    }

    @Test(arguments: try trials.get())
    func transportConforms(_ trial: Trial) async throws {
        let outcome = try await Self.judgedOutcome(of: trial)
        // Without permission to capture, cases that need a capture are inconclusive.
        if outcome.verdict == .inconclusive, geteuid() != 0 { return }
        // Cases that measure resources are unsupported, because a transport's resources can't be separated from those
        // of the tests.
        let isMeasured = outcome.verdict != .unsupported
        guard let (reason, isAtTimes) = Self.known[trial.testDescription], isMeasured else {
            #expect(outcome.isAcceptable, "\(outcome)")
            return
        }
        withKnownIssue(Comment(rawValue: reason), isIntermittent: isAtTimes) {
            #expect(outcome.verdict != .failed, "\(outcome)")
        }
    }

    /// Returns the outcome of a run whose verdict does not depend on a stall of this process.
    ///
    /// If this process stalled, an inconclusive verdict is correct but reveals nothing about the transport, so the case
    /// is run again, with a warning. After five stalled runs, the test cancels itself.
    private static func judgedOutcome(of trial: Trial) async throws -> ScenarioOutcome {
        for _ in 0..<5 {
            let outcome = await trial.scenario.run(on: trial.factory, settings: settings)
            let isInDoubt =
                outcome.verdict == .inconclusive && outcome.description.contains("the harness itself stood still")
            if !isInDoubt { return outcome }
            Issue.record("run again: \(outcome)", severity: .warning)
        }
        try Test.cancel("this machine is too busy: the harness stood still in each of 5 runs")
    }

    @Test func knownFailuresNameExistingCases() throws {
        let ids = Set(try Self.trials.get().map(\.testDescription))
        #expect(!Self.known.isEmpty && Set(Self.known.keys).isSubset(of: ids))
    }
}
