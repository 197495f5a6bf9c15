import ProbeBase
package import ProbeEvents
import ProbeScenario

/// The result of one case as text for people: one line, followed by the failure detail if the case did not pass.
package struct CaseText {
    let options: ReportOptions
    var paint = Paint.plain
    /// The maximum number of timeline lines; 0 omits the timeline.
    var timelineLimit: Int

    init(options: ReportOptions, paint: Paint = .plain, timelineLimit: Int) {
        self.options = options
        self.paint = paint
        self.timelineLimit = timelineLimit
    }

    /// Creates the text in the form of a run's console report, without colors.
    package init(options: ReportOptions) {
        self.init(options: options, timelineLimit: 60)
    }

    /// Returns the line that names the case, such as `FAILED       crlf  35 ms`.
    ///
    /// - Parameter other: an earlier case that has the same finding.
    package func line(_ result: CaseResult, like other: String? = nil) -> String {
        var text: String
        var remark = ""
        switch options.disposition(of: result) {
        case .expected(let expected):
            text = paint(.faint, CaseText.column("expected"))
            remark = expected.comment.map { "\(result.verdict.rawValue): \($0)" } ?? result.verdict.rawValue
        case .unexpectedPass(let expected):
            text = paint(.unexpected, CaseText.column("UNEXPECTED"))
            remark = "passed, but \(expected.place) expects \(expected.verdict.rawValue)"
        case .fine, .advisory, .bad: text = paint(.verdict(result.verdict), CaseText.word(result.verdict))
        }
        text += Escaped.text(options.name(of: result))
        if result.verdict != .passed, result.level != .must { text += "  (\(result.level.rawValue))" }
        if let alone = result.alone?.text { text += "  (\(Escaped.text(alone)))" }
        if let other { text += "  (the same as \(Escaped.text(other)))" }
        if !remark.isEmpty { text += "  (\(Escaped.text(remark)))" }
        return text + paint(.faint, "  \(DurationText.rounded(nanoseconds: result.duration))") + "\n"
    }

    /// Returns the failure detail, which states why the case did not pass; empty for a case that passed.
    package func failureDetail(_ result: CaseResult) -> String {
        guard !result.findings.isEmpty else { return "" }
        let head = diagnostic(result)
        if result.verdict == .skipped || result.verdict == .unsupported { return head }
        let tail = remarks(result)
        if timelineLimit <= 0 { return head + tail }
        // Besides the timeline, the limit covers the lines of the findings and three more lines: the line that names
        // the case, an empty line and the summary.
        let used = 3 + [head, tail].reduce(0) { $0 + $1.utf8.count { $0 == 10 } }
        let limit = max(min(CaseText.minTimelineLines, timelineLimit), timelineLimit - used)
        return head + TimelineText(result: result, paint: paint, limit: limit).text + tail
    }

    /// The number of timeline lines that are shown regardless of the number of lines in the findings.
    private static let minTimelineLines = 16

    /// Returns the remarks below the timeline.
    private func remarks(_ result: CaseResult) -> String {
        var text = ""
        if options.disposition(of: result) == .advisory {
            text += "  level:     \(result.level.rawValue): does not fail the run"
            text += result.level == .should ? " (unless --strict is given)\n" : "\n"
        }
        if let expected = options.rules.expectations[result.key] {
            text += "  expected:  \(expected.verdict.rawValue), according to \(Escaped.text(expected.place))"
            text += expected.comment.map { ": \(Escaped.text($0))\n" } ?? "\n"
        }
        if let alone = result.alone {
            let what = alone.text ?? "unknown whether it also fails alone: \(alone.verdict.rawValue)"
            text += "  fails:     \(Escaped.text(what)) (rerun in a fresh adapter process)\n"
        }
        if let about = result.about { text += "  about:     \(Escaped.text(about))\n" }
        if !result.because.isEmpty {
            text += "  because:   \(Escaped.text(result.because.joined(separator: ", ")))\n"
        }
        if let cause = result.cause { text += "  cause:     \(Escaped.text(cause))\n" }
        if let path = result.capturePath { text += "  capture:   \(Escaped.text(path))\n" }
        for scenario in result.exploration?.written ?? [] { text += "  smallest:  \(Escaped.text(scenario.path))\n" }
        if !result.rerun.isEmpty { text += "  run again: \(Escaped.text(result.rerun))\n" }
        return text
    }

    /// The maximum number of lines for all findings after the first finding.
    private static let maxFindingLines = 30

    /// Returns the text of the findings, without the timeline.
    func diagnostic(_ result: CaseResult) -> String {
        guard let first = result.findings.first else { return "" }
        if result.verdict == .skipped || result.verdict == .unsupported {
            return "  \(Escaped.text(first.summary))\n"
        }
        var text = FindingText.text(first, result, paint: paint)
        var lines = text.utf8.count { $0 == 10 }
        for (index, other) in result.findings.enumerated().dropFirst() {
            let next = "  also, \(other.verdict.rawValue):\n" + FindingText.text(other, result, paint: paint)
            lines += next.utf8.count { $0 == 10 }
            if lines > CaseText.maxFindingLines {
                let count = result.findings.count - index
                return text + "  also: \(count) more \(count == 1 ? "finding" : "findings"); `--json FILE` lists all\n"
            }
            text += next
        }
        return text
    }

    /// Returns the last lines of the timeline, with a title above them; empty if there is no timeline.
    func timeline(_ result: CaseResult) -> String {
        TimelineText(result: result, paint: paint, limit: timelineLimit).text
    }

    /// Returns the verdict's word, padded to the width of its column. The word is in capitals if the case failed or
    /// could not be judged.
    static func word(_ verdict: Verdict) -> String {
        let word = verdict < .unsupported ? verdict.rawValue.uppercased() : verdict.rawValue
        return column(word)
    }

    private static func column(_ word: String) -> String {
        word + String(repeating: " ", count: max(1, 13 - word.count))
    }
}
