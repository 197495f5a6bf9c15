/// Generates the cases of a scenario: one for each combination of its `each` values.
///
/// The expansion computes the values that differ between cases, and the values of the header's `let`s that don't depend
/// on the run. A large value is not stored; the run computes it when it is needed. If only the length of a large value
/// is needed, the value is not computed at all.
struct CaseExpansion {
    /// The maximum number of cases. A larger number is probably a mistake, because the numbers of values in the `each`
    /// statements are multiplied.
    static let maxCases = 100_000
    /// The maximum number of parameters. Each parameter adds a level to the recursive expansion.
    static let maxParameters = 64
    /// The maximum total size of the `each` values of all cases. The values are all in memory at the same time.
    static let largestTotal = 64 << 20
    let context: ParseContext
    private var cases: [CasePlan] = []
    private var labels: Set<String> = []
    /// For each label that has occurred more than once, the next number to try as a suffix.
    private var nextNumbers: [String: Int] = [:]
    private(set) var isStopped = false
    /// For each level, the indices of the `let`s whose last dependency is bound at that level.
    let constants: [[Int]]
    /// The rows of each parameter whose rows are the same in every case, keyed by the parameter's index.
    var commonRows: [Int: [Row]] = [:]
    /// The total size of the `each` values so far.
    var totalSize = 0
    /// The total size of the `let` values that have been stored so far.
    var constantsSize = 0
    /// The remaining budget for evaluating `let`s. When the budget is used up, the remaining `let`s are evaluated by
    /// the run.
    var evaluations = 2_000_000
    var evaluatedBytes = 1 << 30

    private init(_ context: ParseContext) {
        self.context = context
        constants = Self.levels(of: context.scenario)
    }

    static func cases(of context: ParseContext) -> [CasePlan] {
        var expansion = CaseExpansion(context)
        expansion.expand(0, levels: [PlanLevel()], size: 0, label: [])
        return expansion.cases
    }

    /// Expands the parameter at `index` and the parameters after it.
    ///
    /// - Parameters:
    ///   - levels: the bound values; this call completes the last level.
    ///   - size: the number of bytes in the values of the case so far.
    private mutating func expand(_ index: Int, levels: [PlanLevel], size: Int, label: [String]) {
        var levels = levels
        var size = size
        settle(constants[index], &levels, &size)
        guard !isStopped else { return }
        guard index < context.scenario.parameters.count else {
            finishCase(levels, label)
            return
        }
        let parameter = context.scenario.parameters[index]
        for row in rows(index, levels) {
            var next = PlanLevel()
            for (name, value) in zip(parameter.names, row.values) { next.values[name.value] = value }
            let rowSize = row.values.reduce(0) { $0 + $1.size }
            expand(index + 1, levels: levels + [next], size: size + rowSize, label: label + row.labels)
            if isStopped { return }
        }
    }

    mutating func stop(_ id: DiagnosticID, _ text: String, hint: String? = nil, at span: SourceSpan) {
        stop(Diagnostic.Message(id, text, hint: hint), at: span)
    }

    mutating func stop(_ message: Diagnostic.Message, at span: SourceSpan) {
        isStopped = true
        context.report(message, at: span)
    }

    private mutating func finishCase(_ levels: [PlanLevel], _ label: [String]) {
        guard cases.count < Self.maxCases else {
            let last = context.scenario.parameters[context.scenario.parameters.count - 1]
            stop(.tooManyCases(Self.maxCases), at: last.span)
            return
        }
        var name = label.isEmpty ? "" : "[\(label.joined(separator: ","))]"
        if !name.isEmpty, !labels.insert(name).inserted {
            // The label is already used: the same value occurs twice, or two values have the same shortened text.
            let whole = name
            let stem = name.dropLast()
            var number = nextNumbers[whole] ?? 2
            repeat {
                name = "\(stem)#\(number)]"
                number += 1
            } while !labels.insert(name).inserted
            nextNumbers[whole] = number
        }
        cases.append(CasePlan(label: name, levels: levels.map(\.values).filter { !$0.isEmpty }))
    }
}

extension CaseExpansion {
    /// The maximum size of a `let` value that is stored before the run. Larger values are computed when a case runs.
    private static let largestKept = 1 << 20

    /// Returns, for each level, the `let`s of the header that can be computed at that level, because their last
    /// dependency is bound there. A `let` that depends on the run is not assigned to any level.
    static func levels(of scenario: Scenario) -> [[Int]] {
        var levels: [[Int]] = Array(repeating: [], count: scenario.parameters.count + 1)
        var known: [String: Int] = [:]
        for (number, parameter) in scenario.parameters.enumerated() {
            for name in parameter.names { known[name.value] = number + 1 }
        }
        for (index, constant) in scenario.constants.enumerated() {
            var level: Int? = 0
            constant.value.visitNames { name in
                let needed = name.flatMap { known[$0] }
                level = level.flatMap { level in needed.map { max(level, $0) } }
            }
            known[constant.name.value] = level
            if let level { levels[level].append(index) }
        }
        return levels
    }

    func evaluator(_ scope: PlanScope) -> Evaluator {
        Evaluator(scope: scope, sources: context.sources, framing: context.scenario.framing)
    }

    /// Computes `let`s and stores the values in the last level. For a large value, only the length is stored.
    mutating func settle(_ indices: [Int], _ levels: inout [PlanLevel], _ size: inout Int) {
        for index in indices {
            let (name, expression) = context.scenario.constants[index]
            do throws(EvaluationError) {
                // The scope must be released before the level changes, because a shared level would be copied.
                guard let constant = try settled(expression, PlanScope(levels: levels, loader: context.loader)) else {
                    continue
                }
                switch constant {
                case .value(let value):
                    levels[levels.count - 1].values[name.value] = value
                    size += value.size
                case .length(let length):
                    levels[levels.count - 1].lengths[name.value] = length
                    size += length
                }
            } catch {
                stop(.evaluation(error.reason), at: error.span)
                return
            }
            guard size <= Evaluator.largestCase else {
                stop(
                    .cantCompute,
                    "the values of this header exceed \(Evaluator.largestCase >> 20) MiB in one case",
                    hint: "compute a large value where it is sent: `C send random(100MiB, seed 1)`", at: expression.span
                )
                return
            }
        }
    }

    private enum Settled {
        case value(Value)
        case length(Int)
    }

    /// Returns the value of an expression, or only the length of a large value; `nil` if the run must compute the
    /// value.
    private mutating func settled(_ expression: Expression, _ scope: PlanScope) throws(EvaluationError) -> Settled? {
        guard evaluations > 0, evaluatedBytes > 0 else { return nil }
        evaluations -= 1
        switch ConstantFolder(framing: context.scenario.framing, others: scope.folded).fold(expression) {
        case .wrong(let error): throw error
        case .integer(let value): return .value(.integer(value))
        case .unsigned(let value): return .value(.unsigned(value))
        case .bytes(let length, _) where length > Self.largestKept: return .length(length)
        case .bytes, .unknown: break
        }
        let value: Value
        do throws(EvaluationError) {
            value = try evaluator(scope).evaluate(expression)
        } catch {
            // The value depends on a large value, or on a name that is not bound at this level.
            if case .unbound = error.reason { return nil }
            throw error
        }
        evaluatedBytes -= value.size
        guard value.size <= Self.largestKept, constantsSize + value.size <= Self.largestTotal else {
            return .length(value.size)
        }
        constantsSize += value.size
        return .value(value)
    }

    /// Computes the large values that were not stored, for a parameter that depends on such a value.
    mutating func largeValues(_ levels: [PlanLevel], for parameter: Parameter) throws(EvaluationError) -> [String:
        Value]
    {
        var scope = PlanScope(levels: levels, loader: context.loader)
        for (name, expression) in context.scenario.constants
        where levels.contains(where: { $0.lengths[name.value] != nil }) {
            let value = try evaluator(scope).evaluate(expression)
            evaluatedBytes -= value.size
            guard evaluatedBytes > 0 else {
                stop(.casesTooLarge(Self.largestTotal >> 20), at: parameter.span)
                return scope.large
            }
            scope.large[name.value] = value
        }
        return scope.large
    }
}

extension Diagnostic.Message {
    /// The message for `each` values whose total size in all cases exceeds the limit, given in MiB.
    static func casesTooLarge(_ limit: Int) -> Self {
        Self(
            .cantCompute, "the values of `each` exceed \(limit) MiB in total over all cases",
            hint: "use `each` for the number or the seed, and compute the value: `let x = random(n, seed 1)`")
    }
}

extension CaseExpansion {
    struct Row {
        var values: [Value]
        var labels: [String]
    }

    /// Returns the rows of a parameter; none once ``stop`` has been called.
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
                // A value of the parameter depends on a large value.
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

    /// Adds the size of an `each` value to the total, and stops the expansion if the total is too large. If the length
    /// of a value is known, the value is counted before it is computed.
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
            guard !overflow, distance < Self.maxCases else {
                stop(.tooManyCases(Self.maxCases), at: first.span.joined(with: last.span))
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
        // The first cell is enough for the label if no two rows have the same first cell.
        let isFirstEnough = Set(texts.map { $0.first ?? "" }).count == texts.count
        return zip(values, texts).map { row, texts in
            let parts = zip(names, texts).map { "\($0.value)=\($1)" }
            return Row(values: row, labels: isFirstEnough ? Array(parts.prefix(1)) : parts)
        }
    }

    private mutating func cuts(
        _ expression: Expression, _ count: Int, _ name: String, _ scope: PlanScope
    ) throws(EvaluationError) -> [Row] {
        // Every way to cut the value requires a copy of the value, so a value that is too large is rejected before any
        // copy is made.
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
            guard rows.count < Self.maxCases else {
                stop(.tooManyCases(Self.maxCases), at: expression.span)
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
            // The next combination in ascending order: advance the last offset that can still move.
            guard let movable = offsets.indices.last(where: { offsets[$0] < bytes.count - (count - $0) }) else {
                return rows
            }
            let base = offsets[movable]
            for index in movable..<count { offsets[index] = base + 1 + index - movable }
        }
    }
}

extension Evaluator {
    /// Returns the values of a table's row.
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
            .tooManyCases, "the `each` declarations create more than \(limit) cases",
            hint: "shorten the lists of `each`, whose lengths multiply, or split the script")
    }

    /// The message for a value that is too large to be cut in every possible way: the copies would exceed the size
    /// limit. The length and the limit are given in bytes.
    static func cutsTooLarge(length: Int, limit: Int) -> Self {
        Self(
            .tooManyCases,
            "the cuts of this value of \(length) bytes exceed \(limit >> 20) MiB in total over all cases",
            hint: "cut a shorter value, and send bytes that need no cut in a separate step")
    }
}
