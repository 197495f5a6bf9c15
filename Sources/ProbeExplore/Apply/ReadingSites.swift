package import ProbeEngine
package import ProbeScenario

/// The changes by which the socket options and the reading speed of endpoints may be varied.
package struct ReadingSites {
    /// The changes that set a small buffer or a similar option, one for each endpoint and option.
    package private(set) var options: [Change] = []
    /// The changes that make an endpoint read slowly, one for each endpoint.
    package private(set) var slowReading: [Change] = []

    /// Finds the endpoints of a scenario.
    ///
    /// - Parameter observations: what the steps did in a run of the scenario, including the number of bytes that each
    ///   step consumed.
    package init(_ scenario: Scenario, observations: [StepObservation]) {
        let isUnix = scenario.actors.contains { actor in
            switch actor.kind {
            case .server(let address, _, _): address?.unix != nil
            case .client(.address(let address)?, _): address.unix != nil
            case .client, .subject, .process, .proxy, .crowd: false
            }
        }
        let acting = Set(
            observations.filter { if case .took(0) = $0.event { false } else { true } }.map(\.actor))
        for option in Change.SmallOption.allCases where !(isUnix && option == .noDelayOff) {
            for actor in scenario.actors where acting.contains(actor.name.value) {
                guard let present = Self.options(of: actor), !present.contains(where: option.isSet) else { continue }
                options.append(.option(actor: actor.name.value, option))
            }
        }
        addSlowReading(scenario, observations)
    }

    private static func options(of actor: ActorDeclaration) -> [SocketOption]? {
        switch actor.kind {
        case .server(_, _, let options), .client(_, let options): options
        case .subject, .process, .proxy, .crowd: nil
        }
    }

    private mutating func addSlowReading(_ scenario: Scenario, _ observations: [StepObservation]) {
        var starts: [String: Int] = [:]
        var controlled: Set<String> = []
        var deadlines: [Int: Duration] = [:]
        for step in scenario.allSteps {
            guard case .act(let actor, let action, let timing) = step.kind else { continue }
            switch action {
            case .client(.connect(_, .succeeds, nil)), .server(.accept(as: nil, .asDeclared, nil)):
                if starts[actor.value] == nil { starts[actor.value] = step.id }
            case .connection(.stopReading), .connection(.readSlowly), .connection(.tls):
                controlled.insert(actor.value)
            case .connection(.expect): deadlines[step.id] = timing.within ?? scenario.timeout
            case .server, .client, .connection, .subject, .process, .proxy, .crowd: break
            }
        }
        for actor in scenario.actors where actor.tls == nil && !controlled.contains(actor.name.value) {
            guard let start = starts[actor.name.value] else { continue }
            let taken = observations.compactMap { observation -> (step: Int, count: Int)? in
                guard observation.actor == actor.name.value, case .took(let count) = observation.event else {
                    return nil
                }
                return (observation.step, count)
            }
            guard taken.contains(where: { $0.count > 0 }) else { continue }
            slowReading.append(
                .slowReading(actor: actor.name.value, step: start, bytes: Self.pace(taken, deadlines)))
        }
    }

    /// Returns the lowest rate, in bytes per millisecond, at which every expectation still succeeds within a third of
    /// its deadline.
    static func pace(_ taken: [(step: Int, count: Int)], _ deadlines: [Int: Duration]) -> Int {
        taken.reduce(1) { pace, step in
            guard let deadline = deadlines[step.step] else { return pace }
            let milliseconds = max(1, Int(deadline / .milliseconds(3)))
            return max(pace, (step.count + milliseconds - 1) / milliseconds)
        }
    }
}
