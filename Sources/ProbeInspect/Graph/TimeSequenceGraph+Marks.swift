import ProbeBase
package import ProbeReport

extension TimeSequenceGraph {
    /// How a kind of mark looks, and what it is called.
    struct Look {
        /// The class in the style sheet.
        var style: String
        var name: String
    }

    /// From the back to the front.
    static let order: [SequenceTrace.Kind] = [
        .sack, .duplicateAck, .data, .outOfOrder, .retransmission, .probe, .outside, .shutWindow, .syn, .fin, .rst,
    ]

    static func look(_ kind: SequenceTrace.Kind) -> Look {
        switch kind {
        case .data: Look(style: "ts-data", name: "segment")
        case .outOfOrder: Look(style: "ts-early", name: "out of order")
        case .retransmission: Look(style: "ts-again", name: "retransmission")
        case .probe: Look(style: "ts-probe", name: "probe or keep-alive")
        case .outside: Look(style: "ts-out", name: "out of window")
        case .sack: Look(style: "ts-sack", name: "SACK block")
        case .duplicateAck: Look(style: "ts-dup", name: "duplicate ACK")
        case .shutWindow: Look(style: "ts-zero", name: "zero window")
        case .syn: Look(style: "ts-syn", name: "SYN")
        case .fin: Look(style: "ts-fin", name: "FIN")
        case .rst: Look(style: "ts-rst", name: "RST")
        }
    }

    /// The marks of a kind with those joined that lie closer together than a point of the drawing.
    func drawn(_ kind: SequenceTrace.Kind) -> [SequenceBar] {
        let bars = trace.bars(kind)
        return bars.count <= Self.mostShapes
            ? bars : SequenceBar.joined(bars, columns: 700, rows: 350, limit: Self.mostBars)
    }

    func path(_ kind: SequenceTrace.Kind) -> String {
        let bars = drawn(kind)
        var path = ""
        for bar in bars { path += shape(kind, bar, isWhole: bars.count <= Self.mostShapes) }
        return path
    }

    /// - Parameter isWhole: the ends of bars are drawn, too: among too many they would be a blot.
    private func shape(_ kind: SequenceTrace.Kind, _ bar: SequenceBar, isWhole: Bool) -> String {
        let x = x(bar.start)
        let (low, high) = (y(bar.low), y(bar.high))
        func at(_ x: Double, _ y: Double) -> String { "M\(Self.text(x)) \(Self.text(y))" }
        // At least as high as it is wide.
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

    /// `SYN`, `FIN` and `RST` beside their marks, as long as there are few. Marks of a kind that are close to each other share one.
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
                // Beneath another label there is room, unless it is at the bottom.
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
                    ], .text(Self.look(kind).name))
            }
        }
        return labels
    }

    /// What the colours and the shapes mean: of all that the graph has, with how many there are.
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
