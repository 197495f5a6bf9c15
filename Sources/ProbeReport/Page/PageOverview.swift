import ProbeBase
import ProbeEvents
import ProbeScenario

/// The top of a run's page, before its cases.
struct PageOverview {
    private static let mostNotRun = 1000

    let overview: RunOverview
    let cases: PageCases
    let summary: RunSummary
    let options: ReportOptions

    /// The verdicts that occurred, the worst first, and the number of cases that were not run, such as
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
        var facts = [ByteText.count(summary.results.total, "result")]
        if let startedAt = options.startedAt { facts.append(PageFrame.date(startedAt)) }
        facts.append(DurationText.rounded(nanoseconds: summary.duration))
        if !options.version.isEmpty { facts.append("tcpprobe \(options.version)") }
        var header: HTMLText =
            .element("h1", [:], .text(verdicts))
            + .element("p", ["class": "facts"], facts.map { HTMLText.element("span", [:], .text($0)) }.joined)
        header += counts
        if let signal = summary.interruptionText {
            let text = "The run was interrupted by \(signal): \(ByteText.count(summary.notRun, "case")) not run."
            header += .element("p", ["class": "alarm"], .text(text))
        }
        for error in summary.runErrors { header += .element("p", ["class": "alarm"], .text("Error: \(error)")) }
        if summary.packetsDropped > 0 {
            let text = "The capture dropped \(ByteText.count(summary.packetsDropped, "packet"))."
            header += .element("p", ["class": "alarm"], .text(text))
        }
        let notes = overview.messages + summary.notes + omissions
        if !notes.isEmpty {
            header += .element(
                "ul", ["class": "notes", "aria-label": "Notes"],
                notes.map { HTMLText.element("li", [:], .text($0)) }.joined)
        }
        for subject in overview.subjects where summary.results.total > 1 {
            let score = "\(subject): \(overview.score(of: subject).text)"
            header += .element("p", ["class": "soft"], .text(score))
        }
        return .element("header", [:], header)
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
                    "a", ["class": "count \(CellLook(cell).kind)", "href": "#-\(section)"],
                    .element("b", [:], .text("\(count)")), .element("span", [:], .text(" \(verdict.rawValue)"))))
        }
        for (count, text) in [
            (summary.results.expectedFailures, "did not pass, as expected"),
            (summary.results.unexpectedPasses, "passed against an expectation"),
            (summary.results.advisoryFailures, "failed at a level that does not count"),
            (summary.notRun, "not run"),
        ] where count > 0 {
            html += .element(
                "li", ["class": "count"], .element("b", [:], .text("\(count)")),
                .element("span", [:], .text(" \(text)")))
        }
        return .element("ul", ["class": "counts", "aria-label": "Results"], html)
    }

    /// The parts that were omitted from the page.
    private var omissions: [String] {
        var notes: [String] = []
        if cases.leftOutDiagrams > 0 {
            notes.append(
                "\(ByteText.count(cases.leftOutDiagrams, "sequence diagram")) left out, as the page would be too large")
        }
        if cases.leftOutScripts > 0 {
            notes.append("\(ByteText.count(cases.leftOutScripts, "script")) left out, as the page would be too large")
        }
        if cases.unlisted > 0 {
            notes.append(
                "\(ByteText.count(cases.unlisted, "result")) only counted, as the page would be too large; --json FILE has all"
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
                .element("span", ["class": "title"], .text(named.summary)))
        }
        let rest = overview.badCount - overview.bad.count
        if rest > 0 { items += .element("li", [:], .text("… and \(rest) more")) }
        return .element(
            "nav", ["aria-labelledby": "-h-bad"],
            .element("h2", ["id": "-h-bad"], .text("What did not pass")), .element("ul", ["class": "list"], items))
    }

    private func link(_ name: String, _ anchor: String?) -> HTMLText {
        guard let anchor else { return .text(name) }
        return .element("a", ["href": "#\(anchor)"], .text(name))
    }

    private var flaky: HTMLText {
        let flaky = overview.flaky
        if flaky.isEmpty { return .empty }
        var rows = HTMLText.empty
        for rounds in flaky.prefix(Self.mostNotRun) {
            let total = rounds.counts.values.reduce(0, +)
            let text = Verdict.allCases.compactMap { verdict in
                rounds.counts[verdict].map { "\($0) \(verdict.rawValue)" }
            }
            .joined(separator: ", ")
            rows += .element(
                "tr", [:], .element("th", ["scope": "row"], .text(rounds.name)),
                .element("td", [:], .text("\(text) of \(ByteText.count(total, "round"))")))
        }
        return section(
            "flaky", "Flaky: not the same in each round",
            table("Cases with different verdicts between rounds", ["Case", "Verdicts"], rows))
    }

    private var slowest: HTMLText {
        if overview.slowest.count < 2 { return .empty }
        var rows = HTMLText.empty
        for named in overview.slowest {
            rows += .element(
                "tr", [:], .element("th", ["scope": "row"], link(named.name, named.anchor)),
                .element("td", [:], .text(DurationText.rounded(nanoseconds: named.duration))))
        }
        return section(
            "slowest", "Slowest", table("The cases that took longest", ["Case", "Duration"], rows), isFolded: true)
    }

    private var notRun: HTMLText {
        if summary.notRunCases.isEmpty { return .empty }
        var items = HTMLText.empty
        for item in summary.notRunCases.prefix(Self.mostNotRun) {
            items += .element("li", [:], .text(options.name(id: item.id, subject: item.subject)))
        }
        let rest = summary.notRunCases.count - Self.mostNotRun
        if rest > 0 { items += .element("li", [:], .text("… and \(rest) more")) }
        return section("notrun", "Not run", .element("ul", ["class": "list"], items))
    }

    private var crowds: HTMLText {
        if overview.crowds.isEmpty { return .empty }
        var html = HTMLText.empty
        for named in overview.crowds {
            html += CrowdMarkup(crowd: named.crowd, heading: link(named.name, named.anchor)).html
        }
        let rest = overview.crowdCount - overview.crowds.count
        if rest > 0 { html += .element("p", ["class": "soft"], .text("… and \(rest) more crowds.")) }
        return section("crowds", "Crowds", html)
    }

    // MARK: Parts

    private func section(
        _ id: StaticString, _ title: String, _ content: HTMLText, isFolded: Bool = false
    ) -> HTMLText {
        let heading: HTMLText = .element("h2", ["id": "-h-\(id)"], .text(title))
        let attributes: HTMLAttributes = ["class": "top", "aria-labelledby": "-h-\(id)"]
        guard isFolded else { return .element("section", attributes, heading, content) + HTMLText(markup: "\n") }
        return .element("section", attributes, .element("details", [:], .element("summary", [:], heading), content))
            + HTMLText(markup: "\n")
    }

    private func table(_ caption: String, _ columns: [String], _ rows: HTMLText) -> HTMLText {
        let head = columns.map { HTMLText.element("th", ["scope": "col"], .text($0)) }.joined
        return .element(
            "table", [:], .element("caption", [:], .text(caption)),
            .element("thead", [:], .element("tr", [:], head)), .element("tbody", [:], rows))
    }
}
