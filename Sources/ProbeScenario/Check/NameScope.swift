import ProbeBase

/// Determines the meaning of each name at the step being checked, and reports names that are unknown or of the wrong
/// kind.
final class NameScope {
    /// The current position of the checker in a script.
    struct Place {
        var isInHeader = true
        /// Whether the order of the step relative to other steps is unknown, because the step is in a block that does
        /// not run at the block's position in the script.
        var isOrderUnknown = false
        /// Whether the step is in a `finally` block, in which names that the timeline binds may be unbound.
        var isInFinally = false
        /// Whether the step is in a loop's body that is walked a second time.
        var isSecondPass = false
        /// Whether the step is in a block that may run any number of times.
        var mayRepeat = false
        /// Whether the step is in a branch, or in a block that runs in parallel with other blocks or instead of other
        /// blocks.
        var isInBranch = false
    }

    let context: ParseContext
    let collected: CollectedNames
    var place = Place()
    var state = ScriptState()
    /// The links on which an earlier step has started random packet loss, keyed by their index in the header.
    var linksWithLoss: Set<Int> = []
    /// The values that are the same in every case.
    var constants: ConstantFolder
    /// The declared actors that no step has used so far.
    private(set) var unusedActors: Set<String>
    /// The actors that exist without a declaration, such as the two ends of a captured connection.
    var givenActors: [String] = []
    /// For each process, the number of its ports to which the script refers.
    private(set) var processPorts: [String: Int] = [:]
    /// The targets that clients and subjects connect to.
    var targets: [String: Target] = [:]
    /// The actors for which a step sets how a future connection is read, each with the actor's name as it appears in
    /// the first such step. An actor is removed once it has a connection.
    var pendingReadings: [String: (name: Name, kind: ActorKind)] = [:]
    /// For each `together` block that encloses the step, the names that the lines of the block bind. Each name is
    /// stored with the number of the line that binds it, or with -1 if several lines bind it.
    var parallelLines: [(names: [String: Int], line: Int)] = []
    /// The kind of the actor whose expectation is being checked; `nil` if it is unknown.
    var expectationKind: ActorKind?
    /// Whether the connection of the `send` that is being checked may speak TLS.
    var sendsRecords = false
    /// The names that the header binds. They are bound at every step.
    private var headerNames: Set<String> = []
    private var boundInFinally: Set<String> = []

    init(_ context: ParseContext) {
        self.context = context
        collected = CollectedNames(of: context.scenario)
        constants = ConstantFolder(framing: context.scenario.framing)
        if collected.hasFramingStep { constants.framing = nil }
        unusedActors = Set(context.scenario.actors.map(\.name.value))
    }

    func report(
        _ id: DiagnosticID, _ text: String, hint: String? = nil, at span: SourceSpan, notes: [Diagnostic.Note] = []
    ) {
        context.report(id, text, hint: hint, at: span, notes: notes)
    }

    func report(_ message: @autoclosure () -> Diagnostic.Message, at span: SourceSpan, notes: [Diagnostic.Note] = []) {
        context.report(message(), at: span, notes: notes)
    }

    /// Reports an error about the order of steps, but only if that order is known.
    func reportOrder(
        _ id: DiagnosticID, _ text: String, hint: String? = nil, at span: SourceSpan, notes: [Diagnostic.Note] = []
    ) {
        reportOrder(Diagnostic.Message(id, text, hint: hint), at: span, notes: notes)
    }

    func reportOrder(
        _ message: @autoclosure () -> Diagnostic.Message, at span: SourceSpan, notes: [Diagnostic.Note] = []
    ) {
        if !place.isOrderUnknown { report(message(), at: span, notes: notes) }
    }

    /// Returns whether a statement that contains this name could not be parsed. If so, an error about the name may be a
    /// consequence of the syntax error in that statement.
    func isDoubtful(_ name: String) -> Bool { context.doubtful.contains(name) }

    // MARK: Names for messages

    /// The names of all actors, for use in a message; empty if there are too many to list or compare.
    var actorNames: [String] {
        let accepted = collected.acceptedActors
        guard context.scenario.actors.count + accepted.count <= Self.maxNamesInMessage else { return [] }
        return context.scenario.actors.map(\.name.value) + givenActors + listed(accepted)
    }

    /// The number of names above which messages no longer suggest a similar name, because each search takes time linear
    /// in the number of names.
    private static let maxNamesInMessage = 1_000

    /// Returns the names in alphabetical order, for use in a message; empty if there are too many.
    func listed(_ known: some Collection<String>) -> [String] {
        known.count <= Self.maxNamesInMessage && !context.diagnostics.isFull ? known.sorted() : []
    }

    // MARK: Binding

    /// Binds a name to a value of the given type.
    func bind(_ name: Name, _ type: ValueType, inHeader: Bool = false) {
        if let actor = state.actors[name.value], !isDoubtful(name.value), actor.kind != .connection || !inHeader {
            reportTaken(name)
            return
        }
        if inHeader { headerNames.insert(name.value) } else { constants.forget(name.value) }
        state.set(name.value, ScriptState.Variable(type: type))
    }

    /// Binds a name in a step.
    func bindInStep(_ name: Name?, _ type: ValueType) {
        guard let name else { return }
        if place.isInFinally { boundInFinally.insert(name.value) }
        bind(name, type)
    }

    /// Records that a loop over a table binds these names.
    func noteBound(_ names: [Name]) {
        if place.isInFinally { boundInFinally.formUnion(names.map(\.value)) }
    }

    /// Clears the names that `finally` blocks have bound. Called after the outermost `finally` block.
    func forgetBoundInFinally() { boundInFinally = [] }

    func reportTaken(_ name: Name) {
        let notes = context.declarations[name.value].map {
            [Diagnostic.Note("`\(name.value)` is first declared here", span: $0)]
        }
        report(.duplicate(name.value), at: name.span, notes: notes ?? [])
    }

    func bindGroups(of literal: RegexLiteral) {
        for group in literal.groupNames { bind(Name(group, literal.span), .bytes) }
    }

    private func bindGroups(of pattern: Pattern) {
        switch pattern {
        case .regex(let literal): bindGroups(of: literal)
        case .value(let expression):
            // If the variable is a column of a table, the groups are the named groups of the regexes in that column.
            guard case .variable(let name) = expression.kind else { return }
            for group in collected.groupsOfCells[name] ?? [] { bind(Name(group, expression.span), .bytes) }
        case .any: break
        }
    }

    /// Binds the names that an action binds when it succeeds.
    func bind(_ bindings: Bindings) {
        for entry in bindings.patterns {
            bindGroups(of: entry.pattern)
            guard entry.isOptional, case .regex(let literal) = entry.pattern else { continue }
            // An optional line may not be received, so the groups of its regex may remain unbound.
            for group in literal.groupNames {
                state.set(group, ScriptState.Variable(type: .bytes, isUncertain: true))
            }
        }
        bindInStep(bindings.name, bindings.type)
    }

    // MARK: Looking up

    /// Returns the type of a variable. A name that is not a variable, or is not bound yet, is reported.
    ///
    /// - Parameter isInString: whether the name is written as `${name}`, inside a string.
    func lookUp(_ name: Name, isInString: Bool = false) -> ValueType {
        if let known = state.variables[name.value] {
            let isSure =
                !known.isUncertain
                && (!place.isInFinally || headerNames.contains(name.value) || boundInFinally.contains(name.value))
            if !isSure, !place.isOrderUnknown || place.isInFinally { reportUnbound(name) }
            return known.type
        }
        if state.actors[name.value] != nil {
            report(
                .notAVariable, "`\(name.value)` is an actor, not a value",
                hint: "use `\"${\(name.value).port}\"` for its port", at: name.span)
        } else if isDoubtful(name.value) {
            return .any
        } else if collected.variables[name.value] != nil {
            if !place.isOrderUnknown || place.isInFinally || place.isInHeader { reportUnbound(name) }
        } else {
            reportUnknown(name, isInString)
        }
        return .any
    }

    func reportUnbound(_ name: Name) {
        for (names, line) in parallelLines.reversed() {
            if let other = names[name.value], other != line {
                report(
                    .unboundVariable,
                    "`\(name.value)` is bound by another line of this `together`, which runs at the same time",
                    hint: "put both lines into one `do { … }`", at: name.span)
                return
            }
        }
        let notes = collected.variables[name.value].map { [Diagnostic.Note("bound here", span: $0)] } ?? []
        if place.isInFinally {
            report(
                .unboundVariable,
                "`\(name.value)` might not be bound in `finally`, which runs even if the step that binds it was "
                    + "never reached",
                hint: "use only names that the header or the `finally` itself binds", at: name.span,
                notes: notes)
        } else {
            report(
                .unboundVariable, "`\(name.value)` might not be bound at this step",
                hint: "bind `\(name.value)` in every branch before this step, or before the "
                    + "branches", at: name.span, notes: notes)
        }
    }

    private func reportUnknown(_ name: Name, _ isInString: Bool) {
        if let dash = name.value.lastIndex(of: "-") {
            let left = String(name.value[..<dash])
            let right = String(name.value[name.value.index(after: dash)...])
            let isRight = right.utf8.allSatisfy(\.isDigit) || state.variables[right] != nil
            if state.variables[left] != nil, isRight {
                report(
                    .unknownVariable, "unknown variable `\(name.value)`: a `-` without spaces is part of the name",
                    hint: "put spaces around the `-` to subtract: `\(left) - \(right)`", at: name.span)
                return
            }
        }
        if isInString {
            report(.unknownInterpolation(name.value, listed(state.variables.keys)), at: name.span)
            return
        }
        if let kind = expectationKind, ForeignWords.expectation(name.value, kind) != nil {
            report(.unknownExpectation(name.value, kind: kind), at: name.span)
            return
        }
        // The expectations that the author of a misspelled word may have intended.
        let words = expectationKind.map(LanguageTable.expectationChoices) ?? []
        if words.contains(name.value) || words.contains(where: { $0.utf8.starts(with: (name.value + " ").utf8) }) {
            report(.wordAlone(name.value), at: name.span)
            return
        }
        report(.unknownVariable(name.value, listed(state.variables.keys) + words), at: name.span)
    }

    // MARK: Actors

    /// Marks an actor as used by the script.
    func use(_ actor: String) {
        if !unusedActors.isEmpty { unusedActors.remove(actor) }
    }

    /// Records that the script uses at least this many of the process's ports.
    func usePorts(_ count: Int, of process: String) {
        processPorts[process] = max(processPorts[process] ?? 0, count)
    }

    /// Returns the actor with this name. If there is none, reports an error and returns `nil`.
    func actor(_ name: Name) -> ScriptState.Actor? {
        use(name.value)
        if let known = state.actors[name.value] {
            if known.isUncertain, !place.isOrderUnknown { reportUnbound(name) }
            return known
        }
        if isDoubtful(name.value) { return nil }
        if collected.acceptedActors.contains(name.value) {
            if !place.isOrderUnknown { reportUnbound(name) }
        } else if state.variables[name.value] != nil {
            report(.variableAsActor(name.value), at: name.span)
        } else {
            report(.unknownActor(name.value, actorNames), at: name.span)
        }
        return nil
    }
}

extension Diagnostic.Message {
    static func unknownExpectation(_ word: String, kind: ActorKind?) -> Self {
        Self(
            .unknownExpectation, "unknown expectation \(Escaped.quoted(word))",
            hint: ForeignWords.expectation(word, kind ?? .connection)
                ?? didYouMean(
                    word, LanguageTable.expectationChoices(of: kind ?? .connection),
                    "write a value after `expect`, or one of"))
    }

    static func duplicate(_ name: String) -> Self {
        Self(.duplicateName, "the name `\(name)` is already taken", hint: "choose another name")
    }

    static func unknownVariable(_ name: String, _ names: [String]) -> Self {
        Self(
            .unknownVariable, "unknown variable `\(name)`",
            hint: Suggestion.nearest(to: name, among: names).map { "did you mean `\($0)`?" }
                ?? "put text in quotes: `\"\(name)\"`; to bind a variable, use `let`, `each`, `for`, `as` or a "
                + "regex group")
    }

    /// The message for an unknown name that a string interpolates.
    static func unknownInterpolation(_ name: String, _ names: [String]) -> Self {
        Self(
            .unknownVariable, "unknown variable `\(name)`",
            hint: Suggestion.nearest(to: name, among: names).map { "did you mean `${\($0)}`?" }
                ?? "bind the name first: `let \(name) = …`, `for \(name) in 1..3 { … }`, `expect line as \(name)`; "
                + "to send a literal `${`, write `\\${`")
    }

    static func wordAlone(_ word: String) -> Self {
        Self(
            .unknownVariable, "`\(word)` alone is read as a variable, and no variable has this name",
            hint: Self.example(of: word).map { "complete the expectation: \($0)" })
    }

    private static func example(of word: String) -> String? {
        switch word {
        case "line", "message", "leftover", "data": "`expect \(word) \"text\"` or `expect \(word) as x`"
        case "lines": "`expect lines in any order \"a\", /b/`"
        case "until": "`expect until \"\\0\" as x`"
        case "any": "`expect any bytes as x`"
        case "urgent": "`expect urgent \"!\"`"
        case "accept": "`expect accept as A`"
        case "output": "`expect output /ready/`"
        case "no": "`expect no output /error/`"
        case "error": "`expect error already-started`"
        case "send": "`expect send failed reset`"
        case "memory", "descriptors", "threads": "`expect \(word) <= 100` or `expect \(word) as x`"
        case "cpu": "`expect cpu <= 100ms` or `expect cpu as x`"
        default: nil
        }
    }

    static func variableAsActor(_ name: String) -> Self {
        Self(.notAnActor, "`\(name)` is a variable, not an actor", hint: "use the name of an actor instead")
    }
}

/// Checks whether an `accept` can receive a connection.
extension NameScope {
    /// Returns the error for an `accept` that can't receive a connection, because all connections opened so far have
    /// already been accepted; `nil` if another connection is possible. A running subject or program can connect at any
    /// time, and so can any process that knows the server's port.
    func missingConnection(to server: String, _ known: ScriptState.Actor) -> Diagnostic.Message? {
        guard let accepted = known.minAccepts, !isDoubtful(server) else { return nil }
        var opened = 0
        var late: [String] = []
        for actor in context.scenario.actors {
            let name = actor.name.value
            switch actor.kind {
            case .server(let address, _, _):
                // Any process that knows the server's port may connect.
                if name == server, address?.port != nil { return nil }
            case .process:
                // A program may connect, because it may know the server's port.
                if isDoubtful(name) || state.actors[name]?.lifecycle != .idle { return nil }
            case .proxy(let target):
                // A proxy connects when a client connects to it.
                if reaches(target, server) { return nil }
            case .client(let target, _):
                guard reaches(target, server) else { continue }
                guard let count = openedConnections(of: name) else { return nil }
                opened += count
                if count == 0, target != nil { late.append("\(name) connect") }
            case .subject(let target?, _):
                guard reaches(target, server) else { continue }
                guard let count = openedConnections(of: name) else { return nil }
                opened += count
                if count == 0 { late.append("\(name) start") }
            // The connections of a crowd are never accepted by a script's `accept`.
            case .subject(nil, _), .crowd: continue
            }
        }
        guard opened <= accepted else { return nil }
        late = Array(late.prefix(3))
        if opened > 0 { return .acceptsTooOften(server, opened, late) }
        return late.isEmpty ? nil : .acceptsTooEarly(server, late)
    }

    /// Returns whether the target may be the server. If the target is an address, it may be an address of the server.
    private func reaches(_ target: Target?, _ server: String) -> Bool {
        guard case .actor(let name) = target else { return true }
        return name.value == server
    }

    /// Returns the largest number of connections that the actor can have opened so far; `nil` if unknown.
    private func openedConnections(of name: String) -> Int? {
        isDoubtful(name) ? nil : state.actors[name]?.maxConnections
    }
}

extension Diagnostic.Message {
    /// The message for an `accept` that runs before any actor in `peers` has connected.
    static func acceptsTooEarly(_ server: String, _ peers: [String]) -> Self {
        Self(
            .acceptTooEarly, "no actor has connected to `\(server)` yet: this step would wait until its deadline",
            hint: connectFirst(peers))
    }

    /// The message for an `accept` that runs after all `count` connections opened so far have been accepted. The actors
    /// in `peers` connect only later.
    static func acceptsTooOften(_ server: String, _ count: Int, _ peers: [String]) -> Self {
        Self(
            .acceptTooEarly,
            (count == 1
                ? "the only connection to `\(server)` has" : "all \(count) connections to `\(server)` have")
                + " already been accepted: this step would wait until its deadline",
            hint: peers.isEmpty
                ? "remove this step, or let another client connect to `\(server)` first" : connectFirst(peers))
    }

    private static func connectFirst(_ peers: [String]) -> String {
        "move \(peers.map { "`\($0)`" }.joined(separator: " or ")) before this step, or put the connect and this step into "
            + "`together { … }`: steps run in order"
    }
}
