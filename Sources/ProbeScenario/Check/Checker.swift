/// Looks at a whole scenario before anything runs: names, types, the order of steps, and what could not do what it says.
///
/// The checker walks the timeline once and keeps what is known at each step. What only one branch of several changes is uncertain
/// afterwards. A `define` is walked at each `do` of it; the number of steps that are walked is bounded.
final class Checker {
    let context: ParseContext
    var state = ScriptState()
    /// Every name that a step binds anywhere: such a name is bound too late, any other unbound name is misspelt.
    var everBound: [String: SourceSpan] = [:]
    var everAccepted: Set<String> = []
    /// Actors without a declaration: the two ends of a captured connection.
    var givenActors: [String] = []
    /// Names that the header binds: they are bound at each step.
    var headerNames: Set<String> = []
    var usedActors: Set<String> = []
    var processPorts: [String: Int] = [:]
    var folder: ConstantFolder
    /// Targets of clients and subjects.
    var targets: [String: Target] = [:]
    /// For each `together` around the step: the names that its lines bind, with the number of the line (-1: several lines bind the name).
    var parallelLines: [(names: [String: Int], line: Int)] = []
    /// The step is in a block that runs at another time: the order of steps is not known.
    var isOrderUnknown = false
    /// The step is in a `finally`: what the timeline binds may not be bound.
    var isInFinally = false
    /// The step is in a loop's body that is walked a second time.
    var isSecondPass = false
    var isInHeader = true
    /// How many steps were walked so far; a step that is walked twice counts twice.
    var walked = 0
    var canInline = true
    var isInProcessLine = false
    var invoked: Set<String> = []
    var hasTest = false
    var hasFramingStep = false
    /// The groups of the regexes of a column, by the name that a loop gives to the column.
    var groupsOfCells: [String: Set<String>] = [:]
    var boundInFinally: Set<String> = []
    var looselyWalked: Set<SourceSpan> = []
    private var tableColumns: [String: TableColumns] = [:]
    /// While an expectation is checked: the kind of its actor, if that is known.
    var expectationKind: ActorKind??

    init(_ context: ParseContext) {
        self.context = context
        folder = ConstantFolder(framing: context.scenario.framing)
    }

    func check() {
        collectNames()
        checkDefinitionGraph()
        for actor in context.scenario.actors { declare(actor) }
        checkHeader()
        isInHeader = false
        walk(context.scenario.steps)
        checkUninvokedDefinitions()
        checkUnused()
        fillInPorts()
        if !hasTest, !context.scenario.steps.isEmpty, !context.diagnostics.hasErrors {
            report(.order(.nothingTested), at: context.scenario.title.span)
        }
    }

    func report(_ kind: DiagnosticKind, at span: SourceSpan, notes: [Diagnostic.Note] = []) {
        context.diagnostics.add(kind, at: span, notes: notes)
    }

    // MARK: Header

    private func declare(_ actor: ActorDeclaration) {
        let name = actor.name.value
        var known = ScriptState.Actor(kind: .server)
        switch actor.kind {
        case .server: break
        case .client(let target, _):
            known.kind = .client
            targets[name] = target
        case .subject(let target, _):
            known.kind = .subject
            targets[name] = target
        case .process: known.kind = .process
        }
        if context.doubtful.contains(name) { known = uncertain(known) }
        state.set(name, known)
    }

    /// A step of this actor could not be read: nothing is known of the actor.
    private func uncertain(_ actor: ScriptState.Actor) -> ScriptState.Actor {
        var actor = actor
        actor.link = .unknown
        actor.life = .unknown
        actor.isListening = nil
        actor.mayHaveMore = true
        return actor
    }

    private func checkHeader() {
        if let parameter = context.scenario.parameters.dropFirst(CaseExpansion.mostParameters).first {
            report(.value(.tooManyParameters(CaseExpansion.mostParameters)), at: parameter.span)
        }
        for item in context.headerOrder {
            switch item {
            case .parameter(let index): check(context.scenario.parameters[index])
            case .constant(let index):
                let (name, value) = context.scenario.constants[index]
                let type = infer(value)
                if type == .regex { report(.value(.regexAsBytes(text(value))), at: value.span) }
                if let error = folder.define(name.value, value) {
                    report(.value(.evaluation(error.reason)), at: error.span)
                }
                bind(name, type, inHeader: true)
            case .table(let name): checkTable(name)
            }
        }
        if let limit = context.scenario.maxLine { requireInteger(limit, "max-line", 1, Int.max) }
        for actor in context.scenario.actors { checkOptions(of: actor) }
    }

    private func check(_ parameter: Parameter) {
        switch parameter.source {
        case .list(let values):
            var type: ValueType?
            for value in values {
                let next = infer(value)
                if next == .regex { report(.value(.regexAsBytes(text(value))), at: value.span) }
                report(folder.fold(value))
                type = type.map { $0.joined(with: next) } ?? next
            }
            bind(parameter.names[0], type ?? .any, inHeader: true)
        case .range(let first, let last):
            checkRange(first, last)
            bind(parameter.names[0], .integer, inHeader: true)
        case .cuts(let value, let count):
            let length = requireBytes(value).length
            if let length, length <= count {
                report(.value(.nothingToCut(length: length, times: count)), at: value.span)
            }
            bind(parameter.names[0], .pieces, inHeader: true)
        case .table(let table): bindColumns(of: table, to: parameter.names, inHeader: true)
        }
    }

    func checkRange(_ first: Expression, _ last: Expression) {
        requireInteger(first)
        requireInteger(last)
        if case .integer(let low) = folder.fold(first), case .integer(let high) = folder.fold(last), low > high {
            report(.value(.emptyRange(low, high)), at: first.span.joined(with: last.span))
        }
    }

    private func checkTable(_ name: String) {
        guard let table = context.scenario.tables[name] else { return }
        for row in table.rows {
            for cell in row {
                switch cell {
                case .value(let value):
                    if infer(value) == .regex { report(.value(.regexAsBytes(text(value))), at: value.span) }
                    report(folder.fold(value))
                case .regex(let literal): check(literal)
                }
            }
        }
    }

    func bindColumns(of table: Name, to names: [Name], inHeader: Bool = false) {
        guard let rows = context.scenario.tables[table.value]?.rows, let first = rows.first else {
            if !context.doubtful.contains(table.value) {
                report(.name(.unknownTable(table.value, self.names(context.scenario.tables.keys))), at: table.span)
            }
            for name in names { bind(name, .any, inHeader: inHeader) }
            return
        }
        let columns = columns(of: table.value, rows)
        if names.count != first.count, columns.isEven {
            report(
                .name(.tableColumns(names: names.count, columns: first.count)), at: names[0].span,
                notes: [
                    Diagnostic.Note(
                        "the table is here", span: context.scenario.tables[table.value]?.name.span ?? table.span)
                ])
        }
        for (column, name) in names.enumerated() {
            var type: ValueType?
            if column < columns.types.count {
                type = columns.types[column]
                for value in columns.variables[column] {
                    type = type.map { $0.joined(with: quietType(of: value)) } ?? quietType(of: value)
                }
            }
            bind(name, type ?? .any, inHeader: inHeader)
        }
    }

    /// The types of a table's columns. Computed once for each table, as any number of loops may go over it.
    private func columns(of table: String, _ rows: [[Table.Cell]]) -> TableColumns {
        if let known = tableColumns[table] { return known }
        var columns = TableColumns(
            types: Array(repeating: nil, count: rows[0].count), variables: Array(repeating: [], count: rows[0].count))
        for row in rows {
            if row.count != rows[0].count { columns.isEven = false }
            for (column, cell) in row.prefix(rows[0].count).enumerated() {
                let next: ValueType
                switch cell {
                case .regex: next = .regex
                case .value(let value):
                    if case .variable = value.kind, columns.variables[column].count < 100 {
                        columns.variables[column].append(value)
                        continue
                    }
                    next = quietType(of: value)
                }
                columns.types[column] = columns.types[column].map { $0.joined(with: next) } ?? next
            }
        }
        tableColumns[table] = columns
        return columns
    }

    private func quietType(of value: Expression) -> ValueType {
        switch value.kind {
        case .integer, .subtract, .divide: .integer
        case .string, .hex: .bytes
        case .call(let name, _): Function(rawValue: name.value)?.makesInteger == true ? .integer : .bytes
        case .variable(let name): state.variables[name]?.type ?? .any
        case .parenthesized(let inner), .multiply(let inner, _), .add(let inner, _): quietType(of: inner)
        }
    }

    private func checkOptions(of actor: ActorDeclaration) {
        switch actor.kind {
        case .server(let address, let backlog, let options):
            if let address { check(address) }
            if let backlog { requireInteger(backlog, "the backlog", 0, 65_535) }
            for option in options { check(option) }
        case .client(let target, let options):
            check(target, of: actor.name)
            for option in options { check(option) }
        case .subject(let target, _): check(target, of: actor.name)
        case .process(let command):
            isInProcessLine = true
            for word in command.words { check(word.value) }
            isInProcessLine = false
        }
    }

    private func check(_ target: Target?, of name: Name) {
        switch target {
        case .address(let address): check(address)
        case .actor(let other):
            guard let known = state.actors[other.value] else {
                if !context.doubtful.contains(other.value), context.actorKinds[other.value] == nil {
                    report(.name(.unknownActor(other.value, actorNames)), at: other.span)
                }
                return
            }
            usedActors.insert(other.value)
            let listens =
                known.kind == .server || known.kind == .process
                || known.kind == .subject && targets[other.value] == nil
            if !listens {
                report(
                    .name(
                        .wrongKindOfActor(
                            other.value, is: known.kind.rawValue,
                            wanted: "a server, a process or a subject that listens")), at: other.span)
            } else if known.kind == .process {
                // A client connects to the first port of a process.
                processPorts[other.value] = max(processPorts[other.value] ?? 0, 1)
            }
        case nil: break
        }
    }

    func check(_ address: AddressExpression) {
        if let port = address.port { requireInteger(port, "the port", 1, 65_535) }
    }

    func check(_ option: SocketOption) {
        switch option {
        case .receiveBuffer(let size): requireInteger(size, "the buffer", 1, 1 << 30)
        case .sendBuffer(let size): requireInteger(size, "the buffer", 1, 1 << 30)
        case .noDelay, .keepAlive, .keepAliveEvery: break
        }
    }

    // MARK: The end

    private func checkUnused() {
        if context.scenario.steps.isEmpty || !canInline || context.diagnostics.contains(.notBuilt) { return }
        for actor in context.scenario.actors {
            let name = actor.name.value
            if usedActors.contains(name) || context.doubtful.contains(name) || actor.span.file != 0 { continue }
            report(.name(.unusedActor(name, kind: state.actors[name]?.kind.rawValue ?? "actor")), at: actor.name.span)
        }
    }

    private func fillInPorts() {
        for (index, actor) in context.scenario.actors.enumerated() {
            guard case .process(var command) = actor.kind, let count = processPorts[actor.name.value] else { continue }
            command.portCount = count
            context.scenario.actors[index].kind = .process(command)
        }
    }
}

/// The types of a table's columns; the first row says how many there are.
private struct TableColumns {
    /// The type of the cells that are no variables; nil if each cell is one.
    var types: [ValueType?]
    /// The first cells that are variables: their types may depend on the step.
    var variables: [[Expression]]
    var isEven = true
}
