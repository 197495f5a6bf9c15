extension CaseExpansion {
    struct Row {
        var values: [Value]
        var labels: [String]
    }

    /// The rows of a parameter; none after ``stop``.
    mutating func rows(_ index: Int, _ levels: [PlanLevel]) -> [Row] {
        if let known = commonRows[index] { return known }
        let parameter = context.scenario.parameters[index]
        var scope = PlanScope(levels: levels, loader: context.loader)
        do throws(EvaluationError) {
            let rows: [Row]
            do throws(EvaluationError) {
                rows = try self.rows(of: parameter, scope)
            } catch {
                guard case .unbound(let name) = error.reason, levels.contains(where: { $0.lengths[name] != nil }) else {
                    throw error
                }
                // One of its values is made of a large one.
                scope.large = try largeValues(levels, for: parameter)
                rows = try self.rows(of: parameter, scope)
            }
            if scope.depth.deepest == 0 { commonRows[index] = rows }
            return isStopped ? [] : rows
        } catch {
            stop(.evaluation(error.reason), at: error.span)
            return []
        }
    }

    /// Counts what is kept for an `each`, and stops when it is too much. What its length tells is not made first.
    private mutating func hasRoom(for size: Int, at span: SourceSpan) -> Bool {
        totalSize += size
        guard totalSize > Self.largestTotal else { return true }
        if !isStopped { stop(.casesTooLarge(Self.largestTotal >> 20), at: span) }
        return false
    }

    private mutating func evaluated(_ expression: Expression, _ scope: PlanScope) throws(EvaluationError) -> Value? {
        let folded = ConstantFolder(framing: context.scenario.framing, others: scope.folded).fold(expression)
        if let length = folded.length, length > Self.largestTotal {
            _ = hasRoom(for: length, at: expression.span)
            return nil
        }
        let value = try evaluator(scope).evaluate(expression)
        return hasRoom(for: value.size, at: expression.span) ? value : nil
    }

    private mutating func integer(of expression: Expression, _ scope: PlanScope) throws(EvaluationError) -> Int {
        let folded = ConstantFolder(framing: context.scenario.framing, others: scope.folded).fold(expression)
        if case .integer(let value) = folded { return value }
        return try evaluator(scope).integer(of: expression)
    }

    private mutating func rows(of parameter: Parameter, _ scope: PlanScope) throws(EvaluationError) -> [Row] {
        let name = parameter.names[0].value
        switch parameter.source {
        case .list(let expressions):
            var rows: [Row] = []
            for expression in expressions {
                guard let value = try evaluated(expression, scope) else { return [] }
                rows.append(Row(values: [value], labels: ["\(name)=\(CaseLabel.text(value))"]))
            }
            return rows
        case .range(let first, let last):
            let low = try integer(of: first, scope)
            let high = try integer(of: last, scope)
            guard low <= high else {
                stop(.emptyRange(low, high), at: first.span.joined(with: last.span))
                return []
            }
            let (distance, overflow) = high.subtractingReportingOverflow(low)
            guard !overflow, distance < Self.mostCases else {
                stop(.tooManyCases(Self.mostCases), at: first.span.joined(with: last.span))
                return []
            }
            return (low...high).map { Row(values: [.integer($0)], labels: ["\(name)=\($0)"]) }
        case .table(let table): return try rows(of: table, parameter.names, scope)
        case .cuts(let expression, let count): return try cuts(expression, count, name, scope)
        }
    }

    private mutating func rows(
        of table: Name, _ names: [Name], _ scope: PlanScope
    ) throws(EvaluationError) -> [Row] {
        var values: [[Value]] = []
        for row in context.scenario.tables[table.value]?.rows ?? [] {
            var cells: [Value] = []
            for cell in row {
                switch cell {
                case .value(let expression):
                    guard let value = try evaluated(expression, scope) else { return [] }
                    cells.append(value)
                case .regex(let literal): cells.append(.regex(try evaluator(scope).regex(of: literal)))
                }
            }
            values.append(cells)
        }
        let texts = values.map { $0.map(CaseLabel.text) }
        // The first cell names the row, as long as it is another one in each.
        let isFirstEnough = Set(texts.map { $0.first ?? "" }).count == texts.count
        return zip(values, texts).map { row, texts in
            let parts = zip(names, texts).map { "\($0.value)=\($1)" }
            return Row(values: row, labels: isFirstEnough ? Array(parts.prefix(1)) : parts)
        }
    }

    private mutating func cuts(
        _ expression: Expression, _ count: Int, _ name: String, _ scope: PlanScope
    ) throws(EvaluationError) -> [Row] {
        // Each way to cut it is a copy of it: of a value too large for a few of them none is made.
        let folded = ConstantFolder(framing: context.scenario.framing, others: scope.folded).fold(expression)
        if let length = folded.length, length > count, (length - 1) > Self.largestTotal / length {
            stop(.cutsTooLarge(length: length, limit: Self.largestTotal), at: expression.span)
            return []
        }
        let bytes = try evaluator(scope).bytes(of: expression)
        guard count < bytes.count else {
            stop(.nothingToCut(length: bytes.count, times: count), at: expression.span)
            return []
        }
        var rows: [Row] = []
        var offsets = Array(1...count)
        while true {
            guard rows.count < Self.mostCases else {
                stop(.tooManyCases(Self.mostCases), at: expression.span)
                return []
            }
            totalSize += bytes.count
            guard totalSize <= Self.largestTotal else {
                stop(.cutsTooLarge(length: bytes.count, limit: Self.largestTotal), at: expression.span)
                return []
            }
            let bounds = [0] + offsets + [bytes.count]
            let pieces = zip(bounds, bounds.dropFirst()).map { Array(bytes[$0..<$1]) }
            rows.append(
                Row(values: [.pieces(pieces)], labels: ["\(name)=\(offsets.map(String.init).joined(separator: "+"))"]))
            // The next combination in rising order: the last offset that can still move does.
            guard let movable = offsets.indices.last(where: { offsets[$0] < bytes.count - (count - $0) }) else {
                return rows
            }
            let base = offsets[movable]
            for index in movable..<count { offsets[index] = base + 1 + index - movable }
        }
    }
}

extension Evaluator {
    /// The values of a table's row.
    package func values(of row: [Table.Cell]) throws(EvaluationError) -> [Value] {
        var values: [Value] = []
        for cell in row {
            switch cell {
            case .value(let expression): values.append(try evaluate(expression))
            case .regex(let literal): values.append(.regex(try regex(of: literal)))
            }
        }
        return values
    }
}

extension Diagnostic.Message {
    static func tooManyCases(_ limit: Int) -> Self {
        Self(
            .tooManyCases, "this makes more than \(limit) cases",
            hint: "several `each` multiply: make their lists shorter, or split the script")
    }

    /// Bytes of the value, and of all its cuts together.
    static func cutsTooLarge(length: Int, limit: Int) -> Self {
        Self(
            .tooManyCases,
            "the cuts of this value of \(length) bytes come to more than \(limit >> 20) MiB, all cases together",
            hint: "cut a shorter value; bytes that need no cut can be sent by a step of their own")
    }
}
