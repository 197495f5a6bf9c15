import ProbeBase
import ProbeEvents
import ProbeScenario
import ProbeSystem

extension CaseRun {
    /// Runs steps in order.
    ///
    /// - Parameter time: when the step before the first one ended.
    /// - Returns: when the last one ended.
    func run(_ steps: [Step], from time: MonotonicTime) async throws(Finding) -> MonotonicTime {
        var time = time
        for step in steps { time = try await run(step, from: time) }
        return time
    }

    /// Runs one step; its failure gets its place in the script.
    func run(_ step: Step, from time: MonotonicTime) async throws(Finding) -> MonotonicTime {
        let isCounted = !StepContext.isInDefinition
        if isCounted { context.progress.enter(step.id) }
        defer { if isCounted { context.progress.leave(step.id) } }
        await breathe()
        do throws(Finding) {
            try checkFault()
            if !step.isBlock { record(.step(step.span, text(of: step.span))) }
            try await perform(step, from: time)
            return .now
        } catch {
            var finding = error
            if finding.span == nil { finding.span = step.focus }
            if !step.isBlock { record(.stepFailed(step.span)) }
            throw finding.actors.isEmpty ? withActors(finding) : finding
        }
    }

    private func perform(_ step: Step, from time: MonotonicTime) async throws(Finding) {
        switch step.kind {
        case .wait(let duration):
            _ = try await wait(until: .now + duration) { () throws(Finding) -> Void? in nil }
        case .note(let expression):
            let text = EscapedBytes.safeText(try bytes(of: expression))
            record(.note(text))
            mark(step, "note \(text)", .anyPacket)
        case .assign(let name, let expression):
            bind(name.value, try value(of: expression))
        case .check(let left, let comparison, let right):
            try check(left, comparison, right)
        case .loop(let names, let source, let block):
            try await loop(names, source, block, from: time)
        case .invoke(let name):
            guard let block = scenario.definitions[name.value] else {
                throw Finding(.error, "there is no definition \(name.value)")
            }
            try await inContext(StepContext.$isInDefinition, true) { () async throws(Finding) in
                _ = try await run(block.steps, from: time)
            }
        case .sequence(let block):
            // Only what it has come to is running, so that what is behind it in the block is past.
            if !StepContext.isInDefinition { context.progress.descend(from: step.id, to: block.steps.prefix(1)) }
            _ = try await run(block.steps, from: time)
        case .together(let block):
            try await runTogether(block, step, from: time)
        case .either(let blocks):
            try await runEither(blocks, step, from: time)
        case .retry(let interval, let limit, let block):
            try await retry(block, every: interval, within: limit, from: time)
        case .finally:
            // Collected before the first step; it runs at the end, whatever happened.
            break
        case .whenever(let name, let regex, let block):
            let connection = try connectionActor(name)
            let rule = WheneverRule(
                stepID: step.id, span: step.span, regex: try self.regex(regex), block: block,
                loop: StepContext.loop?.snapshot())
            // In a loop the same statement comes again: it is one rule, with its regex as of now.
            if let index = connection.whenevers.firstIndex(where: { $0.stepID == step.id }) {
                rule.uses = connection.whenevers[index].uses
                connection.whenevers[index] = rule
            } else {
                connection.whenevers.append(rule)
            }
            serveWhenevers(of: connection)
        case .wire(let statement, let timing):
            try await judge(statement, timing, step, from: time)
        case .act(let name, let action, let timing):
            try await act(name, action, timing, step, from: time)
        }
    }

    /// Runs a body with a task-local value; what it throws keeps its type.
    func inContext<Value: Sendable>(
        _ local: TaskLocal<Value>, _ value: Value, _ body: () async throws(Finding) -> Void
    ) async throws(Finding) {
        let result: Result<Void, Finding> = await local.withValue(value) {
            do throws(Finding) { return .success(try await body()) } catch { return .failure(error) }
        }
        try result.get()
    }

    /// Steps that wait for nothing would keep the reactor to themselves: timers and signals get their turn.
    private func breathe() async {
        stepsInARow += 1
        guard stepsInARow >= 256 else { return }
        stepsInARow = 0
        await Task.yield()
    }

    private func act(
        _ name: Name, _ action: Action, _ timing: Timing, _ step: Step, from time: MonotonicTime
    ) async throws(Finding) {
        switch (actors[name.value], action) {
        case (.server(let server), .server(let action)): try await act(server, action, timing, step, from: time)
        case (.server(let server), .connection(let action)): try await act(server, action, timing, step, from: time)
        case (.connection(let connection), .client(.connect(let address, let outcome))):
            try await connect(connection, to: address, outcome, timing, step, from: time)
        case (.connection(let connection), .connection(let action)):
            try await act(connection, action, timing, step, from: time)
        case (.subject(let subject), .subject(let action)): try await act(subject, action, timing, step, from: time)
        case (.process(let process), .process(let action)): try await act(process, action, timing, step, from: time)
        case (nil, _):
            throw Finding(
                .error, at: name.span, "\(name.value) is no connection yet: no `accept as \(name.value)` has run")
        case (_?, .server), (_?, .client), (_?, .connection), (_?, .subject), (_?, .process):
            throw Finding(
                .error, at: name.span, "\(name.value) is another kind of actor here than where the step was read")
        }
    }

    // MARK: Blocks

    /// All lines at once; the first failure ends the others.
    private func runTogether(_ block: Block, _ step: Step, from time: MonotonicTime) async throws(Finding) {
        let reactor = reactor
        if !StepContext.isInDefinition { context.progress.descend(from: step.id, to: block.steps) }
        let failure = await withTaskGroup(of: Finding?.self) { group in
            for step in block.steps {
                group.addTask(executorPreference: reactor) { await self.attempt(step, from: time) }
            }
            var first: Finding?
            for await outcome in group {
                if let outcome, first == nil {
                    first = outcome
                    group.cancelAll()
                    self.changes.notifyAll()
                }
            }
            return first
        }
        if let failure { throw failure }
    }

    private func attempt(_ step: Step, from time: MonotonicTime) async -> Finding? {
        do throws(Finding) {
            _ = try await run(step, from: time)
            return nil
        } catch {
            return error
        }
    }

    private func loop(
        _ names: [Name], _ source: Step.LoopSource, _ block: Block, from time: MonotonicTime
    ) async throws(Finding) {
        let scope = LoopScope(outer: StepContext.loop)
        switch source {
        case .range(let low, let high):
            let (first, last) = (try integer(of: low), try integer(of: high))
            if first > last { throw Finding(.error, "the loop is over nothing: \(first)..\(last) is empty") }
            try await inContext(StepContext.$loop, scope) { () async throws(Finding) in
                var time = time
                for number in first...last {
                    scope.values[names[0].value] = .integer(number)
                    set(names[0].value, .integer(number))
                    time = try await run(block.steps, from: time)
                }
            }
        case .table(let name):
            guard let table = scenario.tables[name.value], !table.rows.isEmpty else {
                throw Finding(.error, "the loop is over nothing: the table \(name.value) has no rows")
            }
            try await inContext(StepContext.$loop, scope) { () async throws(Finding) in
                var time = time
                for row in table.rows {
                    for (name, cell) in zip(names, row) {
                        let value = try value(of: cell)
                        scope.values[name.value] = value
                        set(name.value, value)
                    }
                    time = try await run(block.steps, from: time)
                }
            }
        }
    }

    private func value(of cell: Table.Cell) throws(Finding) -> Value {
        switch cell {
        case .value(let expression): try value(of: expression)
        case .regex(let literal): .regex(try regex(literal))
        }
    }

    // MARK: finally

    /// All `finally` blocks, wherever they stand: they run whatever happened, also where their branch was not taken. One in a
    /// definition runs once, however often it is done.
    func collectFinallyBlocks(_ steps: [Step], depth: Int = 0) {
        for step in steps {
            switch step.kind {
            case .finally(let block): finallyBlocks.append(block)
            case .sequence(let block), .together(let block), .loop(_, _, let block), .retry(_, _, let block),
                .whenever(_, _, let block):
                collectFinallyBlocks(block.steps, depth: depth)
            case .either(let blocks):
                for block in blocks { collectFinallyBlocks(block.steps, depth: depth) }
            case .invoke(let name):
                guard depth < 64, collectedDefinitions.insert(name.value).inserted,
                    let block = scenario.definitions[name.value]
                else { continue }
                collectFinallyBlocks(block.steps, depth: depth + 1)
            default: break
            }
        }
    }

    /// Runs them in the order of the script; what fails in one is a finding, and the next one runs all the same.
    func runFinallyBlocks() async -> [Finding] {
        if finallyBlocks.isEmpty { return [] }
        context.faults.clear()
        var findings: [Finding] = []
        timeout.begin("`finally`")
        defer { timeout.cancel() }
        for block in finallyBlocks {
            do throws(Finding) {
                _ = try await run(block.steps, from: .now)
            } catch {
                findings.append(error)
                context.faults.clear()
            }
        }
        if let fault { findings.append(withActors(fault)) }
        context.faults.clear()
        return findings
    }
}

extension Step {
    /// Steps of the timeline are shown; blocks are shown by what is in them.
    var isBlock: Bool {
        switch kind {
        case .sequence, .together, .finally, .loop, .invoke, .retry, .either: true
        default: false
        }
    }
}
