import ProbeBase

/// A small diagram as SVG that scales with the page: bars or lines over one axis. Its numbers are in a table or a
/// legend next to it.
package struct Plot: Sendable {
    /// A line. Lines also differ by their dashes, not by colour alone.
    package struct Series: Sendable {
        package var name: String
        package var points: [(x: Double, y: Double)]

        package init(name: String, points: [(x: Double, y: Double)]) { (self.name, self.points) = (name, points) }
    }

    private static let size = (width: 340, height: 150)
    /// The edges of the drawing area.
    private static let area = (left: 8, right: 332, top: 20, bottom: 126)

    /// The description for readers who can't see the diagram.
    let title: String
    /// The meaning of the largest value, such as `12 MB/s`.
    let largest: String
    /// The ticks from left to right, with their places from 0 to 1.
    let ticks: [(place: Double, text: String)]
    private var content = HTMLText.empty

    package init(title: String, largest: String, ticks: [(place: Double, text: String)]) {
        (self.title, self.largest, self.ticks) = (title, largest, ticks)
    }

    /// Adds bars of equal widths, by their shares of the largest one, 0 to 1.
    package mutating func addBars(_ shares: [Double]) {
        guard !shares.isEmpty else { return }
        let width = Double(Self.area.right - Self.area.left) / Double(shares.count)
        content.append("<g class=\"p0\">")
        for (index, share) in shares.enumerated() where share > 0 {
            // One of a million must still be visible.
            let height = max(1.5, share * Double(Self.area.bottom - Self.area.top))
            content.append("<rect x=\"")
            number(Double(Self.area.left) + Double(index) * width + 0.3)
            content.append("\" y=\"")
            number(Double(Self.area.bottom) - height)
            content.append("\" width=\"")
            number(max(0.8, width - 0.6))
            content.append("\" height=\"")
            number(height)
            content.append("\"/>")
        }
        content.append("</g>")
    }

    /// Adds a line through points from 0 to 1 in both directions.
    package mutating func addLine(_ points: [(x: Double, y: Double)], index: Int) {
        guard !points.isEmpty else { return }
        content.append("<polyline fill=\"none\" stroke=\"currentColor\" class=\"p")
        content.append(number: index % 3)
        content.append("\" points=\"")
        for (position, point) in points.enumerated() {
            if position > 0 { content.append(" ") }
            number(Double(Self.area.left) + point.x * Double(Self.area.right - Self.area.left))
            content.append(",")
            number(Double(Self.area.bottom) - point.y * Double(Self.area.bottom - Self.area.top))
        }
        content.append("\"/>")
    }

    /// The diagram as markup.
    package var html: HTMLText {
        var html = HTMLText(
            markup:
                "<svg class=\"plot\" role=\"img\" xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 340 150\"><title>")
        html.append(text: title)
        html.append("</title><path class=\"axis\" fill=\"none\" stroke=\"currentColor\" d=\"M8 20H332M8 126.5H332\"/>")
        html += content
        html.append("<text x=\"8\" y=\"13\">")
        html.append(text: largest)
        html.append("</text>")
        for tick in ticks {
            let place = min(1, max(0, tick.place))
            let anchor: StaticString = place < 0.1 ? "start" : place > 0.9 ? "end" : "middle"
            html.append("<text y=\"143\" text-anchor=\"")
            html.append(anchor)
            html.append("\" x=\"")
            html.append(number: Self.area.left + Int(place * Double(Self.area.right - Self.area.left)))
            html.append("\">")
            html.append(text: tick.text)
            html.append("</text>")
        }
        html.append("</svg>")
        return html
    }

    private mutating func number(_ value: Double) { content.append(text: DurationText.fixed(value, digits: 1)) }
}

extension Plot {
    /// Returns lines over time, from 0 to the last time of all of them.
    ///
    /// - Parameters:
    ///   - title: the title of the diagram.
    ///   - unit: returns the text of a value; used for the largest one.
    /// - Returns: `nil` if there is nothing to draw because there are fewer than two times.
    package static func overTime(title: String, _ series: [Series], unit: (Double) -> String) -> Plot? {
        let points = series.flatMap(\.points)
        guard let last = points.map(\.x).max(), last > 0, points.count > series.count else { return nil }
        let largest = points.map(\.y).max() ?? 0
        var plot = Plot(
            title: title, largest: "most \(unit(largest))",
            ticks: [0, 0.5, 1].map { ($0, DurationText.text(nanoseconds: Int64(clamping: Int($0 * last)))) })
        for (index, line) in series.enumerated() {
            plot.addLine(line.points.map { ($0.x / last, largest > 0 ? $0.y / largest : 0) }, index: index)
        }
        return plot
    }
}
