import ProbeBase

/// Draws a sequence diagram as SVG within a page.
///
/// The drawing is not scaled, so its text is as large as the text of the page; a drawing that is wider than the page
/// scrolls within its frame. If there is room, the steps are in a separate column on the left. Otherwise they extend
/// across the lifelines, each in a separate row. The style sheet (``PageStyle/diagram``) decides which of the two
/// layouts is used, so the page contains the drawing only once. Even without the style sheet, the drawing is complete.
package struct SequenceDrawing {
    private let layout: SequenceLayout

    package init(_ diagram: SequenceDiagram) { layout = SequenceLayout(diagram) }

    private var diagram: SequenceDiagram { layout.diagram }

    private var rows: Zip2Sequence<[SequenceDiagram.Row], [SequenceLayout.Place]> { zip(diagram.rows, layout.places) }

    /// The drawing within its frame.
    package var html: HTMLText {
        let picture: HTMLText = .element(
            "svg",
            [
                "role": "img", "xmlns": "http://www.w3.org/2000/svg", "width": "\(layout.width)",
                "height": "\(layout.height)", "style": "--w:\(layout.width)px;--s:\(layout.stepWidth)px",
            ],
            .element("title", [:], "\(diagram.title): \(diagram.summary)"),
            .element("g", ["class": "z"], lifelines, arrows), times, steps,
            .element("g", ["class": "z"], labels, events))
        return .element(
            "div",
            ["class": "sq\(widthClass)", "tabindex": "0", "role": "group", "aria-label": diagram.title], picture)
    }

    /// The class that determines how wide the frame must be for a separate column of steps.
    private var widthClass: String {
        switch layout.width + layout.stepWidth {
        case ...840: ""
        case ...1160: " m"
        default: " n"
        }
    }

    // MARK: Lines

    private var lifelines: HTMLText {
        guard !layout.xs.isEmpty else { return .empty }
        let folds = layout.places.filter { $0.fold != nil }.map(\.top)
        var (lines, folded) = ("", "")
        for x in layout.xs {
            lines += "M\(x) \(SequenceLayout.nameHeight)"
            for fold in folds {
                lines += "V\(fold - 23)M\(x) \(fold - 3)"
                folded += "M\(x) \(fold - 23)v20"
            }
            lines += "V\(layout.height)"
        }
        let names = zip(layout.xs, layout.names).map { x, name in
            let half = SequenceLayout.pixels(name) / 2 + 7
            let frame: HTMLText = .shape(
                "rect",
                ["x": "\(x - half)", "y": "1", "rx": "4", "fill": "none", "width": "\(2 * half)", "height": "21"])
            return frame + text(name, x: x, y: 16)
        }
        return .path("l", lines) + (folds.isEmpty ? .empty : .path("l o", folded, dashes: "2 4"))
            + .element("g", ["class": "h", "text-anchor": "middle"], names.joined)
    }

    private var arrows: HTMLText {
        let shapes = rows.map { row, place -> HTMLText in
            switch row.content {
            case .arrow(let arrow): .shape("path", ["class": row.tone.style, "d": path(of: arrow, place)])
            case .event(let lifeline, _):
                .shape(
                    "circle",
                    [
                        "r": "3", "class": row.tone.style.map { "d \($0)" } ?? "d", "cx": "\(layout.xs[lifeline])",
                        "cy": "\(place.top + 10)",
                    ])
            case .step, .note: .empty
            }
        }
        return .element("g", ["class": "a", "fill": "none", "stroke": "currentColor"], shapes.joined)
    }

    private func path(of arrow: SequenceDiagram.Arrow, _ place: SequenceLayout.Place) -> String {
        let y = place.top + 21
        let (from, to) = (layout.xs[arrow.from], layout.xs[arrow.to])
        if from == to {
            // The arrow of a message to the same lifeline is a loop.
            return "M\(from) \(y - 8)"
                + (place.side == .right ? "h14v10h-12m5-4l-6 4 6 4" : "h-14v10h12m-5-4l6 4-6 4")
        }
        if arrow.isLost { return "M\(from) \(y)H\(from + (to - from) * 4 / 5)m-5-5l10 10m0-10l-10 10" }
        return "M\(from) \(y)" + (to > from ? "H\(to - 2)m-7-4l7 4-7 4" : "H\(to + 2)m7-4l-7 4 7 4")
    }

    // MARK: Texts

    private var times: HTMLText {
        var times = text("ms", x: layout.timeEdge, y: 16)
        for (row, place) in rows {
            if let fold = place.fold {
                let length = text(DurationText.text(nanoseconds: fold), x: layout.timeEdge, y: place.top - 9)
                times += .element("g", ["class": "g"], length)
            }
            let offset = if case .arrow = row.content { 25 } else { 14 }
            times += text(SequenceLayout.time(row.time), x: layout.timeEdge, y: place.top + offset)
        }
        return .element("g", ["class": "t", "text-anchor": "end"], times)
    }

    private var steps: HTMLText {
        let texts = rows.map { row, place -> HTMLText in
            switch row.content {
            case .step: text(place.text, x: layout.left, y: place.top + 14, row.tone)
            case .note:
                .element("g", ["class": "n"], text(place.text, x: layout.noteLeft, y: place.top + 14, row.tone))
            case .arrow, .event: .empty
            }
        }
        return .element("g", ["class": "s"], texts.joined)
    }

    /// The labels of messages between two lifelines.
    private var labels: HTMLText {
        let texts = rows.map { row, place -> HTMLText in
            guard case .arrow(let arrow) = row.content, arrow.from != arrow.to else { return .empty }
            let middle = layout.middle(of: arrow, place)
            return text(place.text, x: middle, y: place.top + 15, row.tone) + remarks(place, x: middle)
        }
        return .element("g", ["class": "b", "text-anchor": "middle"], texts.joined)
    }

    /// The labels of events, and of messages from a lifeline to itself.
    private var events: HTMLText {
        let texts = rows.map { row, place -> HTMLText in
            let (lifeline, offset): (Int, Int)
            switch row.content {
            case .event(let at, _): (lifeline, offset) = (at, 10)
            case .arrow(let arrow) where arrow.from == arrow.to: (lifeline, offset) = (arrow.from, 18)
            case .arrow, .step, .note: return .empty
            }
            let x = layout.xs[lifeline] + (place.side == .right ? offset : -offset)
            let lines = text(place.text, x: x, y: place.top + 14, row.tone) + remarks(place, x: x)
            return place.side == .right ? lines : .element("g", ["text-anchor": "end"], lines)
        }
        return .element("g", ["class": "e"], texts.joined)
    }

    private func remarks(_ place: SequenceLayout.Place, x: Int) -> HTMLText {
        place.remarks.enumerated().map { text($1, x: x, y: place.top + 35 + 15 * $0, .fault) }.joined
    }

    private func text(_ text: String, x: Int, y: Int, _ tone: SequenceDiagram.Tone = .plain) -> HTMLText {
        .element("text", ["class": tone.style, "x": "\(x)", "y": "\(y)"], text)
    }
}

extension SequenceDiagram.Tone {
    /// The tone's class in the style sheet; `nil` if there is none.
    fileprivate var style: String? {
        switch self {
        case .plain: nil
        case .faint: "w"
        case .turn: "c"
        case .unusual: "u"
        case .fault: "f"
        }
    }
}
