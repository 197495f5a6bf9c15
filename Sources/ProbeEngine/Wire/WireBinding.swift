import ProbeBase
import ProbeSystem
import ProbeWire

/// Assigns the ends of a case's captured connections to their owners.
///
/// An endpoint of the harness knows its own connection: an accepted one by its SYN's sequence number, an opened one by
/// the time at which the SYN left. The subject and programs are not asked. A connection that the harness did not open
/// belongs to whichever of them may have opened it at that time: a subject between its `start` and its `started`, a
/// program while it ran. If several may have opened it, all are listed (`candidates`), and nothing is judged from it
/// under the name of one of them. Pure.
struct WireBinding {
    /// The SYN of a captured connection.
    struct Opening {
        var client: SocketEndpoint
        var server: SocketEndpoint
        var sequence: SequenceNumber
        /// The wall-clock time in nanoseconds.
        var time: UInt64
    }

    /// A connection of the harness.
    struct OwnConnection {
        var id: ObjectIdentifier
        var local: SocketEndpoint
        var peer: SocketEndpoint
        var origin: ConnectionOrigin
    }

    /// An opener of connections that is not asked which are its own: one `start` of a subject, or a program while it
    /// runs.
    struct Opener {
        enum Kind { case subject, program }

        var name: String
        var kind: Kind
        /// The targets of its connections: a subject's target; for a program, everything on which the case listens
        /// except the program itself.
        var targets: [EndpointPattern]
        var began: UInt64
        /// The time by which a subject had reported `started` or `stopped`; `nil` if it has not.
        var settled: UInt64?
        /// When a subject reported `stopped`, or the program ended.
        var ended: UInt64?
        /// Whether a subject reported `started`, so that it has a connection.
        var isConnected = false
        /// Whether it belongs to another case, at a server that both use.
        var belongsToOtherCase = false
    }

    /// The end of a captured connection for each connection of the harness.
    private(set) var ends: [ObjectIdentifier: WireEnd] = [:]
    /// The connection of the harness for each end of a captured connection that is the harness's own.
    private(set) var owners: [WireEnd: ObjectIdentifier] = [:]
    /// The names of those that may have opened each connection that the harness did not open: one name if it is known.
    private(set) var candidates: [Int: Set<String>] = [:]
    /// The connections of others at a server outside of the run.
    private(set) var others: Set<Int> = []
    /// The connections at such a server that may be others': they are not stored, and nothing is judged from them.
    private(set) var possiblyOthers: Set<Int> = []

    /// Assigns all ends.
    ///
    /// - Parameters:
    ///   - openings: the SYNs of the captured connections, in the order of the capture.
    ///   - own: the connections of the harness, in the order in which they began.
    ///   - isListener: whether the case itself listens at an endpoint.
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

    /// Returns the connections that either an actor or another opener may have opened.
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
                    // Without the sequence number, a connection is known only if no other has the same addresses.
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
