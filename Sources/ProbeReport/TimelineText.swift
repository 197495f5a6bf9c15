import ProbeEvents
import ProbeScenario

/// The merged timeline of a case: steps, packets, events and output in one column of times.
enum TimelineText {
    /// Lines that are shown; of more, the last.
    private static let limit = 300

    static func text(_ result: CaseResult) -> String {
        if result.timeline.isEmpty { return "" }
        var text = "  timeline (ms since the case began):\n"
        let left = result.timeline.count - limit
        if left > 0 { text += "    … \(left) earlier lines are left out; the capture and `--json` have them\n" }
        for entry in result.timeline.suffix(limit) {
            text += "    \(DurationLine.milliseconds(entry.time, width: 10))  \(line(entry, result))\n"
        }
        return text
    }

    private static func line(_ entry: TimelineEntry, _ result: CaseResult) -> String {
        switch entry.kind {
        case .step(let span, let text): "step    \(place(span, result))  \(text)"
        case .stepFailed(let span): "FAILED  \(place(span, result))"
        case .packet(let text): "packet  \(EscapedBytes.safeText(text.utf8))"
        case .output(let actor, let isError, let bytes):
            "output  \(actor)\(isError ? " (stderr)" : "")| \(EscapedBytes.safeText(bytes.prefix(400)))"
        case .event(let actor, let text): "event   \(actor): \(EscapedBytes.safeText(text.utf8))"
        case .note(let text): "note    \(EscapedBytes.safeText(text.utf8))"
        }
    }

    private static func place(_ span: SourceSpan, _ result: CaseResult) -> String {
        let location = result.sources.location(of: span)
        let file = location.path.split(separator: "/").last.map(String.init) ?? location.path
        return EscapedBytes.safeText("\(file):\(location.line)".utf8)
    }
}
