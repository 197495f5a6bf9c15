package import ProbeScenario

/// What the script says later: whether a `stopped` or an exit is still to be expected, and whether an op's refusal is what the
/// next step wants. Computed once for a scenario.
package struct StepIndex: Sendable {
    /// The last step (or the `do NAME` that leads to it) that expects the subject's stop or the program's exit.
    private var lastStopExpectation: [String: Int] = [:]
    private var lastExitExpectation: [String: Int] = [:]
    /// Steps whose actor's next step is `expect error`.
    private var refusalExpected: Set<Int> = []
    private var previousOp: [String: Int] = [:]

    package init(_ scenario: Scenario) {
        walk(scenario.steps, anchor: nil, scenario, depth: 0)
    }

    func expectsStop(of actor: String, from step: Int) -> Bool { (lastStopExpectation[actor] ?? -1) >= step }
    func expectsExit(of actor: String, from step: Int) -> Bool { (lastExitExpectation[actor] ?? -1) >= step }
    func expectsRefusal(after step: Int) -> Bool { refusalExpected.contains(step) }

    private mutating func walk(_ steps: [Step], anchor: Int?, _ scenario: Scenario, depth: Int) {
        for step in steps {
            let id = anchor ?? step.id
            switch step.kind {
            case .act(let actor, let action, _):
                switch action {
                case .subject(.expect(.stopped)):
                    lastStopExpectation[actor.value] = max(id, lastStopExpectation[actor.value] ?? id)
                case .process(.expect(.exit)):
                    lastExitExpectation[actor.value] = max(id, lastExitExpectation[actor.value] ?? id)
                case .subject(.expect(.error)): if let op = previousOp[actor.value] { refusalExpected.insert(op) }
                case .server, .client, .connection, .subject, .process, .proxy, .crowd: break
                }
                previousOp[actor.value] = step.id
            case .loop(_, _, let block), .retry(_, _, let block):
                // What is past in one round is still to come in the next.
                walk(block.steps, anchor: anchor, scenario, depth: depth)
            case .sequence(let block), .together(let block):
                walk(block.steps, anchor: anchor, scenario, depth: depth)
            case .finally(let block), .whenever(_, _, let block):
                // Wherever it stands, it runs later.
                walk(block.steps, anchor: .max, scenario, depth: depth)
            case .either(let blocks):
                for block in blocks { walk(block.steps, anchor: anchor, scenario, depth: depth) }
            case .invoke(let name):
                // The checker refuses a definition that leads to itself; the bound keeps a mistake there from being endless.
                if depth < 64, let block = scenario.definitions[name.value] {
                    walk(block.steps, anchor: id, scenario, depth: depth + 1)
                }
            case .wait, .note, .assign, .check, .wire, .link, .name: break
            }
        }
    }
}
