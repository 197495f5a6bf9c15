package import ProbeScenario

/// An index of later steps. For each step, the index shows whether a later step expects a `stopped` event or an exit,
/// and whether the next step expects the operation to be refused. Computed once for each scenario.
package struct StepIndex: Sendable {
    /// For each subject, the number of the last step that expects the subject to stop. If that step is part of a
    /// definition, the number is that of the `do NAME` that runs the definition.
    private var lastStopExpectation: [String: Int] = [:]
    /// For each program, the number of the last step that expects the program to exit. If that step is part of a
    /// definition, the number is that of the `do NAME` that runs the definition.
    private var lastExitExpectation: [String: Int] = [:]
    /// The steps that are followed by an `expect error` of the same actor.
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
                // A step that has ended in one round of a loop runs again in the next round, with the same number.
                walk(block.steps, anchor: anchor, scenario, depth: depth)
            case .sequence(let block), .together(let block):
                walk(block.steps, anchor: anchor, scenario, depth: depth)
            case .finally(let block), .whenever(_, _, let block):
                // A `finally` or `whenever` block may run after any other step, so its steps are treated as the last
                // steps.
                walk(block.steps, anchor: .max, scenario, depth: depth)
            case .either(let blocks):
                for block in blocks { walk(block.steps, anchor: anchor, scenario, depth: depth) }
            case .invoke(let name):
                // The checker rejects recursive definitions. The depth limit prevents endless recursion if the checker
                // misses one.
                if depth < 64, let block = scenario.definitions[name.value] {
                    walk(block.steps, anchor: id, scenario, depth: depth + 1)
                }
            case .wait, .note, .assign, .check, .wire, .link, .name: break
            }
        }
    }
}
