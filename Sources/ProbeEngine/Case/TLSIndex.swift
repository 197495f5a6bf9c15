import ProbeScenario

/// What a script's steps say of TLS before any of them runs. Computed once for a case that speaks it.
struct TLSIndex {
    /// How a server's connections begin.
    enum Beginning: Equatable {
        /// With the handshake, as soon as they are there.
        case secured
        case plain
    }

    /// In the order of the steps that accept; nil where that order is not known before the run.
    private var beginnings: [String: [Beginning]?] = [:]
    /// Actors whose connections carry forged records; of an accepted connection its server too.
    private(set) var forging: Set<String> = []
    /// Those that have sent close_notify, as far as one walk tells.
    private var notified: Set<String> = []
    private var servers: [String: String] = [:]
    /// Servers whose connections can't be counted from some step on: a loop or a branch has accepted some.
    private var uncounted: Set<String> = []
    /// They run behind all others.
    private var last: [[Step]] = []

    init(_ scenario: Scenario) {
        walk(scenario.steps, scenario, isCertain: true, depth: 0)
        for steps in last { walk(steps, scenario, isCertain: false, depth: 0) }
    }

    /// How a server's connection begins.
    ///
    /// - Parameter number: the first is 0.
    /// - Returns: nil where only the step that accepts it tells.
    func beginning(of number: Int, at server: String) -> Beginning? {
        guard let known = beginnings[server] else { return .secured }
        guard let list = known else { return nil }
        // Behind the last of them nothing is accepted; where all are the same, so would be the next.
        return number < list.count ? list[number] : list.allSatisfy { $0 == .plain } ? .plain : .secured
    }

    private mutating func walk(_ steps: [Step], _ scenario: Scenario, isCertain: Bool, depth: Int) {
        for step in steps {
            switch step.kind {
            case .act(let actor, let action, _): note(actor.value, action, isCertain: isCertain)
            case .sequence(let block): walk(block.steps, scenario, isCertain: isCertain, depth: depth)
            case .loop(_, _, let block), .retry(_, _, let block):
                // What a round begins with may follow what the round before ended with.
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
        // Where all begin alike their order does not matter.
        let isCounted = isCertain && !uncounted.contains(server)
        if !isCertain { uncounted.insert(server) }
        beginnings[server] = .some(isAlike || isCounted ? list : nil)
    }
}
