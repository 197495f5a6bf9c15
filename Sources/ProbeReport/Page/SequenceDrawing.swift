import ProbeBase

/// A sequence diagram as SVG within a page.
///
/// The picture has its natural size, so that its text is as large as the page's: a picture that is wider than the page
/// scrolls within its frame. If there is room, the steps have a separate column at the left; otherwise they run over
/// the lifelines, each in its own row. That is decided by the style (``SequenceStyle``), so that the picture is written
/// once. It is also complete without style.
package struct SequenceDrawing {
    private let layout: SequenceLayout
    private var markup = HTMLText.empty

    package init(_ diagram: SequenceDiagram) { layout = SequenceLayout(diagram) }

    /// The picture in its frame.
    package var html: HTMLText {
        var drawing = self
        drawing.draw()
        return drawing.markup
    }

    private var diagram: SequenceDiagram { layout.diagram }

    private mutating func draw() {
        let name = "\(diagram.title): \(diagram.summary)"
        markup.append("<div class=\"sq")
        markup.append(widthClass)
        markup.append("\" tabindex=\"0\" role=\"group\" aria-label=\"")
        markup.append(text: diagram.title)
        markup.append("\"><svg role=\"img\" xmlns=\"http://www.w3.org/2000/svg\" width=\"")
        markup.append(number: layout.width)
        markup.append("\" height=\"")
        markup.append(number: layout.height)
        markup.append("\" style=\"--w:")
        markup.append(number: layout.width)
        markup.append("px;--s:")
        markup.append(number: layout.stepWidth)
        markup.append("px\"><title>")
        markup.append(text: name)
        markup.append("</title><g class=\"z\">")
        drawLifelines()
        drawArrows()
        markup.append("</g>")
        drawTimes()
        drawSteps()
        markup.append("<g class=\"z\">")
        drawLabels()
        markup.append("</g></svg></div>")
    }

    /// The class that specifies how wide a frame must be for the steps to have a separate column.
    private var widthClass: StaticString {
        switch layout.width + layout.stepWidth {
        case ...840: ""
        case ...1160: " m"
        default: " n"
        }
    }

    // MARK: Lines

    private mutating func drawLifelines() {
        guard !layout.xs.isEmpty else { return }
        let folds = layout.places.filter { $0.fold != nil }.map(\.top)
        markup.append("<path class=\"l\" fill=\"none\" stroke=\"currentColor\" d=\"")
        for x in layout.xs {
            markup.append("M")
            point(x, SequenceLayout.nameHeight)
            for fold in folds {
                markup.append("V")
                markup.append(number: fold - 23)
                markup.append("M")
                point(x, fold - 3)
            }
            markup.append("V")
            markup.append(number: layout.height)
        }
        markup.append("\"/>")
        if !folds.isEmpty {
            markup.append("<path class=\"l o\" fill=\"none\" stroke=\"currentColor\" stroke-dasharray=\"2 4\" d=\"")
            for x in layout.xs {
                for fold in folds {
                    markup.append("M")
                    point(x, fold - 23)
                    markup.append("v20")
                }
            }
            markup.append("\"/>")
        }
        markup.append("<g class=\"h\" text-anchor=\"middle\">")
        for (x, name) in zip(layout.xs, layout.names) {
            let half = SequenceLayout.pixels(name) / 2 + 7
            markup.append("<rect x=\"")
            markup.append(number: x - half)
            markup.append("\" y=\"1\" rx=\"4\" fill=\"none\" width=\"")
            markup.append(number: 2 * half)
            markup.append("\" height=\"21\"/>")
            text(name, x: x, y: 16)
        }
        markup.append("</g>")
    }

    private mutating func drawArrows() {
        markup.append("<g class=\"a\" fill=\"none\" stroke=\"currentColor\">")
        for (row, place) in zip(diagram.rows, layout.places) {
            switch row.content {
            case .arrow(let arrow): draw(arrow, row.tone, place)
            case .event(let lifeline, _):
                open("<circle r=\"3\"", row.tone, isDot: true)
                coordinates("cx", layout.xs[lifeline], "cy", place.top + 10)
                markup.append("/>")
            case .step, .note: break
            }
        }
        markup.append("</g>")
    }

    private mutating func draw(
        _ arrow: SequenceDiagram.Arrow, _ tone: SequenceDiagram.Tone, _ place: SequenceLayout.Place
    ) {
        let y = place.top + 21
        let (from, to) = (layout.xs[arrow.from], layout.xs[arrow.to])
        open("<path", tone)
        markup.append(" d=\"M")
        if from == to {
            // A message to itself leaves and comes back.
            let isRight = place.side == .right
            point(from, y - 8)
            markup.append(isRight ? "h14v10h-12m5-4l-6 4 6 4" : "h-14v10h12m-5-4l6 4-6 4")
        } else {
            let isRight = to > from
            let end = arrow.isLost ? from + (to - from) * 4 / 5 : to + (isRight ? -2 : 2)
            point(from, y)
            markup.append("H")
            markup.append(number: end)
            if arrow.isLost {
                markup.append("m-5-5l10 10m0-10l-10 10")
            } else {
                markup.append(isRight ? "m-7-4l7 4-7 4" : "m7-4l-7 4 7 4")
            }
        }
        markup.append("\"/>")
    }

    // MARK: Texts

    private mutating func drawTimes() {
        markup.append("<g class=\"t\" text-anchor=\"end\">")
        text("ms", x: layout.timeEdge, y: 16)
        for (row, place) in zip(diagram.rows, layout.places) {
            if let fold = place.fold {
                markup.append("<g class=\"g\">")
                text(DurationText.text(nanoseconds: fold), x: layout.timeEdge, y: place.top - 9)
                markup.append("</g>")
            }
            text(SequenceLayout.time(row.time), x: layout.timeEdge, y: baseline(row, place))
        }
        markup.append("</g>")
    }

    private func baseline(_ row: SequenceDiagram.Row, _ place: SequenceLayout.Place) -> Int {
        if case .arrow = row.content { place.top + 25 } else { place.top + 14 }
    }

    private mutating func drawSteps() {
        markup.append("<g class=\"s\">")
        for (row, place) in zip(diagram.rows, layout.places) {
            switch row.content {
            case .step: text(place.text, x: layout.left, y: place.top + 14, row.tone)
            case .note:
                markup.append("<g class=\"n\">")
                text(place.text, x: layout.noteLeft, y: place.top + 14, row.tone)
                markup.append("</g>")
            case .arrow, .event: break
            }
        }
        markup.append("</g>")
    }

    private mutating func drawLabels() {
        markup.append("<g class=\"b\" text-anchor=\"middle\">")
        var besides: [Int] = []
        for (index, (row, place)) in zip(diagram.rows, layout.places).enumerated() {
            guard case .arrow(let arrow) = row.content, arrow.from != arrow.to else {
                besides.append(index)
                continue
            }
            let middle = layout.middle(of: arrow, place)
            text(place.text, x: middle, y: place.top + 15, row.tone)
            for (line, remark) in place.remarks.enumerated() {
                text(remark, x: middle, y: place.top + 35 + 15 * line, .fault)
            }
        }
        markup.append("</g>")
        drawBeside(besides)
    }

    private mutating func drawBeside(_ indices: [Int]) {
        if indices.isEmpty { return }
        markup.append("<g class=\"e\">")
        for index in indices {
            let (row, place) = (diagram.rows[index], layout.places[index])
            let (lifeline, offset): (Int, Int)
            switch row.content {
            case .event(let at, _): (lifeline, offset) = (at, 10)
            case .arrow(let arrow): (lifeline, offset) = (arrow.from, 18)
            case .step, .note: continue
            }
            let isRight = place.side == .right
            if !isRight { markup.append("<g text-anchor=\"end\">") }
            let x = layout.xs[lifeline] + (isRight ? offset : -offset)
            text(place.text, x: x, y: place.top + 14, row.tone)
            for (line, remark) in place.remarks.enumerated() {
                text(remark, x: x, y: place.top + 35 + 15 * line, .fault)
            }
            if !isRight { markup.append("</g>") }
        }
        markup.append("</g>")
    }

    // MARK: Pieces of markup

    private mutating func point(_ x: Int, _ y: Int) {
        markup.append(number: x)
        markup.append(" ")
        markup.append(number: y)
    }

    private mutating func coordinates(_ first: StaticString, _ x: Int, _ second: StaticString, _ y: Int) {
        markup.append(" ")
        markup.append(first)
        markup.append("=\"")
        markup.append(number: x)
        markup.append("\" ")
        markup.append(second)
        markup.append("=\"")
        markup.append(number: y)
        markup.append("\"")
    }

    private mutating func open(_ tag: StaticString, _ tone: SequenceDiagram.Tone, isDot: Bool = false) {
        markup.append(tag)
        let letter: StaticString? =
            switch tone {
            case .plain: isDot ? "d" : nil
            case .faint: isDot ? "d w" : "w"
            case .turn: isDot ? "d c" : "c"
            case .unusual: isDot ? "d u" : "u"
            case .fault: isDot ? "d f" : "f"
            }
        guard let letter else { return }
        markup.append(" class=\"")
        markup.append(letter)
        markup.append("\"")
    }

    private mutating func text(_ text: String, x: Int, y: Int, _ tone: SequenceDiagram.Tone = .plain) {
        open("<text", tone)
        coordinates("x", x, "y", y)
        markup.append(">")
        markup.append(text: text)
        markup.append("</text>")
    }
}

/// The style of pictures of ``SequenceDrawing``; it uses the colours of ``PageStyle``.
package enum SequenceStyle {
    package static let rules = HTMLText(
        markup: """

            .sq { container-type: inline-size; overflow-x: auto; margin: .6rem 0; padding: .5rem .6rem; background: var(--back);
              border: 1px solid var(--line); border-radius: 7px; }
            .sq:focus-visible { outline: 2px solid var(--link); }
            .sq svg { display: block; width: var(--w); color: var(--ink); font: 12px var(--mono); overflow: hidden; }
            .sq text { fill: currentColor; white-space: pre; paint-order: stroke; stroke: var(--back); stroke-width: 3px;
              stroke-linejoin: round; unicode-bidi: isolate; }
            .sq .l { stroke: var(--none); } .sq .h rect { fill: var(--head); stroke: var(--none); }
            .sq .h text { font-weight: 600; stroke: none; }
            .sq .t, .sq .g { color: var(--soft); } .sq .n { font-style: italic; } .sq .g { font-style: italic; }
            .sq .a { stroke-width: 1.3px; } .sq .d { fill: currentColor; } .sq .w { color: var(--soft); } .sq .a .w { stroke-dasharray: 5 3; }
            .sq .c { color: var(--new); } .sq .u { color: var(--odd); } .sq .f { color: var(--bad); font-weight: 600; }
            .sq .a .f { stroke-width: 2px; }
            @container (min-width: 54rem) {
              .sq:not(.m, .n) svg { width: calc(var(--w) + var(--s)); } .sq:not(.m, .n) .z { transform: translateX(var(--s)); }
            }
            @container (min-width: 74rem) {
              .sq.m svg { width: calc(var(--w) + var(--s)); } .sq.m .z { transform: translateX(var(--s)); }
            }

            """)
}
