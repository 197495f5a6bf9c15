import ProbeBase
package import ProbeEngine
package import ProbeScenario

/// Finds the sends of a scenario that may be varied: the sends of the harness's endpoints, except for sends that the
/// script itself cuts or paces.
package struct SendSites {
    /// The sends that may be varied, in the order of the script.
    package private(set) var sites: [SendSite] = []
    private let scenario: Scenario
    private var sent: [Int: [[[UInt8]]]] = [:]
    private var sealed: [Int: [(plain: [UInt8], length: Int)]] = [:]
    private let mayCarryFIN: Bool
    /// Whether the script itself controls how a proxy cuts or paces bytes. If so, no forwarded bytes are varied.
    private let cutsForwarded: Bool

    /// Finds the sends of a scenario.
    ///
    /// - Parameter observations: what the steps sent in a run of the scenario.
    package init(_ scenario: Scenario, observations: [StepObservation]) {
        self.scenario = scenario
        mayCarryFIN = Self.mayCarryFIN(scenario)
        cutsForwarded = scenario.allSteps.contains { step in
            if case .act(_, .proxy(.forward(let statement, _, _)), _) = step.kind { !statement.isPlain } else { false }
        }
        for observation in observations {
            switch observation.event {
            case .sent(let pieces): sent[observation.step, default: []].append(pieces)
            case .sealed(let plain, let length): sealed[observation.step, default: []].append((plain, length))
            case .took, .ended: break
            }
        }
        let bounds = StepBounds(scenario: scenario)
        for (index, step) in scenario.steps.enumerated() {
            add([step], budget: bounds.budget(at: index))
        }
        for body in scenario.definitions.sorted(by: { $0.key < $1.key }) {
            add(body.value.steps, budget: bounds.budget(at: nil))
        }
        link(scenario.steps)
        findEnds()
        for step in scenario.allSteps { for body in step.kind.bodies { link(body.steps) } }
        for body in scenario.definitions.values { link(body.steps) }
    }

    private mutating func add(_ steps: [Step], budget: Duration) {
        for step in steps {
            if case .act(let actor, .connection(.send(let statement)), _) = step.kind, Self.isPlain(statement),
                let executions = sent[step.id], executions.allSatisfy({ $0.count == 1 })
            {
                let lengths = executions.map { $0[0].count }
                var site = SendSite(
                    step: step.id, actor: actor.value, bytes: executions[0][0], length: lengths.min(),
                    framing: scenario.framing, pauseBudget: budget)
                site.isConstant = executions.allSatisfy { $0 == executions[0] }
                sites.append(site)
            }
            addSealed(step, budget: budget)
            addForwarded(step)
            for body in step.kind.bodies { add(body.steps, budget: budget) }
        }
    }

    /// Adds a send on a connection with TLS.
    private mutating func addSealed(_ step: Step, budget: Duration) {
        guard case .act(let actor, .connection(.send(let statement)), _) = step.kind, Self.isPlain(statement),
            let executions = sealed[step.id], let first = executions.first
        else { return }
        var site = SendSite(
            step: step.id, actor: actor.value, bytes: first.plain, length: executions.map(\.length).min(),
            framing: scenario.framing, pauseBudget: budget)
        site.isSealed = true
        site.isConstant = executions.allSatisfy { $0.plain == first.plain }
        sites.append(site)
    }

    /// Adds a step by which a proxy forwards bytes as they arrive.
    private mutating func addForwarded(_ step: Step) {
        guard case .act(let actor, .proxy(.forward(_, nil, let side)), _) = step.kind, !cutsForwarded,
            let executions = sent[step.id], let longest = executions.map({ $0.whole }).max(by: { $0.count < $1.count })
        else { return }
        // This send site represents all connections of the proxy. Cuts beyond the end of a shorter stream have no
        // effect.
        var site = SendSite(
            step: step.id, actor: actor.value, bytes: longest, framing: scenario.framing,
            pauseBudget: StepBounds(scenario: scenario).budget(at: nil))
        site.destination = side
        sites.append(site)
    }

    private static func isPlain(_ statement: SendStatement) -> Bool {
        guard statement.cut == nil, statement.pace == nil, statement.recordLength == nil, statement.pieces.count == 1
        else { return false }
        return statement.mode == .bytes || statement.mode == .line
    }

    // MARK: The end

    /// Finds the last send of each client of a program, if the client only reads after it. The program has then received
    /// everything, so it must answer in the same way if the client half-closes its connection.
    private mutating func findEnds() {
        guard mayCarryFIN, !scenario.hasSubject else { return }
        let clients = scenario.actors.filter { actor in
            if case .client = actor.kind { true } else { false }
        }.map(\.name.value)
        let hasProgram = scenario.actors.contains { actor in
            if case .process = actor.kind { true } else { false }
        }
        let hasOthers = scenario.actors.contains { actor in
            switch actor.kind {
            case .client, .process: false
            // A program between the client and the server forwards the end of the stream.
            case .server: !hasProgram
            case .subject, .proxy, .crowd: true
            }
        }
        guard !hasOthers, scenario.definitions.isEmpty else { return }
        for index in sites.indices where clients.contains(sites[index].actor) {
            guard let position = scenario.steps.firstIndex(where: { $0.id == sites[index].step }),
                case .act(_, .connection(.send(let statement)), _) = scenario.steps[position].kind,
                !statement.inBackground, !statement.carriesFIN
            else { continue }
            sites[index].mayEnd = scenario.steps[(position + 1)...].allSatisfy {
                Self.onlyReads($0, sites[index].actor)
            }
        }
    }

    /// Returns whether a step neither sends anything on a client's connection nor ends or reopens the connection other
    /// than by closing it, and does not observe how long the program keeps the connection open.
    private static func onlyReads(_ step: Step, _ actor: String) -> Bool {
        switch step.kind {
        case .act(let name, let action, _):
            guard name.value == actor else {
                if case .connection(.expect(let expectation)) = action { return isData(expectation) }
                return true
            }
            switch action {
            case .connection(.expect(let expectation)): return isData(expectation)
            case .connection(.close): return true
            case .connection(let action): return action.ignoresRest
            case .server, .client, .subject, .process, .proxy, .crowd: return false
            }
        case .wait, .note, .assign, .check: return true
        case .wire, .link, .name, .loop, .invoke, .sequence, .together, .either, .retry, .finally, .whenever:
            return false
        }
    }

    /// Returns whether an expectation concerns the bytes that a program sends, or the end of its stream.
    private static func isData(_ expectation: ConnectionExpectation<Parsed>) -> Bool {
        switch expectation {
        case .urgent, .messageOfKind, .frame, .ping, .pong, .closeFrame, .reset, .closed, .notify, .truncated, .alert,
            .nothing, .stalled, .sent, .sendFailed:
            false
        default: true
        }
    }

    // MARK: Neighboring sends

    /// Finds the sends within one block that may be joined to the preceding send.
    private mutating func link(_ steps: [Step]) {
        for (index, step) in steps.enumerated() {
            guard let site = joinable(step) else { continue }
            for other in steps[(index + 1)...] {
                if let next = joinable(other) {
                    if sites[next].actor == sites[site].actor, executions(of: step) == executions(of: other) {
                        sites[site].next = other.id
                    }
                    break
                }
                if mayCarryFIN, Self.endsSending(other, sites[site].actor) {
                    sites[site].end = other.id
                }
                if !Self.mayLieBetween(other) { break }
            }
        }
    }

    private func executions(of step: Step) -> Int { (sent[step.id]?.count ?? 0) + (sealed[step.id]?.count ?? 0) }

    private static func endsSending(_ step: Step, _ actor: String) -> Bool {
        switch step.kind {
        case .act(let name, .connection(.halfClose), _), .act(let name, .connection(.close), _): name.value == actor
        default: false
        }
    }

    /// Returns whether the FIN may be sent with the last send. A FIN can't be sent with data on a Unix socket, which
    /// has no segments, or with TLS, because a close_notify precedes the FIN.
    private static func mayCarryFIN(_ scenario: Scenario) -> Bool {
        let declared = scenario.actors.map { actor -> AddressExpression? in
            switch actor.kind {
            case .server(let address, _, _): address
            case .client(.address(let address)?, _): address
            case .client, .subject, .process, .proxy, .crowd: nil
            }
        }
        let connected = scenario.allSteps.map { step -> AddressExpression? in
            if case .act(_, .client(.connect(let address, _, _)), _) = step.kind { address } else { nil }
        }
        return !scenario.speaksTLS && (declared + connected).allSatisfy { $0?.unix == nil }
    }

    /// Returns whether a step may be between two sends that are joined. Such a step must neither wait for the other
    /// side nor examine what has been sent.
    private static func mayLieBetween(_ step: Step) -> Bool {
        switch step.kind {
        case .wait, .note: true
        case .wire(.halfConnection, _), .wire(.arrived, _): false
        case .wire: true
        case .assign, .check, .loop, .invoke, .sequence, .together, .either, .retry, .finally, .whenever, .act, .link,
            .name:
            false
        }
    }

    private func joinable(_ step: Step) -> Int? {
        guard case .act(_, .connection(.send(let statement)), _) = step.kind, !statement.inBackground,
            !statement.carriesFIN,
            !(statement.mode == .line && scenario.framing == .websocket), Self.isBytes(statement.pieces[0])
        else { return nil }
        return sites.firstIndex { $0.step == step.id }
    }

    /// Returns whether the value consists of bytes, which `+` concatenates. Integers would be added instead.
    private static func isBytes(_ value: Expression) -> Bool {
        switch value.kind {
        case .string, .hex, .webSocket, .protobuf: true
        case .call(let name, _): !["int", "len", "cuts"].contains(name.value)
        case .multiply(let left, _), .parenthesized(let left): isBytes(left)
        case .add(let left, let right): isBytes(left) && isBytes(right)
        case .integer, .unsigned, .variable, .subtract, .divide: false
        }
    }
}
