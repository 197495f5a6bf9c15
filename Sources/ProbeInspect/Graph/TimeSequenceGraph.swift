import ProbeBase
package import ProbeReport

/// The time-sequence graph of one direction of a flow, as SVG. Time runs to the right, and sequence numbers run
/// upward. Segments are vertical bars. The receiver's acknowledgments are a stepped line below the bars, and its
/// window is a stepped line above them.
///
/// The number of SVG elements is limited, because all marks of a kind form one path. Colors are defined in the page's
/// style sheet.
package struct TimeSequenceGraph {
    /// The width of the drawing in SVG units; the page scales the drawing. `height` is the drawing's height.
    static let width = 720.0
    static let height = 420.0
    /// The rectangle of the drawing that is inside the axes.
    static let (left, right, top, bottom) = (84.0, 712.0, 14.0, 372.0)
    /// The maximum number of bars of each kind. If there are more than `maxShapes` bars, they are drawn in a simplified
    /// shape.
    static let maxBars = 2400
    static let maxShapes = 300

    let trace: SequenceTrace
    /// The direction as text: `client to server`.
    let direction: String
    /// The prefix of the ids of the graph's elements. The prefix is unique on the page.
    let id: String
    let time: GraphAxis
    let sequence: GraphAxis
    /// The highest sequence number for which the receiver had room, if this number is too far above the data to be
    /// shown.
    let hiddenEdge: Int64?

    /// Creates a graph.
    ///
    /// - Parameter pauses: the pauses of the whole flow, so that the graphs of both directions have the same time axis.
    package init(_ trace: SequenceTrace, direction: String, id: String, pauses: TracePauses) {
        self.trace = trace
        self.direction = direction
        self.id = id
        let times = pauses.times
        let folds = pauses.folds
        let kept = folds.reduce(times.upperBound - times.lowerBound) { $0 - ($1.upperBound - $1.lowerBound) }
        time = GraphAxis(
            .time, from: times.lowerBound - kept / 50, to: times.upperBound + kept / 50, count: 5, folds: folds)
        let (low, high, hidden) = Self.range(trace)
        sequence = GraphAxis(.bytes, from: low, to: high, count: 5)
        hiddenEdge = hidden
    }

    /// Returns the range of the vertical axis. It includes everything that was sent and acknowledged. The window is
    /// also included, unless it would compress the data into a line at the bottom.
    private static func range(_ trace: SequenceTrace) -> (low: Int64, high: Int64, hidden: Int64?) {
        var (low, high) = (Int64.max, Int64.min)
        for kind in SequenceTrace.Kind.allCases where kind != .outside && kind != .sack && kind != .rst {
            for bar in trace.bars(kind) { (low, high) = (min(low, bar.low), max(high, bar.high)) }
        }
        for point in trace.acknowledgments.points { (low, high) = (min(low, point.value), max(high, point.value)) }
        // If all marks are of kinds that were skipped above, these kinds determine the range instead.
        if low > high {
            for kind in SequenceTrace.Kind.allCases {
                for bar in trace.bars(kind) { (low, high) = (min(low, bar.low), max(high, bar.high)) }
            }
        }
        if low > high { (low, high) = (0, 1) }
        let room = max(high - low, 10)
        let edge = trace.edges.points.map(\.value).max() ?? high
        if edge <= high + 2 * room { return (low - room / 20, max(high, edge) + room / 20, nil) }
        return (low - room / 20, high + room / 3, edge)
    }

    func x(_ time: Int64) -> Double { Self.left + self.time.place(time) * (Self.right - Self.left) }

    func y(_ number: Int64) -> Double { Self.bottom - sequence.place(number) * (Self.bottom - Self.top) }

    // MARK: The drawing

    /// The drawing as an SVG element, with a title and a description for screen readers.
    package var svg: HTMLText {
        var content: HTMLText =
            .element("title", ["id": "\(id)-t"], "Time and sequence numbers, \(direction)")
            + .element("desc", ["id": "\(id)-d"], description)
        content += axes + bands
        content += line(.edges, "ts-win") + line(.acknowledgments, "ts-ack")
        for kind in Self.order where !trace.bars(kind).isEmpty {
            content += .element("path", ["class": Self.look(kind).style, "d": path(kind)])
        }
        content += labels
        return .element(
            "svg",
            [
                "class": "ts", "viewBox": "0 0 720 420", "role": "img",
                "aria-labelledby": "\(id)-t", "aria-describedby": "\(id)-d",
            ], content)
    }

    /// A description of the graph in a few sentences.
    package var description: String {
        var text = trace.summary + "."
        text +=
            " The graph shows \(GraphText.duration(trace.lastTime.map { $0 - (trace.firstTime ?? 0) } ?? 0)) from left to right"
        text +=
            " and sequence numbers from \(NumberText.text(Int(sequence.low))) to \(NumberText.text(Int(sequence.high))) upwards."
        return ([text] + notes).joined(separator: " ")
    }

    /// Sentences about facts that the graph does not show.
    package var notes: [String] {
        var notes: [String] = []
        if !time.folds.isEmpty {
            let lengths = time.folds.map { GraphText.duration($0.upperBound - $0.lowerBound) }
            let (first, last) = (lengths.dropLast().joined(separator: ", "), lengths[lengths.count - 1])
            notes.append(
                first.isEmpty
                    ? "A pause of \(last) without packets is shortened."
                    : "Pauses of \(first) and \(last) without packets are shortened.")
        }
        if let hiddenEdge {
            notes.append(
                "The window extends above the graph, up to \(NumberText.text(Int(clamping: hiddenEdge))); there, its line is drawn at the upper edge."
            )
        }
        let joined = SequenceTrace.Kind.allCases.filter { trace.count($0) > drawn($0).count }
        if !joined.isEmpty {
            let packets = joined.reduce(0) { $0 + trace.count($1) }
            let bars = joined.reduce(0) { $0 + drawn($1).count }
            notes.append(
                "\(NumberText.count(packets, "mark")) are drawn as \(NumberText.text(bars)): marks less than a point apart are merged."
            )
        }
        if trace.count(.outside) > 0 {
            notes.append("Sequence numbers outside the window are drawn at the edge of the graph.")
        }
        return notes
    }

    private var axes: HTMLText {
        var grid = ""
        var words: HTMLText = .empty
        for (index, tick) in sequence.ticks.enumerated() {
            let y = y(tick.value)
            grid += "M\(Self.text(Self.left)) \(Self.text(y))H\(Self.text(Self.right))"
            words += .element(
                "text",
                [
                    "class": index % 2 == 0 ? "ts-y" : "ts-y ts-odd", "x": Self.text(Self.left - 7),
                    "y": Self.text(max(y + 5, Self.top + 10)), "text-anchor": "end",
                ], tick.label)
        }
        for (index, tick) in time.ticks.enumerated() {
            let x = x(tick.value)
            grid += "M\(Self.text(x)) \(Self.text(Self.top))V\(Self.text(Self.bottom + 5))"
            let anchor = x > 675 ? "end" : "middle"
            words += .element(
                "text",
                [
                    "class": index % 2 == 0 ? "ts-x" : "ts-x ts-odd", "x": Self.text(x), "y": "398",
                    "text-anchor": anchor,
                ], tick.label)
        }
        let frame =
            "M\(Self.text(Self.left)) \(Self.text(Self.top))V\(Self.text(Self.bottom))H\(Self.text(Self.right))"
        return .element("path", ["class": "ts-grid", "d": grid]) + .element("path", ["class": "ts-axis", "d": frame])
            + words
    }

    /// The bands that stand for shortened pauses, labeled with the pauses' lengths.
    private var bands: HTMLText {
        time.folds.map { fold in
            let (start, end) = (x(fold.lowerBound), x(fold.upperBound))
            let path =
                "M\(Self.text(start)) \(Self.text(Self.top))H\(Self.text(end))V\(Self.text(Self.bottom))H\(Self.text(start))z"
            let (middle, height) = (Self.text((start + end) / 2 + 5), Self.text((Self.top + Self.bottom) / 2))
            return HTMLText.element("path", ["class": "ts-fold", "d": path])
                + .element(
                    "text",
                    [
                        "class": "ts-pause", "x": middle, "y": height, "text-anchor": "middle",
                        "transform": "rotate(-90 \(middle) \(height))",
                    ], GraphText.duration(fold.upperBound - fold.lowerBound))
        }.joined
    }

    private enum Line { case acknowledgments, edges }

    /// Returns a stepped line: each value extends to the time of the next value.
    private func line(_ line: Line, _ style: String) -> HTMLText {
        let points = SampledLine.reduced(
            line == .edges ? trace.edges.points : trace.acknowledgments.points, columns: 350)
        guard let first = points.first, let last = points.last else { return .empty }
        var path = "M\(Self.text(x(first.time))) \(Self.text(y(first.value)))"
        var at = (x: Self.text(x(first.time)), y: Self.text(y(first.value)))
        for point in points.dropFirst() {
            let next = (x: Self.text(x(point.time)), y: Self.text(y(point.value)))
            if next.x != at.x { path += "H\(next.x)" }
            if next.y != at.y { path += "V\(next.y)" }
            at = next
        }
        // The last value extends to the end of the flow.
        if let end = trace.lastTime, end > last.time { path += "H\(Self.text(x(end)))" }
        return .element("path", ["class": style, "d": path])
    }

    static func text(_ coordinate: Double) -> String { GraphText.coordinate(coordinate) }
}

extension TimeSequenceGraph {
    /// The appearance and the name of a kind of mark.
    struct MarkAppearance {
        /// The class in the page's style sheet.
        var style: String
        var name: String
    }

    /// The order in which the kinds of marks are drawn, from back to front.
    static let order: [SequenceTrace.Kind] = [
        .sack, .duplicateAck, .data, .outOfOrder, .retransmission, .probe, .outside, .shutWindow, .syn, .fin, .rst,
    ]

    static func look(_ kind: SequenceTrace.Kind) -> MarkAppearance {
        switch kind {
        case .data: MarkAppearance(style: "ts-data", name: "segment")
        case .outOfOrder: MarkAppearance(style: "ts-early", name: "out of order")
        case .retransmission: MarkAppearance(style: "ts-again", name: "retransmission")
        case .probe: MarkAppearance(style: "ts-probe", name: "probe or keep-alive")
        case .outside: MarkAppearance(style: "ts-out", name: "out of window")
        case .sack: MarkAppearance(style: "ts-sack", name: "SACK block")
        case .duplicateAck: MarkAppearance(style: "ts-dup", name: "duplicate ACK")
        case .shutWindow: MarkAppearance(style: "ts-zero", name: "zero window")
        case .syn: MarkAppearance(style: "ts-syn", name: "SYN")
        case .fin: MarkAppearance(style: "ts-fin", name: "FIN")
        case .rst: MarkAppearance(style: "ts-rst", name: "RST")
        }
    }

    /// Returns the marks of a kind. If there are many, marks that can't be distinguished in the drawing are joined.
    func drawn(_ kind: SequenceTrace.Kind) -> [SequenceBar] {
        let bars = trace.bars(kind)
        return bars.count <= Self.maxShapes
            ? bars : SequenceBar.joined(bars, columns: 700, rows: 350, limit: Self.maxBars)
    }

    func path(_ kind: SequenceTrace.Kind) -> String {
        let bars = drawn(kind)
        var path = ""
        for bar in bars { path += shape(kind, bar, isWhole: bars.count <= Self.maxShapes) }
        return path
    }

    /// Returns the path of a bar.
    ///
    /// - Parameter isWhole: whether the ends of the bar are also drawn. If there are too many bars, their ends would
    ///   merge into a blot.
    private func shape(_ kind: SequenceTrace.Kind, _ bar: SequenceBar, isWhole: Bool) -> String {
        let x = x(bar.start)
        let (low, high) = (y(bar.low), y(bar.high))
        func at(_ x: Double, _ y: Double) -> String { "M\(Self.text(x)) \(Self.text(y))" }
        // The bar is at least as high as it is wide.
        let bar = at(x, max(low, high + 1.5)) + "V\(Self.text(high))"
        switch kind {
        case .data: return isWhole ? bar + at(x - 3, low) + "h6" + at(x - 3, high) + "h6" : bar
        case .outOfOrder: return isWhole ? bar + at(x, high) + "l-5 -8h10z" : bar
        case .retransmission: return isWhole ? bar + at(x - 4, high - 4) + "l8 8m0 -8l-8 8" : bar
        case .sack: return bar
        case .duplicateAck: return at(x, high) + "v8"
        case .shutWindow: return at(x, high) + "l-6 9h12z"
        case .probe: return bar + at(x - 4, high) + "a4 4 0 1 0 8 0a4 4 0 1 0 -8 0"
        case .outside: return at(x - 4, high - 4) + "h8v8h-8z"
        case .syn, .fin, .rst: return at(x, high - 5) + "l5 5l-5 5l-5 -5z"
        }
    }

    // MARK: Words

    /// The labels `SYN`, `FIN` and `RST` next to the marks, if there are only a few marks. Nearby marks of the same
    /// kind share a label.
    var labels: HTMLText {
        var taken: [(kind: SequenceTrace.Kind, x: Double, y: Double)] = []
        var labels: HTMLText = .empty
        for kind in [SequenceTrace.Kind.syn, .fin, .rst] {
            for bar in drawn(kind).prefix(4) {
                let x = x(bar.start)
                let isEnd = x > 560
                let place = isEnd ? x - 9 : x + 9
                var y = min(max(y(bar.high) + (kind == .syn ? -8 : 5), Self.top + 14), Self.bottom - 6)
                if taken.contains(where: { $0.kind == kind && abs($0.x - place) < 70 && abs($0.y - y) < 60 }) {
                    continue
                }
                // A label moves down to avoid another label, or up if it is in the lower half of the graph.
                let step = y > (Self.top + Self.bottom) / 2 ? -26.0 : 26.0
                var tries = 0
                while tries < 8, taken.contains(where: { abs($0.x - place) < 70 && abs($0.y - y) < 24 }) {
                    y += step
                    tries += 1
                }
                taken.append((kind, place, y))
                labels += .element(
                    "text",
                    [
                        "class": "ts-mark \(Self.look(kind).style)-word", "x": Self.text(place), "y": Self.text(y),
                        "text-anchor": isEnd ? "end" : "start",
                    ], Self.look(kind).name)
            }
        }
        return labels
    }

    /// The legend, which explains the colors and shapes in the graph and gives the number of marks of each kind.
    package var legend: HTMLText {
        var items: HTMLText = .empty
        func add(_ style: String, _ shape: String, _ text: String) {
            let swatch: HTMLText = .element(
                "svg", ["class": "ts-swatch", "viewBox": "0 0 22 18", "aria-hidden": "true"],
                .element("path", ["class": style, "d": shape]))
            items += .element("li", [:], swatch, .text(text))
        }
        for kind in SequenceTrace.Kind.allCases where trace.count(kind) > 0 {
            let look = Self.look(kind)
            let count = trace.count(kind)
            add(look.style, Self.swatch(kind), "\(look.name) \(NumberText.text(count))")
        }
        if !trace.acknowledgments.points.isEmpty { add("ts-ack", "M2 14H11V5H20", "acknowledged") }
        if !trace.edges.points.isEmpty { add("ts-win", "M2 14H11V5H20", "end of the window") }
        return .element("ul", ["class": "ts-legend"], items)
    }

    private static func swatch(_ kind: SequenceTrace.Kind) -> String {
        switch kind {
        case .data: "M11 15V3M8 3h6M8 15h6"
        case .outOfOrder: "M11 16V8M11 8l-5 -6h10z"
        case .retransmission: "M11 16V5M7 1l8 8m0 -8l-8 8"
        case .sack: "M11 16V2"
        case .duplicateAck: "M11 5v8"
        case .shutWindow: "M11 4l-6 9h12z"
        case .probe: "M7 9a4 4 0 1 0 8 0a4 4 0 1 0 -8 0"
        case .outside: "M7 5h8v8h-8z"
        case .syn, .fin, .rst: "M11 4l5 5l-5 5l-5 -5z"
        }
    }
}
