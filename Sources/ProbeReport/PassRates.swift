import ProbeBase
import ProbeEvents

/// Counts how often each case passed in a run that repeats its cases.
struct PassRates {
    /// The maximum number of cases that are listed; cases that always passed are omitted first.
    private static let limit = 40

    private var order: [String] = []
    private var counts: [String: (passed: Int, total: Int)] = [:]

    mutating func count(_ name: String, _ verdict: Verdict) {
        if counts[name] == nil { order.append(name) }
        let old = counts[name] ?? (0, 0)
        counts[name] = (old.passed + (verdict == .passed ? 1 : 0), old.total + 1)
    }

    /// A line for each case, with a title above them; empty if no case was repeated.
    var text: String {
        if order.isEmpty { return "" }
        var named = order
        if named.count > PassRates.limit {
            named = named.filter { name in counts[name].map { $0.passed < $0.total } ?? false }
        }
        let shown = named.prefix(PassRates.limit).map { Escaped.text($0) }
        let width = shown.map(\.count).max() ?? 0
        var text = "rounds:\n"
        for (name, label) in zip(named, shown) {
            let (passed, total) = counts[name] ?? (0, 0)
            text += "  \(label)\(String(repeating: " ", count: width - label.count))  \(passed) of \(total) passed\n"
        }
        let rest = order.count - shown.count
        return text + (rest > 0 ? "  … and \(rest) more\n" : "")
    }
}
