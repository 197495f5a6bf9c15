import ProbeBase
import ProbeWire

/// Determines the connection to which a captured segment belongs, and the owners of that connection.
///
/// A connection begins with its SYN. A subscription that exists at that time owns the connection until its end. Later
/// segments are assigned by their addresses and sequence numbers, so that a late segment of a previous connection with
/// the same 4-tuple is not assigned to the new connection. A segment has no owner if its connection has no owner, or if
/// the SYN was not captured. The router has no clock and no I/O.
struct ConnectionRouter<Owner: AnyObject> {
    struct Route {
        /// The subscriptions that own the connection, without duplicates.
        var owners: [Owner]
        /// The unique number of the connection, starting at 1.
        var connection: Int
    }

    fileprivate struct Subscription {
        let scope: CaptureScope
        /// The time before which no connection of the subscription began. A connection whose SYN was captured earlier
        /// belongs to an earlier subscription.
        let since: UInt64
        let owner: Owner
    }

    private var servers: [UInt16: [Subscription]] = [:]
    private var clients: [SocketEndpoint: [Subscription]] = [:]
    /// The connections of each 4-tuple, oldest first. The connections of a 4-tuple are kept as long as at least one of
    /// these connections has an owner.
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

    /// Removes an owner, and the connections that have no other owner.
    mutating func release(_ owner: Owner) {
        servers.removeSubscriptions { $0.owner === owner }
        clients.removeSubscriptions { $0.owner === owner }
        for pair in pairs.removeValue(forKey: ObjectIdentifier(owner)) ?? [] {
            guard var list = connections[pair] else { continue }
            for index in list.indices { list[index].owners.removeAll { $0 === owner } }
            connections[pair] = list.contains { !$0.owners.isEmpty } ? list : nil
        }
    }

    /// The number of tracked connections, for tests.
    var trackedCount: Int { connections.values.reduce(0) { $0 + $1.count } }

    // MARK: Segments

    /// Returns the route of a segment, and records the segment with its connection.
    ///
    /// - Parameter time: the time at which the segment was captured, on the same clock as `since`.
    ///
    /// - Returns: the route; `nil` if the segment's connection has no owner.
    mutating func route(_ segment: DecodedTCP, time: UInt64) -> Route? {
        let pair = EndpointPair(segment.source, segment.destination)
        if segment.flags.contains(.syn), !segment.flags.contains(.ack) { return open(segment, pair, time) }
        guard let found = connections.index(forKey: pair) else { return nil }
        let last = connections.values[found].count - 1
        for index in connections.values[found].indices.reversed() {
            switch connections.values[found][index].place(of: segment) {
            case .inside: break
            case .before: continue
            // The sequence numbers are further ahead than any window allows, so the segment can't be a late segment of
            // an earlier connection. The segment is assigned to the newest connection.
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
        // A connection without an owner is tracked only if an earlier connection of the 4-tuple is tracked. Otherwise,
        // its segments would be routed to the owner of the earlier connection.
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
            // The subscription applies to one connection only. Other connections may use the endpoint once that
            // connection is closed.
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
    /// Removes the subscriptions that match the condition, whatever their key. Visiting every key is cheap, because
    /// only running cases have subscriptions.
    fileprivate mutating func removeSubscriptions(where isGone: (Value.Element) -> Bool) {
        for key in keys {
            self[key]?.removeAll(where: isGone)
            if self[key]?.isEmpty == true { self[key] = nil }
        }
    }
}

/// A pair of endpoints, regardless of direction.
struct EndpointPair: Hashable {
    let low: SocketEndpoint
    let high: SocketEndpoint

    init(_ one: SocketEndpoint, _ other: SocketEndpoint) {
        (low, high) = one < other ? (one, other) : (other, one)
    }
}
