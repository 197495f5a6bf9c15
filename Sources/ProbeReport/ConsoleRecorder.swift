import ProbeBase
package import ProbeEvents
import ProbeScenario

/// The report for people: a line for each case, the failure detail of each case that did not pass, and a summary.
///
/// The layout is the same with and without color. Text that does not come from the tool itself is escaped before it
/// reaches the terminal. While a progress line is shown, output is written at most ten times a second. Lines are
/// buffered until the first ``tick(at:)`` or event after a tenth of a second.
package struct ConsoleRecorder: Recorder {
    package struct Style: Sendable {
        package var usesColor: Bool
        /// The maximum number of timeline lines for each failure; 0 for none.
        package var timelineLimit: Int
        /// The width of the terminal, in columns; `nil` if no progress line is shown.
        package var progressWidth: Int?
        /// Whether the report contains only the summary and the cases that did not pass.
        package var isQuiet = false
        /// The maximum width of the matrix, in columns; `nil` if the width is not limited.
        package var width: Int?

        package init(usesColor: Bool, timelineLimit: Int = 60, progressWidth: Int? = nil, width: Int? = nil) {
            self.usesColor = usesColor
            self.timelineLimit = timelineLimit
            self.progressWidth = progressWidth
            self.width = width
        }
    }

    /// The minimum time between two writes while a progress line is shown, in nanoseconds.
    private static let interval: Int64 = 100_000_000
    /// The escape sequence that moves to the start of the line and erases the line.
    private static let erase = "\r\u{1b}[K"
    /// The number of buffered bytes above which output is written without waiting for the interval.
    private static let pendingLimit = 1 << 16

    private let style: Style
    private let paint: Paint
    private let cases: CaseText
    private var summary: SummaryText
    private let options: ReportOptions
    private var matrix: ResultMatrix
    private var progress: ProgressLine?
    private var pending = ""
    private var lastWrite: Int64?
    private var isProgressShown = false

    /// Creates a recorder.
    ///
    /// - Parameter planned: the cases of the run, once for each subject; they are the cells of the matrix.
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
        case .exploring: break
        case .caseEnded(let result):
            let disposition = options.disposition(of: result)
            progress?.ended(result, disposition)
            let first = summary.note(result)
            matrix.add(result)
            if style.isQuiet, disposition == .fine { break }
            if style.isQuiet, case .expected = disposition { break }
            // If an earlier case of the script or of the subject has an equal finding, the line for this case names
            // that earlier case.
            pending += cases.line(result, like: first)
            if first != nil { break }
            // A case that failed as expected takes up only one line of the report.
            if case .expected = disposition { break }
            pending += cases.failureDetail(result)
            // An empty line ends the failure detail. The detail of a skipped case is a single sentence and needs no
            // empty line.
            if result.verdict < .unsupported, !result.findings.isEmpty { pending += "\n" }
        case .ended(let counts):
            let table = MatrixText(matrix: matrix, paint: paint, width: style.width).text
            pending += table + summary.text(counts, namesBad: table.isEmpty) + scores
            progress = nil
            return write(at: time)
        }
        return progress == nil ? write(at: time) : writeIfDue(at: time)
    }

    package mutating func tick(at time: Int64) -> [UInt8] {
        progress == nil ? [] : writeIfDue(at: time)
    }

    /// The score of each subject, one per line; empty if the run has only one result.
    private var scores: String {
        if matrix.subjectCellCount < 2 { return "" }
        return matrix.subjects.indices.filter { matrix.subjects[$0] != nil }.map { subject in
            let name = paint(.cause, matrix.name(ofSubject: subject))
            return "\(name): \(matrix.score(ofSubject: subject).text)\n"
        }.joined()
    }

    // MARK: The progress line

    private mutating func writeIfDue(at time: Int64) -> [UInt8] {
        let isDue = lastWrite.map { time - $0 >= ConsoleRecorder.interval } ?? true
        return isDue || pending.utf8.count >= ConsoleRecorder.pendingLimit ? write(at: time) : []
    }

    private mutating func write(at time: Int64) -> [UInt8] {
        var text = isProgressShown ? ConsoleRecorder.erase : ""
        text += pending
        pending = ""
        lastWrite = time
        isProgressShown = false
        if let progress, let width = style.progressWidth {
            text += progress.text(at: time, width: width, paint: paint)
            isProgressShown = true
        }
        return Array(text.utf8)
    }
}
