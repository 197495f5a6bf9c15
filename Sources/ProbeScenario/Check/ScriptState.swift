import ProbeBase

/// What is known about a variable's value before the run.
package enum ValueType: Sendable, Equatable {
    case integer, bytes, pieces, regex
    /// The type is unknown, or there are several possible types.
    case any

    func joined(with other: ValueType) -> ValueType { self == other ? self : .any }
}

/// What is known about names at one point in the timeline. Changes are recorded in a journal, so the cost of a branch
/// depends on the number of its changes rather than on the size of the state.
struct ScriptState {
    struct Variable: Equatable {
        var type: ValueType
        /// Whether only some of the branches before this point bind the name.
        var isUncertain = false
    }

    struct Actor: Equatable {
        enum Link: Equatable {
            case none, up
            /// The peer has ended the connection.
            case ended
            /// A step of the actor has ended the connection.
            case closed(verb: String, span: SourceSpan)
            /// The branches before this point leave the connection in different states.
            case unknown
        }
        /// The security of the actor's connection.
        enum Security: Equatable {
            case plain, tls
            /// A record was forged at this place in the script.
            case forged(SourceSpan)
            /// The actor has sent a close_notify. Bytes sent after the close_notify are in records that the harness
            /// forges.
            case notified
            /// The branches before this point leave the connection in different security states, or the handshake was
            /// expected to fail.
            case unknown
        }
        enum Lifecycle: Equatable {
            case idle, running, stopped, unknown
        }

        var kind: ActorKind
        var link = Link.none
        var security = Security.plain
        /// The declared TLS options; `nil` if the actor is declared without `tls`.
        var tls: DeclaredTLS?
        var halfClosed: SourceSpan?
        var lifecycle = Lifecycle.idle
        var isListening: Bool? = true
        /// The number of connections that the actor is certain to have had. If `mayHaveMore` is set, the actor may have
        /// had more connections.
        var connections = 0
        var mayHaveMore = false
        /// The largest number of connections that the actor can have opened; `nil` if unknown.
        var maxConnections: Int? = 0
        /// The number of connections that a server is certain to have accepted; `nil` if the connections are no longer
        /// counted.
        var minAccepts: Int? = 0
        /// The server that accepted the connection.
        var parent: String?
        /// Whether the actor's connections use a Unix socket, according to the header.
        var isUnix = false
        /// Whether only some of the branches before this point bind the name.
        var isUncertain = false

        /// An actor whose connections are unknown, because one of its steps could not be parsed.
        var inDoubt: Actor {
            var actor = self
            actor.link = .unknown
            actor.security = .unknown
            actor.lifecycle = .unknown
            actor.isListening = nil
            actor.halfClosed = nil
            actor.mayHaveMore = true
            actor.maxConnections = nil
            actor.minAccepts = nil
            return actor
        }
    }

    /// The parts of a declaration's TLS options that the checker uses.
    struct DeclaredTLS: Equatable {
        var version: TLSVersion?
        var span: SourceSpan
    }

    private(set) var variables: [String: Variable] = [:]
    private(set) var actors: [String: Actor] = [:]
    /// The changes made in the branches being walked. A change outside branches is never undone, so it is not recorded.
    private var journal: [Change] = []
    private var openBranches = 0

    private enum Change {
        case variable(String, Variable?)
        case actor(String, Actor?)
    }

    /// The position in the journal at which a branch begins.
    struct Mark {
        fileprivate var place: Int
    }

    struct Delta {
        fileprivate var variables: [String: Variable?] = [:]
        fileprivate var actors: [String: Actor?] = [:]
    }

    mutating func set(_ name: String, _ variable: Variable?) {
        if openBranches > 0 { journal.append(.variable(name, variables[name])) }
        variables[name] = variable
    }

    mutating func set(_ name: String, _ actor: Actor?) {
        if openBranches > 0 { journal.append(.actor(name, actors[name])) }
        actors[name] = actor
    }

    /// Begins a branch, which ``takeBack(to:)`` ends.
    mutating func beginBranch() -> Mark {
        openBranches += 1
        return Mark(place: journal.count)
    }

    /// Ends a branch and undoes all its changes.
    ///
    /// - Returns: the changes that were undone, so that ``join(_:)`` can apply them.
    mutating func takeBack(to mark: Mark) -> Delta {
        openBranches -= 1
        var delta = Delta()
        for change in journal[mark.place...] {
            switch change {
            case .variable(let name, _): delta.variables[name] = .some(variables[name])
            case .actor(let name, _): delta.actors[name] = .some(actors[name])
            }
        }
        while journal.count > mark.place {
            switch journal.removeLast() {
            case .variable(let name, let old): variables[name] = old
            case .actor(let name, let old): actors[name] = old
            }
        }
        return delta
    }

    /// Applies the changes made in several branches, exactly one of which is taken.
    mutating func join(_ branches: [Delta]) {
        let variables = Self.merged(branches.map(\.variables), over: variables) {
            Variable(type: $0.type.joined(with: $1.type), isUncertain: $0.isUncertain || $1.isUncertain)
        }
        for (name, value, isEverywhere) in variables {
            var value = value
            if !isEverywhere { value?.isUncertain = true }
            set(name, value)
        }
        for (name, value, isEverywhere) in Self.merged(branches.map(\.actors), over: actors, by: Self.join) {
            var value = value
            if !isEverywhere { value?.isUncertain = true }
            set(name, value)
        }
    }

    /// Returns the joined state of each name that a branch changes, and whether the name has a value after every
    /// branch. A branch that does not change a name keeps the name's previous value. Takes time linear in the number of
    /// changes, regardless of the number of branches.
    private static func merged<Known>(
        _ branches: [[String: Known?]], over before: [String: Known], by join: (Known, Known) -> Known
    ) -> [(name: String, value: Known?, isEverywhere: Bool)] {
        var changes: [String: (value: Known?, isEverywhere: Bool, count: Int)] = [:]
        func add(_ value: Known?, to name: String) {
            let (known, isEverywhere, count) = changes[name] ?? (nil, true, 0)
            let joined = known.flatMap { known in value.map { join(known, $0) } } ?? known ?? value
            changes[name] = (joined, isEverywhere && value != nil, count + 1)
        }
        for branch in branches {
            for (name, value) in branch { add(value, to: name) }
        }
        for (name, change) in changes where change.count < branches.count { add(before[name], to: name) }
        return changes.map { ($0.key, $0.value.value, $0.value.isEverywhere) }
    }

    /// Applies the changes made by lines that have all run in an unknown order. An example is the lines of a `together`
    /// block.
    mutating func apply(_ parallelLines: [Delta]) {
        for line in parallelLines {
            for (name, variable) in line.variables { set(name, variable) }
        }
        var changed: [String: Actor] = [:]
        for line in parallelLines {
            for (name, actor) in line.actors {
                guard let actor else { continue }
                let base = actors[name]
                guard let earlier = changed[name] else {
                    changed[name] = actor
                    continue
                }
                if actor == base { continue }
                if earlier == base {
                    changed[name] = actor
                    continue
                }
                var joined = Self.join(earlier, actor)
                // Two lines of a `together` block may both open connections, so the larger of their two counts could be
                // less than the total.
                joined.maxConnections = nil
                changed[name] = joined
            }
        }
        for (name, actor) in changed { set(name, actor) }
    }

    private static func join(_ left: Actor, _ right: Actor) -> Actor {
        var result = left
        if left.link != right.link { result.link = .unknown }
        if left.security != right.security { result.security = .unknown }
        if left.halfClosed != right.halfClosed { result.halfClosed = nil }
        if left.lifecycle != right.lifecycle { result.lifecycle = .unknown }
        if left.isListening != right.isListening { result.isListening = nil }
        result.connections = min(left.connections, right.connections)
        result.mayHaveMore = left.mayHaveMore || right.mayHaveMore || left.connections != right.connections
        result.maxConnections = Self.both(left.maxConnections, right.maxConnections, max)
        result.minAccepts = Self.both(left.minAccepts, right.minAccepts, min)
        result.isUncertain = left.isUncertain || right.isUncertain
        return result
    }

    private static func both(_ left: Int?, _ right: Int?, _ join: (Int, Int) -> Int) -> Int? {
        guard let left, let right else { return nil }
        return join(left, right)
    }
}
