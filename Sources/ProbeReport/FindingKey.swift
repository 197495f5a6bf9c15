import ProbeBase
import ProbeEvents
import ProbeScenario

/// What makes the findings of two cases equal. All findings count: a further one that the first case has not must be told.
///
/// Cases of one script are compared by verdict, place, and what is said apart from its values. Cases of different scripts are compared only if
/// they have the same subject, and more strictly: the step's text and all that is said must be equal but for numbers, as ports and
/// times differ between equal runs too.
struct FindingKey: Hashable {
    private struct Part: Hashable {
        var verdict: Verdict
        var span: SourceSpan?
        var words: [String]
        var values: [[UInt8]?] = []
    }

    /// Nil if scripts are compared.
    private var path: String?
    private var subject: String?
    private var level: Scenario.Level
    private var parts: [Part]

    /// The keys of a case, that within its script first; empty if it has no finding.
    static func keys(of result: CaseResult) -> [FindingKey] {
        if result.findings.isEmpty { return [] }
        let own = result.findings.map {
            Part(verdict: $0.verdict, span: $0.span, words: [$0.words])
        }
        let inScript = FindingKey(path: result.path, subject: result.subject, level: result.level, parts: own)
        if result.subject == nil { return [inScript] }
        let said = result.findings.map { finding in
            Part(
                verdict: finding.verdict,
                words: ([finding.span.map(result.sources.text) ?? "", finding.summary] + finding.details)
                    .map(withoutNumbers),
                values: [finding.expected, finding.actual])
        }
        return [inScript, FindingKey(path: nil, subject: result.subject, level: result.level, parts: said)]
    }

    private static func withoutNumbers(_ text: String) -> String {
        String(decoding: text.utf8.filter { !(48...57).contains($0) }, as: UTF8.self)
    }
}

/// How often each case passed in a run that repeats cases.
struct PassRates {
    /// The most cases that are named; those that always passed are left out first.
    private static let limit = 40

    private var order: [String] = []
    private var counts: [String: (passed: Int, total: Int)] = [:]

    mutating func count(_ name: String, _ verdict: Verdict) {
        if counts[name] == nil { order.append(name) }
        let old = counts[name] ?? (0, 0)
        counts[name] = (old.passed + (verdict == .passed ? 1 : 0), old.total + 1)
    }

    /// A line for each case, below a title; empty if no case was repeated.
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
