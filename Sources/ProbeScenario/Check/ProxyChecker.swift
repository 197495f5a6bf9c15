/// Tracks the effects of a proxy's steps, and reports steps that are impossible at their position in the timeline.
struct ProxyChecker {
    let names: NameScope
    let order: OrderChecker

    func follow(_ name: Name, _ known: ScriptState.Actor, _ action: Action, _ step: Step) {
        guard case .proxy(let action) = action else { return }
        switch action {
        case .accept(let bound): follow(accept: bound, name, known, step)
        case .expect(let expectation, _):
            if expectation.isAboutHarnessState {
                names.report(
                    .unknownExpectation,
                    "`\(name.value)` is a proxy, which does not support `expect \(expectation.spelling)`",
                    hint: "use `expect \(expectation.spelling)` on the endpoint itself, or use a wire statement",
                    at: step.focus)
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
                .unknownVerb, "`\(name.value)` is a connection of a proxy, which has no verb `accept`",
                hint: "use the proxy itself to accept the next connection: `X accept as B`", at: step.focus)
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
    /// Whether the expectation concerns the state of one of the harness's endpoints. A proxy can't observe this state.
    fileprivate var isAboutHarnessState: Bool {
        switch self {
        case .sent, .sendFailed, .stalled, .urgent, .notify, .truncated, .alert: true
        default: false
        }
    }
}
