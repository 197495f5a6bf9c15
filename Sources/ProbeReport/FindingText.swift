package import ProbeEvents
import ProbeScenario

/// A finding laid out: the place, the line with its caret, expected above actual, then what else is known.
package enum FindingText {
    package static func text(_ finding: Finding, _ result: CaseResult) -> String {
        var text = ""
        let summary = EscapedBytes.safeText(finding.summary.utf8)
        if let span = finding.span {
            let location = result.sources.location(of: span)
            text += "  \(EscapedBytes.safeText("\(location)".utf8)): \(summary)\n"
            text += indented(DiagnosticRenderer(sources: result.sources).excerpt(span))
        } else {
            text += "  \(EscapedBytes.safeText(result.path.utf8)): \(summary)\n"
        }
        if let comparison = ComparisonText.text(expected: finding.expected, actual: finding.actual) { text += comparison }
        for detail in finding.details { text += "    \(EscapedBytes.safeText(detail.utf8))\n" }
        for hint in finding.hints { text += "    hint: \(EscapedBytes.safeText(hint.utf8))\n" }
        if !finding.actors.isEmpty {
            let width = finding.actors.map(\.name.count).max() ?? 0
            text += "  actors:\n"
            for actor in finding.actors {
                let name = actor.name + String(repeating: " ", count: width - actor.name.count)
                text += "    \(name)  \(EscapedBytes.safeText(actor.state.utf8))\n"
            }
        }
        return text
    }

    private static func indented(_ text: String) -> String {
        text.split(separator: "\n", omittingEmptySubsequences: false)
            .map { $0.isEmpty ? "" : "  \($0)" }.joined(separator: "\n")
    }
}
