import ProbeBase

/// A small SVG chart that scales with the page: bars or lines above a horizontal axis. A table or legend next to the
/// chart contains the numbers.
package struct Plot: Sendable {
    /// A line of the chart. Lines differ both in their dash patterns and in their colors.
    package struct Series: Sendable {
        package var name: String
        package var points: [(x: Double, y: Double)]

        package init(name: String, points: [(x: Double, y: Double)]) { (self.name, self.points) = (name, points) }
    }

    private static let size = (width: 340, height: 150)
    /// The edges of the chart's area, in the units of the SVG.
    private static let area = (left: 8, right: 332, top: 20, bottom: 126)

    /// The description of the chart for readers who can't see it.
    let title: String
    /// The text for the largest value, such as `12 MB/s`.
    let largest: String
    /// The ticks from left to right. The place of a tick is a fraction of the axis, from 0 to 1.
    let ticks: [(place: Double, text: String)]
    private var content = HTMLText.empty

    package init(title: String, largest: String, ticks: [(place: Double, text: String)]) {
        (self.title, self.largest, self.ticks) = (title, largest, ticks)
    }

    /// Adds bars of equal width. Each height is a fraction of the height of the chart, from 0 to 1.
    package mutating func addBars(_ shares: [Double]) {
        guard !shares.isEmpty else { return }
        let width = Double(Self.area.right - Self.area.left) / Double(shares.count)
        var bars = HTMLText.empty
        for (index, share) in shares.enumerated() where share > 0 {
            // A bar must be visible even if its fraction is very small, such as one in a million.
            let height = max(1.5, share * Double(Self.area.bottom - Self.area.top))
            bars += .shape(
                "rect",
                [
                    "x": Self.text(Double(Self.area.left) + Double(index) * width + 0.3),
                    "y": Self.text(Double(Self.area.bottom) - height), "width": Self.text(max(0.8, width - 0.6)),
                    "height": Self.text(height),
                ])
        }
        content += .element("g", ["class": "p0"], bars)
    }

    /// Adds a line through points whose coordinates are from 0 to 1.
    package mutating func addLine(_ points: [(x: Double, y: Double)], index: Int) {
        guard !points.isEmpty else { return }
        let places = points.map { point in
            let x = Double(Self.area.left) + point.x * Double(Self.area.right - Self.area.left)
            let y = Double(Self.area.bottom) - point.y * Double(Self.area.bottom - Self.area.top)
            return "\(Self.text(x)),\(Self.text(y))"
        }
        content += .shape(
            "polyline",
            [
                "fill": "none", "stroke": "currentColor", "class": "p\(index % 3)",
                "points": places.joined(separator: " "),
            ])
    }

    /// The chart as markup.
    package var html: HTMLText {
        let labels = ticks.map { tick in
            let place = min(1, max(0, tick.place))
            let x = Self.area.left + Int(place * Double(Self.area.right - Self.area.left))
            let anchor = place < 0.1 ? "start" : place > 0.9 ? "end" : "middle"
            return HTMLText.element("text", ["y": "143", "text-anchor": anchor, "x": "\(x)"], tick.text)
        }
        return .element(
            "svg",
            ["class": "plot", "role": "img", "xmlns": "http://www.w3.org/2000/svg", "viewBox": "0 0 340 150"],
            .element("title", [:], title), .path("axis", "M8 20H332M8 126.5H332"), content,
            .element("text", ["x": "8", "y": "13"], largest), labels.joined)
    }

    private static func text(_ coordinate: Double) -> String { DurationText.fixed(coordinate, digits: 1) }
}

extension Plot {
    /// Returns a chart of lines over time, from 0 to the latest time of any line.
    ///
    /// - Parameters:
    ///   - title: the title of the chart.
    ///   - unit: a function that returns the text of a value; it is used for the largest value.
    ///   - Returns: `nil` if there are too few points to draw a line.
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
