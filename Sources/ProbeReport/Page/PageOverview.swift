import ProbeBase
import ProbeEvents
import ProbeScenario

/// The part of a run's page above its cases.
struct PageOverview {
    private static let maxNotRun = 1000

    let overview: RunOverview
    let cases: PageCases
    let summary: RunSummary
    let options: ReportOptions

    /// The number of cases with each verdict, worst verdict first, and the number of cases that were not run, such as
    /// `2 failed, 118 passed`.
    var verdicts: String {
        var parts = Verdict.allCases.compactMap { verdict in
            let count = summary.results.count(verdict)
            return count > 0 ? "\(count) \(verdict.rawValue)" : nil
        }
        if summary.notRun > 0 { parts.append("\(summary.notRun) not run") }
        return parts.isEmpty ? "no cases" : parts.joined(separator: ", ")
    }

    var html: HTMLText {
        var html = header
        let parts = [bad, flaky, slowest, crowds, notRun]
        for part in parts { html += part }
        return html
    }

    // MARK: Header

    private var header: HTMLText {
        var content = counts
        if let signal = summary.interruptionText {
            let notRun = ByteText.count(summary.notRun, "case")
            content += PageFrame.alarm("The run was interrupted by \(signal): \(notRun) not run.")
        }
        for error in summary.runErrors { content += PageFrame.alarm("Error: \(error)") }
        if summary.packetsDropped > 0 {
            content += PageFrame.alarm("The capture dropped \(ByteText.count(summary.packetsDropped, "packet")).")
        }
        let notes = overview.messages + summary.notes + omissions
        if !notes.isEmpty {
            content += .element(
                "ul", ["class": "notes", "aria-label": "Notes"], notes.map { HTMLText.element("li", [:], $0) }.joined)
        }
        for subject in overview.subjects where summary.results.total > 1 {
            content += .element("p", ["class": "soft"], "\(subject): \(overview.score(of: subject).text)")
        }
        let facts = PageFrame.facts(
            of: summary, counts: [ByteText.count(summary.results.total, "result")], options)
        return PageFrame.header(verdicts, facts: facts, content)
    }

    private var counts: HTMLText {
        var html = HTMLText.empty
        let links: [(Verdict, PageCases.Section)] = Verdict.allCases.map { verdict in
            (verdict, verdict == .passed ? .passed : verdict < .unsupported ? .bad : .other)
        }
        for (verdict, section) in links where summary.results.count(verdict) > 0 {
            var cell = ResultMatrix.Cell()
            cell.verdict = verdict
            let count = summary.results.count(verdict)
            html += .element(
                "li", [:],
                .element(
                    "a", ["class": "count \(CellAppearance(cell).kind)", "href": "#-\(section)"],
                    .element("b", [:], "\(count)"), .element("span", [:], " \(verdict.rawValue)")))
        }
        for (count, text) in [
            (summary.results.expectedFailures, "did not pass, as expected"),
            (summary.results.unexpectedPasses, "passed unexpectedly"),
            (summary.results.advisoryFailures, "failed at a level that does not fail the run"),
            (summary.notRun, "not run"),
        ] where count > 0 {
            html += .element(
                "li", ["class": "count"], .element("b", [:], "\(count)"),
                .element("span", [:], " \(text)"))
        }
        return .element("ul", ["class": "counts", "aria-label": "Results"], html)
    }

    /// Notes about the parts that were omitted from the page.
    private var omissions: [String] {
        var notes: [String] = []
        if cases.leftOutDiagrams > 0 {
            notes.append(
                "\(ByteText.count(cases.leftOutDiagrams, "sequence diagram")) omitted, because the page would be too large"
            )
        }
        if cases.leftOutScripts > 0 {
            notes.append(
                "\(ByteText.count(cases.leftOutScripts, "script")) omitted, because the page would be too large")
        }
        if cases.unlisted > 0 {
            notes.append(
                "\(ByteText.count(cases.unlisted, "result")) counted, but not listed, because the page would be too large; --json FILE lists all"
            )
        }
        return notes
    }

    // MARK: Lists

    private var bad: HTMLText {
        if overview.bad.isEmpty { return .empty }
        var items = HTMLText.empty
        for named in overview.bad {
            items += .element(
                "li", [:], CaseMarkup.verdict(named.look), .text(" "), link(named.name, named.anchor),
                .element("span", ["class": "title"], named.summary))
        }
        let rest = overview.badCount - overview.bad.count
        if rest > 0 { items += .element("li", [:], "… and \(rest) more") }
        return .element(
            "nav", ["aria-labelledby": "-h-bad"],
            .element("h2", ["id": "-h-bad"], "Cases that did not pass"), .element("ul", ["class": "list"], items))
    }

    private func link(_ name: String, _ anchor: String?) -> HTMLText {
        guard let anchor else { return .text(name) }
        return .element("a", ["href": "#\(anchor)"], name)
    }

    private var flaky: HTMLText {
        let flaky = overview.flaky
        if flaky.isEmpty { return .empty }
        var rows = HTMLText.empty
        for rounds in flaky.prefix(Self.maxNotRun) {
            let total = rounds.counts.values.reduce(0, +)
            let text = Verdict.allCases.compactMap { verdict in
                rounds.counts[verdict].map { "\($0) \(verdict.rawValue)" }
            }
            .joined(separator: ", ")
            rows += .element(
                "tr", [:], .element("th", ["scope": "row"], rounds.name),
                .element("td", [:], "\(text) of \(ByteText.count(total, "round"))"))
        }
        return section(
            "flaky", "Flaky: different verdicts between rounds",
            .table("Cases with different verdicts between rounds", ["Case", "Verdicts"], rows))
    }

    private var slowest: HTMLText {
        if overview.slowest.count < 2 { return .empty }
        var rows = HTMLText.empty
        for named in overview.slowest {
            rows += .element(
                "tr", [:], .element("th", ["scope": "row"], link(named.name, named.anchor)),
                .element("td", [:], DurationText.rounded(nanoseconds: named.duration)))
        }
        return section(
            "slowest", "Slowest", .table("The cases that took longest", ["Case", "Duration"], rows), isFolded: true)
    }

    private var notRun: HTMLText {
        if summary.notRunCases.isEmpty { return .empty }
        var items = HTMLText.empty
        for item in summary.notRunCases.prefix(Self.maxNotRun) {
            items += .element("li", [:], options.name(id: item.id, subject: item.subject))
        }
        let rest = summary.notRunCases.count - Self.maxNotRun
        if rest > 0 { items += .element("li", [:], "… and \(rest) more") }
        return section("notrun", "Not run", .element("ul", ["class": "list"], items))
    }

    private var crowds: HTMLText {
        if overview.crowds.isEmpty { return .empty }
        var html = HTMLText.empty
        for named in overview.crowds {
            html += CrowdMarkup(crowd: named.crowd, heading: link(named.name, named.anchor)).html
        }
        let rest = overview.crowdCount - overview.crowds.count
        if rest > 0 { html += .element("p", ["class": "soft"], "… and \(rest) more crowds.") }
        return section("crowds", "Crowds", html)
    }

    // MARK: Parts

    private func section(
        _ id: StaticString, _ title: String, _ content: HTMLText, isFolded: Bool = false
    ) -> HTMLText {
        let heading: HTMLText = .element("h2", ["id": "-h-\(id)"], title)
        let attributes: HTMLAttributes = ["class": "top", "aria-labelledby": "-h-\(id)"]
        guard isFolded else { return .element("section", attributes, heading, content) + .newline }
        return .element("section", attributes, .element("details", [:], .element("summary", [:], heading), content))
            + .newline
    }
}
