import ProbeBase

extension Checker {
    func walk(_ steps: [Step]) {
        walked += steps.count
        for step in steps { walk(step) }
    }

    private func walk(_ step: Step) {
        switch step.kind {
        case .wait: break
        case .note(let value): requireBytes(value)
        case .assign(let name, let value):
            let type = infer(value)
            if type == .regex { report(.value(.regexAsBytes(text(value))), at: value.span) }
            report(folder.fold(value))
            bindInStep(name, type)
        case .check(let left, let comparison, let right): check(left, comparison, right)
        case .loop(let names, let source, let block): walkLoop(names, source, block)
        case .invoke(let name): invoke(name)
        case .sequence(let block): walk(block.steps)
        case .together(let block): walkTogether(block)
        case .either(let blocks): walkEither(blocks)
        case .retry(_, _, let block): walk(block.steps)
        case .finally(let block): walkFinally(block)
        case .whenever(let connection, let literal, let block): walkWhenever(connection, literal, block)
        case .act(let name, let action, let timing): act(name, action, timing, step)
        case .wire(let statement, let timing): check(statement, timing, step)
        }
    }

    func bindInStep(_ name: Name?, _ type: ValueType) {
        guard let name else { return }
        if isInFinally { boundInFinally.insert(name.value) }
        bind(name, type)
    }

    // MARK: Check

    private func check(_ left: Expression, _ comparison: Step.CheckOperator, _ right: Step.CheckOperand) {
        hasTest = true
        let first = infer(left)
        if first == .regex { report(.value(.regexAsBytes(text(left))), at: left.span) }
        report(folder.fold(left))
        switch right {
        case .regex(let literal):
            check(literal)
            if first == .integer { report(.value(.integerAsBytes(text(left))), at: left.span) }
            bindGroups(of: literal)
        case .value(let value):
            let second = infer(value)
            report(folder.fold(value))
            checkOperands(left, first, comparison, value, second)
        }
    }

    private func checkOperands(
        _ left: Expression, _ first: ValueType, _ comparison: Step.CheckOperator, _ right: Expression,
        _ second: ValueType
    ) {
        switch comparison {
        case .matches:
            if second != .regex, second != .any { report(.value(.notARegex(text(right))), at: right.span) }
            if first == .integer { report(.value(.integerAsBytes(text(left))), at: left.span) }
        case .contains, .lacks:
            for (type, part) in [(first, left), (second, right)] {
                if type == .integer { report(.value(.integerAsBytes(text(part))), at: part.span) }
                if type == .regex, part == right { report(.value(.regexAsBytes(text(part))), at: part.span) }
            }
            if folder.fold(right).length == 0 { report(.value(.emptyExpected), at: right.span) }
        case .compare(let comparison):
            if second == .regex { report(.value(.regexAsBytes(text(right))), at: right.span) }
            let isMixed =
                (first == .integer && (second == .bytes || second == .pieces))
                || (second == .integer && (first == .bytes || first == .pieces))
            if isMixed {
                report(.value(.mixedCheck), at: left.span.joined(with: right.span))
            } else if comparison != .equal, comparison != .notEqual, first == .bytes || second == .bytes {
                report(.value(.orderOfBytes), at: left.span.joined(with: right.span))
            }
        }
    }

    // MARK: Blocks

    private func walkLoop(_ names: [Name], _ source: Step.LoopSource, _ block: Block) {
        var isOnce = false
        switch source {
        case .range(let first, let last):
            checkRange(first, last)
            bindInStep(names.first, .integer)
            if case .integer(let low) = folder.fold(first), case .integer(let high) = folder.fold(last) {
                isOnce = low == high
            }
        case .table(let table):
            if isInFinally { boundInFinally.formUnion(names.map(\.value)) }
            bindColumns(of: table, to: names)
            isOnce = context.scenario.tables[table.value]?.rows.count == 1
        }
        walk(block.steps)
        // In its second round the body begins in the state in which the first round ended.
        // Nested loops double the walk with each level: behind a number of walked steps each body is walked once.
        guard !isOnce, walked < Self.longestWalk + 8 * context.stepCount else { return }
        let wasSecond = isSecondPass
        isSecondPass = true
        walk(block.steps)
        isSecondPass = wasSecond
    }

    private func walkEither(_ blocks: [Block]) {
        var branches: [ScriptState.Delta] = []
        for block in blocks {
            if let first = block.steps.first, !Self.canChoose(first) { report(.order(.eitherStart), at: first.span) }
            let mark = state.mark
            walk(block.steps)
            branches.append(state.takeBack(to: mark))
        }
        state.join(branches)
    }

    private static func canChoose(_ step: Step) -> Bool {
        switch step.kind {
        case .act(_, .server(.accept), _): true
        case .act(_, let action, _): action.isExpectation
        default: false
        }
    }

    private func walkTogether(_ block: Block) {
        var names: [String: Int] = [:]
        for (line, step) in block.steps.enumerated() {
            for name in namesBound(in: step) { names[name] = names[name] == nil || names[name] == line ? line : -1 }
        }
        var results: [ScriptState.Delta] = []
        for (line, step) in block.steps.enumerated() {
            parallelLines.append((names, line))
            let mark = state.mark
            walk([step])
            results.append(state.takeBack(to: mark))
            parallelLines.removeLast()
        }
        state.apply(results)
    }

    private func namesBound(in step: Step) -> [String] {
        var names = Self.names(boundBy: step.kind)
        if case .act(_, .server(.accept(let name?)), _) = step.kind { names.append(name.value) }
        for block in Self.blocks(of: step.kind) {
            for inner in block.steps { names += namesBound(in: inner) }
        }
        return names
    }

    private func walkFinally(_ block: Block) {
        let (wasUnknown, wasFinally) = (isOrderUnknown, isInFinally)
        isOrderUnknown = true
        isInFinally = true
        let mark = state.mark
        walk(block.steps)
        _ = state.takeBack(to: mark)
        isOrderUnknown = wasUnknown
        isInFinally = wasFinally
        if !wasFinally { boundInFinally = [] }
    }

    private func walkWhenever(_ connection: Name, _ literal: RegexLiteral, _ block: Block) {
        hasTest = true
        check(literal)
        if let known = actor(connection) {
            if known.kind.isConnection {
                requireUp(connection, known)
            } else {
                report(
                    .name(.wrongKindOfActor(connection.value, is: known.kind.rawValue, wanted: "a connection")),
                    at: connection.span)
            }
        }
        let mark = state.mark
        bindGroups(of: literal)
        walk(block.steps)
        let change = state.takeBack(to: mark)
        // It runs later, or never.
        state.join([change, ScriptState.Delta()])
    }

    // MARK: Definitions

    private func invoke(_ name: Name) {
        guard let block = context.scenario.definitions[name.value] else {
            if !context.doubtful.contains(name.value) {
                report(.name(.unknownDefinition(name.value, names(context.scenario.definitions.keys))), at: name.span)
            }
            return
        }
        invoked.insert(name.value)
        if canInline { walk(block.steps) } else { walkLoosely(block) }
    }

    /// For definitions that are recursive or too large to be walked: the names that the definition binds count as bound.
    private func walkLoosely(_ block: Block) {
        guard looselyWalked.insert(block.span).inserted else { return }
        for step in block.steps {
            for name in namesBound(in: step) where state.variables[name] == nil && state.actors[name] == nil {
                state.set(name, ScriptState.Variable(type: .any))
            }
        }
    }

    /// Steps that are walked, a loop's body again each time, before bodies are walked once only.
    private static let longestWalk = 400_000

    /// Reports definitions that are recursive, nested too deep, or too large.
    func checkDefinitionGraph() {
        checkDefinitionDepths()
        if canInline { checkDefinitionSizes() }
    }

    private func checkDefinitionDepths() {
        var heights: [String: Int] = [:]
        var isOpen: Set<String> = []
        func height(_ name: String, _ depth: Int) -> Int {
            if let known = heights[name] { return known }
            guard let block = context.scenario.definitions[name] else { return 0 }
            isOpen.insert(name)
            defer { isOpen.remove(name) }
            var highest = 0
            for call in calls(in: block.steps) {
                if isOpen.contains(call.value) {
                    report(.name(.recursiveDefinition(call.value)), at: call.span)
                    canInline = false
                } else if depth >= Parser.deepestNesting {
                    report(.syntax(.nestingTooDeep(Parser.deepestNesting)), at: call.span)
                    canInline = false
                } else {
                    highest = max(highest, height(call.value, depth + 1))
                }
            }
            heights[name] = highest + 1
            if highest >= Parser.deepestNesting {
                canInline = false
                if let name = context.definitionNames[name] {
                    report(.syntax(.nestingTooDeep(Parser.deepestNesting)), at: name.span)
                }
            }
            return highest + 1
        }
        for name in context.scenario.definitions.keys.sorted() { _ = height(name, 0) }
    }

    /// Each `do` counts with the steps that it stands for: a definition that does another one twice doubles at each level.
    private func checkDefinitionSizes() {
        var sizes: [String: Int] = [:]
        func size(_ steps: [Step]) -> Int {
            var count = 0
            for step in steps {
                count += 1
                if case .invoke(let name) = step.kind { count += size(of: name.value) }
                for block in Self.blocks(of: step.kind) { count += size(block.steps) }
                if count > Self.mostSteps {
                    if canInline { report(.structure(.tooManySteps(Self.mostSteps)), at: step.span) }
                    // The definitions are not walked: no report may depend on their effects.
                    (canInline, isOrderUnknown) = (false, true)
                    return count
                }
            }
            return count
        }
        func size(of name: String) -> Int {
            if let known = sizes[name] { return known }
            guard let block = context.scenario.definitions[name] else { return 0 }
            let size = size(block.steps)
            sizes[name] = size
            return size
        }
        for name in context.scenario.definitions.keys.sorted() where canInline { _ = size(of: name) }
        if canInline { _ = size(context.scenario.steps) }
    }

    /// The steps of a script, each `do` with those of its definition.
    private static var mostSteps: Int { 1_000_000 }

    private func calls(in steps: [Step]) -> [Name] {
        steps.flatMap { step in
            if case .invoke(let name) = step.kind { return [name] }
            return Self.blocks(of: step.kind).flatMap { calls(in: $0.steps) }
        }
    }

    /// Definitions of the script itself without a `do` are checked too.
    func checkUninvokedDefinitions() {
        isOrderUnknown = true
        for (name, block) in context.scenario.definitions.sorted(by: { $0.key < $1.key })
        where !invoked.contains(name) && block.span.file == 0 && canInline {
            let mark = state.mark
            walk(block.steps)
            _ = state.takeBack(to: mark)
        }
        isOrderUnknown = false
    }
}
