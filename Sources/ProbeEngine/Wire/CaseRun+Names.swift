import ProbeBase
import ProbeEvents
import ProbeScenario
import ProbeSystem
import ProbeWire

extension CaseRun {
    // MARK: Judging what names mean

    func judge(_ claim: WireClaim) throws(Finding) -> WireVerdict {
        switch claim {
        case .everywhere(let assertion): return judgeEverywhere(assertion)
        case .flow(let assertion, let from, let to):
            guard let (end, conversation) = try connection(from, to) else { return nothing(from, to) }
            return conversation.judge(.halfConnection(assertion, from: end.side), names: names(from, to, end.side))
        case .endpoint(let kind, let name, let peer):
            guard let (end, conversation) = try connection(name, peer) else { return nothing(name, peer) }
            let assertion: WireAssertion =
                switch kind {
                case .fin: .fin(from: end.side)
                case .rst: .rst(from: end.side)
                case .closedFirst: .closedFirst(by: end.side)
                }
            return conversation.judge(assertion, names: peer.map { names(name, $0, end.side) } ?? names(end.index))
        }
    }

    /// Of all connections of the case. What only a connection shows that may be somebody else's can't be judged.
    private func judgeEverywhere(_ assertion: WireAssertion) -> WireVerdict {
        let binding = binding()
        let discarded = discardedConversations()
        var verdicts: [WireVerdict] = []
        for index in wire.table.conversations.indices
        where !discarded.contains(index) && !binding.others.contains(index) {
            let verdict = wire.table.conversations[index].judge(assertion, names: names(index))
            if verdict != .passed, !wire.listens(at: wire.openings[index].server),
                let names = binding.candidates[index], names.count > 1
            {
                verdicts.append(.inconclusive(doubt(about: names, index)))
            } else {
                verdicts.append(verdict)
            }
        }
        if verdicts.isEmpty { return .waiting(WireFailure("no connection was seen on the wire")) }
        // One that failed says more than one that nobody can judge, and that more than one that may still come right.
        return verdicts.first { if case .failed = $0 { true } else { false } }
            ?? verdicts.first { if case .inconclusive = $0 { true } else { false } }
            ?? verdicts.first { if case .waiting = $0 { true } else { false } } ?? .passed
    }

    private func nothing(_ from: Name, _ to: Name?) -> WireVerdict {
        let between = to.map { "between \(from.value) and \($0.value)" } ?? "of \(from.value)"
        if !captures(from) {
            return .inconclusive("the connection \(between) is not on loopback: it can't be seen")
        }
        // One that may be meant, but may be another actor's as well.
        let doubtful = ends(from, to, isCertain: false).first
        if let doubtful {
            return .inconclusive(doubt(about: binding().candidates[doubtful.index] ?? [], doubtful.index))
        }
        return .waiting(WireFailure("no connection \(between) was seen on the wire"))
    }

    private func doubt(about names: Set<String>, _ index: Int) -> String {
        let opening = wire.openings[index]
        if names.isEmpty {
            return
                "a connection to \(opening.server) was reset before it was accepted: which one was accepted can't be told"
        }
        return
            "the connection \(opening.client) -> \(opening.server) may be \(names.sorted().joined(separator: "'s or "))'s: "
            + "both could have opened it at that time"
    }

    /// Whether the connection of that name is one that the capture sees.
    private func captures(_ name: Name) -> Bool {
        guard case .connection(let actor)? = actors[name.value], let peer = actor.connection?.peer else { return true }
        return peer.isLoopback
    }

    private func names(_ from: Name, _ to: Name, _ side: ConversationSide) -> SideNames {
        side == .client
            ? SideNames(client: from.value, server: to.value) : SideNames(client: to.value, server: from.value)
    }

    func names(_ index: Int) -> SideNames {
        let conversation = wire.table.conversations[index]
        return SideNames(
            client: endpointName(conversation, index, .client), server: endpointName(conversation, index, .server))
    }

    // MARK: Connections of names

    /// The one connection that two names mean, and its end that is the first's.
    private func connection(_ from: Name, _ to: Name?) throws(Finding) -> (WireEnd, Conversation)? {
        let found = ends(from, to, isCertain: true)
        if found.count > 1 {
            let between = to.map { "\(from.value) and \($0.value)" } ?? from.value
            throw Finding(
                .error, "\(found.count) connections of \(between) were seen: the statement must name one",
                hints: ["`accept as A` names a connection; then `wire A -> …`"])
        }
        return found.first.map { ($0, wire.table.conversations[$0.index]) }
    }

    /// - Parameter isCertain: false also for connections that may be another actor's.
    private func ends(_ from: Name, _ to: Name?, isCertain: Bool) -> [WireEnd] {
        let found = wireEnds(of: from.value, isCertain: isCertain)
        guard let to else { return found }
        let peers = Set(wireEnds(of: to.value, isCertain: isCertain))
        return found.filter { peers.contains(WireEnd(index: $0.index, side: $0.side.opposite)) }
    }

    /// The ends of captured connections that an actor is.
    func wireEnds(of name: String, isCertain: Bool = true) -> [WireEnd] {
        switch actors[name] {
        case .connection(let actor): return actor.connection.flatMap(wireEnd(of:)).map { [$0] } ?? []
        case .server(let server):
            if let connection = server.plain?.connection { return wireEnd(of: connection).map { [$0] } ?? [] }
            return served(at: Array(server.endpoints))
        case .subject(let subject):
            if subject.isListener { return served(at: patterns(of: name)) }
            if subject.target == nil { return accepted(by: subject, isCertain: isCertain) }
            return opened(by: name, isCertain: isCertain)
        // It may serve, and it may connect to others; a proxy does both.
        case .process: return served(at: patterns(of: name)) + opened(by: name, isCertain: isCertain)
        case nil: return []
        }
    }

    private func opened(by name: String, isCertain: Bool) -> [WireEnd] {
        let binding = binding()
        let discarded = discardedConversations()
        let found = isCertain ? binding.opened(by: name) : binding.opened(by: name) + binding.perhapsOpened(by: name)
        return found.filter { !discarded.contains($0) }.map { WireEnd(index: $0, side: .client) }
    }

    /// The server's ends of the connections that went to one of those endpoints.
    private func served(at patterns: [EndpointPattern]) -> [WireEnd] {
        if patterns.isEmpty { return [] }
        let discarded = discardedConversations()
        return wire.openings.indices.filter { index in
            patterns.contains { $0.matches(wire.openings[index].server) } && !discarded.contains(index)
        }.map { WireEnd(index: $0, side: .server) }
    }

    /// The end of a connection that a listening subject accepted: the nth that it took is the nth that was established.
    private func accepted(by subject: SubjectActor, isCertain: Bool) -> [WireEnd] {
        guard let acceptor = subject.acceptedBy else { return [] }
        let established = served(at: patterns(of: acceptor)).filter {
            wire.table.conversations[$0.index].handshakeTime != nil
        }.sorted { time(of: $0) < time(of: $1) }
        guard subject.acceptIndex < established.count else { return [] }
        // The kernel may have taken one that was reset before out of the queue, and the subject may have left it out.
        let isInDoubt = established.prefix(subject.acceptIndex + 1).contains { end in
            guard let reset = wire.table.conversations[end.index].fromClient.rst else { return false }
            return reset.time <= subject.acceptedAt ?? .max
        }
        if isInDoubt && isCertain { return [] }
        return [established[subject.acceptIndex]]
    }

    private func time(of end: WireEnd) -> UInt64 { wire.table.conversations[end.index].handshakeTime ?? .max }

    /// Of failed attempts of a `retry`, which the harness itself reset.
    private func discardedConversations() -> Set<Int> {
        if discarded.isEmpty { return [] }
        let binding = binding()
        return Set(discarded.compactMap { binding.ends[ObjectIdentifier($0)]?.index })
    }

    func wireEnd(of connection: Connection) -> WireEnd? { binding().ends[ObjectIdentifier(connection)] }

    /// What the end of a connection is called in reports.
    func endpointName(_ conversation: Conversation, _ index: Int, _ side: ConversationSide) -> String {
        let binding = binding()
        let endpoint = conversation.endpoint(of: side)
        if let id = binding.owners[WireEnd(index: index, side: side)],
            let owner = connections.last(where: { ObjectIdentifier($0.connection) == id })?.owner
        {
            return owner.name
        }
        if side == .server {
            for name in actorOrder where patterns(of: name).contains(where: { $0.matches(endpoint) }) { return name }
        } else if let names = binding.candidates[index], !names.isEmpty {
            return names.sorted().joined(separator: " or ")
        }
        return endpoint.description
    }
}
