/// Makes the cases of a scenario: one for each combination of its `each`.
struct CaseExpansion {
    /// More cases than this are a slip: several `each` multiply.
    static let mostCases = 100_000
    /// What the pieces of all `cuts()` may hold together: each case has its own copy.
    static let largestCuts = 64 << 20

    private let draft: Draft
    private var cases: [CasePlan] = []
    private var labels: Set<String> = []
    private var isStopped = false
    private var cutBytes = 0

    private init(_ draft: Draft) { self.draft = draft }

    static func cases(of draft: Draft) -> [CasePlan] {
        var expansion = CaseExpansion(draft)
        expansion.expand(0, bindings: [:], pending: Array(draft.scenario.constants.indices), label: [])
        return expansion.cases
    }

    private mutating func expand(_ index: Int, bindings: [String: Value], pending: [Int], label: [String]) {
        var bindings = bindings
        let pending = settle(pending, &bindings)
        guard !isStopped else { return }
        guard index < draft.scenario.parameters.count else {
            finishCase(bindings, label)
            return
        }
        let parameter = draft.scenario.parameters[index]
        let rows: [Row]
        do throws(EvaluationError) {
            rows = try self.rows(of: parameter, evaluator(bindings))
        } catch {
            stop(.value(.evaluation(error.reason)), at: error.span)
            return
        }
        for row in rows {
            var bindings = bindings
            for (name, value) in zip(parameter.names, row.values) { bindings[name.value] = value }
            expand(index + 1, bindings: bindings, pending: pending, label: label + row.labels)
            if isStopped { return }
        }
    }

    /// Computes the header's `let`s that can be computed now; gives those that can't.
    private mutating func settle(_ pending: [Int], _ bindings: inout [String: Value]) -> [Int] {
        var rest: [Int] = []
        for index in pending {
            let (name, expression) = draft.scenario.constants[index]
            do throws(EvaluationError) {
                bindings[name.value] = try evaluator(bindings).evaluate(expression)
            } catch {
                switch error.reason {
                case .unbound, .noProperty: rest.append(index)
                default: stop(.value(.evaluation(error.reason)), at: error.span)
                }
            }
        }
        return rest
    }

    private func evaluator(_ bindings: [String: Value]) -> Evaluator {
        Evaluator(
            scope: BoundScope(variables: bindings, loader: draft.loader), sources: draft.sources,
            framing: draft.scenario.framing)
    }

    private mutating func stop(_ fact: Diagnostic.Fact, at span: SourceSpan) {
        isStopped = true
        draft.diagnostics.add(fact, at: span)
    }

    private mutating func finishCase(_ bindings: [String: Value], _ label: [String]) {
        guard cases.count < Self.mostCases else {
            let last = draft.scenario.parameters[draft.scenario.parameters.count - 1]
            stop(.value(.tooManyCases(Self.mostCases)), at: last.span)
            return
        }
        var name = label.isEmpty ? "" : "[\(label.joined(separator: ","))]"
        if !name.isEmpty, !labels.insert(name).inserted {
            // The same value twice, or two that are the same when shortened.
            var number = 2
            let stem = name.dropLast()
            repeat {
                name = "\(stem)#\(number)]"
                number += 1
            } while !labels.insert(name).inserted
        }
        cases.append(CasePlan(label: name, bindings: bindings))
    }

    // MARK: Rows

    private struct Row {
        var values: [Value]
        var labels: [String]
    }

    private mutating func rows(of parameter: Parameter, _ evaluator: Evaluator) throws(EvaluationError) -> [Row] {
        let name = parameter.names[0].value
        switch parameter.source {
        case .list(let expressions):
            var rows: [Row] = []
            for expression in expressions {
                let value = try evaluator.evaluate(expression)
                rows.append(Row(values: [value], labels: ["\(name)=\(CaseLabel.text(value))"]))
            }
            return rows
        case .range(let first, let last):
            let low = try evaluator.integer(of: first)
            let high = try evaluator.integer(of: last)
            guard low <= high else {
                stop(.value(.emptyRange(low, high)), at: first.span.joined(with: last.span))
                return []
            }
            let (distance, overflow) = high.subtractingReportingOverflow(low)
            guard !overflow, distance < Self.mostCases else {
                stop(.value(.tooManyCases(Self.mostCases)), at: first.span.joined(with: last.span))
                return []
            }
            return (low...high).map { Row(values: [.integer($0)], labels: ["\(name)=\($0)"]) }
        case .table(let table): return try rows(of: table, parameter.names, evaluator)
        case .cuts(let expression, let count): return try cuts(expression, count, name, evaluator)
        }
    }

    private mutating func rows(
        of table: Name, _ names: [Name], _ evaluator: Evaluator
    ) throws(EvaluationError) -> [Row] {
        var values: [[Value]] = []
        for row in draft.scenario.tables[table.value]?.rows ?? [] { values.append(try evaluator.values(of: row)) }
        let texts = values.map { $0.map(CaseLabel.text) }
        // The first cell names the row, as long as it is another one in each.
        let isFirstEnough = Set(texts.map { $0.first ?? "" }).count == texts.count
        return zip(values, texts).map { row, texts in
            let parts = zip(names, texts).map { "\($0.value)=\($1)" }
            return Row(values: row, labels: isFirstEnough ? Array(parts.prefix(1)) : parts)
        }
    }

    private mutating func cuts(
        _ expression: Expression, _ count: Int, _ name: String, _ evaluator: Evaluator
    ) throws(EvaluationError) -> [Row] {
        let bytes = try evaluator.bytes(of: expression)
        guard count < bytes.count else {
            stop(.value(.nothingToCut(length: bytes.count, times: count)), at: expression.span)
            return []
        }
        var rows: [Row] = []
        var offsets = Array(1...count)
        while true {
            cutBytes += bytes.count
            guard cutBytes <= Self.largestCuts else {
                stop(.value(.cutsTooLarge(length: bytes.count, limit: Self.largestCuts)), at: expression.span)
                return []
            }
            guard rows.count < Self.mostCases else {
                stop(.value(.tooManyCases(Self.mostCases)), at: expression.span)
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
