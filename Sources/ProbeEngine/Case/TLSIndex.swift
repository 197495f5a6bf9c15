import ProbeScenario

/// What a script's steps do with TLS, as far as it is known before any step runs. Computed once for a case that uses
/// TLS.
struct TLSIndex {
    /// How a connection of a server starts.
    enum Beginning: Equatable {
        /// The connection starts with the TLS handshake, as soon as the connection exists.
        case secured
        case plain
    }

    /// How each server's connections start, in the order of the steps that accept them; `nil` if the order is not known
    /// before the run.
    private var beginnings: [String: [Beginning]?] = [:]
    /// The actors whose connections carry forged TLS records. For an accepted connection, the set includes its server.
    private(set) var forging: Set<String> = []
    /// The actors that have sent a close_notify by the current step of the walk through the script.
    private var notified: Set<String> = []
    private var servers: [String: String] = [:]
    /// The servers whose connections can no longer be counted, because a step in a loop or a branch has accepted
    /// connections.
    private var uncounted: Set<String> = []
    /// The steps of `finally` blocks, which run after all other steps.
    private var last: [[Step]] = []

    init(_ scenario: Scenario) {
        walk(scenario.steps, scenario, isCertain: true, depth: 0)
        for steps in last { walk(steps, scenario, isCertain: false, depth: 0) }
    }

    /// Returns how one of a server's connections starts.
    ///
    /// - Parameter number: the connection's position in the order of acceptance, starting at 0.
    /// - Returns: `nil` if only the step that accepts the connection determines how it starts.
    func beginning(of number: Int, at server: String) -> Beginning? {
        guard let known = beginnings[server] else { return .secured }
        guard let list = known else { return nil }
        // No step accepts this connection, because there are more connections than `accept` steps. If all expected
        // connections start without TLS, this connection does, too.
        return number < list.count ? list[number] : list.allSatisfy { $0 == .plain } ? .plain : .secured
    }

    private mutating func walk(_ steps: [Step], _ scenario: Scenario, isCertain: Bool, depth: Int) {
        for step in steps {
            switch step.kind {
            case .act(let actor, let action, _): note(actor.value, action, isCertain: isCertain)
            case .sequence(let block): walk(block.steps, scenario, isCertain: isCertain, depth: depth)
            case .loop(_, _, let block), .retry(_, _, let block):
                // Walk the block twice, because a round of a loop may start in the state in which the previous round
                // ended.
                walk(block.steps, scenario, isCertain: false, depth: depth)
                walk(block.steps, scenario, isCertain: false, depth: depth)
            case .finally(let block): last.append(block.steps)
            case .together(let block), .whenever(_, _, let block):
                walk(block.steps, scenario, isCertain: false, depth: depth)
            case .either(let blocks):
                for block in blocks { walk(block.steps, scenario, isCertain: false, depth: depth) }
            case .invoke(let name):
                if depth < 64, let block = scenario.definitions[name.value] {
                    walk(block.steps, scenario, isCertain: isCertain, depth: depth + 1)
                }
            case .wait, .note, .assign, .check, .wire, .link, .name: break
            }
        }
    }

    private mutating func note(_ actor: String, _ action: Action, isCertain: Bool) {
        switch action {
        case .server(.accept(let name, let mode, _)):
            if let name { servers[name.value] = actor }
            notified.remove(name?.value ?? actor)
            let isPlain = if case .withoutTLS = mode { true } else { false }
            note(isPlain ? .plain : .secured, at: actor, isCertain: isCertain)
        case .client(.connect): notified.remove(actor)
        case .connection(.tls(.sendRecord)), .connection(.tls(.sendAlert)): forge(actor)
        case .connection(.tls(.sendNotify)): notified.insert(actor)
        case .connection(.send(let statement)) where statement.mode != .plaintext:
            if notified.contains(actor) { forge(actor) }
        case .server, .connection, .subject, .process, .proxy, .crowd: break
        }
    }

    private mutating func forge(_ actor: String) {
        forging.insert(actor)
        if let server = servers[actor] { forging.insert(server) }
    }

    private mutating func note(_ beginning: Beginning, at server: String, isCertain: Bool) {
        guard let known = beginnings[server] else {
            if !isCertain { uncounted.insert(server) }
            beginnings[server] = .some([beginning])
            return
        }
        guard var list = known else { return }
        let isAlike = list.allSatisfy { $0 == beginning }
        list.append(beginning)
        // If all connections start in the same way, their order is irrelevant.
        let isCounted = isCertain && !uncounted.contains(server)
        if !isCertain { uncounted.insert(server) }
        beginnings[server] = .some(isAlike || isCounted ? list : nil)
    }
}
