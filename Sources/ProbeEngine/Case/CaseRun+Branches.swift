import ProbeBase
import ProbeEvents
import ProbeScenario
import ProbeSystem
import ProbeTransport

extension CaseRun {
    // MARK: check

    func check(
        _ left: Expression, _ comparison: Step.CheckOperator, _ right: Step.CheckOperand
    ) throws(Finding) {
        let value = try value(of: left)
        switch (comparison, right) {
        case (.matches, .regex(let literal)):
            let regex = try regex(literal)
            let bytes = value.bytes ?? []
            guard let groups = ExpectedText.regex(regex).match(bytes) else {
                throw Finding(.failed, "the value does not match /\(regex.source)/", actual: bytes)
            }
            for (name, value) in groups { bind(name, value) }
        case (.matches, .value(let expression)):
            guard case .regex(let regex) = try self.value(of: expression) as Value else {
                throw Finding(.error, at: expression.span, "`matches` needs a regex")
            }
            if regex.firstMatch(in: value.bytes ?? []) == nil {
                throw Finding(.failed, "the value does not match /\(regex.source)/", actual: value.bytes)
            }
        case (.compare(let comparison), .value(let expression)):
            try compare(value, comparison, try self.value(of: expression))
        case (.contains, .value(let expression)), (.lacks, .value(let expression)):
            let needle = try bytes(of: expression)
            var inbox = Inbox()
            inbox.append(value.bytes ?? [], at: .now)
            let isThere = inbox.firstIndex(of: needle) != nil
            if isThere != (comparison == .contains) {
                throw Finding(
                    .failed, "the value \(isThere ? "contains" : "does not contain") \(EscapedText.quoted(needle))",
                    actual: value.bytes)
            }
        default: throw Finding(.error, "this check compares what can't be compared")
        }
    }

    private func compare(_ left: Value, _ comparison: Comparison, _ right: Value) throws(Finding) {
        if case .integer(let a) = left, case .integer(let b) = right {
            if !comparison.holds(a, b) { throw Finding(.failed, "\(a) \(comparison.rawValue) \(b) does not hold") }
            return
        }
        guard let a = left.bytes, let b = right.bytes, comparison == .equal || comparison == .notEqual else {
            throw Finding(.error, "bytes are compared by == and != only")
        }
        if (a == b) != (comparison == .equal) {
            throw Finding(
                .failed, comparison == .equal ? "the values differ" : "the values are the same", expected: b, actual: a)
        }
    }

    // MARK: either

    enum BranchState {
        /// Since then.
        case matches(MonotonicTime)
        case dead(String)
        case open
    }

    /// Until when a branch can begin.
    private func limit(of branch: Block, from time: MonotonicTime) -> MonotonicTime {
        guard case .act(_, let action, let timing)? = branch.steps.first?.kind else {
            return deadline(Timing(), from: time)
        }
        switch action {
        case .connection(.expect(.nothing(let duration))), .subject(.expect(.nothing(let duration))),
            .server(.expect(.noConnection(let duration))):
            return time + duration
        case .server, .client, .connection, .subject, .process: return deadline(timing, from: time)
        }
    }

    /// The first branch whose start fits is taken, for good.
    func runEither(_ blocks: [Block], _ step: Step, from time: MonotonicTime) async throws(Finding) {
        let limits = blocks.map { limit(of: $0, from: time) }
        let deadline = limits.max() ?? time
        var reasons: [Int: String] = [:]
        var looks = blocks.map { _ in BranchProgress() }
        func choose() throws(Finding) -> Int? {
            for (index, block) in blocks.enumerated() {
                guard let first = block.steps.first else { continue }
                looks[index].isLast = MonotonicTime.now >= limits[index]
                switch try look(at: first, from: time, &looks[index]) {
                case .matches(let moment):
                    // Each branch has its own deadline; what fits one that is over has come too late.
                    // What can't be told is judged by the step.
                    guard moment > reactor.extended(limits[index], from: time) else { return index }
                    reasons[index] =
                        "it came \(DurationText.script(moment - limits[index])) after the branch's deadline"
                case .dead(let reason): reasons[index] = reason
                case .open: reasons[index] = nil
                }
            }
            return reasons.count == blocks.count ? -1 : nil
        }
        // Silence is met by nothing that rings: each branch is looked at when its own time is over.
        var chosen: Int?
        for limit in limits.sorted() where chosen == nil {
            chosen = try await wait(until: limit, from: time, for: choose)
            while chosen == nil, looks.contains(where: \.isBusy) {
                await pause(until: .now)
                try checkFault()
                chosen = try choose()
            }
        }
        if let chosen, chosen >= 0 {
            record(.note("either: branch \(chosen + 1) of \(blocks.count) is taken"))
            if !StepContext.isInDefinition {
                context.progress.descend(from: step.id, to: blocks[chosen].steps.prefix(1))
            }
            _ = try await run(blocks[chosen].steps, from: time)
            return
        }
        throw Finding(
            .failed,
            chosen == nil
                ? "no branch of the either began within \(DurationText.script(deadline - time))"
                : "no branch of the either fits what came",
            details: blocks.indices.map { index in
                "branch \(index + 1): "
                    + (reasons[index] ?? "still waiting for \(text(of: blocks[index].steps.first?.span ?? step.span))")
            })
    }

    // MARK: retry

    func retry(
        _ block: Block, every interval: Duration, within limit: Duration, from time: MonotonicTime
    ) async throws(Finding) {
        let deadline = time + scaled(limit)
        var attempts = 0
        while true {
            attempts += 1
            let begun = MonotonicTime.now
            let attempt = RetryAttempt(
                outer: StepContext.attempt, deadline: reactor.extended(deadline, from: time))
            do throws(Finding) {
                try await inContext(StepContext.$attempt, attempt) { () async throws(Finding) in
                    _ = try await run(block.steps, from: begun)
                }
                try judgeTime(.now, "the attempt's success", deadline, Timing(), time)
                record(.note("retry: attempt \(attempts) succeeded"))
                return
            } catch {
                try checkFault()
                var failure = error
                abandon(attempt)
                // Also where the machine was late: an attempt that can't begin in time is none.
                let next = max(begun + interval, .now)
                let latest = reactor.extended(deadline, from: time)
                if next < latest {
                    record(.note("retry: attempt \(attempts) failed: \(failure.summary)"))
                    let _: Void? = try await wait(until: next) { () throws(Finding) -> Void? in nil }
                }
                if next >= latest || isOver(deadline, from: time) {
                    failure.details.insert(
                        "this was attempt \(attempts), the last within \(DurationText.script(scaled(limit)))", at: 0)
                    throw failure
                }
            }
        }
    }

    // MARK: whenever

    /// Answers the lines that have come and that a `whenever` is for; they reach no `expect`.
    func serveWhenevers(of owner: ConnectionActor) {
        guard !owner.whenevers.isEmpty, !owner.waitsForRawBytes, let connection = owner.connection else { return }
        let taken = linesToAnswer(owner, connection.inbox)
        if !taken.isEmpty { connection.inbox.remove(taken) }
    }

    /// Looks at what has come since the last time, and begins the answers.
    ///
    /// - Returns: where the lines are that are answered.
    private func linesToAnswer(_ owner: ConnectionActor, _ inbox: Inbox) -> [Range<Int>] {
        var offset = max(0, owner.wheneverPosition - inbox.consumed)
        let searched = max(0, owner.wheneverSearched - inbox.consumed)
        var taken: [Range<Int>] = []
        while offset <= inbox.count,
            case .unit(let unit) = UnitScan.next(owner.framing, in: inbox, from: offset, searched: searched)
        {
            let content = inbox.bytes(unit.content)
            if let (rule, match) = firstRule(of: owner, for: content) {
                taken.append(offset..<unit.end)
                rule.uses += 1
                let groups = match.groups.map { ($0.name, Value.bytes($0.range.map { Array(content[$0]) } ?? [])) }
                answer(rule, groups, owner)
            }
            offset = unit.end
        }
        // What is behind the lines that are taken out keeps its position in the stream.
        owner.wheneverPosition = inbox.consumed + min(offset, inbox.count)
        owner.wheneverSearched = inbox.received
        return taken
    }

    private func firstRule(of owner: ConnectionActor, for line: [UInt8]) -> (WheneverRule, ByteRegex.Match)? {
        for rule in owner.whenevers {
            if let match = rule.regex.firstMatch(in: line) { return (rule, match) }
        }
        return nil
    }

    /// Answers run one after the other, beside the steps.
    private func answer(_ rule: WheneverRule, _ groups: [(String, Value)], _ owner: ConnectionActor) {
        owner.answers.append((rule, groups))
        if owner.isAnswering { return }
        owner.isAnswering = true
        let name = owner.name
        // Beside the script: whatever step was running when the line came, its `retry` is not the answer's.
        StepContext.$attempt.withValue(nil) {
            StepContext.$isInDefinition.withValue(true) {
                _ = Task(executorPreference: reactor) { await self.runAnswers(of: name) }
            }
        }
    }

    private func runAnswers(of name: String) async {
        guard let owner = actors.connection(name) else { return }
        while !owner.answers.isEmpty {
            let waiting = owner.answers
            owner.answers = []
            for (rule, groups) in waiting { await answer(rule, groups) }
        }
        owner.isAnswering = false
        changes.notifyAll()
    }

    private func answer(_ rule: WheneverRule, _ groups: [(String, Value)]) async {
        do throws(Finding) {
            record(.note("whenever: \(text(of: rule.span))"))
            try await inContext(StepContext.$loop, rule.loop) { () async throws(Finding) in
                for (name, value) in groups { bind(name, value) }
                _ = try await run(rule.block.steps, from: .now)
            }
        } catch {
            raise(error)
        }
    }

    /// Answers that are under way belong to the case: it ends when they have.
    func finishAnswers() async throws(Finding) {
        let begun = MonotonicTime.now
        let end = begun + scaled(scenario.timeout)
        let _: Void? = try await wait(until: end, from: begun) { () throws(Finding) -> Void? in
            connections.contains { $0.owner.isAnswering } ? nil : ()
        }
    }

    /// The connection that a name of the script stands for.
    func connectionActor(_ name: Name) throws(Finding) -> ConnectionActor {
        if let actor = actors.connection(name.value) { return actor }
        throw Finding(.error, at: name.span, "\(name.value) is no connection yet")
    }
}
