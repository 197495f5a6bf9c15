import ProbeScenario
import Testing

/// An action has the type of its actor's kind, wherever in the text the kind is declared.
@Suite struct ActionKindTests {
    private func actions(_ script: String, files: [String: String] = [:]) throws -> [Action] {
        let result = compile(script, files: files)
        let plan = try #require(result.plan, "\(result.rendered)")
        var actions: [Action] = []
        func visit(_ steps: [Step]) {
            for step in steps {
                switch step.kind {
                case .act(_, let action, _): actions.append(action)
                case .invoke(let name): visit(plan.scenario.definitions[name.value]?.steps ?? [])
                case .either(let blocks): for block in blocks { visit(block.steps) }
                default: break
                }
            }
        }
        visit(plan.scenario.steps)
        return actions
    }

    private static let definition = "define talk { T start; T expect line \"x\"; P start; P send \"x\" }\n"

    @Test(arguments: [true, false])
    func definitionsMayPrecedeTheirActors(inInclude: Bool) throws {
        let actors = "server S\nsubject T -> S\nprocess P = prog\n"
        let header = "scenario \"x\"\n\(Self.definition)"
        let script = header + (inInclude ? "include \"actors.scn\"\n" : actors) + "do talk\nS accept\n"
        let actions = try actions(script, files: ["actors.scn": actors])
        guard case .subject(.start) = actions[0], case .subject(.expect(.line)) = actions[1],
            case .process(.start) = actions[2], case .process(.send) = actions[3], case .server(.accept) = actions[4]
        else {
            Issue.record("\(actions)")
            return
        }
    }

    @Test func acceptedNameHasTheKindOfItsAccept() throws {
        let script = """
            scenario "x"
            server S
            client C -> S
            subject T listens
            client D -> T
            T start
            C connect
            D connect
            either { S accept as A; A send line "x" } or { T expect accept as A; A send line "x" }

            """
        let sends = try actions(script).filter { if case .connection(.send) = $0 { true } else { false } }
        #expect(sends.count == 1)
    }

    /// A definition is parsed only once, so the name of an actor in it must refer to the same kind of actor at each
    /// `do`.
    @Test func definitionForTwoKindsIsAnError() {
        let script = """
            scenario "x"
            define talk { A expect line "x" }
            server S
            client C -> S
            subject T listens
            client D -> T
            T start
            C connect
            D connect
            either { S accept as A; do talk } or { T expect accept as A; do talk }

            """
        let result = compile(script)
        #expect(result.diagnostics.map(\.id) == [.notAnActor])
        #expect(
            result.rendered.contains(
                "`A` is a connection here, but was another kind of actor when this step was parsed"))
    }
}
