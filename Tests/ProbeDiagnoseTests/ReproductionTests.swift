import ProbeBase
import ProbeScenario
import Testing

@testable import ProbeDiagnose

/// Tests scenarios that recreate findings.
struct ReproductionTests {
    static func finding(
        _ id: FindingID, _ severity: FindingSeverity, _ side: FindingSide,
        _ numbers: [(key: String, value: JSONValue)] = []
    ) -> FlowFinding {
        FlowFinding(
            id: id, severity: severity, certainty: .certain, side: side, evidence: [1],
            sentence: "The \"server\" cost ${5}, and a \\ is kept.", next: "", rivals: [], numbers: numbers,
            explained: 0)
    }

    /// Returns the steps of the scenario for a finding, which must be valid.
    static func steps(_ finding: FlowFinding) throws -> [String] {
        let text = try Reproduction(finding).text(origin: "flow 3 of a\"b.pcap", sentence: finding.sentence)
        let bytes = Array(text.utf8)
        guard case .formatted = ScenarioFormatter.format(path: "a.scn", bytes: bytes) else {
            Issue.record("\(text)")
            return []
        }
        let compiled = ScenarioCompiler.compile(path: "a.scn", bytes: bytes) { (_) throws(LoadError) in throw .notFound
        }
        #expect(
            compiled.plan != nil && compiled.diagnostics.isEmpty, "\(text)\n\(compiled.diagnostics.map(\.text))")
        return text.split(separator: "\n").map(String.init)
    }

    /// The findings with a scenario. Side and severity determine the scenario, so each combination is tested, even if
    /// no diagnosis has it.
    static let recreated = FindingID.allCases.filter { ReproductionObstacle($0) == nil }

    @Test(arguments: recreated, FindingSeverity.allCases)
    func eachScenarioIsValid(id: FindingID, severity: FindingSeverity) throws {
        for side in [FindingSide.client, .server, .pathToClient, .pathToServer, .middlebox] {
            _ = try Self.steps(Self.finding(id, severity, side))
        }
    }

    @Test func findingWithoutScenarioIsRefused() {
        #expect(Set(FindingID.allCases).subtracting(Self.recreated).count == 18)
        let problem = Self.finding(.clockStepped, .warning, .capture)
        #expect(throws: ReproductionObstacle.self) { try Reproduction(problem) }
    }

    @Test(arguments: [(45, "C connect tls failed certificate-expired"), (40, "C send hex(15 03 03 00 02 02 28)")])
    func alertOfTheFindingIsSent(alert: Int, step: String) throws {
        let steps = try Self.steps(Self.finding(.tlsAlert, .problem, .client, [("alert", .integer(alert))]))
        #expect(steps.contains(step))
    }

    @Test(arguments: [
        (64, "link C -> S clamp mss 100"), (260, "link C -> S clamp mss 260"), (900, "link C -> S clamp mss 535"),
    ])
    func sizesAreLimitedToThoseOfTheSeverity(size: Int, step: String) throws {
        let steps = try Self.steps(Self.finding(.smallMSS, .warning, .client, [("mss", .integer(size))]))
        #expect(steps.contains(step))
    }

    @Test(arguments: [
        (FindingSeverity.problem, "wait 60500ms", 60_500), (.warning, "wait 2200ms", 2200),
    ])
    func waitsAreAsShortAsTheSeverityAllows(severity: FindingSeverity, step: String, milliseconds: Int) throws {
        let wait = JSONValue.seconds(nanoseconds: 3600 * Time.second)
        let finding = Self.finding(.halfClosed, severity, .server, [("wait", wait)])
        let steps = try Self.steps(finding)
        #expect(steps.contains(step))
        #expect(steps.contains("case-timeout 120s") == (severity == .problem))
        #expect(try Reproduction(finding).waits == .milliseconds(milliseconds))
    }

    @Test func slowAnswersAreRecreatedByTheCheaperWay() throws {
        let answers: [(key: String, value: JSONValue)] = [
            ("answers", .integer(9)), ("median", .seconds(nanoseconds: 700 * Time.millisecond)),
        ]
        #expect(try Self.steps(Self.finding(.slowServer, .warning, .server, answers)).count { $0 == "wait 700ms" } == 3)
        #expect(try Self.steps(Self.finding(.slowServer, .warning, .server)).contains("wait 3100ms"))
    }

    @Test func commentsSayWhichEndpointToReplace() throws {
        let client = try Self.steps(Self.finding(.closedWindow, .problem, .client))
        #expect(client.contains { $0.hasPrefix("# C causes the condition.") })
        #expect(!client.contains { $0.contains("subject T -> S") })
        let path = try Self.steps(Self.finding(.loss, .problem, .pathToClient))
        #expect(path.contains { $0.hasPrefix("# The link causes the condition.") })
        #expect(path.contains { $0.contains("subject T -> S") })
    }
}
