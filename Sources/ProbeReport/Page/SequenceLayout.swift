import ProbeBase

/// Computes the position of each part of a sequence diagram, in pixels. Lifelines are next to each other, and rows are
/// below each other.
///
/// The font is monospaced, so the width of each text is known. Text that does not fit is truncated, so texts never
/// overlap. Time runs downward: rows that are farther apart in time have more space between them, and a long period
/// without rows is folded and shown as its duration.
package struct SequenceLayout: Sendable {
    /// The position of a row: its top, its height, and the texts as they are drawn.
    struct Place: Sendable {
        var top: Int
        var height: Int
        /// The duration of the period that is folded above the row, in nanoseconds; `nil` if there is none.
        var fold: Int64?
        /// The text, cut to the available width.
        var text: String
        var remarks: [String] = []
        /// The side of the lifeline on which the text of an event, or of a message to the same lifeline, is drawn.
        var side = Side.right
    }

    enum Side: Sendable { case left, right }

    /// The width of a character in pixels, with an allowance for wider fonts.
    private static let column = 7.35
    static let nameHeight = 22
    /// The top of the lifelines, below the names.
    static let head = 30
    private static let foldHeight = 26
    private static let remarkHeight = 15
    private static let widestName = 26
    private static let widestLabel = 46
    private static let widestRemark = 60
    private static let widestStep = 76
    private static let widestEvent = 60
    /// The width, in columns, of the location before a step's text; two spaces follow it.
    package static let placeColumns = 3
    private static let minGap = 112
    /// The maximum additional space for a period that is not folded.
    private static let maxStretch = 12

    let diagram: SequenceDiagram
    /// The names of ``SequenceDiagram/lifelines``, cut to the maximum width.
    private(set) var names: [String] = []
    /// The right edge of the column of times.
    private(set) var timeEdge = 0
    /// The left edge of the column of steps.
    private(set) var left = 0
    /// The horizontal position of each lifeline.
    private(set) var xs: [Int] = []
    private(set) var places: [Place] = []
    /// The width of the entire drawing if the steps extend across the lifelines.
    private(set) var width = 0
    private(set) var height = 0
    /// The width of the separate column for steps on the left.
    private(set) var stepWidth = 0

    package init(_ diagram: SequenceDiagram) {
        self.diagram = diagram
        let longestTime = diagram.rows.map { Self.time($0.time).utf8.count }.max() ?? 0
        // The column of times must also have room for the duration of a folded period, such as `29.79 ms`.
        timeEdge = Self.pixels(max(8, longestTime)) + 2
        left = timeEdge + 12
        names = diagram.lifelines.map { Columns.cut(Escaped.text($0), to: Self.widestName) }
        placeLifelines()
        placeRows()
    }

    /// Returns the time in milliseconds, as shown in the margin.
    static func time(_ nanoseconds: Int64) -> String { DurationText.milliseconds(nanoseconds, width: 0) }

    static func pixels(_ columns: Int) -> Int { Int((Double(columns) * column).rounded(.up)) }

    static func pixels(_ text: String) -> Int { pixels(Columns.width(text)) }

    // MARK: Horizontal layout

    private mutating func placeLifelines() {
        guard !names.isEmpty else { return }
        let halves = names.map { max(14, Self.pixels($0) / 2 + 8) }
        var gaps = (1..<max(1, names.count)).map { max(Self.minGap, halves[$0 - 1] + halves[$0] + 8) }
        // Short arrows are considered first, because the room that they require is also available to longer arrows.
        var needs: [Int: Int] = [:]
        for row in diagram.rows {
            guard case .arrow(let arrow) = row.content, arrow.from != arrow.to else { continue }
            let (low, high) = (min(arrow.from, arrow.to), max(arrow.from, arrow.to))
            let label = min(Columns.width(Escaped.text(arrow.label)), Self.widestLabel)
            let remark = arrow.remarks.map { min(Columns.width(Escaped.text($0)), Self.widestRemark) }.max() ?? 0
            let key = low * names.count + high
            needs[key] = max(needs[key] ?? 0, Self.pixels(max(label, remark)) + 26)
        }
        let ordered = needs.map { (low: $0.key / names.count, high: $0.key % names.count, need: $0.value) }
            .sorted { ($0.high - $0.low, $0.low) < ($1.high - $1.low, $1.low) }
        for item in ordered {
            let missing = item.need - gaps[item.low..<item.high].reduce(0, +)
            if missing > 0 { gaps[item.high - 1] += missing }
        }
        // If the steps extend across the lifelines, the first lifeline is between a step's line number and its text.
        var x = left + max(halves[0], Self.pixels(Self.placeColumns + 1))
        xs = [x]
        for gap in gaps {
            x += gap
            xs.append(x)
        }
        width = x + (halves.last ?? 0) + 2
    }

    // MARK: Vertical layout

    private mutating func placeRows() {
        let fold = foldThreshold
        var y = Self.head + 4
        var last: Int64?
        places.reserveCapacity(diagram.rows.count)
        for row in diagram.rows {
            let passed = last.map { max(0, row.time.subtractingReportingOverflow($0).partialValue) } ?? 0
            var place = place(of: row)
            if passed >= fold {
                place.fold = passed
                y += Self.foldHeight
            } else if last != nil {
                y += Int(Double(Self.maxStretch) * Double(passed) / Double(fold))
            }
            place.top = y
            y += place.height
            places.append(place)
            last = max(last ?? .min, row.time)
        }
        height = y + 12
        // The drawing ends where its last text ends.
        width = max(width, left + 120)
    }

    /// The duration above which a period is folded: much longer than most periods, and at least one millisecond.
    private var foldThreshold: Int64 {
        var steps: [Int64] = []
        for (row, next) in zip(diagram.rows, diagram.rows.dropFirst()) {
            let passed = next.time.subtractingReportingOverflow(row.time).partialValue
            if passed > 0 { steps.append(passed) }
        }
        guard !steps.isEmpty else { return .max }
        steps.sort()
        let (product, isTooLong) = steps[steps.count / 2].multipliedReportingOverflow(by: 8)
        return max(1_000_000, isTooLong ? .max : product)
    }

    private mutating func place(of row: SequenceDiagram.Row) -> Place {
        switch row.content {
        case .step(let text):
            let text = Columns.cut(Escaped.text(text), to: Self.widestStep)
            stepWidth = max(stepWidth, Self.pixels(text) + 16)
            width = max(width, left + Self.pixels(text) + 8)
            return Place(top: 0, height: 20, text: text)
        case .note(let text):
            let text = Columns.cut(Escaped.text(text), to: Self.widestStep)
            stepWidth = max(stepWidth, noteLeft - left + Self.pixels(text) + 16)
            width = max(width, noteLeft + Self.pixels(text) + 8)
            return Place(top: 0, height: 20, text: text)
        case .event(let lifeline, let text):
            let (text, side) = beside(lifeline, Escaped.text(text))
            return Place(top: 0, height: 20, text: text, side: side)
        case .arrow(let arrow):
            let remarks = arrow.remarks.map { Columns.cut(Escaped.text($0), to: Self.widestRemark) }
            let height = 29 + remarks.count * Self.remarkHeight
            let label = Escaped.text(arrow.label)
            guard arrow.from == arrow.to else {
                return Place(
                    top: 0, height: height, text: Columns.cut(label, to: room(of: arrow)), remarks: remarks)
            }
            let (text, side) = beside(arrow.from, label)
            return Place(top: 0, height: height, text: text, remarks: remarks, side: side)
        }
    }

    /// Returns the number of columns between the two lifelines of a message.
    private func room(of arrow: SequenceDiagram.Arrow) -> Int {
        let pixels = abs(xs[arrow.from] - xs[arrow.to]) - 18
        return max(4, Int(Double(pixels) / Self.column))
    }

    /// The left edge of notes. Notes are aligned with the texts of steps.
    var noteLeft: Int { left + Self.pixels(Self.placeColumns + 2) }

    /// Returns the center of a message's texts. If possible, the center is between two neighboring lifelines, so that
    /// no lifeline crosses the texts.
    func middle(of arrow: SequenceDiagram.Arrow, _ place: Place) -> Int {
        let (low, high) = (min(arrow.from, arrow.to), max(arrow.from, arrow.to))
        let needed = ([place.text] + place.remarks).map { Self.pixels($0) }.max() ?? 0
        let gaps = (low..<high).map { (left: xs[$0], right: xs[$0 + 1]) }
        // The gap between lifelines that is closest to the sender is preferred.
        let ordered = arrow.from == low ? gaps : gaps.reversed()
        if let gap = ordered.first(where: { $0.right - $0.left >= needed + 8 }) { return (gap.left + gap.right) / 2 }
        return (xs[low] + xs[high]) / 2
    }

    /// Places text next to a lifeline, on the side with more room. If the text does not fit, the drawing becomes wider
    /// on the right.
    private mutating func beside(_ lifeline: Int, _ text: String) -> (String, Side) {
        let text = Columns.cut(text, to: Self.widestEvent)
        let needed = Self.pixels(text) + 22
        if xs[lifeline] + needed <= width { return (text, .right) }
        if lifeline > 0, xs[lifeline] - needed >= left { return (text, .left) }
        width = xs[lifeline] + needed
        return (text, .right)
    }
}
