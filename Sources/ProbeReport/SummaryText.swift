import ProbeEvents
import ProbeScenario

/// The end of a run's report: what did not pass once more, and the counts.
struct SummaryText {
    /// Cases that are named; of more, how many.
    private static let limit = 20

    let options: ReportOptions
    let paint: Paint
    /// Names of those that did not pass, bad ones only, in the order in which they ended.
    private var bad: [(verdict: Verdict, name: String)] = []
    private var badCount = 0

    init(options: ReportOptions, paint: Paint) {
        self.options = options
        self.paint = paint
    }

    mutating func note(_ result: CaseResult) {
        guard result.verdict < .unsupported else { return }
        badCount += 1
        if bad.count >= SummaryText.limit { return }
        var name = options.name(id: result.id, subject: result.subject)
        if result.isAdvisoryFailure(strict: options.strict) { name += "  (\(result.level.rawValue))" }
        bad.append((result.verdict, name))
    }

    func text(_ summary: RunSummary) -> String {
        var text = ""
        if badCount > 1 {
            text += "not passed:\n"
            for (verdict, name) in bad {
                text += "  " + paint(.verdict(verdict), CaseText.word(verdict)) + EscapedBytes.safeText(name) + "\n"
            }
            text += more(badCount - bad.count)
        }
        if !summary.notRunCases.isEmpty {
            text += "not run:\n"
            for item in summary.notRunCases.prefix(SummaryText.limit) {
                text += "  \(EscapedBytes.safeText(options.name(id: item.id, subject: item.subject)))\n"
            }
            text += more(summary.notRunCases.count - SummaryText.limit)
        }
        for trouble in summary.troubles {
            text += paint(.verdict(.error), "error:") + " \(EscapedBytes.safeText(trouble))\n"
        }
        return text + counts(summary)
    }

    private func more(_ count: Int) -> String { count > 0 ? "  … and \(count) more\n" : "" }

    private func counts(_ summary: RunSummary) -> String {
        var parts: [String] = []
        for verdict in [Verdict.passed, .failed, .error, .inconclusive, .unsupported, .skipped] {
            let count = summary.count(verdict)
            if count == 0, verdict != .passed, verdict != .failed { continue }
            var part = count > 0 ? paint(.verdict(verdict), "\(count) \(verdict.rawValue)") : "0 \(verdict.rawValue)"
            if verdict == .failed, summary.advisoryFailures > 0 {
                part += " (\(summary.advisoryFailures) of level should or may, not counted)"
            }
            parts.append(part)
        }
        if summary.notRun > 0 { parts.append("\(summary.notRun) not run") }
        var text = parts.joined(separator: ", ") + " in \(DurationLine.text(summary.duration))"
        if summary.packetsDropped > 0 { text += " (the capture dropped \(summary.packetsDropped) packets)" }
        if let signal = summary.interruptionText { text += " (interrupted by \(signal))" }
        return text + "\n"
    }
}
