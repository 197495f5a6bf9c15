import ProbeBase
import ProbeWire

/// Determines who opened which connection, from those that could have.
///
/// A connection that opened while a subject was starting is that subject's, if no other opener could have opened it. A
/// subject that reported `started` has a connection: if only one can be its own, it is that one. What remains has
/// several candidates.
struct OpenerAssignment {
    private let openers: [WireBinding.Opener]
    /// The positions of the openers that may have opened each connection.
    private var candidates: [Int: Set<Int>] = [:]
    /// Connections that opened outside of any start, with the subjects that had been started by then.
    private var stray: [Int: Set<Int>] = [:]
    /// Connections to a server that others use, with the server's endpoint.
    private var outside: [Int: SocketEndpoint] = [:]
    /// Connections in `outside` of which one start has several at the same address: some of them belong to others.
    private(set) var doubtful: Set<Int> = []

    /// The name of any other user of a server outside of the run.
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
        // A program that has ended may have left processes running, whose connections count as the program's.
        if programs.isEmpty { programs = ended }
        if !starting.isEmpty {
            candidates[connection] = starting.union(programs)
        } else if isListener {
            candidates[connection] = programs.union(started)
        } else {
            // At a server that others use, a connection outside of any start belongs to others, unless a subject has no
            // other.
            candidates[connection] = programs
            stray[connection] = started
        }
    }

    /// Narrows down the candidates as far as possible.
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
        // Determined before any stray connection is assigned, so that if two may be the same subject's, neither is taken
        // for its own.
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

    /// Returns the names of the candidates; empty if no opener of the case may have opened the connection.
    func names(of connection: Int) -> Set<String> {
        let possible = (candidates[connection] ?? []).map { openers[$0] }
        if possible.contains(where: \.belongsToOtherCase), possible.allSatisfy(\.belongsToOtherCase) { return [] }
        let names = Set(possible.map { $0.belongsToOtherCase ? "\($0.name) of another case" : $0.name })
        return doubtful.contains(connection) ? names.union([Self.otherProgram]) : names
    }
}
