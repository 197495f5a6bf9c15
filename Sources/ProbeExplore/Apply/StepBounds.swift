import ProbeScenario

/// The time limits that a script sets. The pauses of a variation must be much shorter than these limits; otherwise a
/// correct program would fail the variation.
struct StepBounds {
    /// The factor by which pauses must be shorter than a limit: their total is at most 1/`share` of the limit.
    static let share = 10
    let scenario: Scenario

    /// Returns the maximum total duration of the pauses within a send.
    ///
    /// - Parameters:
    ///   - position: the index of the script's top-level step that is the send or contains it; `nil` for a send in a
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

    /// The subjects' timeouts, which must not expire because of a pause.
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

    /// Returns whether a step waits for the other side of a connection.
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
