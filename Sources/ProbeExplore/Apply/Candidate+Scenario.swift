import ProbeBase
package import ProbeScenario

extension Candidate {
    /// Returns the given scenario with the candidate's changes applied.
    package func scenario(of base: Scenario) -> Scenario {
        let groups = variation.joined
        let inner = Set(groups.flatMap { $0.dropFirst() })
        let first = Dictionary(uniqueKeysWithValues: groups.map { ($0[0], $0) })
        let sends = first.isEmpty ? [:] : Self.sends(of: base)
        var result = base.rewritten { step in
            if removedSteps.contains(step.id) || inner.contains(step.id) || isEndCarried(step) { return [] }
            var step = step
            if ignoredRests.contains(step.id), case .act(let actor, _, _) = step.kind {
                step.kind = .act(actor: actor, .connection(.restIgnored), Timing())
            }
            if case .act(let actor, .connection(.send(let statement)), let timing) = step.kind {
                var statement = statement
                if let group = first[step.id] { statement = joined(group.compactMap { sends[$0] }, statement) }
                statement = cut(replaced(statement, step), step)
                if let size = variation.recordSize(of: step.id) {
                    statement.recordLength = Expression(.integer(size), span: statement.pieces[0].span)
                }
                if carriesFIN(step.id, groups) { statement.carriesFIN = true }
                step.kind = .act(actor: actor, .connection(.send(statement)), timing)
            }
            if case .act(let actor, .proxy(.forward(let statement, nil, let side)), let timing) = step.kind {
                step.kind = .act(
                    actor: actor, .proxy(.forward(cut(statement, step), count: nil, to: side)), timing)
            }
            return slowReads(before: step) + [step] + earlyEnd(after: step)
        }
        result.actors.removeAll { removedActors.contains($0.name.value) }
        for index in result.actors.indices { result.actors[index] = optioned(result.actors[index]) }
        return result
    }

    /// Returns whether the FIN is sent with this send, or with a send that is joined to it.
    func carriesFIN(_ send: Int, _ groups: [[Int]]) -> Bool {
        let group = groups.first { $0[0] == send } ?? [send]
        return variation.fins.contains { $0.send == group[group.count - 1] }
    }

    /// Returns whether a half-close is removed because its FIN is sent with the preceding send. A `close` is not
    /// removed, because it also closes the connection.
    func isEndCarried(_ step: Step) -> Bool {
        guard case .act(_, .connection(.halfClose), _) = step.kind else { return false }
        return variation.fins.contains { $0.end == step.id }
    }

    private static func sends(of base: Scenario) -> [Int: SendStatement] {
        var sends: [Int: SendStatement] = [:]
        for step in base.allSteps {
            if case .act(_, .connection(.send(let statement)), _) = step.kind { sends[step.id] = statement }
        }
        return sends
    }

    /// Returns a statement that sends the values of several sends as one piece.
    private func joined(_ statements: [SendStatement], _ statement: SendStatement) -> SendStatement {
        let values = statements.map { statement -> Expression in
            let value = statement.pieces[0]
            guard statement.mode == .line else { return value }
            return Expression(.call(Name("line", value.span), [Expression.Argument(value: value)]), span: value.span)
        }
        guard var sum = values.first else { return statement }
        for value in values.dropFirst() { sum = Expression(.add(sum, value), span: sum.span) }
        var result = statement
        result.mode = .bytes
        result.pieces = [sum]
        return result
    }

    private func replaced(_ statement: SendStatement, _ step: Step) -> SendStatement {
        guard let payload = payloads[step.id] else { return statement }
        var result = statement
        result.mode = .bytes
        result.pieces = [Expression(.hex(payload), span: statement.pieces[0].span)]
        return result
    }

    private func cut(_ statement: SendStatement, _ step: Step) -> SendStatement {
        let offsets = variation.offsets(of: step.id)
        guard !offsets.isEmpty else { return statement }
        let span = statement.pieces[0].span
        var result = statement
        result.cut = .at(offsets.map { Expression(.integer($0), span: span) })
        result.pace = variation.pauses[step.id].map { .every($0) }
        return result
    }

    private func cut(_ statement: ForwardStyle<Parsed>, _ step: Step) -> ForwardStyle<Parsed> {
        let offsets = variation.offsets(of: step.id)
        guard !offsets.isEmpty else { return statement }
        var result = statement
        result.cut = .at(offsets.map { Expression(.integer($0), span: step.span) })
        result.pace = variation.pauses[step.id].map { .every($0) }
        return result
    }

    private func slowReads(before step: Step) -> [Step] {
        variation.changes.compactMap { change in
            guard case .slowReading(let actor, step.id, let bytes) = change else { return nil }
            let action = ConnectionAction.readSlowly(
                bytes: Expression(.integer(bytes), span: step.span), every: .milliseconds(1))
            let name = Name(actor, step.span)
            return Step(
                id: step.id, kind: .act(actor: name, .connection(action), Timing()), span: step.span, focus: step.focus)
        }
    }

    private func earlyEnd(after step: Step) -> [Step] {
        guard variation.changes.contains(.earlyEnd(send: step.id)), case .act(let actor, _, _) = step.kind else {
            return []
        }
        return [
            Step(
                id: step.id, kind: .act(actor: actor, .connection(.halfClose), Timing()), span: step.span,
                focus: step.focus)
        ]
    }

    private func optioned(_ actor: ActorDeclaration) -> ActorDeclaration {
        let added = variation.changes.compactMap { change -> SocketOption? in
            if case .option(actor.name.value, let option) = change { option.option(at: actor.span) } else { nil }
        }
        guard !added.isEmpty else { return actor }
        var result = actor
        switch actor.kind {
        case .server(let address, let backlog, let options):
            result.kind = .server(address: address, backlog: backlog, options: options + added)
        case .client(let target, let options): result.kind = .client(target: target, options: options + added)
        case .subject, .process, .proxy, .crowd: break
        }
        return result
    }
}
