import ProbeBase

/// Checks a whole scenario before anything runs: names, types, the order of steps, and steps that could never work.
///
/// The checker walks the steps once, in order, and tracks what is known at each step. A change that was made in only
/// some of several branches is uncertain after the branches.
struct ScenarioChecker {
    private let names: NameScope
    private let values: ValueChecker

    private var context: ParseContext { names.context }

    /// Creates a checker.
    ///
    /// - Parameter targets: the addresses that the script may use; `nil` allows any address.
    init(_ context: ParseContext, allowing targets: AllowedTargets? = nil) {
        names = NameScope(context)
        values = ValueChecker(names, allowing: targets)
    }

    func check() {
        let graph = DefinitionGraph(checking: context)
        let tables = TableChecker(names, values)
        if graph.isTooLarge { names.place.isOrderUnknown = true }
        HeaderChecker(names: names, values: values, tables: tables).check()
        names.place.isInHeader = false
        let steps = StepChecker(names, values, tables, canInline: graph.canInline)
        steps.checkTimeline()
        if graph.canInline { checkUnused() }
        fillInPorts()
        if !steps.hasTest, !context.scenario.steps.isEmpty, !context.diagnostics.hasErrors {
            names.report(
                .nothingTested,
                "this scenario checks only that connections are established, so it passes regardless of what is sent "
                    + "on them",
                hint: "add an expectation, such as `T expect line \"220 ready\"`", at: context.scenario.title.span)
        }
    }

    private func checkUnused() {
        if context.scenario.steps.isEmpty { return }
        for actor in context.scenario.actors {
            let name = actor.name.value
            if !names.unusedActors.contains(name) || names.isDoubtful(name) || actor.span.file != 0 { continue }
            let kind = names.state.actors[name]?.kind.rawValue ?? "actor"
            names.report(
                .unusedActor, "the \(kind) `\(name)` is not used in this scenario",
                hint: "remove the declaration, or add a step that uses it", at: actor.name.span)
        }
    }

    private func fillInPorts() {
        for (index, actor) in context.scenario.actors.enumerated() {
            guard case .process(var command) = actor.kind, let count = names.processPorts[actor.name.value] else {
                continue
            }
            command.portCount = count
            context.scenario.actors[index].kind = .process(command)
        }
    }

    /// Checks wire statements about one connection between `client` and `server`, or about the connections of a run's
    /// actors.
    func check(wireStatements steps: [Step], given: WireStatements.Given) {
        var end = ScriptState.Actor(kind: .server)
        end.connections = 1
        end.link = .up
        names.state.set("server", end)
        end.kind = .client
        names.state.set("client", end)
        names.givenActors = ["client", "server"]
        names.targets["client"] = .actor(Name("server", SourceSpan(file: 0, start: 0, end: 0)))
        // Every actor is treated as a process, which may both connect and accept. The capture shows what the actor did.
        for actor in given.actors.sorted() {
            names.state.set(actor, ScriptState.Actor(kind: .process))
            if !names.givenActors.contains(actor) { names.givenActors.append(actor) }
        }
        for (name, type) in given.variables { names.state.set(name, ScriptState.Variable(type: type)) }
        names.place.isInHeader = false
        let wire = WireChecker(names: names, values: values, hasGivenLinks: given.hasLinks)
        for step in steps {
            if case .wire(let statement, let timing) = step.kind { wire.check(statement, timing, step) }
        }
    }
}
