import ProbeEvents

/// The last line of a run.
enum SummaryText {
    static func text(_ summary: RunSummary, colored: (String, Verdict) -> String) -> String {
        var parts: [String] = []
        for verdict in [Verdict.passed, .failed, .error, .inconclusive, .unsupported, .skipped] {
            let count = summary.count(verdict)
            if count > 0 || verdict == .passed || verdict == .failed {
                parts.append(count > 0 ? colored("\(count) \(verdict.rawValue)", verdict) : "0 \(verdict.rawValue)")
            }
        }
        let tolerated = summary.count(.failed) - summary.countedFailures
        if tolerated > 0 { parts.append("\(tolerated) of the failures do not fail the run (level should or may)") }
        if summary.notRun > 0 { parts.append("\(summary.notRun) not run") }
        var text = parts.joined(separator: ", ") + " in \(DurationLine.text(summary.duration))"
        if summary.packetsDropped > 0 { text += " (the capture dropped \(summary.packetsDropped) packets)" }
        if let signal = summary.interruptedBy { text += " (interrupted by \(signal == 2 ? "SIGINT" : "SIGTERM"))" }
        return text + "\n"
    }
}
