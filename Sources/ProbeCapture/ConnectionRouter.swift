import ProbeBase
import ProbeWire

/// Tells which connection a captured segment belongs to, and whose that connection is.
///
/// A connection begins with its SYN. A subscription that exists by then owns the connection to its end. Later segments are told apart by their
/// addresses and sequence numbers: where a 4-tuple is used again, a late segment of the connection before is not taken for one
/// of the new connection. A segment whose connection has no owner, or whose SYN was not seen, has none. Pure: no clock, no I/O.
struct ConnectionRouter<Owner: AnyObject> {
    struct Route {
        /// Each once.
        var owners: [Owner]
        /// A number of its own for each connection, from 1.
        var connection: Int
    }

    fileprivate struct Subscription {
        let scope: CaptureScope
        /// Of the SYN, at the earliest: what was sent before belongs to an earlier subscription.
        let since: UInt64
        let owner: Owner
    }

    private var servers: [UInt16: [Subscription]] = [:]
    private var clients: [SocketEndpoint: [Subscription]] = [:]
    /// Of each 4-tuple its connections, oldest first, for as long as one of them has an owner.
    private var connections: [EndpointPair: [TrackedConnection<Owner>]] = [:]
    private var pairs: [ObjectIdentifier: [EndpointPair]] = [:]
    private var lastNumber = 0

    // MARK: Subscriptions

    mutating func subscribe(_ owner: Owner, to scope: CaptureScope, since: UInt64) {
        let subscription = Subscription(scope: scope, since: since, owner: owner)
        switch scope {
        case .listener(let pattern), .server(let pattern): servers[pattern.port, default: []].append(subscription)
        case .client(let endpoint, _): clients[endpoint, default: []].append(subscription)
        }
    }

    mutating func unsubscribe(_ owner: Owner, from scope: CaptureScope) {
        switch scope {
        case .listener, .server: servers.removeSubscriptions { $0.owner === owner && $0.scope == scope }
        case .client: clients.removeSubscriptions { $0.owner === owner && $0.scope == scope }
        }
    }

    /// Forgets an owner and the connections that were its alone.
    mutating func release(_ owner: Owner) {
        servers.removeSubscriptions { $0.owner === owner }
        clients.removeSubscriptions { $0.owner === owner }
        for pair in pairs.removeValue(forKey: ObjectIdentifier(owner)) ?? [] {
            guard var list = connections[pair] else { continue }
            for index in list.indices { list[index].owners.removeAll { $0 === owner } }
            connections[pair] = list.contains { !$0.owners.isEmpty } ? list : nil
        }
    }

    /// For tests: connections that are remembered.
    var trackedCount: Int { connections.values.reduce(0) { $0 + $1.count } }

    // MARK: Segments

    /// - Parameter time: when it was captured, on the clock of `since`.
    ///
    /// - Returns: nil for a segment of a connection without owner.
    mutating func route(_ segment: DecodedTCP, time: UInt64) -> Route? {
        let pair = EndpointPair(segment.source, segment.destination)
        if segment.flags.contains(.syn), !segment.flags.contains(.ack) { return open(segment, pair, time) }
        guard let found = connections.index(forKey: pair) else { return nil }
        let last = connections.values[found].count - 1
        for index in connections.values[found].indices.reversed() {
            switch connections.values[found][index].place(of: segment) {
            case .inside: break
            case .before: continue
            // No kernel sends such a segment, so it is no late one of an earlier connection: it is judged with the newest.
            case .beyond where index == last: break
            case .beyond: continue
            }
            connections.values[found][index].note(segment)
            return connections.values[found][index].route
        }
        return nil
    }

    private mutating func open(_ segment: DecodedTCP, _ pair: EndpointPair, _ time: UInt64) -> Route? {
        var list = connections[pair] ?? []
        if let last = list.indices.last, list[last].isContinued(bySYN: segment) {
            list[last].note(segment)
            connections[pair] = list
            return list[last].route
        }
        let owners = takeOwners(of: segment, time)
        // A connection without owner is remembered beside one that has an owner, so that its segments are not routed to that owner.
        if owners.isEmpty && list.isEmpty { return nil }
        lastNumber += 1
        let connection = TrackedConnection(number: lastNumber, syn: segment, owners: owners)
        list.append(connection)
        connections[pair] = list
        for owner in owners { pairs[ObjectIdentifier(owner), default: []].append(pair) }
        return connection.route
    }

    private mutating func takeOwners(of syn: DecodedTCP, _ time: UInt64) -> [Owner] {
        var owners: [Owner] = []
        func add(_ subscription: Subscription) {
            if !owners.contains(where: { $0 === subscription.owner }) { owners.append(subscription.owner) }
        }
        let subscribed = (servers[syn.destination.port] ?? []).filter {
            $0.since <= time && $0.matches(syn.destination)
        }
        let listeners = subscribed.filter(\.isListener)
        let exact = listeners.filter(\.isExact)
        for subscription in exact.isEmpty ? listeners : exact { add(subscription) }
        let mine = clients[syn.source]?.firstIndex {
            $0.since <= time && $0.scope == .client(syn.source, peer: syn.destination)
        }
        if let mine, let subscription = clients[syn.source]?.remove(at: mine) {
            // The endpoint is free for others once this connection has gone.
            if clients[syn.source]?.isEmpty == true { clients[syn.source] = nil }
            add(subscription)
        }
        if owners.isEmpty { for subscription in subscribed { add(subscription) } }
        return owners
    }
}

extension ConnectionRouter.Subscription {
    fileprivate var isListener: Bool { if case .listener = scope { true } else { false } }

    fileprivate var isExact: Bool {
        switch scope {
        case .listener(let pattern), .server(let pattern): pattern.isExact
        case .client: true
        }
    }

    fileprivate func matches(_ destination: SocketEndpoint) -> Bool {
        switch scope {
        case .listener(let pattern), .server(let pattern): pattern.matches(destination)
        case .client(_, let peer): peer == destination
        }
    }
}

extension Dictionary where Value: RangeReplaceableCollection {
    /// There are few at a time: those of the cases that run now.
    fileprivate mutating func removeSubscriptions(where isGone: (Value.Element) -> Bool) {
        for key in keys {
            self[key]?.removeAll(where: isGone)
            if self[key]?.isEmpty == true { self[key] = nil }
        }
    }
}

/// Two endpoints, whichever sends.
struct EndpointPair: Hashable {
    let low: SocketEndpoint
    let high: SocketEndpoint

    init(_ one: SocketEndpoint, _ other: SocketEndpoint) {
        (low, high) = one < other ? (one, other) : (other, one)
    }
}
