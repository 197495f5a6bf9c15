import ProbeBase
import ProbeEvents
import ProbeScenario
import ProbeSystem

extension BlockInterpreter {
    /// All lines at once; the first failure ends the others.
    func runTogether(_ block: Block, _ step: Step, from time: MonotonicTime) async throws(Finding) {
        if !StepContext.isInDefinition { context.progress.descend(from: step.id, to: block.steps) }
        if let failure = await caseRun?.runLines(of: block, from: time) { throw failure }
    }

    /// Runs a line of a `together`.
    func attempt(_ step: Step, from time: MonotonicTime) async -> Finding? {
        do throws(Finding) {
            _ = try await run(step, from: time)
            return nil
        } catch {
            return error
        }
    }

    /// `for`
    func loop(
        _ names: [Name], _ source: Step.LoopSource, _ block: Block, from time: MonotonicTime
    ) async throws(Finding) {
        let scope = LoopScope(outer: StepContext.loop, names: names.map(\.value))
        switch source {
        case .range(let low, let high):
            let (first, last) = (try context.integer(of: low), try context.integer(of: high))
            if first > last { throw Finding(.error, "the loop is over nothing: \(first)..\(last) is empty") }
            try await inContext(StepContext.$loop, scope) { () async throws(Finding) in
                var time = time
                for number in first...last {
                    scope.round += 1
                    scope.values[names[0].value] = .integer(number)
                    context.set(names[0].value, .integer(number))
                    time = try await run(block.steps, from: time)
                }
            }
        case .table(let name):
            guard let table = context.scenario.tables[name.value], !table.rows.isEmpty else {
                throw Finding(.error, "the loop is over nothing: the table \(name.value) has no rows")
            }
            try await inContext(StepContext.$loop, scope) { () async throws(Finding) in
                var time = time
                for row in table.rows {
                    scope.round += 1
                    for (name, cell) in zip(names, row) {
                        let value = try value(of: cell)
                        scope.values[name.value] = value
                        context.set(name.value, value)
                    }
                    time = try await run(block.steps, from: time)
                }
            }
        }
    }

    private func value(of cell: Table.Cell) throws(Finding) -> Value {
        switch cell {
        case .value(let expression): try context.value(of: expression)
        case .regex(let literal): .regex(try context.regex(literal))
        }
    }

    /// Runs the block again after a failure, until it passes or the time is over.
    func retry(
        _ block: Block, every interval: Duration, within limit: Duration, from time: MonotonicTime
    ) async throws(Finding) {
        let deadline = time + context.scaled(limit)
        var failures = RetryFailures(within: context.scaled(limit))
        while true {
            failures.begin()
            let begun = MonotonicTime.now
            let attempt = RetryAttempt(
                outer: StepContext.attempt, deadline: context.reactor.extended(deadline, from: time))
            do throws(Finding) {
                try await inContext(StepContext.$attempt, attempt) { () async throws(Finding) in
                    _ = try await run(block.steps, from: begun)
                }
                try context.judgeTime(.now, "the attempt's success", deadline, Timing(), time)
                context.record(.note("retry: attempt \(failures.attempts) succeeded"))
                return
            } catch {
                try context.checkFault()
                context.abandon(attempt)
                await CrowdExecutor(context: context).abandon(attempt)
                failures.note(error)
                // It succeeded, or may have, behind the deadline that a standstill hides. A later one can't be in time either.
                if error.verdict == .inconclusive, MonotonicTime.now > deadline { throw failures.finding }
                // Also where the machine was late: an attempt that can't begin in time is none.
                let next = max(begun + interval, .now)
                let latest = context.reactor.extended(deadline, from: time)
                if next < latest {
                    context.record(.note("retry: attempt \(failures.attempts) failed: \(error.summary)"))
                    try await context.wait(until: next)
                }
                if next >= latest || context.isOver(deadline, from: time) {
                    throw failures.finding
                }
            }
        }
    }

    // MARK: whenever

    /// Answers the lines of a connection that a `whenever` is for, in their order.
    func runAnswers(of name: String) async {
        guard let owner = context.actors.connection(name) else { return }
        while !owner.answers.isEmpty {
            let waiting = owner.answers
            owner.answers = []
            for (rule, groups) in waiting { await answer(rule, groups) }
        }
        owner.isAnswering = false
        context.changes.notifyAll()
    }

    private func answer(_ rule: WheneverRule, _ groups: [(String, Value)]) async {
        do throws(Finding) {
            context.record(.note("whenever: \(context.text(of: rule.span))"))
            try await inContext(StepContext.$loop, rule.loop) { () async throws(Finding) in
                for (name, value) in groups { context.bind(name, value) }
                _ = try await run(rule.block.steps, from: .now)
            }
        } catch {
            context.raise(error)
        }
    }
}
