import ProbeBase
import ProbeWire

/// Determines which of the possible openers opened each connection.
///
/// A connection that was opened while a subject was starting belongs to the subject if there is no other possible
/// opener. A subject that reported `started` has a connection, so if only one connection can belong to the subject,
/// that connection is assigned to the subject. All other connections keep several candidates.
struct OpenerAssignment {
    private let openers: [WireBinding.Opener]
    /// For each connection, the indices of the openers that may have opened it.
    private var candidates: [Int: Set<Int>] = [:]
    /// The connections that were opened while no subject was starting, each with the subjects that had been started by
    /// then.
    private var stray: [Int: Set<Int>] = [:]
    /// The connections to servers that are shared with other programs, each with its server's endpoint.
    private var outside: [Int: SocketEndpoint] = [:]
    /// The connections in `outside` whose owner is uncertain. If one start may have opened any of several connections
    /// to the same address, some of these connections belong to other users of the server.
    private(set) var doubtful: Set<Int> = []

    /// The name in reports for any other user of a server outside the run.
    static let otherProgram = "another program"

    init(openers: [WireBinding.Opener]) { self.openers = openers }

    mutating func add(_ connection: Int, _ opening: WireBinding.Opening, isListener: Bool) {
        var starting: Set<Int> = []
        var started: Set<Int> = []
        var programs: Set<Int> = []
        var ended: Set<Int> = []
        for (position, opener) in openers.enumerated()
        where opener.began <= opening.time && opener.targets.contains(where: { $0.matches(opening.server) }) {
            switch opener.kind {
            case .program:
                if opening.time <= opener.ended ?? .max { programs.insert(position) } else { ended.insert(position) }
            case .subject:
                if opening.time <= opener.settled ?? .max {
                    starting.insert(position)
                } else if opening.time <= opener.ended ?? .max {
                    started.insert(position)
                }
            }
        }
        if !isListener { outside[connection] = opening.server }
        // A program that has ended may have left processes running. The connections of these processes are attributed
        // to the program.
        if programs.isEmpty { programs = ended }
        if !starting.isEmpty {
            candidates[connection] = starting.union(programs)
        } else if isListener {
            candidates[connection] = programs.union(started)
        } else {
            // The connection leads to a server outside the run, which has other users. Because the connection was
            // opened while no subject was starting, it belongs to one of these users unless a subject has no other
            // connection.
            candidates[connection] = programs
            stray[connection] = started
        }
    }

    /// Narrows down the candidates of each connection as far as possible.
    mutating func resolve() {
        var satisfied: Set<Int> = []
        var isSettled = false
        while !isSettled {
            isSettled = true
            for (_, names) in candidates where names.count == 1 { satisfied.formUnion(names) }
            for (position, opener) in openers.enumerated()
            where opener.kind == .subject && opener.isConnected && !satisfied.contains(position) {
                let possible = candidates.filter { $0.value.contains(position) }
                guard possible.count == 1, let connection = possible.first?.key else { continue }
                candidates[connection] = [position]
                satisfied.insert(position)
                isSettled = false
            }
        }
        // `mayHaveAnother` is computed before any stray connection (one that was opened while no subject was starting)
        // is assigned: if two stray connections may belong to the same subject, neither is assigned to the subject.
        let mayHaveAnother = candidates.values.reduce(into: Set<Int>()) { $0.formUnion($1) }
        for (connection, started) in stray where candidates[connection]?.isEmpty != false {
            candidates[connection] = started.subtracting(satisfied).subtracting(mayHaveAnother)
        }
        for position in openers.indices {
            let possible = outside.filter { candidates[$0.key]?.contains(position) == true }
            for (_, at) in Dictionary(grouping: possible, by: \.value) where at.count > 1 {
                doubtful.formUnion(at.map(\.key))
            }
        }
    }

    /// Returns the names of a connection's candidates; the result is empty if no opener of the case may have opened it.
    func names(of connection: Int) -> Set<String> {
        let possible = (candidates[connection] ?? []).map { openers[$0] }
        if possible.contains(where: \.belongsToOtherCase), possible.allSatisfy(\.belongsToOtherCase) { return [] }
        let names = Set(possible.map { $0.belongsToOtherCase ? "\($0.name) of another case" : $0.name })
        return doubtful.contains(connection) ? names.union([Self.otherProgram]) : names
    }
}
