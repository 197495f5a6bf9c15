import ChatClient
import TCPProbe
import Testing

/// The scenarios of the client, with both ways to read.
@Suite struct ChatTests {
    private static func cases() throws -> [ScenarioCase] {
        // Two folders above this file.
        let package = #filePath.split(separator: "/").dropLast(3).joined(separator: "/")
        return try ScenarioCase.cases(in: "/\(package)/Scenarios/client")
    }

    /// What the tutorial's client gets wrong.
    private static let bugs: Set = [
        "character-in-two-segments", "colon-in-the-text", "long-message", "message-in-two-segments",
        "two-messages-in-one-segment",
    ]

    @Test(arguments: try cases())
    func theClientConforms(_ scenario: ScenarioCase) async {
        let outcome = await scenario.run(on: ChatClientFactory(reading: .lines))
        #expect(outcome.verdict == .passed, "\(outcome)")
    }

    /// A test that shows a bug is worth something only if it fails where the bug is.
    @Test(arguments: try cases())
    func theTutorialsClientFailsWhereItIsWrong(_ scenario: ScenarioCase) async {
        let outcome = await scenario.run(on: ChatClientFactory(reading: .eachReadIsAMessage))
        #expect(outcome.verdict == (Self.bugs.contains(scenario.id) ? .failed : .passed), "\(outcome)")
    }
}
