import ProbeDiagnose

/// A line of the time budget that is shown to users. The states of a transfer share a line, whatever limited it.
struct BudgetRow {
    /// The state; for a transfer, the first of its states.
    let state: FlowState
    /// The time spent, in nanoseconds.
    let time: Int64
    /// What limited the longest part of a transfer; otherwise `nil`.
    let limit: String?

    var name: String { state.name }
}

extension FlowDiagnosis {
    /// The lines of the time budget, in the order of the states. Their times add up to the duration of the flow.
    var budgetRows: [BudgetRow] {
        let used = budget.used
        let longest = used.filter(\.state.isTransfer).max { $0.time < $1.time }
        var rows: [BudgetRow] = []
        for (state, time) in used {
            if !state.isTransfer {
                rows.append(BudgetRow(state: state, time: time, limit: nil))
            } else if rows.last?.state.isTransfer != true {
                rows.append(
                    BudgetRow(
                        state: state, time: budget.transfer,
                        limit: longest?.state.limit.map { "limited mainly by \($0)" }))
            }
        }
        return rows
    }
}
