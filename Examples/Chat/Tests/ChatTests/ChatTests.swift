import ChatClient
import TCPProbe
import Testing

/// Runs the scenarios with the client in both of its modes: one reads lines, and the other treats each read as a
/// message.
@Suite struct ChatTests {
    private static func cases() throws -> [ScenarioCase] {
        // The package's folder is three levels above this file.
        let package = #filePath.split(separator: "/").dropLast(3).joined(separator: "/")
        return try ScenarioCase.cases(in: "/\(package)/Scenarios/client")
    }

    /// The scenarios that fail if the client treats each read as a message, as many tutorials do.
    private static let bugs: Set = [
        "character-in-two-segments", "colon-in-the-text", "long-message", "message-in-two-segments",
        "two-messages-in-one-segment",
    ]

    @Test(arguments: try cases())
    func theClientConforms(_ scenario: ScenarioCase) async {
        let outcome = await scenario.run(on: ChatClientFactory(reading: .lines))
        #expect(outcome.verdict == .passed, "\(outcome)")
    }

    /// A scenario that demonstrates a bug is useful only if it fails when the bug is present.
    @Test(arguments: try cases())
    func theTutorialsClientFailsWhereItIsWrong(_ scenario: ScenarioCase) async {
        let outcome = await scenario.run(on: ChatClientFactory(reading: .eachReadIsAMessage))
        #expect(outcome.verdict == (Self.bugs.contains(scenario.id) ? .failed : .passed), "\(outcome)")
    }
}
