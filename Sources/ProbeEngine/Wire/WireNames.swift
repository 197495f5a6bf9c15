import ProbeBase
import ProbeProxy
import ProbeScenario
import ProbeSystem
import ProbeWire

/// Maps the names of a script to captured connections, as of now. The snapshot is made for one judgement and released
/// after it: the packets would be copied if more arrived while it exists. Pure.
struct WireNames {
    let actors: ActorTable
    let traffic: CaseTraffic
    /// The traffic that arrived over links.
    let arrived: CaseTraffic
    /// Whether the packets of a connection with a peer are seen.
    let sees: (SocketAddress) -> Bool
    /// The capture's time at which the case began: the timeline's 0.
    let origin: UInt64?
    /// The endpoints on which the case itself listens.
    let listeners: Set<EndpointPattern>
    let binding: WireBinding
    private let connections: ConnectionTable
    /// The connections of failed attempts of a `retry`, which the harness itself reset.
    private let discarded: Set<Int>

    init(
        actors: ActorTable, connections: ConnectionTable, traffic: CaseTraffic, listeners: Set<EndpointPattern>,
        binding: WireBinding, arrived: CaseTraffic = CaseTraffic(),
        sees: @escaping (SocketAddress) -> Bool = { $0.isLoopback }, origin: UInt64? = nil
    ) {
        self.origin = origin
        self.actors = actors
        self.connections = connections
        self.traffic = traffic
        self.arrived = arrived
        self.sees = sees
        self.listeners = listeners
        self.binding = binding
        discarded =
            connections.discarded.isEmpty
            ? [] : Set(connections.discarded.compactMap { binding.ends[ObjectIdentifier($0)]?.index })
    }

    /// The connections that are judged: neither those of a failed attempt nor those of others at a server outside of
    /// the run.
    var judged: some Sequence<Int> {
        traffic.openings.indices.lazy.filter { !discarded.contains($0) && !binding.others.contains($0) }
    }

    /// The connections that are not judged.
    var notJudged: [Int] { discarded.union(binding.others).sorted() }

    /// Whether a connection was a failed attempt of a `retry`.
    func isDiscarded(_ index: Int) -> Bool { discarded.contains(index) }

    /// The indices of the packets that are the case's own, without those of others at a server outside of the run.
    var ownPackets: [Int] {
        let others = binding.others.union(binding.possiblyOthers)
        if others.isEmpty { return Array(traffic.entries.indices) }
        return traffic.entries.indices.filter { index in
            traffic.entries[index].summary.map { !others.contains($0.conversation) } ?? true
        }
    }

    /// Whether a listener of the case answers a connection.
    func listens(atServerOf index: Int) -> Bool {
        let server = traffic.openings[index].server
        return listeners.contains { $0.matches(server) }
    }

    // MARK: Connections of names

    func end(of connection: Connection) -> WireEnd? { binding.ends[ObjectIdentifier(connection)] }

    /// Returns the first name's ends of the connections between two names; without a second name, of all its
    /// connections.
    ///
    /// A name that was connected again means its newest connection, unless the second name is bound to an earlier one.
    ///
    /// - Parameter isCertain: false to include connections that may be another actor's.
    func ends(_ from: String, _ to: String?, isCertain: Bool) -> [WireEnd] {
        let found = ends(of: from, isCertain: isCertain)
        guard let to else { return found }
        let peers = ends(of: to, isCertain: isCertain)
        let common = Self.common(found, peers)
        if !common.isEmpty { return common }
        // A name means its newest connection. If the peer is bound to an earlier one, as the end that accepted it is,
        // that one is meant.
        let earlier =
            (isConnection(to) ? Self.common(earlierEnds(of: from), peers) : [])
            + (isConnection(from) ? Self.common(found, earlierEnds(of: to)) : [])
        return earlier.max { $0.index < $1.index }.map { [$0] } ?? []
    }

    /// Whether a name means a single connection, rather than all connections to or from an actor.
    func isConnection(_ name: String) -> Bool {
        switch actors[name] {
        case .connection, .proxied: true
        case .server(let server): server.plain?.connection != nil
        case .subject(let subject): subject.target == nil && !subject.isListener
        case .proxy(let proxy): proxy.plain != nil
        case .process, .crowd, nil: false
        }
    }

    /// Returns the ends whose opposite ends are among the peers.
    private static func common(_ ends: [WireEnd], _ peers: [WireEnd]) -> [WireEnd] {
        let peers = Set(peers)
        return ends.filter { peers.contains(WireEnd(index: $0.index, side: $0.side.opposite)) }
    }

    /// Returns the ends of the connections that a name meant before the newest one.
    func earlierEnds(of name: String) -> [WireEnd] {
        switch actors[name] {
        case .connection(let actor): actor.earlier.compactMap(end(of:))
        case .server(let server): server.plain?.earlier.compactMap(end(of:)) ?? []
        case .subject, .process, .proxied, .proxy, .crowd, nil: []
        }
    }

    /// Returns the ends of captured connections that belong to an actor.
    private func ends(of name: String, isCertain: Bool) -> [WireEnd] {
        switch actors[name] {
        case .connection(let actor): return actor.connection.flatMap(end(of:)).map { [$0] } ?? []
        case .server(let server):
            if let connection = server.plain?.connection { return end(of: connection).map { [$0] } ?? [] }
            return served(by: name)
        case .subject(let subject):
            if subject.isListener { return served(by: name) }
            if subject.target == nil { return accepted(by: subject, isCertain: isCertain) }
            return opened(by: name, isCertain: isCertain)
        case .proxied(let actor): return ends(of: actor.connection)
        case .proxy(let proxy):
            if let plain = proxy.plain { return ends(of: plain.connection) }
            return proxy.proxy?.connections.flatMap(ends) ?? []
        // A program may serve, and it may connect to others; a proxy does both.
        case .process: return served(by: name) + opened(by: name, isCertain: isCertain)
        case .crowd, nil: return []
        }
    }

    /// Returns the ends of the two legs of a proxied connection.
    private func ends(of connection: ProxiedConnection) -> [WireEnd] {
        ConversationSide.allCases.compactMap { end(of: connection[$0]) }
    }

    private func opened(by name: String, isCertain: Bool) -> [WireEnd] {
        let found = isCertain ? binding.opened(by: name) : binding.opened(by: name) + binding.possiblyOpened(by: name)
        return found.filter { !discarded.contains($0) }.map { WireEnd(index: $0, side: .client) }
    }

    /// Returns the server's ends of the connections to the endpoints on which an actor listens, or has listened.
    private func served(by name: String) -> [WireEnd] {
        let patterns = actors.patterns(of: name)
        if patterns.isEmpty { return [] }
        return traffic.openings.indices.filter { index in
            patterns.contains { $0.matches(traffic.openings[index].server) } && !discarded.contains(index)
        }.map { WireEnd(index: $0, side: .server) }
    }

    /// Returns the end of a connection that a listening subject accepted: the nth that it took is the nth that was
    /// established.
    private func accepted(by subject: SubjectActor, isCertain: Bool) -> [WireEnd] {
        guard let acceptor = subject.acceptedBy else { return [] }
        func time(of end: WireEnd) -> UInt64 { traffic[conversation: end.index].handshakeTime ?? .max }
        let established = served(by: acceptor).filter {
            traffic.openings[$0.index].server.port == subject.acceptPort
                && traffic[conversation: $0.index].handshakeTime != nil
        }.sorted { time(of: $0) < time(of: $1) }
        guard subject.acceptIndex < established.count else { return [] }
        // A connection that was reset before it was accepted may have left the queue, so the count is in doubt.
        let isInDoubt = established.prefix(subject.acceptIndex + 1).contains { end in
            guard let reset = traffic[conversation: end.index].fromClient.rst else { return false }
            return reset.time <= subject.acceptedAt ?? .max
        }
        if isInDoubt && isCertain { return [] }
        return [established[subject.acceptIndex]]
    }

    // MARK: Names of connections

    /// Returns the names of the two ends of a connection in reports.
    func names(_ index: Int) -> SideNames {
        SideNames(client: name(index, .client), server: name(index, .server), origin: origin)
    }

    /// Returns the name of one end of a connection in reports.
    func name(_ index: Int, _ side: ConversationSide) -> String {
        let endpoint = traffic[conversation: index].endpoint(of: side)
        if let id = binding.owners[WireEnd(index: index, side: side)],
            let owner = connections.entries.last(where: { ObjectIdentifier($0.connection) == id })?.owner
        {
            return owner.name
        }
        if side == .server {
            for name in actors.order where actors.patterns(of: name).contains(where: { $0.matches(endpoint) }) {
                return name
            }
        } else if let names = binding.candidates[index], !names.isEmpty {
            return names.sorted().joined(separator: " or ")
        }
        return endpoint.description
    }
}

// MARK: Owners of connections

extension ActorTable {
    /// Returns the endpoints on which an actor of the case listens, or has listened.
    func patterns(of name: String) -> [EndpointPattern] {
        switch self[name] {
        case .server(let server): Array(server.endpoints)
        case .process(let process): process.ports.map { EndpointPattern(anyAddressPort: $0) }
        case .subject(let subject): Set(subject.ports).map { EndpointPattern(anyAddressPort: $0) }
        case .proxy(let proxy): Array(proxy.endpoints)
        case .crowd(let crowd): Array(crowd.endpoints)
        case .connection, .proxied, nil: []
        }
    }

    /// Returns everything that opens connections and is not asked which: starts of subjects, and programs while they
    /// run.
    ///
    /// - Parameter captureTime: returns the capture's time for a moment.
    func openers(_ starts: StartLog, captureTime: (MonotonicTime) -> UInt64) -> [WireBinding.Opener] {
        var openers: [WireBinding.Opener] = []
        var outside: Set<UInt16> = []
        for name in order {
            switch self[name] {
            case .subject(let subject):
                for start in subject.starts {
                    if let (_, target) = start.external { outside.insert(target.port) }
                    openers.append(opener(start, of: subject))
                }
            case .process(let process): openers += lives(of: process, captureTime)
            case .server, .connection, .proxy, .proxied, .crowd, nil: break
            }
        }
        for port in outside.sorted() {
            for start in ExternalStarts.shared.startsOfOthers(than: starts.caseNumber, port: port) {
                openers.append(
                    WireBinding.Opener(
                        name: start.name, kind: .subject, targets: [start.target], began: start.began,
                        settled: start.settled, ended: start.ended, belongsToOtherCase: true))
            }
        }
        return openers
    }

    /// Whether a proxy leads to an actor, directly or through other proxies: an actor that answers after a proxy does
    /// not connect to it.
    private func leads(_ name: String, to other: String) -> Bool {
        var next = name
        for _ in 0..<order.count {
            guard case .proxy(let proxy)? = self[next], case .actor(let target) = proxy.target else { return false }
            if target.value == other { return true }
            next = target.value
        }
        return false
    }

    private func opener(_ start: SubjectStart, of subject: SubjectActor) -> WireBinding.Opener {
        let targets: [EndpointPattern] =
            switch (start.external, subject.target) {
            case (let external?, _): [external.target]
            case (nil, .actor(let name)?): patterns(of: name.value)
            case (nil, _): subject.named.map { [$0] } ?? []
            }
        return WireBinding.Opener(
            name: subject.name, kind: .subject, targets: targets, began: start.began, settled: start.settled,
            ended: start.ended, isConnected: start.isConnected)
    }

    private func lives(
        of process: ProcessActor, _ captureTime: (MonotonicTime) -> UInt64
    ) -> [WireBinding.Opener] {
        if process.lives.isEmpty { return [] }
        let others = order.filter { $0 != process.name && !leads($0, to: process.name) }.flatMap { patterns(of: $0) }
        // The servers outside of the run to which subjects of the case connect. A program may connect to them as well.
        let outside = values.flatMap { actor -> [EndpointPattern] in
            guard case .subject(let subject) = actor else { return [] }
            return subject.starts.compactMap { $0.external?.target }
        }
        return process.lives.enumerated().map { index, lifecycle in
            let isLast = index == process.lives.count - 1
            let ended = isLast ? process.child?.exitedAt ?? lifecycle.ended : lifecycle.ended
            return WireBinding.Opener(
                name: process.name, kind: .program, targets: others + outside, began: lifecycle.began,
                ended: ended.map(captureTime))
        }
    }
}

extension CaseContext {
    /// Returns what the names of the script mean on the wire, as of now.
    func wireNames() -> WireNames {
        WireNames(
            actors: actors, connections: connections, traffic: capture.traffic, listeners: capture.listeners,
            binding: binding(), arrived: capture.link.arrived, sees: { [self] in sees($0) },
            origin: capture.captureTime(of: time.start))
    }

    private func binding() -> WireBinding {
        var exits = 0
        for case .process(let process) in actors.values where process.child?.exitedAt != nil { exits += 1 }
        let key = BindingKey(
            openings: capture.traffic.openings.count, connections: connections.entries.count,
            discarded: connections.discarded.count, starts: starts.revision, exits: exits)
        if let cached = cachedBinding, cached.key == key { return cached.binding }
        let binding = WireBinding(
            openings: capture.traffic.openings, own: connections.ownOnWire,
            openers: actors.openers(starts, captureTime: { capture.captureTime(of: $0) }),
            isListener: { capture.listens(at: $0) })
        cachedBinding = (key, binding)
        return binding
    }
}

/// The inputs of a binding. As long as they are the same, so is the binding.
struct BindingKey: Equatable {
    var openings: Int
    var connections: Int
    var discarded: Int
    var starts: Int
    var exits: Int
}

extension ConnectionTable {
    /// The harness's own connections, in the order in which they began.
    fileprivate var ownOnWire: [WireBinding.OwnConnection] {
        func began(_ own: WireBinding.OwnConnection) -> UInt64 {
            switch own.origin {
            case .connected(let after): after
            case .accepted(_, let before): before
            }
        }
        return (discarded + entries.map(\.connection)).compactMap { connection in
            guard let local = connection.local?.endpoint, let peer = connection.peer?.endpoint else { return nil }
            return WireBinding.OwnConnection(
                id: ObjectIdentifier(connection), local: local, peer: peer,
                origin: connection.origin)
        }.sorted { began($0) < began($1) }
    }
}
