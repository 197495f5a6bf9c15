import ProbeBase
import ProbeDiagnose
import ProbeReport

/// Writes findings for the page.
struct FindingMarkup {
    /// The numbers of the packets to which evidence can link, because the page has rows for them.
    let linked: Set<Int>

    /// The id of the section with the findings about several flows.
    static let sharedID = "findings"

    /// Returns the id of a packet's row in a ladder.
    static func anchor(packet: Int) -> String { "packet-\(packet)" }

    /// Returns the findings of a flow, with a heading. Notes, and findings that others explain, are collapsed.
    func html(_ flow: FlowDiagnosis) -> HTMLText {
        let notes = flow.findings.filter { $0.severity == .note }
        let others = flow.findings.filter { $0.severity != .note }
        return .element("h3", [:], "Findings")
            + (others.isEmpty ? .element("p", ["class": "soft"], "No problem was found.") : list(others))
            + details(NumberText.count(notes.count, "note"), notes)
            + details(NumberText.count(flow.suppressed.count, "finding") + " explained by others", flow.suppressed)
    }

    private func list(_ findings: [FlowFinding]) -> HTMLText {
        .element("ul", ["class": "answers"], findings.map { item($0) }.joined)
    }

    private func details(_ title: String, _ findings: [FlowFinding]) -> HTMLText {
        findings.isEmpty ? .empty : .element("details", [:], .element("summary", [:], title), list(findings))
    }

    /// Returns the section with the findings about several flows.
    ///
    /// - Parameter shown: the numbers of the flows to which the section can link.
    func section(_ findings: [SharedFinding], shown: Set<Int>) -> HTMLText {
        let items = findings.map { shared in
            let flows = shared.flows.sorted()
            let links = Self.list(flows, limit: Self.maxFlows) { flow in
                shown.contains(flow)
                    ? .element("a", ["href": "#\(FlowSection.anchor(flow))", "aria-label": "Flow \(flow)"], "\(flow)")
                    : .text("\(flow)")
            }
            return item(shared.finding, Self.row(flows.count == 1 ? "Flow" : "Flows", links))
        }.joined
        return .element(
            "section", ["id": Self.sharedID, "aria-labelledby": "\(Self.sharedID)-h"],
            .element("h2", ["id": "\(Self.sharedID)-h"], "Findings about several flows"),
            .element("ul", ["class": "answers"], items)) + .newline
    }

    private static let maxFlows = 100

    /// Returns a finding as an item of a list.
    ///
    /// - Parameter rows: further rows, which precede the evidence.
    private func item(_ finding: FlowFinding, _ rows: HTMLText = .empty) -> HTMLText {
        let packets = finding.evidence
        let links = Self.list(packets, limit: packets.count) { packet in
            linked.contains(packet)
                ? .element(
                    "a", ["href": "#\(Self.anchor(packet: packet))", "aria-label": "Packet \(packet)"], "\(packet)")
                : .text("\(packet)")
        }
        var list = rows
        if !packets.isEmpty {
            list += Self.row("Evidence", .text(packets.count == 1 ? "packet " : "packets ") + links)
        }
        if !finding.rivals.isEmpty { list += Self.row("Other causes", .text(finding.rivals.joined(separator: "; "))) }
        list += Self.row("Next step", Self.sentence(finding.next))
        return .element(
            "li", ["class": finding.severity.rawValue], labels(finding),
            .element("p", ["class": "answer"], Self.sentence(finding.sentence)), .element("dl", [:], list))
    }

    private func labels(_ finding: FlowFinding) -> HTMLText {
        let look =
            switch finding.severity {
            case .problem: "cell failed"
            case .warning: "cell advisory"
            case .note: "cell expected"
            }
        let side = finding.side.rawValue.replacing("-", with: " ")
        var labels: HTMLText = .element("span", ["class": look], finding.severity.rawValue)
        for label in [finding.certainty.rawValue, "side: \(side)"] {
            labels += .text(" ") + .element("span", ["class": "tag"], label)
        }
        labels += .text(" ") + .element("code", [:], finding.id.rawValue)
        if let whole = finding.partOf {
            labels += .text(" part of ") + .element("a", ["href": "#\(Self.sharedID)"], whole.rawValue)
        }
        if let cause = finding.suppressedBy { labels += .text(" explained by \(cause.rawValue)") }
        return .element("p", ["class": "labels"], labels)
    }

    private static func row(_ name: String, _ content: HTMLText) -> HTMLText {
        .element("dt", [:], name) + .element("dd", [:], content)
    }

    private static func list(_ numbers: [Int], limit: Int, _ item: (Int) -> HTMLText) -> HTMLText {
        var list: HTMLText = .empty
        for (index, number) in numbers.prefix(limit).enumerated() {
            if index > 0 { list += .text(", ") }
            list += item(number)
        }
        if numbers.count > limit { list += .text(" and \(NumberText.text(numbers.count - limit)) more") }
        return list
    }

    /// Returns a sentence in which commands are between backticks.
    private static func sentence(_ text: String) -> HTMLText {
        text.split(separator: "`", omittingEmptySubsequences: false).enumerated().map { index, part in
            index % 2 == 0 ? HTMLText.text(String(part)) : .element("code", [:], String(part))
        }.joined
    }
}
