import ProbeBase
import ProbeEvents
import ProbeScenario

/// The results of a run as a table: subjects across, cases down, in groups by folder.
///
/// A case that is repeated has one cell, of its worst round.
struct ResultMatrix: Sendable {
    /// A case.
    struct Row: Sendable {
        var id: String
        /// The folder that it is in, below the given root; empty for the root itself.
        var group: String
        var path: String
        var title: String
        var about: String?
        var because: [String]
        var level: Scenario.Level
        var tags: [String]
        /// One for each subject of the matrix; nil where the case is not by that one.
        var cells: [Cell?]

        /// The id without its group.
        var name: String { group.isEmpty ? id : String(id.dropFirst(group.count + 1)) }
    }

    /// A case by a subject.
    struct Cell: Sendable {
        /// nil: it was not run.
        var verdict: Verdict?
        var disposition = Disposition.fine
        /// It ended because the run was interrupted: its verdict says nothing of the case.
        var isInterrupted = false
        /// How often it was run, and how often of these it came to the verdict.
        var rounds = 0
        var roundsWithVerdict = 0
        /// Nanoseconds; of the round that is shown.
        var duration: Int64 = 0
        /// Why, in one line; empty for a case that passed.
        var summary = ""
        /// The whole diagnostic, and the timeline that belongs to it; empty where there is none, or none is kept.
        var story = ""
        var timeline = ""
        /// nil and empty where no diagnostics are kept.
        var capturePath: String?
        var rerun = ""
    }

    struct Group: Sendable {
        var name: String
        /// Indices into ``ResultMatrix/rows``.
        var rows: [Int]
    }

    /// Bytes of all diagnostics together: those of a run of many thousand failures would fill the memory.
    private static let storyLimit = 32 << 20

    private let options: ReportOptions
    /// How many lines of a timeline are kept with a diagnostic; nil: none of it is.
    private let timelineLimit: Int?
    private var storyBytes = 0
    private var subjectIndices: [String?: Int] = [:]
    private var rowIndices: [String: Int] = [:]

    /// In the order of the plan; nil, the last one, are cases that test none.
    private(set) var subjects: [String?] = []
    /// In the order of the plan.
    private(set) var rows: [Row] = []

    /// - Parameter planned: every case of the run by every subject; what is not among them is added as it comes.
    /// - Parameter timelineLimit: how many lines of a timeline are kept with a diagnostic; nil: no diagnostic is
    ///   kept, nor what belongs to one.
    init(planned: [PlannedCase], options: ReportOptions, timelineLimit: Int?) {
        self.options = options
        self.timelineLimit = timelineLimit
        for item in planned where item.subject != nil { addSubject(item.subject) }
        for item in planned where item.subject == nil { addSubject(nil) }
        for item in planned { touch(item) }
    }

    mutating func add(_ result: CaseResult) {
        let place = touch(
            PlannedCase(
                id: result.id, path: result.path, subject: result.subject, title: result.title, about: result.about,
                because: result.because, level: result.level, tags: result.tags))
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
        (cell.story, cell.timeline) = story(result)
        // A text for each case of a long run would be most of its memory: kept where it is shown.
        if timelineLimit != nil { (cell.capturePath, cell.rerun) = (result.capturePath, result.rerun) }
        rows[place.row].cells[place.subject] = cell
    }

    // MARK: What is in it

    /// Subjects but for the column of cases that test none.
    var subjectCount: Int { subjects.count { $0 != nil } }

    /// Cells of cases that test a subject.
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

    /// The subject's name, fit for any report.
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

    /// The place of a case in the matrix, made where it is not there yet.
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

    /// The part of the id before its last slash; slashes in the label `[x=…]` are none.
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

    /// `x=…]`
    private static func isLabel(_ text: Substring) -> Bool {
        let name = text.prefix { $0 == "_" || ($0.isASCII && ($0.isLetter || $0.isNumber)) }
        return !name.isEmpty && text[name.endIndex...].hasPrefix("=") && text.hasSuffix("]")
    }

    private mutating func story(_ result: CaseResult) -> (String, String) {
        guard let timelineLimit, result.verdict != .passed else { return ("", "") }
        if storyBytes >= ResultMatrix.storyLimit {
            return ("  the diagnostics of this run are larger than can be kept; run it again for this one\n", "")
        }
        let text = CaseText(options: options, timelineLimit: timelineLimit)
        let story = (text.diagnostic(result), text.timeline(result))
        storyBytes += story.0.utf8.count + story.1.utf8.count
        return story
    }
}
