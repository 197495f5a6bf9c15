import ProbeBase
package import ProbeEvents
import ProbeScenario

/// Reports the run as TAP 14: each case is a test point, written when the case ends, with the failure detail in a YAML
/// block. The plan is at the end, because the number of cases of a run with `--until-fail` is not known earlier.
///
/// `skipped`, `unsupported` and cases that were not run have the directive `# SKIP`. An expected failure, and a failure
/// of a level that does not fail the run, have `# TODO`. `error` and `inconclusive` are `not ok` without a directive.
/// The report of an interrupted run lists the cases that were not run, and ends with `Bail out!`.
package struct TAPRecorder: Recorder {
    /// The maximum number of timeline lines for each failure.
    private static let timelineLimit = 200

    private let options: ReportOptions
    private let text: CaseText
    private var isBegun = false
    private var number = 0

    package init(options: ReportOptions) {
        self.options = options
        text = CaseText(options: options, timelineLimit: TAPRecorder.timelineLimit)
    }

    package mutating func record(_ event: RunEvent, at time: Int64) -> [UInt8] {
        var text = ""
        switch event {
        case .started, .caseStarted, .exploring: break
        case .message(let message): text = comment(message)
        case .caseEnded(let result): text = point(result)
        case .ended(let summary): text = tail(summary)
        }
        if isBegun { return Array(text.utf8) }
        isBegun = true
        return Array(("TAP version 14\n" + text).utf8)
    }

    // MARK: Test points

    private mutating func point(_ result: CaseResult) -> String {
        let summary = result.findings.first?.summary ?? ""
        let disposition = options.disposition(of: result)
        var isOK = result.verdict == .passed || result.verdict == .skipped || result.verdict == .unsupported
        // In TAP, an unexpected success is a pass with `# TODO`. With `--strict`, it is reported as a failure without a
        // directive.
        if case .unexpectedPass = disposition, options.strict { isOK = false }
        var text = line(isOK, id: result.id, subject: result.subject)
        switch (disposition, result.verdict) {
        case (_, .skipped): text += directive("SKIP", summary)
        case (_, .unsupported): text += directive("SKIP", "unsupported: \(summary)")
        case (.advisory, _): text += directive("TODO", "level \(result.level.rawValue): \(summary)")
        case (.expected(let expected), _):
            text += directive("TODO", "expected: \(expected.comment ?? summary)")
        case (.unexpectedPass(let expected), _) where isOK:
            text += directive("TODO", "expected \(expected.verdict.rawValue), according to \(expected.place)")
        default: break
        }
        return text + "\n" + diagnostic(result)
    }

    private mutating func line(_ isOK: Bool, id: String, subject: String?) -> String {
        number += 1
        let name = TAPRecorder.escaped(Escaped.text(options.name(id: id, subject: subject)))
        return "\(isOK ? "ok" : "not ok") \(number) - \(name)"
    }

    private func directive(_ word: String, _ reason: String) -> String {
        let reason = TAPRecorder.escaped(Escaped.text(reason))
        return " # \(word)" + (reason.isEmpty ? "" : " \(reason)")
    }

    private func diagnostic(_ result: CaseResult) -> String {
        var text = "  ---\n"
        func add(_ key: String, _ value: String) { text += "  \(key): \(value)\n" }
        add("verdict", result.verdict.rawValue)
        add("level", result.level.rawValue)
        add("title", YAMLText.quoted(result.title))
        if let subject = result.subject { add("subject", YAMLText.quoted(subject)) }
        if !result.tags.isEmpty { add("tags", "[\(result.tags.map(YAMLText.quoted).joined(separator: ", "))]") }
        add("duration_ms", DurationText.fixed(Double(max(0, result.duration)) / 1e6, digits: 3))
        add("file", YAMLText.quoted(result.path))
        if let expected = options.rules.expectations[result.key] { add("expected", expected.verdict.rawValue) }
        if let alone = result.alone {
            add("alone", "{verdict: \(alone.verdict.rawValue), after: \(YAMLText.quoted(alone.after))}")
            if let text = alone.text { add("fails", YAMLText.quoted(text)) }
        }
        if let counts = result.exploration?.counts {
            add(
                "explored",
                "{law: \(counts.law.rawValue), tried: \(counts.tried), left: \(counts.left), inconclusive: \(counts.inconclusive), "
                    + "exhausted: \(counts.isExhausted), seed: \(counts.seed)}")
        }
        if let written = result.exploration?.written, !written.isEmpty {
            add("smallest", "[\(written.map { YAMLText.quoted($0.path) }.joined(separator: ", "))]")
        }
        if let finding = result.findings.first {
            add("message", YAMLText.quoted(finding.summary))
            if let span = finding.span {
                let location = result.sources.location(of: span)
                add(
                    "at",
                    "{file: \(YAMLText.quoted(location.path)), line: \(location.line), column: \(location.column)}")
            }
        }
        let detail = self.text.failureDetail(result)
        if result.verdict < .unsupported, !detail.isEmpty {
            text += "  diagnostic: " + YAMLText.block(detail, indent: 2)
        }
        return text + "  ...\n"
    }

    // MARK: The end

    private mutating func tail(_ summary: RunSummary) -> String {
        var text = ""
        let reason = summary.interruptionText.map { "not run: interrupted by \($0)" } ?? "not run"
        for item in summary.notRunCases {
            text += line(true, id: item.id, subject: item.subject) + directive("SKIP", reason) + "\n"
        }
        text += number == 0 ? "1..0 # SKIP no case was run\n" : "1..\(number)\n"
        for note in summary.notes { text += comment(note) }
        for error in summary.runErrors { text += comment("error: \(error)") }
        if let signal = summary.interruptionText {
            text += "Bail out! interrupted by \(signal); cases not run: \(summary.notRun)\n"
        } else if let error = summary.runErrors.first {
            text += "Bail out! \(Escaped.text(error))\n"
        }
        return text
    }

    private func comment(_ text: String) -> String { "# \(Escaped.text(text))\n" }

    /// Escapes backslashes and `#` characters, because a `#` would begin a directive.
    private static func escaped(_ text: String) -> String {
        var result = ""
        for scalar in text.unicodeScalars {
            if scalar == "#" || scalar == "\\" { result += "\\" }
            result.unicodeScalars.append(scalar)
        }
        return result
    }
}
