import ProbeBase
import ProbeEvents
import ProbeScenario

/// Writes the matrix as a single self-contained HTML page: first the scores, and then the table. Each cell of the table
/// links to the details of its result.
///
/// The page has no script (``PageFrame``); style rules (`:target`, `:has()`) open and close the details and filter the
/// rows. Without CSS, the page is a table with links to the details below it.
struct MatrixPage {
    let matrix: ResultMatrix
    let summary: RunSummary
    let options: ReportOptions
    /// The path components of the page's folder; see ``RelativePath``.
    let folder: [String]

    var bytes: [UInt8] {
        PageFrame.document(title: "tcpprobe: \(subjectList)", styles: [.matrix]) { body in
            body += header + scores + table
            body.append("section", ["class": "stories", "aria-label": "Cases"]) { section in
                for row in matrix.rows { section += caseSection(row) }
            }
        }
    }

    // MARK: Top of the page

    private var subjectList: String {
        let names = matrix.subjects.compactMap { $0 }
        if names.isEmpty { return "results" }
        return names.count <= 3 ? names.joined(separator: ", ") : "\(names.count) transports"
    }

    private var header: HTMLText {
        var counts = [ByteText.count(matrix.rows.count, "case"), ByteText.count(matrix.groups.count, "group")]
        if matrix.subjectCount > 0 { counts.append(ByteText.count(matrix.subjectCount, "transport")) }
        var alarms = HTMLText.empty
        if let signal = summary.interruptionText {
            let notRun = ByteText.count(summary.notRun, "result")
            alarms += PageFrame.alarm("The run was interrupted by \(signal): \(notRun) not run.")
        }
        for error in summary.runErrors { alarms += PageFrame.alarm(error) }
        return PageFrame.header(
            matrix.subjectCount > 1 ? "How \(matrix.subjectCount) transports behave" : subjectList,
            facts: PageFrame.facts(of: summary, counts: counts, options), alarms)
    }

    private var scores: HTMLText {
        .element(
            "section", ["class": "scores", "aria-label": "Scores"],
            matrix.subjects.indices.filter { matrix.subjects[$0] != nil }.map(card).joined)
    }

    private func card(_ subject: Int) -> HTMLText {
        let score = matrix.score(ofSubject: subject)
        var card: HTMLText = .element("h2", [:], matrix.subjects[subject] ?? "")
        for level in score.levels {
            let (passed, judged) = (score.passed[level] ?? 0, score.judged[level] ?? 0)
            card += .element(
                "p", ["class": "level"], .element("b", [:], level.rawValue),
                .element("span", ["class": "of"], "\(passed) of \(judged)"),
                bar(passed, judged, level))
        }
        var rest: [String] = []
        if score.unsupported > 0 { rest.append("\(score.unsupported) unsupported") }
        if score.skipped > 0 { rest.append("\(score.skipped) skipped") }
        if score.notRun > 0 { rest.append("\(score.notRun) not run") }
        let expected = matrix.rows.count { row in
            if case .expected? = row.cells[subject]?.disposition { true } else { false }
        }
        if expected > 0 { rest.append(ByteText.count(expected, "expected failure")) }
        return .element("article", [:], card, .element("p", ["class": "rest"], rest.joined(separator: ", ")))
    }

    /// Returns a bar. Its width is an attribute of an SVG element, so that the bar is also shown on a host that forbids
    /// styles.
    private func bar(_ passed: Int, _ judged: Int, _ level: Scenario.Level) -> HTMLText {
        let share = judged == 0 ? 0 : Double(passed) * 100 / Double(judged)
        return .element(
            "svg",
            [
                "viewBox": "0 0 100 3", "preserveAspectRatio": "none", "aria-hidden": "true",
                "class": "bar \(level.rawValue)",
            ],
            .element("rect", ["width": "100", "height": "3", "class": "left"]),
            .element(
                "rect", ["width": DurationText.fixed(share, digits: 2), "height": "3", "class": "done"]))
    }

    // MARK: The table

    private var table: HTMLText {
        let names = matrix.subjects.indices.map { index -> HTMLText in
            .element(
                "th", ["scope": "col"],
                matrix.subjects.count == 1 ? matrix.subjects[index] ?? "result" : matrix.name(ofSubject: index))
        }
        let head: HTMLText = .element(
            "thead", [:], .element("tr", [:], .element("th", ["scope": "col"], "Case"), names.joined))
        return .element(
            "main", [:], filters,
            .element(
                "table", [:],
                .element(
                    "caption", [:],
                    "Rows are cases, columns are transports. Each cell links to the details of its result."), head,
                matrix.groups.map(group).joined))
    }

    private var filters: HTMLText {
        func choice(_ id: String, _ text: String, isChosen: Bool = false) -> HTMLText {
            var attributes: HTMLAttributes = ["type": "radio", "name": "show", "id": id]
            if isChosen { attributes.append("checked", "") }
            return .void("input", attributes) + .element("label", ["for": id], text)
        }
        let open = matrix.rows.count { MatrixPage.isOpen($0) }
        var all: HTMLText =
            choice("show-all", "All \(matrix.rows.count)", isChosen: true)
            + choice("show-open", "Not passed \(open)")
        for level in Scenario.Level.allCases {
            let count = matrix.rows.count { $0.level == level }
            if count > 0, count < matrix.rows.count {
                all += choice("show-\(level.rawValue)", "\(level.rawValue) \(count)")
            }
        }
        return .element("fieldset", ["class": "filters"], .element("legend", [:], "Show"), all)
    }

    private func group(_ group: ResultMatrix.Group) -> HTMLText {
        let fractions = matrix.subjects.indices.map { subject -> HTMLText in
            let score = matrix.score(ofSubject: subject, rows: group.rows)
            if score.allJudged == 0 { return .element("td", [:], score == Score() ? "" : "–") }
            let isGood = score.allPassed == score.allJudged
            return .element("td", ["class": isGood ? "good" : "short"], "\(score.allPassed)/\(score.allJudged)")
        }
        let fold: HTMLText = .void(
            "input", ["type": "checkbox", "class": "fold", "aria-label": "Collapse \(group.name)"])
        let head: HTMLText = .element(
            "tr", ["class": "group"],
            .element(
                "th", ["scope": "rowgroup"],
                .element(
                    "label", [:], fold, .text(group.name),
                    .element("small", [:], ByteText.count(group.rows.count, "case")))),
            fractions.joined)
        return .element("tbody", [:], head, group.rows.map { row(matrix.rows[$0]) }.joined) + .newline
    }

    private func row(_ row: ResultMatrix.Row) -> HTMLText {
        var name: HTMLText = .element("a", ["href": "#\(PageAnchor.of(row.id))"], row.name)
        if row.level != .must { name += .element("span", ["class": "tag"], row.level.rawValue) }
        name += .element("span", ["class": "title"], row.title)
        let cells = matrix.subjects.indices.map { subject -> HTMLText in
            guard let cell = row.cells[subject] else { return .element("td") }
            let look = CellAppearance(cell)
            var link: HTMLAttributes = [
                "class": "cell \(look.kind)", "href": "#\(PageAnchor.of(row.id, matrix.subjects[subject]))",
            ]
            if !cell.summary.isEmpty { link.append("title", cell.summary) }
            return .element("td", [:], .element("a", link, mark(look), .element("span", [:], look.word)))
        }
        let kinds = "case \(row.level.rawValue)\(MatrixPage.isOpen(row) ? " open" : "")"
        return .element("tr", ["class": kinds], .element("th", ["scope": "row"], name), cells.joined) + .newline
    }

    private func mark(_ look: CellAppearance) -> HTMLText {
        .element("i", ["aria-hidden": "true"], look.mark)
    }

    /// Whether at least one subject did not pass the case, or passed it unexpectedly.
    private static func isOpen(_ row: ResultMatrix.Row) -> Bool {
        row.cells.contains { cell in
            guard let cell, let verdict = cell.verdict else { return false }
            return verdict < .unsupported || cell.disposition != .fine
        }
    }

    // MARK: Details of a case

    private func caseSection(_ row: ResultMatrix.Row) -> HTMLText {
        var section: HTMLText = .element(
            "header", [:], .element("h2", [:], .text(row.id), .element("span", ["class": "tag"], row.level.rawValue)),
            .element("a", ["class": "close", "href": "#-", "aria-label": "Close"], "✕"))
        section += .element("p", ["class": "headline"], row.title)
        if let about = row.about { section += .element("p", ["class": "about"], about) }
        if !row.because.isEmpty {
            let items = row.because.map { HTMLText.element("li", [:], IssueLink.html($0)) }.joined
            section += .element("p", ["class": "because"], "Because of") + .element("ul", [:], items)
        }
        var facts: HTMLText = .element("code", [:], row.path)
        for tag in row.tags { facts += .element("span", ["class": "tag"], tag) }
        section += .element("p", ["class": "path"], facts)
        for (subject, cell) in zip(matrix.subjects, row.cells) {
            if let cell { section += result(row, subject, cell) }
        }
        return .element(
            "section", ["class": MatrixPage.isOpen(row) ? "story open" : "story", "id": PageAnchor.of(row.id)], section)
            + .newline
    }

    private func result(_ row: ResultMatrix.Row, _ subject: String?, _ cell: ResultMatrix.Cell) -> HTMLText {
        let look = CellAppearance(cell)
        var head: HTMLText =
            .element("span", ["class": "cell \(look.kind)"], mark(look), .element("span", [:], look.word))
            + .text(subject ?? "")
        var facts: [String] = []
        if cell.verdict != nil { facts.append(DurationText.rounded(nanoseconds: cell.duration)) }
        if cell.rounds > 1 { facts.append("\(cell.roundsWithVerdict) of \(cell.rounds) rounds") }
        head += .element("small", [:], facts.joined(separator: ", "))
        var parts: HTMLText = .element("h3", [:], head)
        if let expected = options.rules.expectations[CaseKey(id: row.id, subject: subject)] {
            let why = expected.comment.map { ": \($0)" } ?? ""
            parts += .element(
                "p", ["class": "known"], "Expected: \(expected.verdict.rawValue), according to \(expected.place)\(why)")
        }
        if !cell.summary.isEmpty { parts += .element("p", ["class": "why"], cell.summary) }
        // A one-line diagnostic is identical to the summary, which is already shown.
        if cell.diagnostic.contains("\n  ") { parts += .element("pre", [:], FailureMarkup.diagnostic(cell.diagnostic)) }
        if !cell.timeline.isEmpty {
            parts += .element(
                "details", ["open": ""], .element("summary", [:], "Timeline"),
                .element("pre", ["class": "timeline"], FailureMarkup.timeline(cell.timeline)))
        }
        var links: HTMLText = .empty
        if let path = cell.capturePath {
            links += .element("a", ["href": RelativePath.link(from: folder, to: path), "download": ""], "Capture")
        }
        if !cell.rerun.isEmpty { links += .element("code", [:], cell.rerun) }
        if cell.capturePath != nil || !cell.rerun.isEmpty { parts += .element("p", ["class": "links"], links) }
        return .element("article", ["class": "result \(look.kind)", "id": PageAnchor.of(row.id, subject)], parts)
    }
}
