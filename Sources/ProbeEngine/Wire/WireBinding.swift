import ProbeBase
import ProbeSystem
import ProbeWire

/// Assigns the ends of a case's captured connections to their owners.
///
/// The harness recognizes its own connections: an accepted connection by the sequence number of its SYN, and an opened
/// connection by the time at which its SYN was sent. Subjects and programs can't report which connections are theirs.
/// Any other connection belongs to a subject or program that may have opened it at the time of its SYN: a subject
/// between its `start` and its `started`, or a program while it was running. If several actors may have opened a
/// connection, all of them are listed in `candidates`, and the connection is not judged under the name of any of them.
struct WireBinding {
    /// The SYN of a captured connection.
    struct Opening {
        var client: SocketEndpoint
        var server: SocketEndpoint
        var sequence: SequenceNumber
        /// The wall-clock time of the SYN, in nanoseconds.
        var time: UInt64
    }

    /// A connection of the harness.
    struct OwnConnection {
        var id: ObjectIdentifier
        var local: SocketEndpoint
        var peer: SocketEndpoint
        var origin: ConnectionOrigin
    }

    /// A possible opener of connections: one `start` of a subject, or a program while it is running. An opener can't
    /// report which connections it opened.
    struct Opener {
        enum Kind { case subject, program }

        var name: String
        var kind: Kind
        /// The endpoints to which the opener may connect: for a subject, its target; for a program, all endpoints on
        /// which the case listens, except the program's own.
        var targets: [EndpointPattern]
        var began: UInt64
        /// The time by which a subject had reported `started` or `stopped`; `nil` if it has not reported either.
        var settled: UInt64?
        /// The time at which a subject reported `stopped` or a program ended.
        var ended: UInt64?
        /// Whether a subject reported `started` and therefore has a connection.
        var isConnected = false
        /// Whether the opener belongs to another case that uses the same server.
        var belongsToOtherCase = false
    }

    /// For each of the harness's connections, the captured connection end that belongs to it.
    private(set) var ends: [ObjectIdentifier: WireEnd] = [:]
    /// For each captured connection end of the harness, the harness's connection to which it belongs.
    private(set) var owners: [WireEnd: ObjectIdentifier] = [:]
    /// For each connection that the harness did not open, the names of its possible openers; a single name if the
    /// opener is known.
    private(set) var candidates: [Int: Set<String>] = [:]
    /// The connections to servers outside the run that were opened by other users of these servers.
    private(set) var others: Set<Int> = []
    /// The connections to servers outside the run that may have been opened by other users of these servers. Such
    /// connections are neither stored nor judged.
    private(set) var possiblyOthers: Set<Int> = []

    /// Assigns the ends of all captured connections.
    ///
    /// - Parameters:
    ///   - openings: the SYNs of the captured connections, in the order in which they were captured.
    ///   - own: the harness's connections, in the order in which they began.
    ///   - isListener: returns whether the case itself listens on an endpoint.
    init(
        openings: [Opening], own: [OwnConnection], openers: [Opener], isListener: (SocketEndpoint) -> Bool
    ) {
        bindOwn(openings, own)
        let foreign = openings.indices.filter { owners[WireEnd(index: $0, side: .client)] == nil }
        var assignment = OpenerAssignment(openers: openers)
        for index in foreign { assignment.add(index, openings[index], isListener: isListener(openings[index].server)) }
        assignment.resolve()
        possiblyOthers = assignment.doubtful
        for index in foreign {
            let names = assignment.names(of: index)
            if names.isEmpty && !isListener(openings[index].server) { others.insert(index) }
            candidates[index] = names
        }
    }

    /// Returns the connections that an actor is known to have opened.
    func opened(by name: String) -> [Int] {
        candidates.filter { $0.value == [name] }.keys.sorted()
    }

    /// Returns the connections whose origin is ambiguous: the named actor may have opened them, but so may another
    /// actor or another user of the server.
    func possiblyOpened(by name: String) -> [Int] {
        candidates.filter { $0.value.count > 1 && $0.value.contains(name) }.keys.sorted()
    }

    private mutating func bindOwn(_ openings: [Opening], _ own: [OwnConnection]) {
        var byEnds: [Ends: [Int]] = [:]
        for (index, opening) in openings.enumerated() {
            byEnds[Ends(client: opening.client, server: opening.server), default: []].append(index)
        }
        for connection in own {
            let end: WireEnd?
            switch connection.origin {
            case .connected(let after):
                let found = byEnds[Ends(client: connection.local, server: connection.peer)]?.first {
                    openings[$0].time >= after && owners[WireEnd(index: $0, side: .client)] == nil
                }
                end = found.map { WireEnd(index: $0, side: .client) }
            case .accepted(let sequence, let before):
                let known = byEnds[Ends(client: connection.peer, server: connection.local)] ?? []
                let found: Int?
                if let sequence {
                    found = known.last { openings[$0].sequence.value == sequence && openings[$0].time <= before }
                } else {
                    // Without the sequence number, a connection can be identified only if no other connection has the
                    // same addresses.
                    found = known.count == 1 ? known[0] : nil
                }
                end = found.map { WireEnd(index: $0, side: .server) }
            }
            guard let end else { continue }
            ends[connection.id] = end
            owners[end] = connection.id
        }
    }

    private struct Ends: Hashable {
        var client: SocketEndpoint
        var server: SocketEndpoint
    }
}

/// One side of a captured connection.
struct WireEnd: Hashable {
    var index: Int
    var side: ConversationSide
}
