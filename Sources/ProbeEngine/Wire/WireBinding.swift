import ProbeBase
import ProbeSystem
import ProbeWire

/// Whose the ends of a case's captured connections are.
///
/// An endpoint of the harness knows its own connection: one that it accepted by its SYN's sequence number, one that it opened by the time at
/// which the SYN left. The subject and programs are not asked. A connection that the harness did not open is theirs who may have
/// opened it then: a subject between its `start` and its `started`, a program while it ran. Where more than one may have opened it, that is
/// said (`candidates`), and nothing is judged from it under the name of one of them. Pure.
struct WireBinding {
    /// The SYN of a captured connection.
    struct Opening {
        var client: SocketEndpoint
        var server: SocketEndpoint
        var sequence: SequenceNumber
        /// Of the wall clock, in nanoseconds.
        var time: UInt64
    }

    /// A connection of the harness.
    struct Own {
        var id: ObjectIdentifier
        var local: SocketEndpoint
        var peer: SocketEndpoint
        var origin: ConnectionOrigin
    }

    /// Something that opens connections and is not asked which: one `start` of a subject, or a program while it runs.
    struct Opener {
        enum Kind { case subject, program }

        var name: String
        var kind: Kind
        /// Where its connections go: a subject's target; of a program everything that the case listens on but itself.
        var targets: [EndpointPattern]
        var began: UInt64
        /// A subject reported `started` or `stopped` by then; nil where it has not.
        var settled: UInt64?
        /// It reported `stopped`, or the program ended.
        var ended: UInt64?
        /// Of a subject: it reported `started`, so that it has a connection.
        var isConnected = false
        /// Another case's, at a server that both use.
        var isOfAnotherCase = false
    }

    /// Of each own connection its end of a captured one.
    private(set) var ends: [ObjectIdentifier: WireEnd] = [:]
    /// Of each end of a captured connection that is the harness's own whose it is.
    private(set) var owners: [WireEnd: ObjectIdentifier] = [:]
    /// Who may have opened each connection that the harness did not open: one name where it is known.
    private(set) var candidates: [Int: Set<String>] = [:]
    /// Connections of others at a server outside of the run.
    private(set) var others: Set<Int> = []
    /// Connections there that may be others': they are not stored, and nothing is judged from them.
    private(set) var perhapsOthers: Set<Int> = []

    /// - Parameters:
    ///   - openings: of the captured connections, in the order of the capture.
    ///   - own: in the order in which they began.
    ///   - isListener: whether the case itself listens at an endpoint.
    init(
        openings: [Opening], own: [Own], openers: [Opener], isListener: (SocketEndpoint) -> Bool
    ) {
        bindOwn(openings, own)
        let foreign = openings.indices.filter { owners[WireEnd(index: $0, side: .client)] == nil }
        var assignment = OpenerAssignment(openers: openers)
        for index in foreign { assignment.add(index, openings[index], isListener: isListener(openings[index].server)) }
        assignment.resolve()
        perhapsOthers = assignment.doubtful
        for index in foreign {
            let names = assignment.names(of: index)
            if names.isEmpty && !isListener(openings[index].server) { others.insert(index) }
            candidates[index] = names
        }
    }

    /// The connections that an actor is known to have opened.
    func opened(by name: String) -> [Int] {
        candidates.filter { $0.value == [name] }.keys.sorted()
    }

    /// Those that it may have opened, or another one.
    func perhapsOpened(by name: String) -> [Int] {
        candidates.filter { $0.value.count > 1 && $0.value.contains(name) }.keys.sorted()
    }

    private mutating func bindOwn(_ openings: [Opening], _ own: [Own]) {
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
                    // Without the number only one that is alone with its addresses is known.
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
