import ProbeBase
import ProbeWire

/// Finds out who has opened which connection, from who could have.
///
/// A connection that opened while a subject was starting is that subject's, if nobody else could have opened it. A subject that
/// reported `started` has a connection: where there is only one that can be its own, it is. What remains has several candidates.
struct OpenerAssignment {
    private let openers: [WireBinding.Opener]
    /// Of each connection the positions of those who may have opened it.
    private var candidates: [Int: Set<Int>] = [:]
    /// Connections that opened outside of every start, and the subjects that had been started by then.
    private var stray: [Int: Set<Int>] = [:]
    /// Connections to a server that others use, and where it is.
    private var outside: [Int: SocketEndpoint] = [:]
    /// Of those the ones that one start has several of at one address: some of them are somebody else's.
    private(set) var doubtful: Set<Int> = []

    /// Whoever else uses a server outside of the run.
    static let stranger = "another program"

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
        // A program that has ended may have left processes running: their connections count as the program's.
        if programs.isEmpty { programs = ended }
        if !starting.isEmpty {
            candidates[connection] = starting.union(programs)
        } else if isListener {
            candidates[connection] = programs.union(started)
        } else {
            // A server that others use: a connection outside of every start is somebody else's, unless a subject has no other.
            candidates[connection] = programs
            stray[connection] = started
        }
    }

    /// Narrows the candidates down for as long as that gives anything.
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
        // Asked before any is given away: of two that may be one subject's neither is taken for its own.
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

    /// Empty where nobody of the case may have opened it.
    func names(of connection: Int) -> Set<String> {
        let possible = (candidates[connection] ?? []).map { openers[$0] }
        if possible.contains(where: \.isOfAnotherCase), possible.allSatisfy(\.isOfAnotherCase) { return [] }
        let names = Set(possible.map { $0.isOfAnotherCase ? "\($0.name) of another case" : $0.name })
        return doubtful.contains(connection) ? names.union([Self.stranger]) : names
    }
}
