import ProbeBase
import ProbeEngine
import ProbeExplore
import ProbeScenario

/// A compiled scenario for tests, with observations of the bytes sent by its `send` steps.
struct ScenarioSample {
    let plan: Plan
    /// The indices of the send steps, in the order of the script.
    let sends: [Int]
    var observations: [StepObservation]

    /// Compiles a scenario.
    ///
    /// - Parameter sent: the pieces of each send, in the order of the script.
    init(_ text: String, path: String = "a.scn", sent: [[String]]) throws {
        let compiled = ScenarioCompiler.compile(path: path, bytes: Array(text.utf8)) { _ throws(LoadError) in
            throw .notFound
        }
        guard let plan = compiled.plan else { throw Wrong(text: compiled.diagnostics.map(\.text)) }
        self.plan = plan
        var found: [(Int, String)] = []
        for step in plan.scenario.allSteps {
            if case .act(let actor, .connection(.send), _) = step.kind { found.append((step.id, actor.value)) }
        }
        sends = found.map(\.0)
        observations = zip(found, sent).map { send, pieces in
            StepObservation(step: send.0, actor: send.1, event: .sent(pieces.map { Array($0.utf8) }))
        }
    }

    struct Wrong: Error {
        var text: [String]
    }

    func explored(takesCutsOff: Bool = false) -> ExploredScenario {
        ExploredScenario(plan, plan.cases[0], observations: observations, takesCutsOff: takesCutsOff)
    }

    /// Returns the text of the script that runs a candidate.
    func text(_ candidate: Candidate, about: String? = nil, takesCutsOff: Bool = false) -> String {
        let text = ScenarioText(explored(takesCutsOff: takesCutsOff))
        return String(decoding: text.text(of: candidate, about: about), as: UTF8.self)
    }

    static let echo = """
        scenario "echo"
        timeout 1s

        server  S
        client  C -> S

        C connect
        S accept
        C send line "one"
        wait 10ms
        C send "two\\r\\n"  # the second
        S expect line "one"
        S expect line "two"
        C send line "three"
        S expect line "three" within 200ms
        wire C -> S segments 3

        """

    /// Returns ``echo`` with observations of the bytes sent by its three `send` steps.
    static func echoed() throws -> ScenarioSample {
        try ScenarioSample(echo, sent: [["one\r\n"], ["two\r\n"], ["three\r\n"]])
    }
}
