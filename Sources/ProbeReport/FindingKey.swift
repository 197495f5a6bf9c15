import ProbeEvents
import ProbeScenario

/// A key that is equal for cases with equal findings. All findings count: a further one that the first case lacks must
/// be reported.
///
/// Cases of one script are compared by verdict, place, and the texts without their values. Cases of different scripts
/// are compared only if they have the same subject, and more strictly: the step's text and all texts must be equal
/// except for numbers, because ports and times differ between equal runs too.
struct FindingKey: Hashable {
    private struct Part: Hashable {
        var verdict: Verdict
        var span: SourceSpan?
        var words: [String]
        var values: [[UInt8]?] = []
    }

    /// The script's path; `nil` if different scripts are compared.
    private var path: String?
    private var subject: String?
    private var level: Scenario.Level
    private var parts: [Part]

    /// Returns the keys of a case, starting with the one for its script; empty if the case has no finding.
    static func keys(of result: CaseResult) -> [FindingKey] {
        if result.findings.isEmpty { return [] }
        let own = result.findings.map {
            Part(verdict: $0.verdict, span: $0.span, words: [$0.words])
        }
        let inScript = FindingKey(path: result.path, subject: result.subject, level: result.level, parts: own)
        if result.subject == nil { return [inScript] }
        let messages = result.findings.map { finding in
            Part(
                verdict: finding.verdict,
                words: ([finding.span.map(result.sources.text) ?? "", finding.summary] + finding.details)
                    .map(withoutNumbers),
                values: [finding.expected, finding.actual])
        }
        return [inScript, FindingKey(path: nil, subject: result.subject, level: result.level, parts: messages)]
    }

    private static func withoutNumbers(_ text: String) -> String {
        String(decoding: text.utf8.filter { !(48...57).contains($0) }, as: UTF8.self)
    }
}
