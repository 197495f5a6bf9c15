/// Checks tables, and the names that an `each` or a loop gives to their columns.
final class TableChecker {
    private let names: NameScope
    private let values: ValueChecker
    private var knownColumns: [String: Columns] = [:]

    private var context: ParseContext { names.context }

    /// The types of a table's columns.
    private struct Columns {
        /// For each column, the type of the cells that are not variables; `nil` if every cell is a variable.
        var types: [ValueType?]
        /// For each column, the first few cells that are variables. The types of these variables may depend on the step
        /// that uses the table.
        var variables: [[Expression]]
        /// Whether every row has as many columns as the first row.
        var isEven = true
    }

    init(_ names: NameScope, _ values: ValueChecker) {
        self.names = names
        self.values = values
    }

    /// Checks the cells of a table.
    func check(_ name: String) {
        guard let table = context.scenario.tables[name] else { return }
        for row in table.rows {
            for cell in row {
                switch cell {
                case .value(let value):
                    values.requireNoRegex(value)
                    values.report(names.constants.fold(value))
                case .regex(let literal): values.check(literal)
                }
            }
        }
    }

    /// Binds names to the columns of a table.
    func bindColumns(of table: Name, to columnNames: [Name], inHeader: Bool = false) {
        guard let rows = context.scenario.tables[table.value]?.rows, let first = rows.first else {
            if !names.isDoubtful(table.value) {
                names.report(
                    .unknownTable(table.value, names.listed(context.scenario.tables.keys)), at: table.span)
            }
            for name in columnNames { names.bind(name, .any, inHeader: inHeader) }
            return
        }
        let columns = columns(of: table.value, rows)
        if columnNames.count != first.count, columns.isEven {
            let place = context.scenario.tables[table.value]?.name.span ?? table.span
            names.report(
                .unevenTable,
                "the statement has \(counted(columnNames.count, "name")), but the rows of the table "
                    + "have \(counted(first.count, "cell"))",
                hint: "give one name for each cell of a row", at: columnNames[0].span,
                notes: [Diagnostic.Note("the table is here", span: place)])
        }
        for (column, name) in columnNames.enumerated() {
            var type: ValueType?
            if column < columns.types.count {
                type = columns.types[column]
                for value in columns.variables[column] {
                    type = type.map { $0.joined(with: quietType(of: value)) } ?? quietType(of: value)
                }
            }
            names.bind(name, type ?? .any, inHeader: inHeader)
        }
    }

    /// Returns the columns of a table. The columns are computed once per table, because any number of loops may use the
    /// same table.
    private func columns(of table: String, _ rows: [[Table.Cell]]) -> Columns {
        if let known = knownColumns[table] { return known }
        var columns = Columns(
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
        knownColumns[table] = columns
        return columns
    }

    /// Returns the type of a value that has already been checked, without reporting anything.
    private func quietType(of value: Expression) -> ValueType {
        switch value.kind {
        case .integer, .unsigned, .subtract, .divide: .integer
        case .string, .hex, .webSocket, .protobuf(.message): .bytes
        case .protobuf(.field): .any
        case .protobuf(.number): .integer
        case .call(let name, _): Function(rawValue: name.value)?.makesInteger == true ? .integer : .bytes
        case .variable(let name): names.state.variables[name]?.type ?? .any
        case .parenthesized(let inner), .multiply(let inner, _), .add(let inner, _): quietType(of: inner)
        }
    }
}

extension Diagnostic.Message {
    static func unknownTable(_ name: String, _ names: [String]) -> Self {
        Self(
            .unknownTable, "unknown table `\(name)`",
            hint: names.isEmpty
                ? "add `table \(name) = …` before the first step" : didYouMean(name, names, "the tables are"))
    }
}
