import ProbeBase
import ProbeDiagnose
import ProbeReport

/// The time budget of a flow as a horizontal bar, with a legend that states the same in text. The parts of the bar have
/// the numbers of their lines in the legend, so that nobody needs to distinguish colours.
struct BudgetBar {
    /// A part of the bar. The places are in hundredths of a percent of the bar's width.
    struct Part {
        let row: BudgetRow
        /// The number of the part, counting from 1.
        let number: Int
        let start: Int
        let width: Int
    }

    let parts: [Part]
    private let flow: FlowDiagnosis
    private let id: String
    private let total: Int64

    /// The smallest width of a part that shows its number. On a screen of 390 px, such a part is 20 px wide.
    private static let numberedWidth = 600

    /// Creates a bar; `nil` if the flow has no duration.
    ///
    /// - Parameter id: the prefix of the ids of the bar's elements.
    init?(_ flow: FlowDiagnosis, id: String) {
        let rows = flow.budgetRows
        guard !rows.isEmpty else { return nil }
        total = rows.reduce(0) { $0 + $1.time }
        parts = Self.parts(rows)
        self.flow = flow
        self.id = id
    }

    /// Divides the bar. Not the widths of the parts but their ends are rounded, so that the parts fill the bar exactly.
    static func parts(_ rows: [BudgetRow]) -> [Part] {
        let total = Double(rows.reduce(0) { $0 + $1.time })
        var (parts, time, start) = ([Part](), Int64(0), 0)
        for row in rows {
            time += row.time
            let end = Int((Double(time) / total * 10_000).rounded())
            parts.append(Part(row: row, number: parts.count + 1, start: start, width: end - start))
            start = end
        }
        return parts
    }

    var html: HTMLText {
        var caption =
            "\(DurationText.text(nanoseconds: total)) in total. The bar is not a timeline: each part is the sum of all times in a state."
        if flow.trailing > 1_000_000_000 {
            caption +=
                " The capture goes on for \(DurationText.text(nanoseconds: flow.trailing)) after the last packet."
        }
        return .element("h3", [:], "Where the time went")
            + .element("figure", ["class": "budget"], svg, legend, .element("figcaption", [:], caption))
    }

    /// The bar. Its text alternative is the legend.
    private var svg: HTMLText {
        let drawn = parts.filter { $0.width > 0 }.map { part in
            var content: HTMLText = .shape(
                "rect",
                [
                    "x": Self.percent(part.start), "y": "0", "width": Self.percent(part.width), "height": "100%",
                ])
            if part.width >= Self.numberedWidth {
                content += .element(
                    "text", ["x": Self.percent(part.start + part.width / 2), "y": "50%"], "\(part.number)")
            }
            return HTMLText.element("g", ["class": "part \(Self.look(part.row.state))"], content)
        }.joined
        return .element(
            "svg",
            ["class": "bar", "role": "img", "aria-labelledby": "\(id)-t", "aria-describedby": "\(id)-l"],
            .element("title", ["id": "\(id)-t"], "Time budget of flow \(flow.number)"), drawn)
    }

    private var legend: HTMLText {
        let items = parts.map { part in
            let percent = Int((Double(part.row.time) / Double(total) * 100).rounded())
            var text = " \(DurationText.text(nanoseconds: part.row.time)), \(percent == 0 ? "<1" : "\(percent)") %"
            if let limit = part.row.limit { text += " (\(limit))" }
            return HTMLText.element(
                "li", [:],
                .element("span", ["class": "key \(Self.look(part.row.state))"], "\(part.number)"),
                .element("span", [:], .element("strong", [:], part.row.name), .text(text)))
        }.joined
        return .element("ol", ["id": "\(id)-l", "class": "states"], items)
    }

    /// Formats hundredths of a percent: `12.34%`.
    private static func percent(_ hundredths: Int) -> String {
        DurationText.fixed(Double(hundredths) / 100, digits: 2) + "%"
    }

    /// Returns the classes in the page's style sheet for a state.
    private static func look(_ state: FlowState) -> String {
        switch state {
        case .handshake: "tint-none"
        case .closing, .unknown: "tint-none hollow"
        case .closedWindow: "tint-bad"
        case .timeout: "tint-bad hollow"
        case .recovery: "tint-warn"
        case .nagle: "tint-warn hollow"
        case .halfClosed: "tint-odd hollow"
        case .roundTrip: "tint-new hollow"
        case .transferReceiveWindow, .transferApplication, .transferPath, .transferCongestionWindow, .transferUnknown:
            "tint-good"
        case .serverThinks: "tint-odd"
        case .clientThinks: "tint-new"
        case .silent: "tint-good hollow"
        }
    }
}
