package import ProbeEvents
import ProbeScenario

/// The report that a person reads: a line a case, the whole story of those that did not pass, and a summary.
///
/// Layout is the same with and without colour. Nothing that came from outside reaches the terminal unescaped.
package struct ConsoleRecorder {
    package struct Style: Sendable {
        package var usesColor: Bool
        /// Steps, packets and output of a failure.
        package var showsTimeline: Bool

        package init(usesColor: Bool, showsTimeline: Bool = true) {
            self.usesColor = usesColor
            self.showsTimeline = showsTimeline
        }
    }

    private let style: Style
    private let write: (String) -> Void

    /// - Parameter write: gets whole lines.
    package init(style: Style, write: @escaping (String) -> Void) {
        self.style = style
        self.write = write
    }

    package func record(_ event: RunEvent) {
        switch event {
        case .started, .caseStarted: break
        case .message(let text): write("note: \(text)\n")
        case .caseEnded(let result): write(text(of: result))
        case .ended(let summary): write(SummaryText.text(summary, colored: colored))
        }
    }

    // MARK: One case

    private func text(of result: CaseResult) -> String {
        let word = result.verdict.rawValue.uppercasedIfBad(result.verdict)
        let padded = word + String(repeating: " ", count: max(1, 13 - word.count))
        var text = colored(padded, result.verdict) + EscapedBytes.safeText(result.id.utf8)
        if let subject = result.subject, result.verdict == .unsupported { text += "  by \(subject)" }
        if result.verdict != .passed, result.level != .must { text += "  (level \(result.level.rawValue))" }
        text += "  \(DurationLine.text(result.duration))\n"
        guard let first = result.findings.first else { return text }
        if result.verdict == .skipped || result.verdict == .unsupported {
            return text + "  \(EscapedBytes.safeText(first.summary.utf8))\n"
        }
        text += FindingText.text(first, result)
        for other in result.findings.dropFirst() {
            text += "  also, \(other.verdict.rawValue):\n" + FindingText.text(other, result)
        }
        if let about = result.about { text += "  about:     \(EscapedBytes.safeText(about.utf8))\n" }
        if !result.because.isEmpty {
            text += "  because:   \(EscapedBytes.safeText(result.because.joined(separator: ", ").utf8))\n"
        }
        if style.showsTimeline { text += TimelineText.text(result) }
        if let path = result.capturePath { text += "  capture:   \(EscapedBytes.safeText(path.utf8))\n" }
        text += "  run again: \(EscapedBytes.safeText(result.rerun.utf8))\n\n"
        return text
    }

    private func colored(_ text: String, _ verdict: Verdict) -> String {
        guard style.usesColor else { return text }
        let code =
            switch verdict {
            case .passed: "32"
            case .failed, .error: "31"
            case .inconclusive: "35"
            case .unsupported, .skipped: "33"
            }
        return "\u{1b}[\(code)m\(text)\u{1b}[0m"
    }
}

extension String {
    fileprivate func uppercasedIfBad(_ verdict: Verdict) -> String {
        switch verdict {
        case .failed, .error, .inconclusive: uppercased()
        default: self
        }
    }
}
