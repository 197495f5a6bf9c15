/// Follows what the steps of a proxy do, and reports what can't happen at this point of the timeline.
struct ProxyChecker {
    let names: NameScope
    let order: OrderChecker

    func follow(_ name: Name, _ known: ScriptState.Actor, _ action: Action, _ step: Step) {
        guard case .proxy(let action) = action else { return }
        switch action {
        case .accept(let bound): follow(accept: bound, name, known, step)
        case .expect(let expectation, _):
            if expectation.isOfHarness {
                names.report(
                    .unknownExpectation,
                    "`\(name.value)` only watches what passes: `expect \(expectation.spelling)` can't be seen there",
                    hint: "expect it of the endpoint itself, or look at the wire", at: step.focus)
            }
            if known.link == .none {
                names.reportOrder(.notConnected(name.value, kind: .proxy), at: name.span)
                order.change(name) { $0.link = .unknown }
            }
        case .forward, .hold, .release, .discard, .replace, .insert, .close, .halfClose, .reset, .vanish: break
        }
    }

    private func follow(accept bound: Name?, _ name: Name, _ known: ScriptState.Actor, _ step: Step) {
        if known.parent != nil {
            names.report(
                .unknownVerb, "`\(name.value)` is one connection of a proxy, and that has no verb `accept`",
                hint: "the proxy itself takes the next connection: X accept as B", at: step.focus)
            return
        }
        guard let bound else {
            if known.link == .up { names.reportOrder(.secondAccept(name.value), at: step.focus) }
            order.change(name) {
                $0.link = .up
                $0.connections += 1
            }
            return
        }
        if names.state.variables[bound.value] != nil
            || names.collected.headerActors.contains(bound.value)
        {
            names.reportTaken(bound)
            return
        }
        var connection = ScriptState.Actor(kind: .proxy)
        connection.link = names.isDoubtful(bound.value) ? .unknown : .up
        connection.connections = 1
        connection.parent = name.value
        names.state.set(bound.value, connection)
        order.change(name) { $0.connections += 1 }
    }
}

extension ConnectionExpectation<Parsed> {
    /// Whether the expectation is about an endpoint of the harness: a mere observer can't know it.
    fileprivate var isOfHarness: Bool {
        switch self {
        case .sent, .sendFailed, .stalled, .urgent, .notify, .truncated, .alert: true
        default: false
        }
    }
}
