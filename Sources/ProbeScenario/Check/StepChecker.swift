/// Walks the steps of the timeline in order. The steps of a `define` are walked at each `do` that invokes it, and the
/// steps in a loop's body are walked twice. The total number of walked steps is bounded.
final class StepChecker {
    let names: NameScope
    let values: ValueChecker
    private let tables: TableChecker
    let order: OrderChecker
    private let wire: WireChecker
    /// Whether a `define` is walked at each `do` that invokes it.
    private let canInline: Bool
    /// The number of steps walked so far; a step that is walked twice is counted twice.
    private var walked = 0
    private var invoked: Set<String> = []
    private var looselyWalked: Set<SourceSpan> = []
    /// Whether any step walked so far can fail because of a peer's behavior.
    private(set) var hasTest = false

    var context: ParseContext { names.context }

    init(_ names: NameScope, _ values: ValueChecker, _ tables: TableChecker, canInline: Bool) {
        self.names = names
        self.values = values
        self.tables = tables
        self.canInline = canInline
        order = OrderChecker(names: names)
        wire = WireChecker(names: names, values: values)
    }

    /// Checks all steps of the scenario, and the definitions that no step invokes.
    func checkTimeline() {
        walk(context.scenario.steps)
        order.reportReadingsOfNothing()
        CrowdChecker(names: names).reportNeverStarted()
        walkUninvokedDefinitions()
    }

    private func walk(_ steps: [Step]) {
        walked += steps.count
        for step in steps { walk(step) }
    }

    private func walk(_ step: Step) {
        switch step.kind {
        case .wait: break
        case .note(let value): values.requireBytes(value)
        case .assign(let name, let value):
            let type = values.requireNoRegex(value)
            values.report(names.constants.fold(value))
            names.bindInStep(name, type)
        case .check(let left, let comparison, let right):
            hasTest = true
            values.check(left, comparison, right)
        case .loop(let loopNames, let source, let block): walkLoop(loopNames, source, block)
        case .invoke(let name): invoke(name)
        case .sequence(let block): walk(block.steps)
        case .together(let block): walkTogether(block)
        case .either(let blocks): walkEither(blocks)
        case .retry(_, _, let block):
            let wasInBranch = names.place.isInBranch
            names.place.isInBranch = true
            walk(block.steps)
            names.place.isInBranch = wasInBranch
        case .finally(let block): walkFinally(block)
        case .whenever(let connection, let literal, let block): walkWhenever(connection, literal, block)
        case .act(let name, let action, let timing):
            hasTest = hasTest || action.isTest
            act(name, action, timing, step)
        case .wire(let statement, let timing):
            hasTest = true
            wire.check(statement, timing, step)
        case .name(let statement):
            NameChecker(names: names, links: LinkChecker(names: names, values: values)).check(statement)
        case .link(let link): LinkChecker(names: names, values: values).check(link, step)
        }
    }

    // MARK: Blocks

    private func walkLoop(_ loopNames: [Name], _ source: Step.LoopSource, _ block: Block) {
        var isOnce = false
        switch source {
        case .range(let first, let last):
            values.requireRange(first, last)
            names.bindInStep(loopNames.first, .integer)
            if case .integer(let low) = names.constants.fold(first),
                case .integer(let high) = names.constants.fold(last)
            {
                isOnce = low == high
            }
        case .table(let table):
            names.noteBound(loopNames)
            tables.bindColumns(of: table, to: loopNames)
            isOnce = context.scenario.tables[table.value]?.rows.count == 1
        }
        let mightRepeat = names.place.mayRepeat
        names.place.mayRepeat = mightRepeat || !isOnce
        defer { names.place.mayRepeat = mightRepeat }
        walk(block.steps)
        // The second pass over the body begins in the state in which the first pass ended. Each level of nested loops
        // doubles the number of walked steps, so once that number exceeds a limit, each body is walked only once.
        guard !isOnce, walked < Self.longestWalk + 8 * context.stepCount else { return }
        let wasSecond = names.place.isSecondPass
        names.place.isSecondPass = true
        walk(block.steps)
        names.place.isSecondPass = wasSecond
    }

    /// The number of walked steps, including the steps of second passes, after which each loop's body is walked only
    /// once.
    private static let longestWalk = 400_000

    private func walkEither(_ blocks: [Block]) {
        var branches: [ScriptState.Delta] = []
        for block in blocks {
            if let first = block.steps.first, !Self.canChoose(first) {
                names.report(
                    .eitherStart,
                    "a branch of `either` must start with an `expect` or an `accept`, which selects the branch",
                    hint: "move this step after the first `expect` or `accept`", at: first.span)
            }
            branches.append(branch { walk(block.steps) })
        }
        names.state.join(branches)
    }

    private static func canChoose(_ step: Step) -> Bool {
        switch step.kind {
        case .act(_, .server(.accept), _): true
        case .act(_, let action, _): action.isExpectation
        default: false
        }
    }

    private func walkTogether(_ block: Block) {
        var lines: [String: Int] = [:]
        for (line, step) in block.steps.enumerated() {
            for name in step.allBoundNames { lines[name] = lines[name] == nil || lines[name] == line ? line : -1 }
        }
        var results: [ScriptState.Delta] = []
        for (line, step) in block.steps.enumerated() {
            names.parallelLines.append((lines, line))
            results.append(branch { walk([step]) })
            names.parallelLines.removeLast()
        }
        names.state.apply(results)
    }

    private func walkFinally(_ block: Block) {
        let before = names.place
        names.place.isOrderUnknown = true
        names.place.isInFinally = true
        _ = changes { walk(block.steps) }
        names.place = before
        if !before.isInFinally { names.forgetBoundInFinally() }
    }

    private func walkWhenever(_ connection: Name, _ literal: RegexLiteral, _ block: Block) {
        hasTest = true
        values.check(literal)
        if let known = names.actor(connection) {
            if known.kind.isConnection {
                order.requireUp(connection, known)
            } else {
                names.report(
                    .wrongKindOfActor(connection.value, is: known.kind.rawValue, wanted: "a connection"),
                    at: connection.span)
            }
        }
        let mightRepeat = names.place.mayRepeat
        names.place.mayRepeat = true
        let change = branch {
            names.bindGroups(of: literal)
            walk(block.steps)
        }
        names.place.mayRepeat = mightRepeat
        // The block may run later or never, so its changes may not take effect.
        names.state.join([change, ScriptState.Delta()])
    }

    /// Returns the changes that `walk` makes to the state, and undoes them.
    private func changes(_ walk: () -> Void) -> ScriptState.Delta {
        let mark = names.state.beginBranch()
        walk()
        return names.state.takeBack(to: mark)
    }

    /// Like ``changes(_:)``, but for steps that run in parallel with other steps or instead of them.
    private func branch(_ walk: () -> Void) -> ScriptState.Delta {
        let wasInBranch = names.place.isInBranch
        names.place.isInBranch = true
        defer { names.place.isInBranch = wasInBranch }
        return changes(walk)
    }

    // MARK: Definitions

    private func invoke(_ name: Name) {
        guard let block = context.scenario.definitions[name.value] else {
            if !names.isDoubtful(name.value) {
                names.report(
                    .unknownDefinition(name.value, names.listed(context.scenario.definitions.keys)),
                    at: name.span)
            }
            return
        }
        invoked.insert(name.value)
        if canInline { walk(block.steps) } else { walkLoosely(block) }
    }

    /// Treats the names that a definition binds as bound. Used for definitions that are recursive or too large to be
    /// walked.
    private func walkLoosely(_ block: Block) {
        guard looselyWalked.insert(block.span).inserted else { return }
        for step in block.steps {
            for name in step.allBoundNames where names.state.variables[name] == nil && names.state.actors[name] == nil {
                names.state.set(name, ScriptState.Variable(type: .any))
            }
        }
    }

    /// Checks the definitions of the script itself that no `do` invokes.
    private func walkUninvokedDefinitions() {
        guard canInline else { return }
        names.place.isOrderUnknown = true
        for (name, block) in context.scenario.definitions.sorted(by: { $0.key < $1.key })
        where !invoked.contains(name) && block.span.file == 0 {
            _ = changes { walk(block.steps) }
        }
        names.place.isOrderUnknown = false
    }
}

extension Diagnostic.Message {
    static func unknownDefinition(_ name: String, _ names: [String]) -> Self {
        Self(
            .unknownDefinition, "unknown definition `\(name)`",
            hint: names.isEmpty
                ? "add `define \(name) { … }` before the first step" : didYouMean(name, names, "the definitions are"))
    }
}

/// Checks the steps of actors.
extension StepChecker {
    func act(_ name: Name, _ action: Action, _ timing: Timing, _ step: Step) {
        checkTiming(of: action, timing, step)
        guard var known = names.actor(name) else {
            checkValues(of: action)
            return
        }
        if names.isDoubtful(name.value) {
            known = known.inDoubt
            names.state.set(name.value, known)
        }
        guard action.isOf(known.kind) else {
            reportForeign(action, of: name, known.kind, step)
            return
        }
        if known.isUnix, case .connection(let step) = action, let what = step.tcpOnlyFeature {
            names.report(.notOnUnix(what, actor: name.value), at: context.sources.verb(after: name))
        }
        names.sendsRecords = context.scenario.speaksTLS && (known.security != .plain || known.tls != nil)
        checkValues(of: action, known.kind, step)
        names.sendsRecords = false
        order.follow(name, known, action, step)
    }

    /// Reports an action that exists only for other kinds of actors.
    private func reportForeign(_ action: Action, of name: Name, _ kind: ActorKind, _ step: Step) {
        let entry = action.entry
        let isExpectation = action.isExpectation
        let own = isExpectation ? LanguageTable.expectationEntries(of: kind) : LanguageTable.verbEntries(of: kind)
        if !isExpectation { checkValues(of: action) }
        if case .connection(.expect(.bytes(let value))) = action, case .variable(let word) = value.kind,
            names.state.variables[word] == nil
        {
            // A word that is not a variable was probably intended as an expectation.
            if !names.isDoubtful(word) {
                names.report(.unknownExpectation(word, kind: kind), at: value.span)
            }
        } else if own.contains(where: { $0.spelling == entry.spelling }) {
            names.report(
                .notAnActor,
                "`\(name.value)` is a \(kind.rawValue) here, but was another kind of actor when this step was parsed",
                hint: "give the two actors different names", at: name.span)
        } else if isExpectation {
            names.report(
                .expectationNotOfKind(entry.word, actor: name.value, kind: kind),
                at: step.focus)
        } else {
            names.report(
                .verbNotOfKind(entry.word, actor: name.value, kind: kind),
                at: context.sources.verb(after: name))
        }
    }

    private func checkTiming(of action: Action, _ timing: Timing, _ step: Step) {
        guard timing.within != nil || timing.after != nil else { return }
        let entry = action.entry
        if timing.within != nil, let reason = entry.timing?.within.refusal {
            names.report(
                .withinNotHere(reason.replacing("{}", with: entry.word)),
                at: context.sources.clause("within", of: step))
        }
        if timing.after != nil, let reason = entry.timing?.after.refusal {
            names.report(.afterNotHere(reason), at: context.sources.clause("after", of: step))
        }
    }

    /// Checks the values of an action.
    ///
    /// - Parameters:
    ///   - kind: the kind of the actor; `nil` if it is unknown or has no such action.
    ///   - step: the step; `nil` if `kind` is `nil`.
    private func checkValues(of action: Action, _ kind: ActorKind? = nil, _ step: Step? = nil) {
        if action.isExpectation { names.expectationKind = kind }
        for value in action.values { values.check(value, step) }
        names.expectationKind = nil
    }
}

extension Diagnostic.Message {
    static func verbNotOfKind(_ verb: String, actor: String, kind: ActorKind) -> Self {
        Self(
            .unknownVerb, "`\(actor)` is a \(kind.rawValue), which has no verb `\(verb)`",
            hint: ForeignWords.verb(verb, of: actor, kind) ?? "its verbs are "
                + LanguageTable.verbChoices(of: kind).joined(separator: ", "))
    }

    static func expectationNotOfKind(_ what: String, actor: String, kind: ActorKind) -> Self {
        Self(
            .unknownExpectation, "`\(actor)` is a \(kind.rawValue), which has no expectation `\(what)`",
            hint: ForeignWords.expectation(what, kind) ?? "its expectations are "
                + LanguageTable.expectationChoices(of: kind).joined(separator: ", "))
    }

    static func withinNotHere(_ why: String) -> Self {
        Self(
            .timingNotHere, "`within` is for steps that wait, but \(why)",
            hint: "remove the clause; an `expect` after the step can have a deadline")
    }

    static func afterNotHere(_ why: String) -> Self {
        Self(
            .timingNotHere, "`after` is for steps that wait for a peer, but \(why)",
            hint: "remove the clause, or add `wait 50ms` before the step")
    }
}
