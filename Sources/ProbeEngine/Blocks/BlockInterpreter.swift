import ProbeBase
import ProbeEvents
import ProbeProxy
import ProbeRegex
import ProbeScenario
import ProbeSystem

/// Runs the steps of a case. Executors run the steps of actors; the interpreter itself runs blocks.
final class BlockInterpreter {
    let context: CaseContext
    let subjects: SubjectExecutor
    /// The Swift actor of the case, which keeps the separate tasks for the lines of a `together` on the case's thread.
    weak var caseRun: CaseRun?
    /// The number of steps since the interpreter last yielded to the reactor's loop.
    private var stepsInARow = 0
    /// The case's `finally` blocks, in the order in which the script contains them.
    private(set) var finallyBlocks: [Block] = []
    private var collectedDefinitions: Set<String> = []

    init(_ context: CaseContext, _ subjects: SubjectExecutor) {
        self.context = context
        self.subjects = subjects
    }

    /// Runs steps in order.
    ///
    /// - Parameter time: the time at which the step before `steps` ended.
    /// - Returns: the time at which the last step ended.
    func run(_ steps: [Step], from time: MonotonicTime) async throws(Finding) -> MonotonicTime {
        var time = time
        for step in steps { time = try await run(step, from: time) }
        return time
    }

    /// Runs one step. If it fails, adds the step's location in the script to the finding.
    func run(_ step: Step, from time: MonotonicTime) async throws(Finding) -> MonotonicTime {
        let isCounted = !StepContext.isInDefinition
        if isCounted { context.progress.enter(step.id) }
        defer { if isCounted { context.progress.leave(step.id) } }
        await yieldToReactor()
        do throws(Finding) {
            try context.checkFault()
            if !step.isBlock { context.recordStep(step) }
            try await perform(step, from: time)
            let end = MonotonicTime.now
            if !step.isBlock, let observe = context.settings.observe {
                observe(StepObservation(step: step.id, actor: "", event: .ended(after: end - time)))
            }
            return end
        } catch {
            var finding = error
            if finding.span == nil { finding.span = step.focus }
            // The timeline contains a block only if the block itself fails, such as an `either` without a satisfied
            // branch.
            if !step.isBlock || finding.rounds == nil { context.record(.stepFailed(step.span)) }
            if finding.rounds == nil {
                let rounds = StepContext.loop?.rounds ?? []
                finding.rounds = rounds
                finding.details.insert(contentsOf: rounds.map(\.sentence), at: 0)
            }
            throw finding.actors.isEmpty ? context.withActors(finding) : finding
        }
    }

    private func perform(_ step: Step, from time: MonotonicTime) async throws(Finding) {
        switch step.kind {
        case .wait(let duration):
            try await context.wait(until: .now + duration)
        case .note(let expression):
            let text = Escaped.text(try context.bytes(of: expression))
            context.record(.note(text))
            context.annotations.add(step, "note \(text)", .anyPacket)
        case .assign(let name, let expression):
            context.bind(name.value, try context.value(of: expression))
        case .check(let left, let comparison, let right):
            try check(left, comparison, right)
        case .loop(let names, let source, let block):
            try await loop(names, source, block, from: time)
        case .invoke(let name):
            guard let block = context.scenario.definitions[name.value] else {
                throw Finding(.error, "\(name.value) is not defined")
            }
            try await inContext(StepContext.$isInDefinition, true) { () async throws(Finding) in
                _ = try await run(block.steps, from: time)
            }
        case .sequence(let block):
            // Mark only the block's current step as running, not the block's later steps.
            if !StepContext.isInDefinition { context.progress.descend(from: step.id, to: block.steps.prefix(1)) }
            _ = try await run(block.steps, from: time)
        case .together(let block):
            try await runTogether(block, step, from: time)
        case .either(let blocks):
            try await runEither(blocks, step, from: time)
        case .retry(let interval, let limit, let block):
            try await retry(block, every: interval, within: limit, from: time)
        case .finally:
            // `finally` blocks were collected before the first step. They run at the end of the case, whatever its
            // outcome.
            break
        case .whenever(let name, let regex, let block):
            guard let connection = context.actors.connection(name.value) else {
                throw Finding(.error, at: name.span, "\(name.value) is not a connection yet")
            }
            try ConnectionExecutor(context: context).refuseLines(connection, "whenever")
            let rule = WheneverRule(
                stepID: step.id, span: step.span, regex: try context.regex(regex), block: block,
                loop: StepContext.loop?.snapshot())
            // In a loop, a `whenever` runs repeatedly. If the regex is unchanged, the new rule replaces the old one.
            if let index = connection.whenevers.firstIndex(where: rule.isSame) {
                rule.uses = connection.whenevers[index].uses
                connection.whenevers[index] = rule
            } else {
                connection.whenevers.append(rule)
                // A new `whenever` rule also applies to lines that have already been received.
                connection.wheneverProgress = WheneverEvaluation.Progress()
            }
            let line = context.text(of: step.span)
            let key = "\(connection.name) \(rule.regex.source)"
            context.conditions.add(at: step.span, isOptional: step.isOptional, key: key) {
                let isUsed = connection.whenevers.contains { rule.isSame($0) && $0.uses > 0 }
                return isUsed
                    ? nil
                    : Condition.Shortfall(
                        "this `whenever` was never used: \(connection.name) received no line that matches "
                            + "/\(rule.regex.source)/",
                        hints: ["add `if needed` after `\(line) … }` if such a line might not arrive"])
            }
            context.runWheneverBlocks(of: connection)
        case .wire(let statement, let timing):
            try await WireExecutor(context: context).judge(statement, timing, step, from: time)
        case .name(let statement): try NameExecutor(context: context).set(statement)
        case .link(let statement): try await LinkExecutor(context: context).act(statement, step)
        case .act(let name, let action, let timing):
            try await act(name, action, timing, step, from: time)
        }
    }

    private func act(
        _ name: Name, _ action: Action, _ timing: Timing, _ step: Step, from time: MonotonicTime
    ) async throws(Finding) {
        switch (context.actors[name.value], action) {
        case (.server(let server), .server(let action)):
            try await ServerExecutor(context: context).act(server, action, timing, step, from: time)
        case (.server(let server), .connection(let action)):
            try await ServerExecutor(context: context).act(server, action, timing, step, from: time)
        case (.connection(let client), .client(let action)):
            try await ClientExecutor(context: context).act(client, action, timing, step, from: time)
        case (.connection(let connection), .connection(let action)):
            try await ConnectionExecutor(context: context).act(connection, action, timing, step, from: time)
        case (.subject(let subject), .subject(let action)):
            try await subjects.act(subject, action, timing, step, from: time)
        case (.process(let process), .process(let action)):
            try await ProcessExecutor(context: context).act(process, action, timing, step, from: time)
        case (.proxy(let proxy), .proxy(let action)):
            try await ProxyExecutor(context: context).act(proxy, action, timing, step, from: time)
        case (.proxied(let actor), .proxy(let action)):
            try await ProxyExecutor(context: context).act(actor, action, timing, step, from: time)
        case (.crowd(let crowd), .crowd(let action)):
            try await CrowdExecutor(context: context).act(crowd, action, timing, from: time)
        case (nil, _):
            throw Finding(
                .error, at: name.span, "\(name.value) is not a connection yet: no `accept as \(name.value)` has run")
        case (_?, .server), (_?, .client), (_?, .connection), (_?, .subject), (_?, .process),
            (_?, .proxy), (_?, .crowd):
            throw Finding(
                .error, at: name.span, "\(name.value) is a different kind of actor than when the script was checked")
        }
    }

    /// Runs a body with a task-local value, preserving the type of the error that the body throws.
    func inContext<Value: Sendable>(
        _ local: TaskLocal<Value>, _ value: Value, isolation: isolated (any Actor)? = #isolation,
        _ body: () async throws(Finding) -> Void
    ) async throws(Finding) {
        let result: Result<Void, Finding> = await local.withValue(value) {
            // Capturing `isolation` keeps the body on the case's thread; otherwise `withValue` would run it on any
            // thread.
            _ = isolation
            do throws(Finding) { return .success(try await body()) } catch { return .failure(error) }
        }
        try result.get()
    }

    /// Yields to the reactor every 256 steps, so that steps that never wait don't block timers and signals.
    private func yieldToReactor() async {
        stepsInARow += 1
        guard stepsInARow >= 256 else { return }
        stepsInARow = 0
        await Task.yield()
    }

    /// Collects all `finally` blocks, at any depth. They run whatever the outcome of the case, even if they are in a
    /// branch that was not taken. A `finally` in a definition runs once, however often the definition is used.
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
                    let block = context.scenario.definitions[name.value]
                else { continue }
                collectFinallyBlocks(block.steps, depth: depth + 1)
            default: break
            }
        }
    }
}

extension Step {
    /// Whether the step is a block. The timeline shows the steps in a block instead of the block.
    var isBlock: Bool {
        switch kind {
        case .sequence, .together, .finally, .loop, .invoke, .retry, .either: true
        default: false
        }
    }
}

extension BlockInterpreter {
    /// Runs all lines of a `together` concurrently; the first failure ends the other lines.
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

    /// Runs a `for`.
    func loop(
        _ names: [Name], _ source: Step.LoopSource, _ block: Block, from time: MonotonicTime
    ) async throws(Finding) {
        let scope = LoopScope(outer: StepContext.loop, names: names.map(\.value))
        switch source {
        case .range(let low, let high):
            let (first, last) = (try context.integer(of: low), try context.integer(of: high))
            if first > last { throw Finding(.error, "the loop has no rounds: \(first)..\(last) is empty") }
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
                throw Finding(.error, "the loop has no rounds: the table \(name.value) is empty")
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

    /// Runs the block again after each failure, until it passes or the deadline expires.
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
                try context.requireTiming(.now, "the attempt's success", deadline, Timing(), time)
                context.record(.note("retry: attempt \(failures.attempts) succeeded"))
                return
            } catch {
                try context.checkFault()
                context.abandon(attempt)
                await CrowdExecutor(context: context).abandon(attempt)
                failures.note(error)
                // If the harness stalled, it is unknown whether the attempt succeeded before the deadline, and every
                // later attempt would exceed the deadline.
                if error.verdict == .inconclusive, MonotonicTime.now > deadline { throw failures.finding }
                // Make no further attempt that could start only after the deadline, even if the machine caused the
                // delay.
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

    /// Runs the pending answers of a connection's `whenever` rules, in the order in which the lines were received.
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

extension BlockInterpreter {
    func check(
        _ left: Expression, _ comparison: Step.CheckOperator, _ right: Step.CheckOperand
    ) throws(Finding) {
        let value = try context.value(of: left)
        switch (comparison, right) {
        case (.matches, .regex(let literal)):
            let regex = try context.regex(literal)
            let bytes = value.bytes ?? []
            guard let groups = ExpectedText.regex(regex).match(bytes) else {
                throw Finding(.failed, "the value does not match /\(regex.source)/", actual: bytes)
            }
            for (name, value) in groups { context.bind(name, value) }
        case (.matches, .value(let expression)):
            guard case .regex(let regex) = try context.value(of: expression) as Value else {
                throw Finding(.error, at: expression.span, "`matches` requires a regex")
            }
            if regex.firstMatch(in: value.bytes ?? []) == nil {
                throw Finding(.failed, "the value does not match /\(regex.source)/", actual: value.bytes)
            }
        case (.compare(let comparison), .value(let expression)):
            let other = try context.value(of: expression)
            if left.isProtobufField || expression.isProtobufField { try requireOneType(value, other) }
            try compare(
                left.isProtobufField ? value.unsigned(beside: other) : value, comparison,
                expression.isProtobufField ? other.unsigned(beside: value) : other)
        case (.contains, .value(let expression)), (.lacks, .value(let expression)):
            let needle = try context.bytes(of: expression)
            var buffer = ReceiveBuffer()
            buffer.append(value.bytes ?? [], at: .now)
            let isThere = buffer.firstIndex(of: needle) != nil
            if isThere != (comparison == .contains) {
                throw Finding(
                    .failed, "the value \(isThere ? "contains" : "does not contain") \(Escaped.phrase(needle))",
                    actual: value.bytes)
            }
        default: throw Finding(.error, "`check` can't compare these values")
        }
    }

    /// Throws unless both values have the same type. A protobuf field's type is part of the received data: the text "1"
    /// is not the number 1.
    private func requireOneType(_ left: Value, _ right: Value) throws(Finding) {
        switch (left.order, right.order) {
        case (.some, nil):
            throw Finding(.failed, "expected bytes, but the field is the number \(left.text)", expected: right.bytes)
        case (nil, .some):
            throw Finding(.failed, "expected the number \(right.text), but the field is bytes", actual: left.bytes)
        default: break
        }
    }

    private func compare(_ left: Value, _ comparison: Comparison, _ right: Value) throws(Finding) {
        if let a = left.order, let b = right.order {
            let difference = a == b ? 0 : a < b ? -1 : 1
            if !comparison.holds(difference, 0) {
                throw Finding(.failed, "\(left.text) \(comparison.rawValue) \(right.text) does not hold")
            }
            return
        }
        guard let a = left.bytes, let b = right.bytes, comparison == .equal || comparison == .notEqual else {
            throw Finding(.error, "bytes can be compared only with `==` and `!=`")
        }
        if (a == b) != (comparison == .equal) {
            throw Finding(
                .failed, comparison == .equal ? "the values differ" : "the values are equal", expected: b, actual: a)
        }
    }
}

extension Value {
    fileprivate var text: String { String(decoding: bytes ?? [], as: UTF8.self) }

    /// Returns a protobuf varint as an unsigned number if `other` is 2^63 or more. Without a schema, it is unknown
    /// whether the varint is signed, but `other` is certainly unsigned.
    fileprivate func unsigned(beside other: Value) -> Value {
        guard case .integer(let value) = self, value < 0, case .unsigned = other else { return self }
        return .unsigned(UInt64(bitPattern: Int64(value)))
    }
}

extension Expression {
    /// Whether the expression reads a field of a protobuf message: `pb(m, 3.1)`.
    fileprivate var isProtobufField: Bool {
        if case .protobuf(.field) = kind { true } else { false }
    }
}

extension BlockInterpreter {
    /// Runs an `either` by running the first branch whose first step is satisfied. The choice of the branch is final.
    func runEither(_ blocks: [Block], _ step: Step, from time: MonotonicTime) async throws(Finding) {
        var starts = blocks.map { block in
            guard case .act(_, _, let timing)? = block.steps.first?.kind else { return BranchStart(deadline: time) }
            return BranchStart(deadline: context.deadline(timing, from: time))
        }
        let chosen: Int
        do throws(Finding) {
            chosen = try await choose(&starts, blocks, step, from: time)
        } catch {
            end(starts, of: blocks, chosen: nil)
            throw error
        }
        end(starts, of: blocks, chosen: chosen)
        context.record(.note("either: took branch \(chosen + 1) of \(blocks.count)"))
        if !StepContext.isInDefinition {
            context.progress.descend(from: step.id, to: blocks[chosen].steps.prefix(1))
        }
        _ = try await run(blocks[chosen].steps, from: time)
    }

    private func choose(
        _ starts: inout [BranchStart], _ blocks: [Block], _ step: Step, from time: MonotonicTime
    ) async throws(Finding) -> Int {
        while true {
            try context.checkFault()
            var next = MonotonicTime.distantFuture
            for index in blocks.indices {
                guard let first = blocks[index].steps.first else { continue }
                do throws(Finding) {
                    if case .absent = starts[index].expected { try begin(&starts[index], first, blocks, from: time) }
                    let window = context.window(
                        from: time, until: starts[index].deadline, measuresProgress: starts[index].measuresProgress)
                    switch try starts[index].look(window) {
                    case .fits: return index
                    case .waits(let until): next = min(next, until)
                    case .fitsNot: break
                    }
                } catch {
                    throw error.span == nil ? error.at(first.focus) : error
                }
            }
            if let failure = failure(of: starts, blocks, step, from: time) { throw failure }
            await context.pause(until: next)
        }
    }

    /// Returns the failure of the `either` once none of its branches can be satisfied any longer; `nil` before that.
    private func failure(
        of starts: [BranchStart], _ blocks: [Block], _ step: Step, from time: MonotonicTime
    ) -> Finding? {
        let fitsNone = starts.allSatisfy { $0.reason != nil }
        guard fitsNone || starts.allSatisfy(\.isOver) else { return nil }
        if let doubt = starts.lazy.compactMap(\.doubt).first { return doubt }
        let deadline = starts.map(\.deadline).max() ?? time
        return Finding(
            .failed,
            fitsNone
                ? "no branch of the `either` matches what was received"
                : "no branch of the `either` started within \(DurationText.script(deadline - time))",
            details: blocks.indices.map { index in
                "branch \(index + 1): " + starts[index].progress + (blocks[index].steps.first.map(firstStepText) ?? "")
            })
    }

    /// Returns the description of a branch's first step for a message: `; chat.scn:12: T expect line name  (name =
    /// "anna")`.
    private func firstStepText(_ step: Step) -> String {
        let location = context.sources.location(of: step.span)
        let file = location.path.split(separator: "/").last ?? ""
        let values = context.values(of: step)
        return "; \(Escaped.text(file.utf8)):\(location.line): \(context.text(of: step.span))"
            + (values.isEmpty ? "" : "  (\(values.sentence))")
    }

    // MARK: Starts of branches

    /// Resolves the expectation of a branch as soon as its actor exists.
    private func begin(
        _ start: inout BranchStart, _ step: Step, _ blocks: [Block], from time: MonotonicTime
    ) throws(Finding) {
        guard case .act(let name, let action, let timing) = step.kind else { return }
        switch (context.actors[name.value], action) {
        case (.server(let server), .server(.accept(_, let mode, _))):
            start.expected = .server(PendingServerExpectation(try acceptExpectation(mode, server), server, context))
        case (.server(let server), .server(.expect(.noConnection(let duration)))):
            start.expected = .server(PendingServerExpectation(.noConnection(for: duration), server, context))
            start.deadline = time + duration
        case (.server, .connection(.expect(let expectation))), (.connection, .connection(.expect(let expectation))):
            guard let actor = context.actors.connection(name.value), let connection = actor.connection else { return }
            // A WebSocket opening handshake is not part of the expected input.
            guard try WebSocketExecutor(context: context).finishOpeningIfAnswered(actor, connection) else { return }
            let connections = ConnectionExecutor(context: context)
            let resolved = try connections.resolve(expectation, actor)
            start.expected = .connection(PendingConnectionExpectation(resolved, actor, connection))
            // Without a `within`, `expect sent` has no deadline. As the first step of a branch, it has the branch's
            // deadline.
            start.deadline = connections.deadline(of: resolved, timing, from: time)
            if case .sent = resolved { start.deadline = min(start.deadline, context.deadline(timing, from: time)) }
            actor.begin(resolved, alone: Self.isAlone(name.value, blocks))
        case (.subject(let subject), .subject(.expect(let expectation))):
            let resolved = try subjects.resolve(expectation, subject)
            // If the subject's resource usage can't be measured, another branch of the `either` must be satisfied.
            guard subjects.canMeasure(resolved) else { return }
            start.expected = .subject(
                PendingSubjectExpectation(
                    resolved, subject, framing: subjects.framing(of: subject), meter: subjects.meter(for: resolved)))
            start.deadline = subjects.deadline(of: resolved, timing, from: time)
        case (.process(let process), .process(.expect(let expectation))):
            guard let child = process.child else { return }
            let processes = ProcessExecutor(context: context)
            let resolved = try processes.resolve(expectation, process)
            start.expected = .process(
                PendingProcessExpectation(
                    resolved, process, child, after: timing.after, watch: processes.watch(of: process)))
            start.deadline = processes.deadline(of: resolved, timing, from: time)
        case (.proxy(let proxy), .proxy(.accept)): start.expected = .proxy(PendingProxyAccept(proxy))
        case (.proxy, .proxy(.expect(let expectation, let side))),
            (.proxied, .proxy(.expect(let expectation, let side))):
            guard let actor = context.actors.proxied(name.value) else { return }
            let proxies = ProxyExecutor(context: context)
            let pending = try proxies.watch(expectation, from: side, of: actor)
            start.expected = .watch(pending)
            start.deadline = proxies.deadline(of: pending, timing, from: time)
        case (.crowd(let crowd), .crowd(.expect(let expectation))):
            start.expected = .crowd(try CrowdExecutor(context: context).pending(expectation, crowd))
        case (_, .server), (_, .client), (_, .connection), (_, .subject), (_, .process), (_, .proxy), (_, .crowd):
            return
        }
    }

    /// Returns what an `accept` waits for. On a server with TLS, the result of the handshake decides which branch is
    /// taken.
    private func acceptExpectation(
        _ mode: ServerAction.AcceptMode, _ server: ServerActor
    ) throws(Finding) -> ResolvedServerExpectation {
        guard context.tls.actors[server.name] != nil else { return .connection }
        switch mode {
        case .asDeclared: return .handshake(fails: false, alert: nil)
        case .withoutTLS: return .connection
        case .tlsFails(let alert):
            let code = try alert.map { (alert) throws(Finding) in try context.integer(of: alert, as: UInt8.self) }
            return .handshake(fails: true, alert: code)
        }
    }

    /// Ends the waits of all branches. Each `whenever` then processes the lines that it has skipped, except on the
    /// chosen branch's connection, because the branch's first step has yet to consume its input.
    private func end(_ starts: [BranchStart], of blocks: [Block], chosen: Int?) {
        for (index, start) in starts.enumerated() {
            guard case .connection(let pending) = start.expected else { continue }
            pending.actor.end(pending.expectation, alone: Self.isAlone(pending.actor.name, blocks))
            if index != chosen, pending.actor !== chosen.flatMap({ starts[$0].connectionActor }) {
                context.runWheneverBlocks(of: pending.actor)
            }
        }
    }

    /// Returns whether the branches of an `either` wait for nothing but the end of the given connection. If they do,
    /// all bytes before the end are dropped once `ignore rest` has been executed.
    private static func isAlone(_ name: String, _ blocks: [Block]) -> Bool {
        blocks.allSatisfy { block in
            guard case .act(let other, let action, _)? = block.steps.first?.kind, other.value == name else {
                return true
            }
            switch action {
            case .connection(.expect(.eof)), .connection(.expect(.reset)), .connection(.expect(.closed)): return true
            case .server, .client, .connection, .subject, .process, .proxy, .crowd: return false
            }
        }
    }
}

extension Finding {
    func at(_ span: SourceSpan) -> Finding {
        var finding = self
        finding.span = span
        return finding
    }
}
