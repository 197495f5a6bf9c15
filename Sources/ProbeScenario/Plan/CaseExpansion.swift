/// Makes the cases of a scenario: one for each combination of its `each`.
///
/// Computes what the cases differ by, and the header's `let`s as far as they need nothing of the run. A large value is not
/// kept, and where its length tells enough it is not even made: the run computes it where it is needed.
struct CaseExpansion {
    /// More cases than this are a slip: several `each` multiply.
    static let mostCases = 100_000
    /// Each is a level of the expansion.
    static let mostParameters = 64
    /// What the values of `each` may hold in all cases together: all of them are in memory at once.
    static let largestTotal = 64 << 20
    let context: ParseContext
    private var cases: [CasePlan] = []
    private var labels: Set<String> = []
    /// By a label that came before: the number to try next.
    private var nextNumbers: [String: Int] = [:]
    private(set) var isStopped = false
    /// `let`s by the level that binds the last name that they need.
    let constants: [[Int]]
    /// By the number of a parameter: rows that are the same in each case.
    var commonRows: [Int: [Row]] = [:]
    /// What the values of `each` hold so far.
    var totalSize = 0
    /// What the `let`s that are kept hold so far.
    var constantsSize = 0
    /// What has been computed for `let`s; when it is used up, the rest is left to the run.
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

    /// - Parameters:
    ///   - levels: what is bound; the last one is completed here.
    ///   - size: bytes of the values of the case so far.
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
        guard cases.count < Self.mostCases else {
            let last = context.scenario.parameters[context.scenario.parameters.count - 1]
            stop(.tooManyCases(Self.mostCases), at: last.span)
            return
        }
        var name = label.isEmpty ? "" : "[\(label.joined(separator: ","))]"
        if !name.isEmpty, !labels.insert(name).inserted {
            // The same value twice, or two that are the same when shortened.
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
