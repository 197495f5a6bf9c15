import ProbeEvents
import ProbeScenario

/// A key that is equal for cases with equal findings. The key includes all findings of a case, because a finding that
/// only the later case has must be reported.
///
/// Cases of one script are compared by verdict, location and text, without the values in the text. Cases of different
/// scripts are compared only if they have the same subject, and the comparison is stricter: the step's text and all
/// other texts must be equal except for numbers, because ports and times vary between runs.
struct FindingKey: Hashable {
    private struct Part: Hashable {
        var verdict: Verdict
        var span: SourceSpan?
        var words: [String]
        var values: [[UInt8]?] = []
    }

    /// The path of the script; `nil` in a key that compares different scripts.
    private var path: String?
    private var subject: String?
    private var level: Scenario.Level
    private var parts: [Part]

    /// Returns the keys of a case; the first key compares cases of one script. The result is empty if the case has no
    /// finding.
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
