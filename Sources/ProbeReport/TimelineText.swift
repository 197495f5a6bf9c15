import ProbeBase
import ProbeEvents
import ProbeScenario

/// The timeline of a case as text: steps, packets, events and output, merged in chronological order.
struct TimelineText {
    /// The maximum width of the text of a line, in columns; longer text is cut.
    private static let widest = 200

    let result: CaseResult
    let paint: Paint
    /// The maximum number of lines. It is exceeded only if ``TimelineSelection`` requires more lines.
    let limit: Int

    var text: String {
        if result.timeline.isEmpty { return "" }
        var text = "  timeline (ms since the case began):\n"
        for line in TimelineSelection(result.timeline).lines(limit: max(1, limit - 1)) {
            switch line {
            case .entry(let index): text += self.text(of: result.timeline[index])
            case .omitted(let count, let isRepetition, let isOneKind):
                let what =
                    isOneKind
                    ? "\(count) more like it"
                    : isRepetition
                        ? "\(count) more like those above"
                        : "\(ByteText.count(count, "line")) omitted; `--json FILE` lists all"
                text += paint(.faint, "    … \(what)") + "\n"
            }
        }
        return text
    }

    private func text(of entry: TimelineEntry) -> String {
        let time = DurationText.milliseconds(entry.time, width: 10)
        if case .stepFailed = entry.kind {
            // A failed step is marked in the left margin, so that its line is easy to find among many packets.
            return paint(.verdict(.failed), "  > \(time)  \(cut(line(entry)))") + "\n"
        }
        return "    \(paint(.faint, time))  \(cut(line(entry)))\n"
    }

    private func line(_ entry: TimelineEntry) -> String {
        switch entry.kind {
        case .step(let span, let text, let values):
            "step    \(place(span))  \(Escaped.text(text))" + (values.isEmpty ? "" : "  (\(values.sentence))")
        case .stepFailed(let span): "\(label)\(place(span))  \(Escaped.text(result.sources.text(of: span)))"
        case .packet(let packet): "packet  \(Escaped.text(packet.text))"
        case .output(let actor, let isError, let bytes):
            "output  \(Escaped.text(actor))\(isError ? " (stderr)" : "")| \(Escaped.text(bytes.prefix(400)))"
        case .event(let actor, let text): "event   \(Escaped.text(actor)): \(Escaped.text(text))"
        case .note(let text): "note    \(Escaped.text(text))"
        }
    }

    /// The label of the failed step, padded to the width of the other labels.
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
