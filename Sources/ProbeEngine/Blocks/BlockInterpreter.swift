import ProbeBase
import ProbeEvents
import ProbeScenario
import ProbeSystem

/// Runs the steps of a case: those of actors by their executors, blocks by itself.
final class BlockInterpreter {
    let context: CaseContext
    let subjects: SubjectExecutor
    /// Leads tasks of their own back to the case's thread: the lines of a `together`.
    weak var caseRun: CaseRun?
    /// Steps since the reactor's loop last went round.
    private var stepsInARow = 0
    /// In the order of the script.
    private(set) var finallyBlocks: [Block] = []
    private var collectedDefinitions: Set<String> = []

    init(_ context: CaseContext, _ subjects: SubjectExecutor) {
        self.context = context
        self.subjects = subjects
    }

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
            try context.checkFault()
            if !step.isBlock { context.recordStep(step) }
            try await perform(step, from: time)
            return .now
        } catch {
            var finding = error
            if finding.span == nil { finding.span = step.focus }
            // A block has no line of its own, unless it fails itself: the `either` none of whose branches begins.
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
            guard let connection = context.actors.connection(name.value) else {
                throw Finding(.error, at: name.span, "\(name.value) is no connection yet")
            }
            try ConnectionExecutor(context: context).refuseLines(connection, "whenever")
            let rule = WheneverRule(
                stepID: step.id, span: step.span, regex: try context.regex(regex), block: block,
                loop: StepContext.loop?.snapshot())
            // A loop runs the statement again: it is the same rule if its regex is.
            if let index = connection.whenevers.firstIndex(where: rule.isSame) {
                rule.uses = connection.whenevers[index].uses
                connection.whenevers[index] = rule
            } else {
                connection.whenevers.append(rule)
                // What is there by now is looked at for this one, too.
                connection.wheneverProgress = WheneverEvaluation.Progress()
            }
            let line = context.text(of: step.span)
            let key = "\(connection.name) \(rule.regex.source)"
            context.conditions.add(at: step.span, isOptional: step.isOptional, key: key) {
                let isUsed = connection.whenevers.contains { rule.isSame($0) && $0.uses > 0 }
                return isUsed
                    ? nil
                    : Condition.Shortfall(
                        "this whenever was never used: \(connection.name) received no line that matches "
                            + "/\(rule.regex.source)/",
                        hints: ["if perhaps no such line is received, end `\(line) … }` with `if needed`"])
            }
            context.serveWhenevers(of: connection)
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
                .error, at: name.span, "\(name.value) is no connection yet: no `accept as \(name.value)` has run")
        case (_?, .server), (_?, .client), (_?, .connection), (_?, .subject), (_?, .process),
            (_?, .proxy), (_?, .crowd):
            throw Finding(
                .error, at: name.span, "\(name.value) is another kind of actor here than where the step was read")
        }
    }

    /// Runs a body with a task-local value; what it throws keeps its type.
    func inContext<Value: Sendable>(
        _ local: TaskLocal<Value>, _ value: Value, isolation: isolated (any Actor)? = #isolation,
        _ body: () async throws(Finding) -> Void
    ) async throws(Finding) {
        let result: Result<Void, Finding> = await local.withValue(value) {
            // Captured, it keeps the body on the case's thread: `withValue` would run it on any.
            _ = isolation
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
                    let block = context.scenario.definitions[name.value]
                else { continue }
                collectFinallyBlocks(block.steps, depth: depth + 1)
            default: break
            }
        }
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
