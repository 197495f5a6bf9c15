import ProbeBase
import ProbeEvents
import ProbeScenario
import ProbeSystem
import ProbeWire

extension CaseRun {
    // MARK: Starts

    /// Right before a subject is told to connect: from now on a connection to its target may be its own.
    ///
    /// At a server outside of the run it waits a moment while a subject of another case connects there.
    func noteStart(_ subject: SubjectActor, at target: EndpointPattern?) async throws(Finding) {
        openerRevision += 1
        guard let target else {
            subject.starts.append(SubjectStart(began: WallClock.now))
            return
        }
        guard settings.capture != nil else { return }
        wire.claimServer(target)
        let patience = MonotonicTime.now + .seconds(1)
        while true {
            let now = WallClock.now
            let number = ExternalStarts.shared.begin(
                subject.name, at: target, now: now, caseNumber: caseNumber, isForced: MonotonicTime.now >= patience)
            if let number {
                subject.starts.append(SubjectStart(began: now, external: (number, target)))
                return
            }
            try checkFault()
            await pause(until: .now + .milliseconds(1))
        }
    }

    /// The subject has reported `started` or `stopped`, or refused to start.
    func noteSettled(_ subject: SubjectActor, at time: MonotonicTime, isConnected: Bool, hasEnded: Bool) {
        guard let last = subject.starts.indices.last else { return }
        openerRevision += 1
        let moment = wire.captureTime(of: time) &+ UInt64(clamping: wire.clock.uncertainty)
        if subject.starts[last].settled == nil { subject.starts[last].settled = moment }
        if isConnected { subject.starts[last].isConnected = true }
        if hasEnded { subject.starts[last].ended = moment }
        if let (number, _) = subject.starts[last].external {
            ExternalStarts.shared.settle(number, at: moment, hasEnded: hasEnded)
        }
    }

    /// Nothing is started any more: other cases need not wait.
    func endStarts() {
        for case .subject(let subject) in actors.values {
            for start in subject.starts {
                if let (number, _) = start.external {
                    ExternalStarts.shared.settle(number, at: WallClock.now, hasEnded: true)
                }
            }
        }
    }

    // MARK: The binding

    /// Whose the captured connections are, as of now.
    func binding() -> WireBinding {
        var exits = 0
        for case .process(let process) in actors.values where process.child?.exitedAt != nil { exits += 1 }
        let key = BindingKey(
            openings: wire.openings.count, connections: connections.count, discarded: discarded.count,
            openers: openerRevision, exits: exits)
        if let cached = cachedBinding, cached.key == key { return cached.binding }
        let binding = WireBinding(
            openings: wire.openings, own: ownConnections(), openers: openers(),
            isListener: { wire.listens(at: $0) })
        cachedBinding = (key, binding)
        return binding
    }

    struct BindingKey: Equatable {
        var openings: Int
        var connections: Int
        var discarded: Int
        var openers: Int
        var exits: Int
    }

    /// In the order in which they began.
    private func ownConnections() -> [WireBinding.Own] {
        func began(_ own: WireBinding.Own) -> UInt64 {
            switch own.origin {
            case .connected(let after): after
            case .accepted(_, let before): before
            }
        }
        return (discarded + connections.map(\.connection)).compactMap { connection in
            guard let local = connection.local, let peer = connection.peer else { return nil }
            return WireBinding.Own(
                id: ObjectIdentifier(connection), local: SocketEndpoint(local), peer: SocketEndpoint(peer),
                origin: connection.origin)
        }.sorted { began($0) < began($1) }
    }

    private func openers() -> [WireBinding.Opener] {
        var openers: [WireBinding.Opener] = []
        var externals: Set<UInt16> = []
        for name in actorOrder {
            switch actors[name] {
            case .subject(let subject):
                for start in subject.starts {
                    if let (_, target) = start.external { externals.insert(target.port) }
                    openers.append(
                        WireBinding.Opener(
                            name: name, kind: .subject,
                            targets: start.external.map { [$0.target] } ?? patterns(of: subject.target),
                            began: start.began, settled: start.settled, ended: start.ended,
                            isConnected: start.isConnected))
                }
            case .process(let process):
                for (index, life) in process.lives.enumerated() {
                    let isLast = index == process.lives.count - 1
                    let ended = isLast ? process.child?.exitedAt ?? life.ended : life.ended
                    openers.append(
                        WireBinding.Opener(
                            name: name, kind: .program,
                            targets: listeningPatterns(besides: name) + connectablePatterns(), began: life.began,
                            ended: ended.map { wire.captureTime(of: $0) }))
                }
            case .server, .connection, nil: break
            }
        }
        for port in externals.sorted() {
            for start in ExternalStarts.shared.ofOthers(than: caseNumber, port: port) {
                openers.append(
                    WireBinding.Opener(
                        name: start.name, kind: .subject, targets: [start.target], began: start.began,
                        settled: start.settled, ended: start.ended, isOfAnotherCase: true))
            }
        }
        return openers
    }

    // MARK: Where actors listen

    /// Where connections to a target of the script go.
    private func patterns(of target: Target?) -> [EndpointPattern] {
        guard case .actor(let name)? = target else { return [] }
        return patterns(of: name.value)
    }

    /// Where an actor of the case listens, or has listened.
    func patterns(of name: String) -> [EndpointPattern] {
        switch actors[name] {
        case .server(let server): Array(server.endpoints)
        case .process(let process): process.ports.map { EndpointPattern(anyAddressPort: $0) }
        case .subject(let subject): subject.port.map { [EndpointPattern(anyAddressPort: $0)] } ?? []
        case .connection, nil: []
        }
    }

    private func listeningPatterns(besides name: String) -> [EndpointPattern] {
        actorOrder.filter { $0 != name }.flatMap { patterns(of: $0) }
    }

    /// Servers outside of the run to which subjects of the case connect: a program may do so as well.
    private func connectablePatterns() -> [EndpointPattern] {
        actors.values.flatMap { actor -> [EndpointPattern] in
            guard case .subject(let subject) = actor else { return [] }
            return subject.starts.compactMap { $0.external?.target }
        }
    }
}

/// A `start` of a subject, as far as it tells which connections are the subject's. Times are of the wall clock, in nanoseconds.
struct SubjectStart {
    var began: UInt64
    /// It reported `started` or `stopped` by then.
    var settled: UInt64?
    var ended: UInt64?
    var isConnected = false
    /// At a server outside of the run: its number in ``ExternalStarts``, and where.
    var external: (number: Int, target: EndpointPattern)?
}
