extension Checker {
    /// The actors, for a message; none where there are too many to be named or compared.
    var actorNames: [String] {
        guard context.scenario.actors.count + everAccepted.count <= Self.mostNamesInMessage else { return [] }
        return context.scenario.actors.map(\.name.value) + givenActors + names(everAccepted)
    }

    /// Among more names no similar one is searched: each message would take time linear in their number.
    private static let mostNamesInMessage = 1_000

    /// Names for a message, in alphabetical order.
    func names(_ known: some Collection<String>) -> [String] {
        known.count <= Self.mostNamesInMessage && !context.diagnostics.isFull ? known.sorted() : []
    }

    // MARK: Binding

    /// A name gets a value.
    func bind(_ name: Name, _ type: ValueType, inHeader: Bool = false) {
        if let actor = state.actors[name.value], !context.doubtful.contains(name.value),
            actor.kind != .connection || !inHeader
        {
            reportTaken(name)
            return
        }
        if inHeader { headerNames.insert(name.value) } else { folder.forget(name.value) }
        state.set(name.value, ScriptState.Variable(type: type))
    }

    func reportTaken(_ name: Name) {
        let notes = context.declarations[name.value].map {
            [Diagnostic.Note("`\(name.value)` is given here first", span: $0)]
        }
        report(.name(.duplicate(name.value, what: "name")), at: name.span, notes: notes ?? [])
    }

    func bind(_ name: Name?, _ type: ValueType) {
        guard let name else { return }
        bind(name, type)
    }

    func bindGroups(of literal: RegexLiteral) {
        for group in literal.groupNames { bind(Name(group, literal.span), .bytes) }
    }

    func bindGroups(of pattern: Pattern) {
        switch pattern {
        case .regex(let literal): bindGroups(of: literal)
        case .value(let expression):
            // A cell of a table: its groups are those of its regexes.
            guard case .variable(let name) = expression.kind else { return }
            for group in groupsOfCells[name] ?? [] { bind(Name(group, expression.span), .bytes) }
        case .any: break
        }
    }

    // MARK: Looking up

    /// The type of a variable; a name that is none, or not yet, is reported.
    func lookUp(_ name: Name) -> ValueType {
        if let known = state.variables[name.value] {
            let isSure =
                !known.isUncertain
                && (!isInFinally || headerNames.contains(name.value) || boundInFinally.contains(name.value))
            if !isSure, !isOrderUnknown || isInFinally { reportUnbound(name) }
            return known.type
        }
        if state.actors[name.value] != nil {
            report(.name(.actorAsValue(name.value)), at: name.span)
        } else if context.doubtful.contains(name.value) {
            return .any
        } else if everBound[name.value] != nil {
            if !isOrderUnknown || isInFinally || isInHeader { reportUnbound(name) }
        } else {
            reportUnknown(name)
        }
        return .any
    }

    private func reportUnbound(_ name: Name) {
        for (names, line) in parallelLines.reversed() {
            if let other = names[name.value], other != line {
                report(.name(.boundByOtherLine(name.value)), at: name.span)
                return
            }
        }
        let notes = everBound[name.value].map { [Diagnostic.Note("it is bound here", span: $0)] } ?? []
        report(
            .name(isInFinally ? .unboundInFinally(name.value) : .mayBeUnbound(name.value)), at: name.span, notes: notes)
    }

    private func reportUnknown(_ name: Name) {
        if let dash = name.value.lastIndex(of: "-") {
            let left = String(name.value[..<dash])
            let right = String(name.value[name.value.index(after: dash)...])
            let isRight = right.utf8.allSatisfy(\.isDigit) || state.variables[right] != nil
            if state.variables[left] != nil, isRight {
                report(.name(.hyphenated(name.value, left: left, right: right)), at: name.span)
                return
            }
        }
        // What a misspelt word may have meant.
        let words = (expectationKind ?? nil).map(LanguageTable.expectationChoices) ?? []
        if words.contains(name.value) || words.contains(where: { $0.utf8.starts(with: (name.value + " ").utf8) }) {
            report(.name(.wordAlone(name.value)), at: name.span)
            return
        }
        report(.name(.unknownVariable(name.value, names(state.variables.keys) + words)), at: name.span)
    }

    // MARK: Actors

    /// The actor of a name; nil when it is none, which is reported.
    func actor(_ name: Name, as what: String = "") -> ScriptState.Actor? {
        usedActors.insert(name.value)
        if let known = state.actors[name.value] {
            if known.isUncertain, !isOrderUnknown { reportUnbound(name) }
            return known
        }
        if context.doubtful.contains(name.value) { return nil }
        if everAccepted.contains(name.value) {
            if !isOrderUnknown { reportUnbound(name) }
        } else if state.variables[name.value] != nil {
            report(.name(.variableAsActor(name.value)), at: name.span)
        } else {
            report(.name(.unknownActor(name.value, actorNames)), at: name.span)
        }
        return nil
    }

    func checkProperty(_ name: Name, _ property: Name) {
        usedActors.insert(name.value)
        guard let known = state.actors[name.value] else {
            if isInHeader, everAccepted.contains(name.value) {
                reportUnbound(name)
            } else if state.variables[name.value] != nil, !context.doubtful.contains(name.value) {
                report(.name(.variableAsActor(name.value)), at: name.span)
            } else if !context.doubtful.contains(name.value), context.actorKinds[name.value] == nil || !isOrderUnknown {
                _ = actor(name)
            }
            return
        }
        if known.kind == .process {
            if let number = ActorProperty.portNumber(property.value) {
                processPorts[name.value] = max(processPorts[name.value] ?? 0, number)
            } else {
                report(
                    .name(
                        .unknownProperty(
                            actor: name.value, property: property.value, ActorProperty.choices(of: .process))),
                    at: property.span)
            }
            return
        }
        let properties = ActorProperty.choices(of: known.kind)
        guard properties.contains(property.value) else {
            report(
                .name(.unknownProperty(actor: name.value, property: property.value, properties)),
                at: property.span)
            return
        }
        let isBound = known.kind == .server || known.link != .none || known.life != .idle || known.connections > 0
        if !isBound, !isOrderUnknown, !isInHeader, !isDoubtful(name.value) {
            report(.order(.notConnected(name.value, kind: ActorWord(kind: known.kind))), at: name.span)
        }
    }

    func isDoubtful(_ name: String) -> Bool { context.doubtful.contains(name) }

    // MARK: Everything that is bound anywhere

    func collectNames() {
        for name in context.scenario.parameters.flatMap(\.names) + context.scenario.constants.map(\.name) {
            note(name.value, name.span)
        }
        for definition in context.scenario.definitions.values { collectNames(of: definition.steps) }
        collectNames(of: context.scenario.steps)
        collectGroupsOfCells()
        if hasFramingStep { folder.framing = nil }
    }

    private func note(_ name: String, _ span: SourceSpan) {
        if everBound[name] == nil { everBound[name] = span }
    }

    private func collectNames(of steps: [Step]) {
        for step in steps {
            for name in Self.names(boundBy: step.kind) { note(name, step.span) }
            switch step.kind {
            case .act(_, .connection(.framing), _): hasFramingStep = true
            case .act(_, let action, _): if let name = action.acceptedName { everAccepted.insert(name.value) }
            default: break
            }
            for block in Self.blocks(of: step.kind) { collectNames(of: block.steps) }
        }
    }

    /// The regex groups that a column of a table can bind.
    private func collectGroupsOfCells() {
        // Computed once for each table, as any number of loops may go over it, with any names.
        var groupsOfTables: [String: [Set<String>]] = [:]
        var isAdded: Set<[String]> = []
        func groups(of table: String) -> [Set<String>] {
            if let known = groupsOfTables[table] { return known }
            var groups: [Set<String>] = []
            for row in context.scenario.tables[table]?.rows ?? [] {
                for (column, cell) in row.enumerated() {
                    if column == groups.count { groups.append([]) }
                    if case .regex(let literal) = cell { groups[column].formUnion(literal.groupNames) }
                }
            }
            groupsOfTables[table] = groups
            return groups
        }
        func add(_ names: [Name], _ table: Name) {
            for (column, (name, groups)) in zip(names, groups(of: table.value)).enumerated() where !groups.isEmpty {
                guard isAdded.insert([name.value, table.value, String(column)]).inserted else { continue }
                let known = groupsOfCells[name.value]
                groupsOfCells[name.value] = known?.union(groups) ?? groups
                for group in groups { note(group, everBound[name.value] ?? context.scenario.title.span) }
            }
        }
        for parameter in context.scenario.parameters {
            if case .table(let table) = parameter.source { add(parameter.names, table) }
        }
        func visit(_ steps: [Step]) {
            for step in steps {
                if case .loop(let names, .table(let table), _) = step.kind { add(names, table) }
                for block in Self.blocks(of: step.kind) { visit(block.steps) }
            }
        }
        for definition in context.scenario.definitions.values { visit(definition.steps) }
        visit(context.scenario.steps)
    }

    static func blocks(of kind: Step.Kind) -> [Block] {
        switch kind {
        case .loop(_, _, let block), .sequence(let block), .together(let block), .retry(_, _, let block),
            .finally(let block), .whenever(_, _, let block):
            [block]
        case .either(let blocks): blocks
        default: []
        }
    }

    /// The variables that the step itself binds.
    static func names(boundBy kind: Step.Kind) -> [String] {
        switch kind {
        case .assign(let name, _): [name.value]
        case .loop(let names, _, _): names.map(\.value)
        case .check(_, _, .regex(let literal)): literal.groupNames
        case .whenever(_, let literal, _): literal.groupNames
        case .act(_, let action, _): action.bindings.names
        default: []
        }
    }
}
