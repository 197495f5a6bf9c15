import ProbeBase
import ProbeEvents
import ProbeScenario

/// The end of a console report: a list of the cases that did not pass, and the counts.
struct SummaryText {
    /// The maximum number of cases that are listed; the other cases are only counted.
    private static let limit = 20
    /// The maximum number of findings that are stored for comparison with the findings of later cases.
    private static let kept = 1000
    /// The maximum number of keys that are stored for findings.
    private static let keptKeys = 4 * kept

    let options: ReportOptions
    let paint: Paint
    /// The cases that fail the run, in the order in which they ended. A case with the same finding as an earlier case
    /// is listed together with the earlier case.
    private var bad: [(verdict: Verdict, name: String, label: String, others: [String])] = []
    private var groups: [FindingKey: Int] = [:]
    private var rounds = PassRates()
    private var badCount = 0
    /// The names of the cases that passed although they were expected to fail, with the locations of the expectations.
    private var unexpected: [String] = []
    private var unexpectedCount = 0

    init(options: ReportOptions, paint: Paint) {
        self.options = options
        self.paint = paint
    }

    /// Records a result.
    ///
    /// - Returns: the first case of the same script or subject with an equal finding; `nil` if there is no such case.
    mutating func note(_ result: CaseResult) -> String? {
        let disposition = options.disposition(of: result)
        var name = options.name(of: result)
        if result.round != nil { rounds.count(options.name(id: result.id, subject: result.subject), result.verdict) }
        switch disposition {
        case .fine, .expected: break
        case .unexpectedPass(let expected):
            unexpectedCount += 1
            if unexpected.count >= SummaryText.limit { break }
            unexpected.append("\(name)  (\(expected.place): \(expected.verdict.rawValue))")
        case .advisory, .bad:
            badCount += 1
            let keys = FindingKey.keys(of: result)
            if let known = keys.first(where: { groups[$0] != nil }), let group = groups[known] {
                bad[group].others.append(name)
                for key in keys where groups.count < SummaryText.keptKeys { groups[key] = groups[key] ?? group }
                return bad[group].name
            }
            let plain = name
            if disposition == .advisory { name += "  (\(result.level.rawValue))" }
            if bad.count < SummaryText.kept {
                for key in keys { groups[key] = bad.count }
                bad.append((result.verdict, plain, name, []))
            }
        }
        return nil
    }

    /// Returns the text of the summary.
    ///
    /// - Parameter namesBad: whether the cases that did not pass are listed.
    func text(_ summary: RunSummary, namesBad: Bool = true) -> String {
        var text = ""
        if badCount > 1, namesBad {
            text += "not passed:\n"
            var listedCount = 0
            for (verdict, _, label, others) in bad.prefix(SummaryText.limit) {
                text += "  " + paint(.verdict(verdict), CaseText.word(verdict)) + Escaped.text(label) + "\n"
                text += SummaryText.same(others)
                listedCount += 1 + others.count
            }
            text += more(badCount - listedCount)
        }
        text += rounds.text
        if unexpectedCount > 0 {
            text += paint(.unexpected, "unexpected passes:") + " remove the lines about these cases\n"
            for name in unexpected { text += "  \(Escaped.text(name))\n" }
            text += more(unexpectedCount - unexpected.count)
        }
        if !summary.notRunCases.isEmpty {
            text += "not run:\n"
            for item in summary.notRunCases.prefix(SummaryText.limit) {
                text += "  \(Escaped.text(options.name(id: item.id, subject: item.subject)))\n"
            }
            text += more(summary.notRunCases.count - SummaryText.limit)
        }
        for note in summary.notes { text += "note: \(Escaped.text(note))\n" }
        for error in summary.runErrors {
            text += paint(.verdict(.error), "error:") + " \(Escaped.text(error))\n"
        }
        return text + counts(summary)
    }

    /// Returns a list such as `the same in 14 more cases: …`, on several lines; empty if there are no names.
    private static func same(_ names: [String]) -> String {
        if names.isEmpty { return "" }
        let lead = "    "
        var lines = ["\(lead)the same in \(names.count) more \(names.count == 1 ? "case" : "cases"):"]
        for (index, name) in names.enumerated() {
            let word = Escaped.text(name) + (index == names.count - 1 ? "" : ",")
            if let last = lines.last, last.count + 1 + word.count <= 100 {
                lines[lines.count - 1] = "\(last) \(word)"
            } else if lines.count == 4 {
                lines.append("\(lead)  … and \(names.count - index) more")
                break
            } else {
                lines.append("\(lead)  \(word)")
            }
        }
        return lines.joined(separator: "\n") + "\n"
    }

    private func more(_ count: Int) -> String { count > 0 ? "  … and \(count) more\n" : "" }

    private func counts(_ summary: RunSummary) -> String {
        var parts: [String] = []
        for verdict in [Verdict.passed, .failed, .error, .inconclusive, .unsupported, .skipped] {
            let count = summary.results.unexpected(verdict)
            if count == 0, verdict != .passed, verdict != .failed { continue }
            var part = count > 0 ? paint(.verdict(verdict), "\(count) \(verdict.rawValue)") : "0 \(verdict.rawValue)"
            if verdict == .failed, summary.results.advisoryFailures > 0 {
                part += " (\(summary.results.advisoryFailures) of level should or may, not counted)"
            }
            if verdict == .passed, summary.results.unexpectedPasses > 0 {
                part += paint(.unexpected, " (\(summary.results.unexpectedPasses) unexpected)")
            }
            parts.append(part)
        }
        let expected = summary.results.expectedFailures
        if expected > 0 { parts.append("\(expected) expected \(expected == 1 ? "failure" : "failures")") }
        if summary.notRun > 0 { parts.append("\(summary.notRun) not run") }
        var text = parts.joined(separator: ", ") + " in \(DurationText.rounded(nanoseconds: summary.duration))"
        if summary.packetsDropped > 0 { text += " (the capture dropped \(summary.packetsDropped) packets)" }
        if let signal = summary.interruptionText { text += " (interrupted by \(signal))" }
        if let reason = summary.emptiness {
            text += ": nothing was judged, because \(reason)"
            if !summary.allowsEmpty { text += "; `--allow-empty` accepts that" }
        }
        return text + "\n"
    }
}
