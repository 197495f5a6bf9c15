import ProbeScenario

/// The time bounds that a script sets. A pause must stay far below them; otherwise a correct program would fail a
/// variation.
struct StepBounds {
    /// The divisor that limits pauses: a pause takes at most 1/`share` of a bound.
    static let share = 10
    let scenario: Scenario

    /// Returns the total time that the pauses of a send may take.
    ///
    /// - Parameters:
    ///   - position: the position, at the top level of the script, of the send or of its outermost enclosing block; `nil` in a
    ///     definition, which may run anywhere.
    func budget(at position: Int?) -> Duration {
        var bounds = [scenario.timeout] + actorTimeouts
        guard let position else {
            return shortest(bounds + scenario.allSteps.flatMap(own))
        }
        let top = scenario.steps
        bounds += all(top[position])
        for step in top[(position + 1)...] {
            bounds += all(step)
            if Self.waits(step) { break }
        }
        return shortest(bounds)
    }

    private func shortest(_ bounds: [Duration]) -> Duration {
        (bounds.min() ?? scenario.timeout) / Self.share
    }

    /// The timeouts of subjects: a pause must not look like a silent peer.
    private var actorTimeouts: [Duration] {
        scenario.actors.flatMap { actor -> [Duration] in
            guard case .subject(_, let options) = actor.kind else { return [] }
            return [options.idleTimeout, options.heartbeatTimeout, options.heartbeat?.interval].compactMap(\.self)
        }
    }

    private func all(_ step: Step) -> [Duration] {
        var bounds = own(step) + step.kind.bodies.flatMap { $0.steps.flatMap(all) }
        if case .invoke(let name) = step.kind, let body = scenario.definitions[name.value] {
            bounds += body.steps.flatMap(own)
        }
        return bounds
    }

    private func own(_ step: Step) -> [Duration] {
        switch step.kind {
        case .act(_, let action, let timing):
            var bounds = [timing.within].compactMap(\.self)
            switch action {
            case .connection(.expect(.nothing(let duration))), .connection(.expect(.stalled(let duration))),
                .proxy(.expect(.nothing(let duration), _)), .server(.expect(.noConnection(let duration))):
                bounds.append(duration)
            case .server, .client, .connection, .subject, .process, .proxy, .crowd: break
            }
            return bounds
        case .wire(_, let timing): return [timing.within].compactMap(\.self)
        case .retry(_, let within, _): return [within]
        case .wait, .note, .assign, .check, .link, .name, .loop, .invoke, .sequence, .together, .either, .finally,
            .whenever:
            return []
        }
    }

    /// Returns whether a step waits for the other side.
    static func waits(_ step: Step) -> Bool {
        switch step.kind {
        case .act(_, let action, _):
            switch action {
            case .server(.accept), .server(.expect), .client(.connect), .connection(.expect), .connection(.tls),
                .subject(.expect), .process(.expect), .proxy(.accept), .proxy(.expect), .crowd(.expect):
                true
            case .server, .connection, .subject, .process, .proxy, .crowd: false
            }
        case .wait, .note, .assign, .check, .wire, .link, .name: false
        case .loop, .invoke, .sequence, .together, .either, .retry, .finally, .whenever: true
        }
    }
}
