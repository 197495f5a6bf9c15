extension CaseExpansion {
    /// A larger value is left to the run.
    private static let largestKept = 1 << 20

    /// By level, the `let`s of the header that can be computed there: where the last name that they need is bound. Those that
    /// need what only the run knows are in none.
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

    /// Computes `let`s into the last of the levels; of large ones the length.
    mutating func settle(_ indices: [Int], _ levels: inout [PlanLevel], _ size: inout Int) {
        for index in indices {
            let (name, expression) = context.scenario.constants[index]
            do throws(EvaluationError) {
                // The scope must be gone before the level changes: a level that is shared would be copied.
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
                    "the values of this header hold more than \(Evaluator.largestCase >> 20) MiB together in one case",
                    hint: "compute a large value where it is sent: C send random(100MiB, seed 1)", at: expression.span)
                return
            }
        }
    }

    private enum Settled {
        case value(Value)
        case length(Int)
    }

    /// nil where it is left to the run.
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
            // It needs a large one, or what is not bound there.
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

    /// The values that were left out since they are large, for a parameter that is made of one.
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
    /// What the values of `each` hold in all cases together, in MiB.
    static func casesTooLarge(_ limit: Int) -> Self {
        Self(
            .cantCompute, "the values of each hold more than \(limit) MiB in all cases together",
            hint: "let each give the number or the seed, and compute the value in a let: let x = random(n, seed 1)")
    }
}
