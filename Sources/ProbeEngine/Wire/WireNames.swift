import ProbeBase
import ProbeProxy
import ProbeScenario
import ProbeSystem
import ProbeWire

/// Maps the names in a script to captured connections. This snapshot is made for a single judgment and then released:
/// if packets arrived while the snapshot existed, adding them would copy all packets.
struct WireNames {
    let actors: ActorTable
    let traffic: CaseTraffic
    /// The traffic that arrived over links.
    let arrived: CaseTraffic
    /// Returns whether the packets of a connection to a peer are captured.
    let sees: (SocketAddress) -> Bool
    /// The time at which the case began, as a capture timestamp. The timeline shows this time as 0.
    let origin: UInt64?
    /// The endpoints on which the case itself listens.
    let listeners: Set<EndpointPattern>
    let binding: WireBinding
    private let connections: ConnectionTable
    /// The connections of failed attempts of a `retry` block, which the harness itself reset.
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

    /// The connections that are judged. Connections of failed attempts, and connections of other users of a server
    /// outside the run, are excluded.
    var judged: some Sequence<Int> {
        traffic.openings.indices.lazy.filter { !discarded.contains($0) && !binding.others.contains($0) }
    }

    /// The connections that are not judged.
    var notJudged: [Int] { discarded.union(binding.others).sorted() }

    /// Returns whether a connection belongs to a failed attempt of a `retry` block.
    func isDiscarded(_ index: Int) -> Bool { discarded.contains(index) }

    /// The indices of the case's own packets, excluding those of other users of a server outside the run.
    var ownPackets: [Int] {
        let others = binding.others.union(binding.possiblyOthers)
        if others.isEmpty { return Array(traffic.entries.indices) }
        return traffic.entries.indices.filter { index in
            traffic.entries[index].summary.map { !others.contains($0.conversation) } ?? true
        }
    }

    /// Returns whether the server side of a connection is one of the case's listeners.
    func listens(atServerOf index: Int) -> Bool {
        let server = traffic.openings[index].server
        return listeners.contains { $0.matches(server) }
    }

    // MARK: The connections of a name

    func end(of connection: Connection) -> WireEnd? { binding.ends[ObjectIdentifier(connection)] }

    /// Returns the ends that belong to the first name: for each connection between the actors with the two names or, if
    /// there is no second name, for each connection of the first actor.
    ///
    /// A name that was connected several times refers to its newest connection, unless the second name belongs to an
    /// earlier connection.
    ///
    /// - Parameter isCertain: whether to exclude connections that may belong to another actor.
    func ends(_ from: String, _ to: String?, isCertain: Bool) -> [WireEnd] {
        let found = ends(of: from, isCertain: isCertain)
        guard let to else { return found }
        let peers = ends(of: to, isCertain: isCertain)
        let common = Self.common(found, peers)
        if !common.isEmpty { return common }
        // A name refers to its newest connection, unless the name of the peer, such as that of the accepting end,
        // belongs to an earlier connection.
        let earlier =
            (isConnection(to) ? Self.common(earlierEnds(of: from), peers) : [])
            + (isConnection(from) ? Self.common(found, earlierEnds(of: to)) : [])
        return earlier.max { $0.index < $1.index }.map { [$0] } ?? []
    }

    /// Returns whether a name refers to a single connection, rather than to all connections of an actor.
    func isConnection(_ name: String) -> Bool {
        switch actors[name] {
        case .connection, .proxied: true
        case .server(let server): server.plain?.connection != nil
        case .subject(let subject): subject.target == nil && !subject.isListener
        case .proxy(let proxy): proxy.plain != nil
        case .process, .crowd, nil: false
        }
    }

    /// Returns the ends in `ends` whose opposite ends are in `peers`.
    private static func common(_ ends: [WireEnd], _ peers: [WireEnd]) -> [WireEnd] {
        let peers = Set(peers)
        return ends.filter { peers.contains(WireEnd(index: $0.index, side: $0.side.opposite)) }
    }

    /// Returns the ends of the connections to which a name referred before it referred to its newest connection.
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
        // A program may both accept and open connections, as a proxy does.
        case .process: return served(by: name) + opened(by: name, isCertain: isCertain)
        case .crowd, nil: return []
        }
    }

    /// Returns the ends of a proxied connection that belong to the proxy, one for each of its two legs.
    private func ends(of connection: ProxiedConnection) -> [WireEnd] {
        ConversationSide.allCases.compactMap { end(of: connection[$0]) }
    }

    private func opened(by name: String, isCertain: Bool) -> [WireEnd] {
        let found = isCertain ? binding.opened(by: name) : binding.opened(by: name) + binding.possiblyOpened(by: name)
        return found.filter { !discarded.contains($0) }.map { WireEnd(index: $0, side: .client) }
    }

    /// Returns the server ends of the connections to the endpoints on which an actor listens or has listened.
    private func served(by name: String) -> [WireEnd] {
        let patterns = actors.patterns(of: name)
        if patterns.isEmpty { return [] }
        return traffic.openings.indices.filter { index in
            patterns.contains { $0.matches(traffic.openings[index].server) } && !discarded.contains(index)
        }.map { WireEnd(index: $0, side: .server) }
    }

    /// Returns the end of a connection that a listening subject accepted. Connections are assumed to be accepted in the
    /// order in which they were established.
    private func accepted(by subject: SubjectActor, isCertain: Bool) -> [WireEnd] {
        guard let acceptor = subject.acceptedBy else { return [] }
        func time(of end: WireEnd) -> UInt64 { traffic[conversation: end.index].handshakeTime ?? .max }
        let established = served(by: acceptor).filter {
            traffic.openings[$0.index].server.port == subject.acceptPort
                && traffic[conversation: $0.index].handshakeTime != nil
        }.sorted { time(of: $0) < time(of: $1) }
        guard subject.acceptIndex < established.count else { return [] }
        // A connection that was reset before it was accepted may have left the accept queue, so counting connections
        // may identify the wrong connection.
        let isInDoubt = established.prefix(subject.acceptIndex + 1).contains { end in
            guard let reset = traffic[conversation: end.index].fromClient.rst else { return false }
            return reset.time <= subject.acceptedAt ?? .max
        }
        if isInDoubt && isCertain { return [] }
        return [established[subject.acceptIndex]]
    }

    // MARK: The names of a connection

    /// Returns the names by which reports refer to the two ends of a connection.
    func names(_ index: Int) -> SideNames {
        SideNames(client: name(index, .client), server: name(index, .server), origin: origin)
    }

    /// Returns the name by which reports refer to one end of a connection.
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
    /// Returns the endpoints on which an actor listens or has listened.
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

    /// Returns the possible openers of connections: starts of subjects, and programs while they are running. Openers
    /// can't report which connections they opened.
    ///
    /// - Parameter captureTime: returns the capture timestamp for a monotonic time.
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

    /// Whether a proxy forwards to the actor `other`, directly or through other proxies. The actor to which a proxy
    /// forwards does not itself connect to the proxy.
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
        // The servers outside the run to which subjects of the case connect. A program may also connect to these
        // servers.
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
    /// Returns a snapshot that maps the names in the script to the connections captured so far.
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

/// The inputs from which the owners of connections are determined. The owners are determined again only if one of these
/// inputs has changed.
struct BindingKey: Equatable {
    var openings: Int
    var connections: Int
    var discarded: Int
    var starts: Int
    var exits: Int
}

extension ConnectionTable {
    /// The harness's connections, in the order in which they began.
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
