import ProbeBase
import ProbeEngine
import ProbeExplore
import ProbeScenario
import Testing

/// Tests how `explore` varies the bytes that proxies forward.
struct ProxySitesTests {
    private static let script = """
        scenario "two programs"
        process  P = server ${P.port}
        proxy    X -> P
        process  C = client ${X.port}

        P start
        C start
        C expect exit 0

        """

    private static func plan(_ text: String) throws -> Plan {
        let compiled = ScenarioCompiler.compile(path: "a.scn", bytes: Array(text.utf8)) { _ throws(LoadError) in
            throw .notFound
        }
        return try #require(compiled.plan, "\(compiled.diagnostics.map(\.text))")
    }

    private static func written(_ text: String) throws -> String? {
        ForwardSteps(try plan(text)).written().map { String(decoding: $0, as: UTF8.self) }
    }

    @Test func forwardingIsWrittenBeforeTheFirstStep() throws {
        let text = try #require(try Self.written(Self.script))
        #expect(text.contains("\n\nX forward to server\nX forward to client\nP start\n"))
        // Forwarding steps are not added to a script that already has them.
        #expect(try Self.written(text) == nil)
    }

    @Test func explicitForwardingIsLeftAlone() throws {
        let text = Self.script.replacing("P start\n", with: "X hold to client\nP start\nX release\n")
        #expect(try Self.written(text) == nil)
    }

    /// If the script itself sets cuts for a proxy, the proxy's bytes are not varied, regardless of earlier steps.
    @Test(arguments: [
        ("X forward to server", 1), ("X forward to client cut at 1", 0), ("X forward to server cut at 1 every 5ms", 0),
        ("X forward to server delayed by 5ms", 0), ("X forward 3 bytes to client in pieces of 1B", 0),
    ])
    func scriptedCutsOfAProxyAreLeftAlone(own: String, count: Int) throws {
        let text = Self.script.replacing("P start\n", with: "X forward to server\n\(own)\nP start\n")
        let plan = try Self.plan(text)
        let sent = StepObservation(
            step: plan.scenario.steps[0].id, actor: "X", event: .sent([Array("hello\n".utf8)]))
        #expect(ExploredScenario(plan, plan.cases[0], observations: [sent]).sites.count == count)
    }

    @Test func cutsOfForwardedBytesAreRunAndWritten() throws {
        let text = try #require(try Self.written(Self.script))
        let plan = try Self.plan(text)
        let step = plan.scenario.steps[0].id
        let explored = ExploredScenario(
            plan, plan.cases[0],
            observations: [
                StepObservation(step: step, actor: "X", event: .sent([Array("hello\n".utf8)])),
                StepObservation(step: step, actor: "X", event: .sent([Array("hi\n".utf8)])),
            ])
        let site = try #require(explored.sites.first)
        // The connection with the most bytes is varied. Cuts have no effect on a connection that ends before their
        // offsets.
        #expect(explored.sites.count == 1 && site.length == 6 && site.destination == .server)
        let candidate = Candidate(Variation(send: step, cutAt: [2, 4], pause: .milliseconds(30)))
        let shown = String(decoding: ScenarioText(explored).text(of: candidate), as: UTF8.self)
        #expect(shown.contains("X forward to server cut at 2, 4 every 30ms\nX forward to client\n"))
        guard
            case .act(_, .proxy(.forward(let statement, nil, .server)), _) =
                candidate.scenario(of: explored.scenario).steps[0].kind, case .at(let offsets)? = statement.cut,
            case .every(.milliseconds(30))? = statement.pace
        else {
            Issue.record("the step is not varied")
            return
        }
        #expect(offsets.count == 2)
    }

    @Test(arguments: ["ping", "a b", "it's", "a\"b", "$HOME", "a\\b", "${x}", "#1", "é", ""])
    func commandWordsAreLiteral(word: String) throws {
        let scenario = CommandScenario(.address("127.0.0.1:6379"), words: ["prog", word, "--at=127.0.0.1:{port}"])
        let plan = try Self.plan(scenario.text)
        let command = plan.scenario.actors.lazy.compactMap { actor -> ProcessCommand? in
            if case .process(let command) = actor.kind { command } else { nil }
        }.first
        let words = try #require(command).words.map(\.value)
        #expect(words.count == 3)
        let text = words[1].flatMap { piece -> [UInt8] in if case .text(let text) = piece { Array(text) } else { [] } }
        #expect(String(decoding: text, as: UTF8.self) == word)
    }
}
