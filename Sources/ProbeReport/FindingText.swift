import ProbeBase
package import ProbeEvents
import ProbeScenario

/// The layout of a finding: its location, the script's line with a caret, the expected value above the actual value,
/// and then details and hints.
package enum FindingText {
    /// Returns the finding as text, without color.
    package static func text(_ finding: Finding, _ result: CaseResult) -> String {
        text(finding, result, paint: .plain)
    }

    static func text(_ finding: Finding, _ result: CaseResult, paint: Paint) -> String {
        var text = ""
        let summary = paint(.cause, Escaped.text(finding.summary))
        if let span = finding.span {
            text += "  \(Escaped.text("\(result.sources.location(of: span))")): \(summary)\n"
            text += excerpt(span, result, paint)
        } else {
            text += "  \(Escaped.text(result.path)): \(summary)\n"
        }
        text += ComparisonText.text(expected: finding.expected, actual: finding.actual, paint: paint)
        for detail in finding.details.prefix(maxDetails) { text += "    \(Escaped.text(detail))\n" }
        text += more(finding.details.count - maxDetails)
        for hint in finding.hints.prefix(maxDetails) {
            text += "    " + paint(.hint, "hint: \(Escaped.text(hint))") + "\n"
        }
        return text + actors(finding)
    }

    /// The maximum number of details that are shown; the same limit applies to hints and to actors.
    private static let maxDetails = 8

    private static func more(_ count: Int) -> String { count > 0 ? "    … and \(count) more\n" : "" }

    /// Returns the script's line with a caret below it, indented.
    private static func excerpt(_ span: SourceSpan, _ result: CaseResult, _ paint: Paint) -> String {
        guard let file = result.sources.file(of: span) else { return "" }
        let excerpt = SourceExcerpt(of: span, in: file)
        if excerpt.text.isEmpty { return "" }
        let lead = String(excerpt.carets.prefix { $0 == " " })
        return "    \(excerpt.text)\n    \(lead)\(paint(.marker, String(excerpt.carets.dropFirst(lead.count))))\n"
    }

    private static func actors(_ finding: Finding) -> String {
        if finding.actors.isEmpty { return "" }
        let names = finding.actors.prefix(maxDetails).map { Escaped.text($0.name) }
        let width = names.map(\.count).max() ?? 0
        var text = "  actors:\n"
        for (name, actor) in zip(names, finding.actors) {
            text +=
                "    \(name)\(String(repeating: " ", count: width - name.count))  \(Escaped.text(actor.state))\n"
        }
        return text + more(finding.actors.count - maxDetails)
    }
}
