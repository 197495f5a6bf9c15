import ProbeBase
import ProbeEvents
import ProbeScenario

/// The merged timeline of a case: steps, packets, events and output, in the order of time.
struct TimelineText {
    /// The most columns of one line's text; longer lines are cut.
    private static let widest = 200

    let result: CaseResult
    let paint: Paint
    /// The most lines that are shown: the last ones.
    let limit: Int

    var text: String {
        if result.timeline.isEmpty { return "" }
        var text = "  timeline (ms since the case began):\n"
        let left = result.timeline.count - limit
        if left > 0 {
            let lines = left == 1 ? "1 earlier line is" : "\(left) earlier lines are"
            text += paint(.faint, "    … \(lines) left out; `--json FILE` has all") + "\n"
        }
        for entry in result.timeline.suffix(limit) {
            let time = DurationText.milliseconds(entry.time, width: 10)
            if case .stepFailed = entry.kind {
                // The mark is in the margin, so that the line can be found among many packets.
                text += paint(.verdict(.failed), "  > \(time)  \(cut(line(entry)))") + "\n"
            } else {
                text += "    \(paint(.faint, time))  \(cut(line(entry)))\n"
            }
        }
        return text
    }

    private func line(_ entry: TimelineEntry) -> String {
        switch entry.kind {
        case .step(let span, let text): "step    \(place(span))  \(Escaped.text(text))"
        case .stepFailed(let span): "\(label)\(place(span))  \(Escaped.text(result.sources.text(of: span)))"
        case .packet(let text): "packet  \(Escaped.text(text))"
        case .output(let actor, let isError, let bytes):
            "output  \(Escaped.text(actor))\(isError ? " (stderr)" : "")| \(Escaped.text(bytes.prefix(400)))"
        case .event(let actor, let text): "event   \(Escaped.text(actor)): \(Escaped.text(text))"
        case .note(let text): "note    \(Escaped.text(text))"
        }
    }

    /// Padded to the width of the other labels.
    private var label: String { result.verdict == .failed ? "FAILED  " : "HERE    " }

    private func cut(_ text: String) -> String {
        text.unicodeScalars.count > TimelineText.widest
            ? String(String.UnicodeScalarView(text.unicodeScalars.prefix(TimelineText.widest))) + "…" : text
    }

    private func place(_ span: SourceSpan) -> String {
        let location = result.sources.location(of: span)
        let file = location.path.split(separator: "/").last.map(String.init) ?? location.path
        return Escaped.text("\(file):\(location.line)")
    }
}
