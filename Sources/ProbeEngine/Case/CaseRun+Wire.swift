import ProbeCapture
import ProbeEvents
import ProbeScenario
import ProbeSockets
import ProbeWire

extension CaseRun {
    /// A `wire` step: waits until the capture has caught up, and for what the statement needs, then judges.
    func judge(
        _ statement: WireStatement, _ timing: Timing, _ step: Step, from time: MonotonicTime
    ) async throws(Finding) {
        guard settings.capture != nil else {
            note(
                Finding(
                    .inconclusive, at: step.span,
                    "this could not be judged: \(settings.captureProblem ?? "there is no capture")"))
            return
        }
        let claim = try claim(of: statement)
        let deadline = deadline(timing, from: time)
        waits["wire"] = claim.description
        defer { waits["wire"] = nil }
        var interval: Int64 = 1_000_000
        while true {
            try checkFault()
            guard await catchUp(step) else { return }
            let verdict = try judge(claim)
            if verdict != .passed, MonotonicTime.now < deadline, case .waiting = verdict {
                await pause(until: min(deadline, .now + .nanoseconds(interval)))
                interval = min(interval * 2, 20_000_000)
                continue
            }
            if let reason = wire.lossReason {
                note(Finding(.inconclusive, at: step.span, reason))
                return
            }
            switch verdict {
            case .passed: return
            case .inconclusive(let reason):
                note(Finding(.inconclusive, at: step.span, reason))
                return
            case .failed(let failure): throw finding(failure)
            case .waiting(let failure):
                var finding = finding(failure)
                finding.hints.append("waited \(DurationText.text(MonotonicTime.now - time)) for it")
                throw finding
            }
        }
    }

    private func finding(_ failure: WireFailure) -> Finding {
        Finding(
            .failed, failure.summary, expected: failure.expected, actual: failure.actual, details: failure.details)
    }

    /// Something could not be seen; the case goes on.
    func note(_ finding: Finding) {
        if !inconclusive.contains(where: { $0.span == finding.span && $0.summary == finding.summary }) {
            inconclusive.append(finding)
        }
    }

    /// Waits until the capture has delivered everything that was sent so far.
    ///
    /// - Returns: false when it could not; that is noted.
    func catchUp(_ step: Step?) async -> Bool {
        guard let capture = settings.capture else { return false }
        let outcome = await withCheckedContinuation { continuation in
            capture.fence(timeout: .seconds(2)) { continuation.resume(returning: $0) }
        }
        switch outcome {
        case .caughtUp(let dropped):
            wire.pull(dropped: dropped)
            return true
        case .timedOut:
            note(
                Finding(
                    .inconclusive, at: step?.span, "the capture did not catch up within 2s: the machine is overloaded"))
        case .failed(let error):
            note(Finding(.inconclusive, at: step?.span, "the capture ended: \(error.message(executable: "tcpprobe"))"))
        }
        return false
    }

    // MARK: Statements with their values

    /// A statement whose values are computed, still about names.
    enum WireClaim {
        case flow(FlowAssertion, from: Name, to: Name)
        case endpoint(EndpointClaim, Name, peer: Name?)
        case everywhere(WireAssertion)

        enum EndpointClaim { case fin, rst, closedFirst }

        var description: String {
            switch self {
            case .flow(_, let from, let to): "what goes from \(from.value) to \(to.value)"
            case .endpoint(.fin, let name, _): "a FIN from \(name.value)"
            case .endpoint(.rst, let name, _): "an RST from \(name.value)"
            case .endpoint(.closedFirst, let name, _): "\(name.value) to close first"
            case .everywhere: "the wire"
            }
        }
    }

    private func claim(of statement: WireStatement) throws(Finding) -> WireClaim {
        switch statement {
        case .flow(let from, let to, let flow): .flow(try assertion(flow), from: from, to: to)
        case .fin(let from, let to): .endpoint(.fin, from, peer: to)
        case .rst(let from, let to): .endpoint(.rst, from, peer: to)
        case .closedFirst(let name): .endpoint(.closedFirst, name, peer: nil)
        case .noReset: .everywhere(.noReset)
        case .handshakeComplete: .everywhere(.handshakeComplete)
        case .noRetransmission: .everywhere(.noRetransmission)
        case .packets(let comparison, let count):
            .everywhere(.packets(WireComparison(comparison), try integer(of: count)))
        }
    }

    private func assertion(_ statement: WireStatement.FlowStatement) throws(Finding) -> FlowAssertion {
        do throws(EvaluationError) {
            return try FlowAssertion(
                statement, evaluator: evaluator(), framing: scenario.framing, deadline: { self.scaled($0) })
        } catch {
            throw finding(error)
        }
    }

    // MARK: Names and connections

    private func judge(_ claim: WireClaim) throws(Finding) -> WireVerdict {
        switch claim {
        case .everywhere(let assertion):
            let verdicts = wire.table.conversations.filter { !isDiscarded($0) }
                .map { $0.judge(assertion, names: names($0)) }
            if verdicts.isEmpty { return .waiting(WireFailure("no connection was seen on the wire")) }
            // One that failed says more than one that nobody can judge, and that more than one that may still come right.
            return verdicts.first { if case .failed = $0 { true } else { false } }
                ?? verdicts.first { if case .inconclusive = $0 { true } else { false } }
                ?? verdicts.first { if case .waiting = $0 { true } else { false } } ?? .passed
        case .flow(let assertion, let from, let to):
            guard let (conversation, side) = try connection(from, to) else { return nothing(from, to) }
            return conversation.judge(.flow(assertion, from: side), names: names(from, to, side))
        case .endpoint(let kind, let name, let peer):
            guard let (conversation, side) = try connection(name, peer) else { return nothing(name, peer) }
            let assertion: WireAssertion =
                switch kind {
                case .fin: .fin(from: side)
                case .rst: .rst(from: side)
                case .closedFirst: .closedFirst(by: side)
                }
            return conversation.judge(assertion, names: peer.map { names(name, $0, side) } ?? names(conversation))
        }
    }

    private func nothing(_ from: Name, _ to: Name?) -> WireVerdict {
        let between = to.map { "between \(from.value) and \($0.value)" } ?? "of \(from.value)"
        if !captures(from) {
            return .inconclusive("the connection \(between) is not on loopback: it can't be seen")
        }
        return .waiting(WireFailure("no connection \(between) was seen on the wire"))
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

    func names(_ conversation: Conversation) -> SideNames {
        SideNames(client: endpointName(conversation, .client), server: endpointName(conversation, .server))
    }

    /// The one connection that two names mean, and the side of the first.
    private func connection(_ from: Name, _ to: Name?) throws(Finding) -> (Conversation, ConversationSide)? {
        var found = wireEnds(of: from.value)
        if let to {
            let peers = wireEnds(of: to.value)
            found = found.filter { end in peers.contains { $0.index == end.index && $0.side == end.side.opposite } }
        }
        if found.count > 1 {
            let between = to.map { "\(from.value) and \($0.value)" } ?? from.value
            throw Finding(
                .error, "\(found.count) connections of \(between) were seen: the statement must name one",
                hints: ["`accept as A` names a connection; then `wire A -> …`"])
        }
        return found.first.map { (wire.table.conversations[$0.index], $0.side) }
    }

    struct WireEnd: Hashable {
        var index: Int
        var side: ConversationSide
    }

    /// The ends of captured connections that an actor is.
    func wireEnds(of name: String) -> [WireEnd] {
        switch actors[name] {
        case .connection(let actor): return actor.connection.flatMap(wireEnd(of:)).map { [$0] } ?? []
        case .server(let server):
            if let connection = server.plain?.connection { return wireEnd(of: connection).map { [$0] } ?? [] }
            return conversations(toPorts: server.ports).map { WireEnd(index: $0, side: .server) }
        case .subject(let subject): return wireEnds(of: subject)
        case .process(let process):
            // It may serve, and it may be somebody's client, a proxy both.
            let served = conversations(toPorts: Set(process.ports)).map { WireEnd(index: $0, side: .server) }
            return served + foreignClients(ofPorts: listeningPorts.subtracting(process.ports))
        case nil: return []
        }
    }

    private func wireEnds(of subject: SubjectActor) -> [WireEnd] {
        if let port = subject.port {
            return conversations(toPorts: [port]).map { WireEnd(index: $0, side: .server) }
        }
        switch subject.target {
        case .actor(let name):
            switch actors[name.value] {
            case .server(let server): return foreignClients(ofPorts: server.ports)
            case .process(let process): return foreignClients(ofPorts: Set(process.ports))
            default: return []
            }
        case .address(let address):
            // A port that can't be computed has failed the subject's `start` already; here it means no connection.
            guard let port = address.port, let number = try? integer(of: port), let valid = UInt16(exactly: number)
            else {
                return []
            }
            return foreignClients(ofPorts: [valid])
        case nil:
            // A connection that a listening subject accepted: the nth that it took is the nth that came.
            guard let listener = acceptor(of: subject), let port = listener.port else { return [] }
            let all = conversations(toPorts: [port])
            let index = subject.acceptIndex
            return index < all.count ? [WireEnd(index: all[index], side: .server)] : []
        }
    }

    private func acceptor(of subject: SubjectActor) -> SubjectActor? {
        for case .subject(let other) in actors.values where other.isListener && other.name == subject.acceptedBy {
            return other
        }
        return nil
    }

    /// Of all servers, programs and listening subjects.
    private var listeningPorts: Set<UInt16> {
        var ports: Set<UInt16> = []
        for actor in actors.values {
            switch actor {
            case .server(let server): ports.formUnion(server.ports)
            case .process(let process): ports.formUnion(process.ports)
            case .subject(let subject): if let port = subject.port { ports.insert(port) }
            case .connection: break
            }
        }
        return ports
    }

    private func conversations(toPorts ports: Set<UInt16>) -> [Int] {
        wire.table.conversations.indices.filter {
            ports.contains(wire.table.conversations[$0].server.port) && !isDiscarded(wire.table.conversations[$0])
        }
    }

    /// Of a failed attempt of a `retry`, which the harness itself reset.
    private func isDiscarded(_ conversation: Conversation) -> Bool {
        if discarded.isEmpty { return false }
        let ends = [conversation.client, conversation.server]
        return discarded.contains { connection in
            connection.local.map { ends.contains(SocketEndpoint($0)) } == true
                && connection.peer.map { ends.contains(SocketEndpoint($0)) } == true
        }
    }

    /// Clients of those ports that are no clients of the harness.
    private func foreignClients(ofPorts ports: Set<UInt16>) -> [WireEnd] {
        let own = Set(connections.compactMap { $0.owner.isClient ? $0.connection.local.map(SocketEndpoint.init) : nil })
        return conversations(toPorts: ports)
            .filter { !own.contains(wire.table.conversations[$0].client) }
            .map { WireEnd(index: $0, side: .client) }
    }

    func wireEnd(of connection: Connection) -> WireEnd? {
        guard let local = connection.local, let peer = connection.peer,
            let index = wire.conversation(between: local, and: peer)
        else { return nil }
        let side: ConversationSide = wire.table.conversations[index].client == SocketEndpoint(local) ? .client : .server
        return WireEnd(index: index, side: side)
    }

    /// What the end of a connection is called in reports.
    func endpointName(_ conversation: Conversation, _ side: ConversationSide) -> String {
        let endpoint = conversation.endpoint(of: side)
        let peer = conversation.endpoint(of: side.opposite)
        for (owner, connection) in connections.reversed()
        where connection.local.map(SocketEndpoint.init) == endpoint && connection.peer.map(SocketEndpoint.init) == peer
        {
            return owner.name
        }
        for name in actorOrder {
            switch actors[name] {
            case .server(let server) where side == .server && server.ports.contains(endpoint.port): return name
            case .process(let process) where side == .server && process.ports.contains(endpoint.port): return name
            case .subject(let subject) where side == .server && subject.port == endpoint.port: return name
            case .subject where side == .client: return name
            default: continue
            }
        }
        for name in actorOrder { if case .process = actors[name], side == .client { return name } }
        return endpoint.description
    }
}
