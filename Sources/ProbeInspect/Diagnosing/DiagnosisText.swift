import ProbeBase
package import ProbeDiagnose
package import ProbeReport

/// Writes diagnoses for a terminal. Unless all details are requested, the diagnosis of one flow fits on a screen of 24
/// lines.
package struct DiagnosisText {
    let width: Int
    let paint: Paint
    /// Whether all findings are shown, including findings that are explained by other findings, with all of their
    /// evidence.
    let isVerbose: Bool
    /// Whether times are shown as times of day.
    let isAbsolute: Bool

    package init(width: Int, paint: Paint, isVerbose: Bool, isAbsolute: Bool) {
        (self.width, self.paint, self.isVerbose, self.isAbsolute) = (width, paint, isVerbose, isAbsolute)
    }

    private static let shownFindings = 3
    private static let shownEvidence = 5
    private static let barWidth = 32

    /// Returns the text about one flow.
    package func block(_ flow: FlowDiagnosis) -> String {
        var text = heading(flow) + "\n"
        let findings = isVerbose ? flow.findings[...] : flow.findings.prefix(Self.shownFindings)
        if findings.isEmpty { text += "\n  No problem was found.\n" }
        for finding in findings { text += "\n" + block(finding) }
        let rest = flow.findings.count - findings.count
        if rest > 0 {
            text += "\n  \(ByteText.count(rest, "further finding")): `--verbose` shows \(rest == 1 ? "it" : "them")\n"
        }
        if isVerbose {
            for finding in flow.suppressed {
                text += line(
                    "\n  ",
                    "also \(finding.id.rawValue), which \(finding.suppressedBy?.rawValue ?? "") explains: \(finding.sentence)",
                    indent: 4)
            }
        }
        return text + "\n" + budget(flow)
    }

    /// Returns the text about a group of flows with the same finding. Only the first flow is shown in full.
    package func block(_ group: [FlowDiagnosis]) -> String {
        guard let first = group.first else { return "" }
        guard group.count > 1 else { return block(first) }
        let numbers = group.dropFirst().map(\.number).sorted()
        let shown = numbers.prefix(8)
        let rest = numbers.count - shown.count
        let list = shown.map(String.init).joined(separator: ", ") + (rest > 0 ? " and \(rest) more" : "")
        return block(first)
            + line(
                "\n  ",
                "also \(ByteText.count(numbers.count, "flow")) from \(first.client.address) to \(first.server.address) with the same finding: \(list)",
                indent: 4)
    }

    /// Returns the text about a finding that concerns several flows.
    package func block(_ shared: SharedFinding) -> String {
        let flows = shared.flows.sorted()
        let shown = isVerbose ? flows[...] : flows.prefix(8)
        let rest = flows.count - shown.count
        let list = shown.map(String.init).joined(separator: ", ") + (rest > 0 ? " and \(rest) more" : "")
        return line("", "flow\(flows.count == 1 ? "" : "s") \(list)", indent: 2) + "\n" + block(shared.finding)
    }

    /// Returns a finding about a flow of a live capture, with the flow's endpoints.
    package func line(_ finding: FlowFinding, of flow: FlowDiagnosis) -> String {
        "flow \(flow.number)  \(flow.client) -> \(flow.server)\n" + block(finding) + "\n"
    }

    /// Returns the last line, which states how many flows have problems.
    ///
    /// - Parameter noteCount: the number of flows that are not shown because they have only notes.
    package func summary(_ report: DiagnosisReport, noteCount: Int) -> String {
        var text = Self.sentence(report)
        if report.healthyCount > 0 {
            text += "; `--verbose` also finds notes"
        } else if noteCount > 0 {
            text +=
                "; \(ByteText.count(noteCount, "other")) \(noteCount == 1 ? "has" : "have") only notes (`--verbose`)"
        }
        return WrappedText.sentence(text, width: width)
    }

    /// Returns how many flows have problems, and how many have only warnings.
    package static func sentence(_ report: DiagnosisReport) -> String {
        let count = report.problemCount
        var text =
            "\(count == 0 ? "none" : "\(count)") of \(ByteText.count(report.flowCount, "flow")) \(count > 1 ? "have" : "has") a problem"
        let warnings = report.flows.count { $0.severity == .warning }
        if warnings > 0 { text += ", \(warnings) \(warnings == 1 ? "has" : "have") a warning" }
        return text
    }

    private func heading(_ flow: FlowDiagnosis) -> String {
        let start = isAbsolute ? "  " + StartTime.timeOfDay(flow.start) : ""
        var sent: [String] = []
        if flow.clientBytes > 0 { sent.append("\(Self.size(flow.clientBytes)) sent") }
        if flow.serverBytes > 0 { sent.append("\(Self.size(flow.serverBytes)) received") }
        if sent.isEmpty { sent.append("no data") }
        return
            "flow \(flow.number)  \(flow.client) -> \(flow.server)\(start)  \(DurationText.text(nanoseconds: flow.duration)), \(sent.joined(separator: ", "))"
    }

    private func block(_ finding: FlowFinding) -> String {
        var label = "[\(finding.severity.rawValue), \(finding.certainty.rawValue)]"
        if let whole = finding.partOf { label += " (part of \(whole.rawValue))" }
        var text = line("  ", finding.sentence + "  " + label, indent: 2)
        text += line("    evidence  ", evidence(finding), indent: 14)
        if !finding.rivals.isEmpty {
            text += line("    or        ", finding.rivals.joined(separator: "; "), indent: 14)
        }
        text += line("    next      ", finding.next, indent: 14)
        return text
    }

    private func evidence(_ finding: FlowFinding) -> String {
        let packets = isVerbose ? finding.evidence[...] : finding.evidence.prefix(Self.shownEvidence)
        let rest = finding.evidence.count - packets.count
        let list = packets.map(String.init).joined(separator: ", ")
        return
            "packet\(finding.evidence.count == 1 ? "" : "s") \(list)\(rest > 0 ? " and \(rest) more" : "")  (\(finding.id.rawValue))"
    }

    private func line(_ start: String, _ text: String, indent: Int) -> String {
        WrappedText.lines(
            start, text.split(separator: " ", omittingEmptySubsequences: false).map(String.init), width: width,
            indent: indent) + "\n"
    }

    // MARK: The time budget

    /// Returns the time budget as text: a line for each state, with a bar.
    private func budget(_ flow: FlowDiagnosis) -> String {
        var rows = flow.budgetRows
        let total = max(flow.duration, 1)
        if !isVerbose { rows.removeAll { $0.time < total / 200 } }
        guard flow.duration > 0, !rows.isEmpty else { return "" }
        let nameWidth = rows.map(\.name.count).max() ?? 0
        var text = "  where the time went\n"
        for row in rows {
            let share = Double(row.time) / Double(total)
            let bar = String(repeating: "█", count: Int((share * Double(Self.barWidth)).rounded()))
            let name = row.name + String(repeating: " ", count: nameWidth - row.name.count)
            let time = Self.padded(DurationText.text(nanoseconds: row.time), to: 8)
            let percent = Self.padded("\(Int((share * 100).rounded())) %", to: 5)
            var line = "    \(name)  \(time)  \(percent)"
            if !bar.isEmpty { line += "  " + paint(.client, bar) }
            if let limit = row.limit { line += "  (\(limit))" }
            text += line + "\n"
        }
        if flow.trailing > 1_000_000_000 {
            text +=
                "    the capture goes on for \(DurationText.text(nanoseconds: flow.trailing)) after the last packet\n"
        }
        return text
    }

    private static func padded(_ text: String, to width: Int) -> String {
        String(repeating: " ", count: max(0, width - text.count)) + text
    }

    private static func size(_ bytes: Int64) -> String {
        switch bytes {
        case 1_000_000...: "\(DurationText.fixed(Double(bytes) / 1e6, digits: 1)) MB"
        case 10_000...: "\(bytes / 1000) kB"
        default: ByteText.count(Int(bytes), "byte")
        }
    }
}
