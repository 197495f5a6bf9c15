import ProbeBase
import ProbeEvents
import ProbeScenario

/// The markup of one result on a page, in parts: the largest parts can be omitted if a page would be too large.
struct CaseMarkup {
    /// The maximum number of lines of a timeline as text.
    private static let timelineLimit = 200
    /// The maximum number of findings, and of lines of each, that are shown.
    private static let mostFindings = 20
    private static let mostLines = 100

    let result: CaseResult
    let options: ReportOptions
    /// The folder of the page; see ``RelativePath``.
    let folder: [String]
    let anchor: String

    init(_ result: CaseResult, options: ReportOptions, folder: [String]) {
        (self.result, self.options, self.folder) = (result, options, folder)
        anchor = Self.anchor(of: result)
    }

    /// Returns the same anchor as in the matrix, followed by the round of a repeated run.
    static func anchor(of result: CaseResult) -> String {
        PageAnchor.of(result.id, result.subject) + (result.round.map { ":\($0)" } ?? "")
    }

    var look: CellLook {
        var cell = ResultMatrix.Cell()
        cell.verdict = result.verdict
        cell.disposition = options.disposition(of: result)
        return CellLook(cell)
    }

    /// Whether the result is initially open: it did not pass, and that was not expected.
    var isOpen: Bool {
        if case .expected = options.disposition(of: result) { return false }
        return result.verdict < .unsupported || options.disposition(of: result) != .fine
    }

    // MARK: Parts

    /// The part before the script.
    var beginning: HTMLText {
        let look = look
        var html = HTMLText(markup: "<details class=\"case ")
        html.append(text: look.kind)
        html.append("\" id=\"")
        html.append(text: anchor)
        html.append(isOpen ? "\" open><summary>" : "\"><summary>")
        html += Self.verdict(look)
        html.append("<h3>")
        html.append(text: options.name(of: result))
        html.append("</h3><small>")
        html.append(text: DurationText.rounded(nanoseconds: result.duration))
        html.append("</small><span class=\"title\">")
        html.append(text: result.title)
        html.append("</span></summary><div>")
        if let about = result.about { html += .element("p", ["class": "about"], .text(about)) }
        if !result.because.isEmpty {
            html.append("<p class=\"soft\">Because of ")
            html +=
                result.because.map(IssueLink.html).enumerated()
                .map { $0.offset == 0 ? $0.element : .text(", ") + $0.element }.joined
            html.append("</p>")
        }
        html += facts
        for finding in result.findings.prefix(Self.mostFindings) { html += self.finding(finding) }
        if result.findings.count > Self.mostFindings {
            html += .element(
                "p", ["class": "soft"],
                .text(
                    "\(ByteText.count(result.findings.count - Self.mostFindings, "more finding")); `--json FILE` has all"
                ))
        }
        return html
    }

    /// The scripts, with the failed lines marked; `nil` if the script's text is not known.
    var script: HTMLText? {
        let spans = result.findings.compactMap(\.span)
        var files = [0]
        for span in spans where !files.contains(span.file) { files.append(span.file) }
        var html = HTMLText.empty
        for index in files {
            guard result.sources.files.indices.contains(index) else { continue }
            let file = result.sources.files[index]
            html += .element("h4", [:], .text(index == 0 ? "Script" : "Included: \(file.path)"))
            html += ScriptMarkup(file: file, spans: spans.filter { $0.file == index }).html
        }
        return html.markup.isEmpty ? nil : html
    }

    /// The sequence diagram, and for a result that did not pass also its timeline as text; `nil` if there is no
    /// timeline.
    var diagram: HTMLText? {
        guard let diagram = CaseDiagram(result).value else { return nil }
        var html = HTMLText(markup: "<h4>What happened</h4>") + SequenceDrawing(diagram).html
        if result.verdict != .passed {
            let text = CaseText(options: options, timelineLimit: Self.timelineLimit).timeline(result)
            html.append(
                "<details class=\"more\"><summary>The same as text</summary><pre class=\"timeline\" tabindex=\"0\">")
            html += FailureMarkup.timeline(text)
            html.append("</pre></details>")
        }
        return html
    }

    /// The part after the diagram.
    var end: HTMLText {
        var html = HTMLText.empty
        if let path = result.capturePath {
            html.append("<p class=\"links\">")
            html += .element(
                "a", ["href": RelativePath.link(from: folder, to: path), "download": ""], .text("Capture"))
            html += .element("code", [:], .text(path))
            html.append("</p>")
        }
        if !result.rerun.isEmpty {
            html.append("<p class=\"links\">Run again: <code>")
            html.append(text: result.rerun)
            html.append("</code></p>")
        }
        html.append("</div></details>\n")
        return html
    }

    /// Returns the verdict's mark and word.
    static func verdict(_ look: CellLook) -> HTMLText {
        var html = HTMLText(markup: "<span class=\"cell ")
        html.append(text: look.kind)
        html.append("\"><i aria-hidden=\"true\">")
        html.append(text: look.mark)
        html.append("</i>")
        html.append(text: look.word)
        html.append("</span>")
        return html
    }

    // MARK: Facts

    private var facts: HTMLText {
        var facts = [result.level.rawValue]
        if let subject = result.subject { facts.append(subject) }
        facts.append(result.path)
        if !result.tags.isEmpty { facts.append(result.tags.joined(separator: ", ")) }
        // One text: a page may have thousands of cases, and each element takes time when it is opened.
        var html = HTMLText(markup: "<p class=\"soft\">")
        html.append(text: facts.joined(separator: " · "))
        html.append("</p>")
        if let expected = options.rules.expectations[result.key] {
            let why = expected.comment.map { ": \($0)" } ?? ""
            html += .element(
                "p", ["class": "soft"], .text("Expected: \(expected.verdict.rawValue), says \(expected.place)\(why)"))
        }
        if options.disposition(of: result) == .advisory {
            let strict = result.level == .should ? " (with --strict it does)" : ""
            html += .element(
                "p", ["class": "soft"], .text("Of level \(result.level.rawValue): this does not fail the run\(strict).")
            )
        }
        if let alone = result.alone {
            let what = alone.text ?? "it could not be told whether it fails alone: \(alone.verdict.rawValue)"
            html += .element("p", ["class": "soft"], .text("Run again in a fresh process of the adapter: \(what)."))
        }
        for fact in result.exploration?.facts ?? [] {
            html += .element("p", ["class": "soft"], .text("\(fact.name): \(fact.value)"))
        }
        return html
    }

    // MARK: Findings

    private func finding(_ finding: Finding) -> HTMLText {
        var html = HTMLText(markup: "<section class=\"finding\">")
        html += .element("h4", [:], .text(finding.summary))
        var place = "\(finding.verdict.rawValue)"
        if let span = finding.span { place += ", \(result.sources.location(of: span))" }
        for round in finding.rounds ?? [] { place += ", \(round.sentence)" }
        html += .element("p", ["class": "soft"], .text(place))
        let comparison = ComparisonText.text(expected: finding.expected, actual: finding.actual)
        if !comparison.isEmpty {
            html += .element("pre", ["tabindex": "0"], FailureMarkup.diagnostic(comparison))
        }
        html += list(finding.details, "details")
        html += list(finding.hints.map { "hint: \($0)" }, "hint")
        if !finding.actors.isEmpty {
            html.append("<table><caption>What each actor was doing</caption><tbody>")
            for actor in finding.actors.prefix(Self.mostLines) {
                html.append("<tr><th scope=\"row\">")
                html.append(text: actor.name)
                html.append("</th><td>")
                html.append(text: actor.state)
                html.append("</td></tr>")
            }
            html.append("</tbody></table>")
        }
        html.append("</section>")
        return html
    }

    private func list(_ lines: [String], _ kind: StaticString) -> HTMLText {
        if lines.isEmpty { return .empty }
        var html = HTMLText(markup: "<ul class=\"")
        html.append(kind)
        html.append("\">")
        for line in lines.prefix(Self.mostLines) { html += .element("li", [:], .text(line)) }
        if lines.count > Self.mostLines {
            html += .element("li", [:], .text("… and \(lines.count - Self.mostLines) more"))
        }
        html.append("</ul>")
        return html
    }
}
