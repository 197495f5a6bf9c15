import ProbeBase
import ProbeEvents
import ProbeScenario

/// The markup of one result on a page. It is divided into parts, so that the largest parts can be omitted from a page
/// that would be too large.
struct CaseMarkup {
    /// The maximum number of lines of a timeline that is shown as text.
    private static let timelineLimit = 200
    /// The maximum number of findings that are shown, and the maximum number of lines of each finding.
    private static let maxFindings = 20
    private static let maxLines = 100

    let result: CaseResult
    let options: ReportOptions
    /// The path components of the page's folder; see ``RelativePath``.
    let folder: [String]
    let anchor: String

    init(_ result: CaseResult, options: ReportOptions, folder: [String]) {
        (self.result, self.options, self.folder) = (result, options, folder)
        anchor = Self.anchor(of: result)
    }

    /// Returns the anchor of a result: the anchor in the matrix, followed by the number of the round if the run repeats
    /// its cases.
    static func anchor(of result: CaseResult) -> String {
        PageAnchor.of(result.id, result.subject) + (result.round.map { ":\($0)" } ?? "")
    }

    var look: CellAppearance {
        var cell = ResultMatrix.Cell()
        cell.verdict = result.verdict
        cell.disposition = options.disposition(of: result)
        return CellAppearance(cell)
    }

    /// Whether the result is expanded when the page is loaded. A result is expanded unless it is a pass or an expected
    /// failure.
    var isOpen: Bool {
        if case .expected = options.disposition(of: result) { return false }
        return result.verdict < .unsupported || options.disposition(of: result) != .fine
    }

    // MARK: Parts

    /// The attributes of the result's element.
    var attributes: HTMLAttributes {
        var attributes: HTMLAttributes = ["class": "case \(look.kind)", "id": anchor]
        if isOpen { attributes.append(flag: "open") }
        return attributes
    }

    /// The part of the markup that is visible even when the result is collapsed.
    var summary: HTMLText {
        .element(
            "summary", [:], Self.verdict(look), .element("h3", [:], options.name(of: result)),
            .element("small", [:], DurationText.rounded(nanoseconds: result.duration)),
            .element("span", ["class": "title"], result.title))
    }

    /// The part of the markup before the script.
    var beginning: HTMLText {
        var html = HTMLText.empty
        if let about = result.about { html += .element("p", ["class": "about"], about) }
        if !result.because.isEmpty {
            let links = result.because.enumerated().map { index, because in
                index == 0 ? IssueLink.html(because) : .text(", ") + IssueLink.html(because)
            }
            html += .element("p", ["class": "soft"], .text("Because of "), links.joined)
        }
        html += facts
        for finding in result.findings.prefix(Self.maxFindings) { html += self.finding(finding) }
        if result.findings.count > Self.maxFindings {
            let more = ByteText.count(result.findings.count - Self.maxFindings, "more finding")
            html += Self.soft("\(more); `--json FILE` lists all")
        }
        return html
    }

    /// The scripts, with the failed lines marked; `nil` if the text of the script is not available.
    var script: HTMLText? {
        let spans = result.findings.compactMap(\.span)
        var files = [0]
        for span in spans where !files.contains(span.file) { files.append(span.file) }
        var html = HTMLText.empty
        for index in files {
            guard result.sources.files.indices.contains(index) else { continue }
            let file = result.sources.files[index]
            html += .element("h4", [:], index == 0 ? "Script" : "Included: \(file.path)")
            html += ScriptMarkup(file: file, spans: spans.filter { $0.file == index }).html
        }
        return html.bytes.isEmpty ? nil : html
    }

    /// The sequence diagram and, if the result did not pass, the timeline as text; `nil` if there is no timeline.
    var diagram: HTMLText? {
        guard let diagram = CaseDiagram(result).value else { return nil }
        var html: HTMLText = .element("h4", [:], "What happened") + SequenceDrawing(diagram).html
        if result.verdict != .passed {
            let text = CaseText(options: options, timelineLimit: Self.timelineLimit).timeline(result)
            html += .element(
                "details", ["class": "more"], .element("summary", [:], "As text"),
                .element("pre", ["class": "timeline", "tabindex": "0"], FailureMarkup.timeline(text)))
        }
        return html
    }

    /// The part of the markup after the diagram.
    var end: HTMLText {
        var html = HTMLText.empty
        if let cause = result.cause { html += .element("p", ["class": "cause"], .text("Cause: "), .text(cause)) }
        if let path = result.capturePath {
            let link: HTMLText = .element(
                "a", ["href": RelativePath.link(from: folder, to: path), "download": ""], "Capture")
            html += .element("p", ["class": "links"], link, .element("code", [:], path))
        }
        if !result.rerun.isEmpty {
            html += .element("p", ["class": "links"], .text("Run again: "), .element("code", [:], result.rerun))
        }
        return html
    }

    /// Returns the mark and the word of a verdict.
    static func verdict(_ look: CellAppearance) -> HTMLText {
        .element(
            "span", ["class": "cell \(look.kind)"], .element("i", ["aria-hidden": "true"], look.mark),
            .text(look.word))
    }

    private static func soft(_ text: String) -> HTMLText { .element("p", ["class": "soft"], text) }

    // MARK: Facts

    private var facts: HTMLText {
        var facts = [result.level.rawValue]
        if let subject = result.subject { facts.append(subject) }
        facts.append(result.path)
        if !result.tags.isEmpty { facts.append(result.tags.joined(separator: ", ")) }
        // The facts are a single piece of text, because a page may have thousands of cases, and each additional element
        // slows down loading.
        var html = Self.soft(facts.joined(separator: " · "))
        if let expected = options.rules.expectations[result.key] {
            let why = expected.comment.map { ": \($0)" } ?? ""
            html += Self.soft("Expected: \(expected.verdict.rawValue), according to \(expected.place)\(why)")
        }
        if options.disposition(of: result) == .advisory {
            let strict = result.level == .should ? " (unless --strict is given)" : ""
            html += Self.soft("Level \(result.level.rawValue): does not fail the run\(strict).")
        }
        if let alone = result.alone {
            let what = alone.text.map { "fails \($0)" } ?? "unknown whether it fails alone: \(alone.verdict.rawValue)"
            html += Self.soft("Rerun in a fresh adapter process: \(what).")
        }
        for fact in result.exploration?.facts ?? [] {
            html += Self.soft("\(fact.name): \(fact.value)")
        }
        return html
    }

    // MARK: Findings

    private func finding(_ finding: Finding) -> HTMLText {
        var html: HTMLText = .element("h4", [:], finding.summary)
        var place = "\(finding.verdict.rawValue)"
        if let span = finding.span { place += ", \(result.sources.location(of: span))" }
        for round in finding.rounds ?? [] { place += ", \(round.sentence)" }
        html += Self.soft(place)
        let comparison = ComparisonText.text(expected: finding.expected, actual: finding.actual)
        if !comparison.isEmpty {
            html += .element("pre", ["tabindex": "0"], FailureMarkup.diagnostic(comparison))
        }
        html += list(finding.details, "details")
        html += list(finding.hints.map { "hint: \($0)" }, "hint")
        if !finding.actors.isEmpty {
            let rows = finding.actors.prefix(Self.maxLines).map { actor in
                HTMLText.element(
                    "tr", [:], .element("th", ["scope": "row"], actor.name), .element("td", [:], actor.state))
            }
            html += .element(
                "table", [:], .element("caption", [:], "What each actor was doing"),
                .element("tbody", [:], rows.joined))
        }
        return .element("section", ["class": "finding"], html)
    }

    private func list(_ lines: [String], _ kind: String) -> HTMLText {
        if lines.isEmpty { return .empty }
        var items = lines.prefix(Self.maxLines).map { HTMLText.element("li", [:], $0) }
        if lines.count > Self.maxLines {
            items.append(.element("li", [:], "… and \(lines.count - Self.maxLines) more"))
        }
        return .element("ul", ["class": kind], items.joined)
    }
}
