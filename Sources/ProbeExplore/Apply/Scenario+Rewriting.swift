package import ProbeScenario

extension Scenario {
    /// Returns the scenario with each step replaced, including the steps of blocks and definitions. The steps of a
    /// block are replaced before the block itself.
    ///
    /// - Parameter replace: a function that returns the replacement of a step: nothing, the step itself, or several
    ///   steps.
    package func rewritten(_ replace: (Step) -> [Step]) -> Scenario {
        var result = self
        result.steps = Self.rewritten(steps, replace)
        result.definitions = definitions.mapValues {
            Block(steps: Self.rewritten($0.steps, replace), span: $0.span)
        }
        return result
    }

    private static func rewritten(_ steps: [Step], _ replace: (Step) -> [Step]) -> [Step] {
        func block(_ block: Block) -> Block { Block(steps: rewritten(block.steps, replace), span: block.span) }
        return steps.flatMap { step -> [Step] in
            var step = step
            switch step.kind {
            case .loop(let names, let source, let body): step.kind = .loop(names: names, source, block(body))
            case .sequence(let body): step.kind = .sequence(block(body))
            case .together(let body): step.kind = .together(block(body))
            case .either(let bodies): step.kind = .either(bodies.map(block))
            case .retry(let every, let within, let body):
                step.kind = .retry(every: every, within: within, block(body))
            case .finally(let body): step.kind = .finally(block(body))
            case .whenever(let connection, let regex, let body):
                step.kind = .whenever(connection: connection, regex, block(body))
            case .wait, .note, .assign, .check, .invoke, .act, .wire, .link, .name: break
            }
            return replace(step)
        }
    }

    /// All steps in the order of the script. The steps of a block follow the block. The steps of definitions are last,
    /// in the order of the definitions' names.
    package var allSteps: [Step] {
        let bodies = definitions.sorted { $0.key < $1.key }.map(\.value.steps)
        return ([steps] + bodies).flatMap(Self.flattened)
    }

    /// The steps that judge how a stream was cut or how a window was used, in the order of the script. A correct
    /// program may fail these steps under a variation.
    package var stepsAboutCuts: [Step] {
        allSteps.filter { step in
            if case .wire(let statement, _) = step.kind { statement.isAboutCuts } else { false }
        }
    }

    /// Whether the verdict on a variation requires the capture.
    package var variationsNeedCapture: Bool {
        let kept = allSteps.count { if case .wire = $0.kind { true } else { false } } - stepsAboutCuts.count
        return kept > 0 || requirements.contains { $0.kind == .capture }
    }

    private static func flattened(_ steps: [Step]) -> [Step] {
        steps.flatMap { step in [step] + step.kind.bodies.flatMap { flattened($0.steps) } }
    }
}

extension Step.Kind {
    /// The blocks that a step contains.
    package var bodies: [Block] {
        switch self {
        case .loop(_, _, let block), .sequence(let block), .together(let block), .retry(_, _, let block),
            .finally(let block), .whenever(_, _, let block):
            [block]
        case .either(let blocks): blocks
        case .wait, .note, .assign, .check, .invoke, .act, .wire, .link, .name: []
        }
    }
}
