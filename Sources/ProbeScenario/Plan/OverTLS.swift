/// A scenario in which `tls` has been added to each server, to the subject, and to the clients that connect to these
/// servers. A run of this scenario verifies that the rules for plain TCP also hold with TLS.
package struct OverTLS: Sendable {
    package private(set) var scenario: Scenario
    /// The number of wire statements that were removed because they concern bytes and segments, and therefore don't
    /// apply to TLS records.
    package private(set) var leftOut = 0
    /// The reason why the scenario can't be run with TLS; `nil` if there is none.
    package private(set) var obstacle: String?
    /// The first removed statement, if no remaining statement judges the case, which means that the case would always
    /// pass; otherwise `nil`.
    package private(set) var lostJudgement: SourceSpan?
    private var firstLeftOut: SourceSpan?
    /// Whether a branch of an `either`, or the block of a `retry`, is left without a step and would therefore succeed
    /// immediately.
    private var emptiesBlock = false

    package init(_ scenario: Scenario) {
        self.scenario = scenario
        if scenario.speaksTLS {
            obstacle = "TLS is already in use"
            return
        }
        let servers = Set(
            scenario.actors.filter { if case .server = $0.kind { true } else { false } }.map(\.name.value))
        for index in self.scenario.actors.indices {
            let actor = scenario.actors[index]
            switch actor.kind {
            case .server(_, backlog: .some, _):
                obstacle = "connections wait in a server's backlog, but TLS requires accepting them immediately"
                return
            case .server: break
            case .client(.actor(let name)?, _): if !servers.contains(name.value) { continue }
            case .subject(.actor(let name)?, _):
                if !servers.contains(name.value) {
                    obstacle = "`\(name.value)` is not a server of the script"
                    return
                }
            case .subject(nil, _):
                obstacle = "a subject that listens can't use TLS"
                return
            case .subject(.address, _):
                obstacle = "the subject does not connect to a server of the script"
                return
            case .proxy:
                obstacle = "a proxy is between the two ends of a connection"
                return
            case .crowd:
                obstacle = "a crowd is in use"
                return
            case .client, .process: continue
            }
            self.scenario.actors[index].tls = TLSOptions(span: actor.span)
        }
        if servers.isEmpty {
            obstacle = "no server is declared"
            return
        }
        if Self.choosesByAccept(scenario.steps)
            || scenario.definitions.values.contains(where: { Self.choosesByAccept($0.steps) })
        {
            obstacle =
                "an `either` selects a branch with an `accept`, but with TLS the handshake is separate from "
                + "the connection"
            return
        }
        if Self.carriesFIN(scenario.steps)
            || scenario.definitions.values.contains(where: { Self.carriesFIN($0.steps) })
        {
            obstacle = "a `send` carries the FIN, but with TLS a close_notify precedes it"
            return
        }
        self.scenario.steps = without(scenario.steps)
        for (name, block) in scenario.definitions {
            let steps = without(block.steps)
            self.scenario.definitions[name]?.steps = steps
        }
        if emptiesBlock || !Self.judges(self.scenario) { lostJudgement = firstLeftOut }
    }

    /// Returns whether any step of the scenario states what must happen.
    private static func judges(_ scenario: Scenario) -> Bool {
        judges(scenario.steps) || scenario.definitions.values.contains { judges($0.steps) }
    }

    private static func judges(_ steps: [Step]) -> Bool {
        steps.contains { step in
            switch step.kind {
            case .check, .wire, .whenever: true
            case .act(_, let action, _): action.isTest
            default: step.kind.blocks.contains { judges($0.steps) }
            }
        }
    }

    private static func choosesByAccept(_ steps: [Step]) -> Bool {
        steps.contains { step in
            if case .either(let blocks) = step.kind {
                let isChosen = blocks.contains { block in
                    if case .act(_, .server(.accept), _)? = block.steps.first?.kind { true } else { false }
                }
                if isChosen { return true }
            }
            return step.kind.blocks.contains { choosesByAccept($0.steps) }
        }
    }

    private static func carriesFIN(_ steps: [Step]) -> Bool {
        steps.contains { step in
            if case .act(_, .connection(.send(let statement)), _) = step.kind, statement.carriesFIN { return true }
            return step.kind.blocks.contains { carriesFIN($0.steps) }
        }
    }

    private mutating func without(_ steps: [Step]) -> [Step] {
        steps.compactMap { step in
            var step = step
            switch step.kind {
            case .wire(.halfConnection(_, _, let statement), _),
                .wire(.arrived(.halfConnection(_, _, let statement)), _):
                if statement.isAboutContents {
                    noteLeftOut(step)
                    return nil
                }
            case .wire(.packets, _):
                noteLeftOut(step)
                return nil
            case .loop(let names, let source, let block): step.kind = .loop(names: names, source, without(block))
            case .sequence(let block): step.kind = .sequence(without(block))
            case .together(let block): step.kind = .together(without(block))
            case .either(let blocks): step.kind = .either(blocks.map { withoutEmptying($0) })
            case .retry(let every, let within, let block):
                step.kind = .retry(every: every, within: within, withoutEmptying(block))
            case .finally(let block): step.kind = .finally(without(block))
            case .whenever(let connection, let regex, let block):
                step.kind = .whenever(connection: connection, regex, without(block))
            case .wire, .link, .name, .wait, .note, .assign, .check, .invoke, .act: break
            }
            return step
        }
    }

    private mutating func noteLeftOut(_ step: Step) {
        leftOut += 1
        firstLeftOut = firstLeftOut ?? step.span
    }

    private mutating func without(_ block: Block) -> Block {
        Block(steps: without(block.steps), span: block.span)
    }

    private mutating func withoutEmptying(_ block: Block) -> Block {
        let rest = without(block)
        emptiesBlock = emptiesBlock || (rest.steps.isEmpty && !block.steps.isEmpty)
        return rest
    }
}
