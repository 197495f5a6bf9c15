import ProbeBase
package import ProbeEvents
import ProbeScenario

/// The report that a person reads: a line a case, the whole story of those that did not pass, and a summary.
///
/// Layout is the same with and without colour. Nothing that came from outside reaches the terminal unescaped. With a
/// progress line, output comes at most ten times a second: lines wait for the next ``tick(at:)`` or event after that time.
package struct ConsoleRecorder: Recorder {
    package struct Style: Sendable {
        package var usesColor: Bool
        /// Lines of a failure's timeline; 0 for none.
        package var timelineLimit: Int
        /// Columns of the terminal that shows a live progress line; nil: none is shown.
        package var progressWidth: Int?
        /// Columns of the matrix; nil: lines are as long as they are.
        package var width: Int?

        package init(usesColor: Bool, timelineLimit: Int = 60, progressWidth: Int? = nil, width: Int? = nil) {
            self.usesColor = usesColor
            self.timelineLimit = timelineLimit
            self.progressWidth = progressWidth
            self.width = width
        }
    }

    /// Nanoseconds between two looks of the progress line.
    private static let interval: Int64 = 100_000_000
    /// Back to the start of the line, and erase it.
    private static let erase = "\r\u{1b}[K"
    /// Bytes that wait for the next look at most.
    private static let pendingLimit = 1 << 16

    private let style: Style
    private let paint: Paint
    private let cases: CaseText
    private var summary: SummaryText
    private let options: ReportOptions
    private var matrix: ResultMatrix
    private var progress: ProgressLine?
    private var pending = ""
    private var lastLook: Int64?
    private var isProgressShown = false

    /// - Parameter planned: every case of the run by every subject, for the matrix.
    package init(style: Style, options: ReportOptions = ReportOptions(), planned: [PlannedCase] = []) {
        self.style = style
        self.options = options
        matrix = ResultMatrix(planned: planned, options: options, timelineLimit: nil)
        paint = Paint(isOn: style.usesColor)
        cases = CaseText(options: options, paint: paint, timelineLimit: style.timelineLimit)
        summary = SummaryText(options: options, paint: paint)
    }

    package mutating func record(_ event: RunEvent, at time: Int64) -> [UInt8] {
        switch event {
        case .started(let count):
            if style.progressWidth != nil { progress = ProgressLine(total: count) }
        case .message(let text): pending += "note: \(Escaped.text(text))\n"
        case .caseStarted(let id, _): progress?.began(id)
        case .caseEnded(let result):
            let disposition = options.disposition(of: result)
            progress?.ended(result, disposition)
            summary.note(result)
            matrix.add(result)
            pending += cases.line(result)
            // What is known is told in a line.
            if case .expected = disposition { break }
            pending += cases.story(result)
            // A story ends with an empty line; one sentence of a skipped case needs none.
            if result.verdict < .unsupported, !result.findings.isEmpty { pending += "\n" }
        case .ended(let counts):
            let table = MatrixText(matrix: matrix, paint: paint, width: style.width).text
            pending += table + summary.text(counts, namesBad: table.isEmpty) + scores
            progress = nil
            return look(at: time)
        }
        return progress == nil ? look(at: time) : lookIfDue(at: time)
    }

    package mutating func tick(at time: Int64) -> [UInt8] {
        progress == nil ? [] : lookIfDue(at: time)
    }

    /// A line for each subject that a person can quote; nothing for a run of one result.
    private var scores: String {
        if matrix.subjectCellCount < 2 { return "" }
        return matrix.subjects.indices.filter { matrix.subjects[$0] != nil }.map { subject in
            let name = paint(.cause, matrix.name(ofSubject: subject))
            return "\(name): \(matrix.score(ofSubject: subject).text)\n"
        }.joined()
    }

    // MARK: The progress line

    private mutating func lookIfDue(at time: Int64) -> [UInt8] {
        if let lastLook, time - lastLook < ConsoleRecorder.interval, pending.utf8.count < ConsoleRecorder.pendingLimit {
            return []
        }
        return look(at: time)
    }

    private mutating func look(at time: Int64) -> [UInt8] {
        var text = isProgressShown ? ConsoleRecorder.erase : ""
        text += pending
        pending = ""
        lastLook = time
        isProgressShown = false
        if let progress, let width = style.progressWidth {
            text += progress.text(at: time, width: width, paint: paint)
            isProgressShown = true
        }
        return Array(text.utf8)
    }
}
