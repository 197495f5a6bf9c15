import ProbeBase
import ProbeEvents
import ProbeScenario

/// The results of a run as a table. The columns are subjects, and the rows are cases, grouped by folder.
///
/// The cell of a repeated case contains the result of its worst round.
struct ResultMatrix: Sendable {
    /// A table row, which represents one case.
    struct Row: Sendable {
        var id: String
        /// The folder of the case, relative to the root that was given; empty if the case is in the root itself.
        var group: String
        var path: String
        var title: String
        var about: String?
        var because: [String]
        var level: Scenario.Level
        var tags: [String]
        /// The cells, one for each subject of the matrix; `nil` if the case was not run with the subject.
        var cells: [Cell?]

        /// The id of the case without its group.
        var name: String { group.isEmpty ? id : String(id.dropFirst(group.count + 1)) }
    }

    /// The result of a case with one subject.
    struct Cell: Sendable {
        /// The verdict; `nil` if the case was not run.
        var verdict: Verdict?
        var disposition = Disposition.fine
        /// Whether the case ended because the run was interrupted. If so, its verdict does not apply to the subject.
        var isInterrupted = false
        /// The number of rounds of the case, and the number of rounds that ended with `verdict`.
        var rounds = 0
        var roundsWithVerdict = 0
        /// The duration of the worst round, in nanoseconds.
        var duration: Int64 = 0
        /// The reason for the verdict, on one line; empty for a case that passed.
        var summary = ""
        /// The diagnostic and the timeline of the worst round; empty if the round has neither, or if the matrix does
        /// not keep diagnostics.
        var diagnostic = ""
        var timeline = ""
        /// The path of the capture; `nil` if the case has none, or if the matrix does not keep diagnostics.
        var capturePath: String?
        var rerun = ""
    }

    struct Group: Sendable {
        var name: String
        /// The rows of the group, as indices into ``ResultMatrix/rows``.
        var rows: [Int]
    }

    /// The maximum total size of all diagnostics, in bytes. Without this limit, a run with many thousands of failures
    /// would use too much memory.
    private static let diagnosticLimit = 32 << 20

    private let options: ReportOptions
    /// The maximum number of timeline lines that are kept with a diagnostic; `nil` if the matrix keeps no diagnostics.
    private let timelineLimit: Int?
    private var diagnosticBytes = 0
    private var subjectIndices: [String?: Int] = [:]
    private var rowIndices: [String: Int] = [:]

    /// The subjects, in the order of the plan, followed by `nil` if there are cases without a subject.
    private(set) var subjects: [String?] = []
    /// The rows, in the order of the plan.
    private(set) var rows: [Row] = []

    /// Creates a matrix without results.
    ///
    /// - Parameters:
    ///   - planned: the cases of the run, once for each subject. Results of other cases are added as they arrive.
    ///   - timelineLimit: the maximum number of timeline lines that are kept with a diagnostic. If it is `nil`, the
    ///     matrix keeps no diagnostics, no paths of captures, and no commands to run a case again.
    init(planned: [PlannedCase], options: ReportOptions, timelineLimit: Int?) {
        self.options = options
        self.timelineLimit = timelineLimit
        for item in planned where item.subject != nil { addSubject(item.subject) }
        for item in planned where item.subject == nil { addSubject(nil) }
        for item in planned { touch(item) }
    }

    mutating func add(_ result: CaseResult) {
        let place = touch(PlannedCase(result))
        var cell = rows[place.row].cells[place.subject] ?? Cell()
        cell.rounds += 1
        if let worst = cell.verdict, worst <= result.verdict {
            if worst == result.verdict { cell.roundsWithVerdict += 1 }
            rows[place.row].cells[place.subject] = cell
            return
        }
        cell.verdict = result.verdict
        cell.roundsWithVerdict = 1
        cell.disposition = options.disposition(of: result)
        cell.isInterrupted = result.isInterrupted
        cell.duration = max(0, result.duration)
        cell.summary = result.findings.first?.summary ?? ""
        (cell.diagnostic, cell.timeline) = detail(of: result)
        // The paths and commands would take most of the memory of a long run, so they are kept only if the matrix shows
        // them.
        if timelineLimit != nil { (cell.capturePath, cell.rerun) = (result.capturePath, result.rerun) }
        rows[place.row].cells[place.subject] = cell
    }

    // MARK: Contents

    /// The number of subjects, without the column for cases that have no subject.
    var subjectCount: Int { subjects.count { $0 != nil } }

    /// The number of cells for cases with a subject.
    var subjectCellCount: Int {
        rows.reduce(0) { count, row in
            count + zip(subjects, row.cells).count { $0 != nil && $1 != nil }
        }
    }

    var groups: [Group] {
        var groups: [Group] = []
        var indices: [String: Int] = [:]
        for (index, row) in rows.enumerated() {
            if let known = indices[row.group] {
                groups[known].rows.append(index)
            } else {
                indices[row.group] = groups.count
                groups.append(Group(name: row.group, rows: [index]))
            }
        }
        return groups
    }

    func score(ofSubject subject: Int, rows chosen: [Int]? = nil) -> Score {
        var score = Score()
        for row in chosen ?? Array(rows.indices) {
            guard let cell = rows[row].cells[subject] else { continue }
            score.count(cell.verdict, level: rows[row].level)
        }
        return score
    }

    /// Returns the escaped name of a subject.
    func name(ofSubject subject: Int) -> String {
        subjects[subject].map { Escaped.text($0) } ?? "(no subject)"
    }

    // MARK: Places

    private mutating func addSubject(_ subject: String?) {
        if subjectIndices[subject] != nil { return }
        subjectIndices[subject] = subjects.count
        subjects.append(subject)
        for index in rows.indices { rows[index].cells.append(nil) }
    }

    /// Returns the position of a case in the matrix, and adds the case if the matrix does not contain it.
    @discardableResult
    private mutating func touch(_ item: PlannedCase) -> (row: Int, subject: Int) {
        addSubject(item.subject)
        let subject = subjectIndices[item.subject] ?? 0
        let index = rowIndices[item.id] ?? rows.count
        if index == rows.count {
            rowIndices[item.id] = index
            rows.append(
                Row(
                    id: item.id, group: ResultMatrix.group(of: item.id), path: item.path, title: item.title,
                    about: item.about, because: item.because, level: item.level, tags: item.tags,
                    cells: Array(repeating: nil, count: subjects.count)))
        }
        if rows[index].cells[subject] == nil { rows[index].cells[subject] = Cell() }
        return (index, subject)
    }

    /// Returns the part of the id before its last slash, ignoring slashes in labels such as `[x=…]`.
    private static func group(of id: String) -> String {
        var end = id.startIndex
        var index = id.startIndex
        while index < id.endIndex {
            if id[index] == "/" { end = index }
            if id[index] == "[", isLabel(id[id.index(after: index)...]) { break }
            index = id.index(after: index)
        }
        return String(id[..<end])
    }

    /// Returns whether the text ends with the label of a single variable, `x=…]`.
    private static func isLabel(_ text: Substring) -> Bool {
        let name = text.prefix { $0 == "_" || ($0.isASCII && ($0.isLetter || $0.isNumber)) }
        return !name.isEmpty && text[name.endIndex...].hasPrefix("=") && text.hasSuffix("]")
    }

    private mutating func detail(of result: CaseResult) -> (String, String) {
        guard let timelineLimit, result.verdict != .passed else { return ("", "") }
        if diagnosticBytes >= ResultMatrix.diagnosticLimit {
            return (
                "  the diagnostics of this run exceed the size limit; run this case again to see its diagnostic\n", ""
            )
        }
        let text = CaseText(options: options, timelineLimit: timelineLimit)
        let detail = (text.diagnostic(result), text.timeline(result))
        diagnosticBytes += detail.0.utf8.count + detail.1.utf8.count
        return detail
    }
}
