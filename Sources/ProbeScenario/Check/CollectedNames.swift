/// The names that any step of a scenario binds, collected before the steps are checked in order. The checker uses these
/// names to distinguish a name that is bound too late from a misspelled name.
struct CollectedNames {
    /// The place where each variable is first bound.
    private(set) var variables: [String: SourceSpan] = [:]
    private(set) var acceptedActors: Set<String> = []
    private(set) var headerActors: Set<String> = []
    /// The side of the link that each actor is on.
    private(set) var linkSides: [String: LinkChecker.Side] = [:]
    /// The `name` statements among the steps.
    private(set) var hostNames: [NameStatement] = []
    /// The regex groups in a table's column, keyed by the name that a loop or an `each` gives to the column.
    private(set) var groupsOfCells: [String: Set<String>] = [:]
    /// The member scripts of each crowd, one for each `start` step.
    private(set) var scriptsOfCrowds: [String: [CrowdScript]] = [:]
    /// The crowds on which at least one step acts.
    private(set) var crowdsOfSteps: Set<String> = []
    /// Whether any step changes the framing.
    private(set) var hasFramingStep = false

    init(of scenario: Scenario) {
        headerActors = Set(scenario.actors.map(\.name.value))
        for (index, link) in scenario.links.enumerated() {
            for (ends, isLeft) in [(link.left, true), (link.right, false)] {
                for end in ends where linkSides[end.value] == nil {
                    linkSides[end.value] = LinkChecker.Side(link: index, isLeft: isLeft)
                }
            }
        }
        for name in scenario.parameters.flatMap(\.names) + scenario.constants.map(\.name) {
            note(name.value, name.span)
        }
        for definition in scenario.definitions.values { collect(from: definition.steps) }
        collect(from: scenario.steps)
        if !scenario.tables.isEmpty { collectGroupsOfCells(in: scenario) }
    }

    private mutating func note(_ name: String, _ span: SourceSpan) {
        if variables[name] == nil { variables[name] = span }
    }

    private mutating func collect(from steps: [Step]) {
        for step in steps {
            switch step.kind {
            case .act(_, .connection(.framing), _), .act(_, .subject(.framing), _),
                .act(_, .server(.accept(_, _, .some)), _), .act(_, .client(.connect(_, _, .some)), _):
                hasFramingStep = true
            case .act(let name, .crowd(let action), _):
                crowdsOfSteps.insert(name.value)
                if case .start(_, let script) = action { scriptsOfCrowds[name.value, default: []].append(script) }
            case .act(_, let action, _):
                if let name = action.acceptedName { acceptedActors.insert(name.value) }
                for name in action.bindings.names { note(name, step.span) }
            case .name(let statement): hostNames.append(statement)
            case .wire, .link, .wait, .note, .invoke: break
            case .assign, .check, .loop, .sequence, .together, .either, .retry, .finally, .whenever:
                for name in step.kind.boundNames { note(name, step.span) }
                for block in step.kind.blocks { collect(from: block.steps) }
            }
        }
    }

    // MARK: Tables

    /// Collects the regex groups that the columns of tables can bind.
    private mutating func collectGroupsOfCells(in scenario: Scenario) {
        var tables = GroupsOfTables(tables: scenario.tables)
        for parameter in scenario.parameters {
            if case .table(let table) = parameter.source { add(parameter.names, table, &tables, scenario) }
        }
        for definition in scenario.definitions.values { visit(definition.steps, &tables, scenario) }
        visit(scenario.steps, &tables, scenario)
    }

    private mutating func visit(_ steps: [Step], _ tables: inout GroupsOfTables, _ scenario: Scenario) {
        for step in steps {
            if case .loop(let names, .table(let table), _) = step.kind { add(names, table, &tables, scenario) }
            for block in step.kind.blocks { visit(block.steps, &tables, scenario) }
        }
    }

    private mutating func add(
        _ names: [Name], _ table: Name, _ tables: inout GroupsOfTables, _ scenario: Scenario
    ) {
        for (column, (name, groups)) in zip(names, tables.groups(of: table.value)).enumerated() where !groups.isEmpty {
            guard tables.isFirst(name.value, table.value, column) else { continue }
            groupsOfCells[name.value, default: []].formUnion(groups)
            for group in groups { note(group, variables[name.value] ?? scenario.title.span) }
        }
    }
}

/// The regex groups in each column of the tables. The groups are computed once per table, because any number of loops
/// may use the same table and give its columns different names.
private struct GroupsOfTables {
    let tables: [String: Table]
    private var known: [String: [Set<String>]] = [:]
    private var isAdded: Set<[String]> = []

    init(tables: [String: Table]) { self.tables = tables }

    mutating func groups(of table: String) -> [Set<String>] {
        if let groups = known[table] { return groups }
        var groups: [Set<String>] = []
        for row in tables[table]?.rows ?? [] {
            for (column, cell) in row.enumerated() {
                if column == groups.count { groups.append([]) }
                if case .regex(let literal) = cell { groups[column].formUnion(literal.groupNames) }
            }
        }
        known[table] = groups
        return groups
    }

    /// Returns whether this call is the first to give the column this name.
    mutating func isFirst(_ name: String, _ table: String, _ column: Int) -> Bool {
        isAdded.insert([name, table, String(column)]).inserted
    }
}
