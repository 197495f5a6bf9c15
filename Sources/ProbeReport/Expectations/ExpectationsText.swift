import ProbeBase
import ProbeEvents
import ProbeScenario

/// The text of an expectations file after a run. It has a line for each result that did not pass, sorted by subject and
/// then by id, and the comments of the previous file. The words are aligned in columns.
///
/// A line of the previous file remains unchanged if it is still correct, or if the run has no result for it: its
/// subject was not in the run, or its case was skipped, not run or excluded by a filter. A line whose case no longer
/// exists is removed. Comments on separate lines are always preserved.
struct ExpectationsText {
    /// The header of a new expectations file.
    private static let newHeader = [
        "# Cases known not to pass: subject, case, verdict, # why.",
        "# `tcpprobe run --expect FILE` treats these results as expected; `--write-expectations FILE` updates them "
            + "and keeps the comments.",
        "",
    ]

    private let old: ExpectationsFile?
    private var lines: [CaseKey: Line] = [:]
    private var footer: [String] = []

    private struct Line {
        var key: CaseKey
        var verdict: Verdict
        /// Whether the case may also pass; see ``ExpectedVerdict/isAtTimes``.
        var isAtTimes = false
        var comment: String?
        var above: [String] = []
    }

    /// Creates the text from a run's results.
    ///
    /// - Parameters:
    ///   - old: the previous file.
    ///   - isFilteredAway: a function that returns whether `--filter` or `--tag` excluded the case with the given id.
    init(_ matrix: ResultMatrix, old: ExpectationsFile?, isFilteredAway: (String) -> Bool) {
        self.old = old
        var ran: [CaseKey: ResultMatrix.Cell] = [:]
        for row in matrix.rows {
            for (subject, cell) in zip(matrix.subjects, row.cells) {
                ran[CaseKey(id: row.id, subject: subject)] = cell
            }
        }
        for (key, cell) in ran {
            guard let verdict = cell.verdict, verdict < .unsupported, !cell.isInterrupted else { continue }
            lines[key] = Line(key: key, verdict: verdict)
        }
        let subjects = Set(matrix.subjects)
        // The comments above a line that is removed are moved to the next line that remains.
        var carried: [String] = []
        for line in old?.lines ?? [] {
            let expected = line.expected
            let key = expected.key
            carried += line.above
            if lines[key] == nil {
                let stays =
                    ran[key].map { ExpectationsText.isStillValid(expected, $0) }
                    ?? (!subjects.contains(key.subject) || isFilteredAway(key.id))
                if !stays { continue }
                lines[key] = Line(key: key, verdict: expected.verdict)
            }
            if lines[key]?.verdict == expected.verdict { lines[key]?.isAtTimes = expected.isAtTimes }
            lines[key]?.comment = expected.comment
            lines[key]?.above += carried
            carried = []
        }
        footer = carried + (old?.footer ?? [])
    }

    /// Returns whether the result is consistent with the expectation.
    private static func isStillValid(_ expected: ExpectedVerdict, _ cell: ResultMatrix.Cell) -> Bool {
        guard let verdict = cell.verdict, !cell.isInterrupted else { return true }
        return verdict == .skipped || verdict == expected.verdict || (verdict == .passed && expected.isAtTimes)
    }

    var text: String {
        let sorted = lines.values.sorted {
            ($0.key.subject ?? "", $0.key.id) < ($1.key.subject ?? "", $1.key.id)
        }
        let words = sorted.map { line in
            [
                line.key.subject.map(ExpectationWord.quoted) ?? ExpectationsFile.noSubject,
                ExpectationWord.quoted(line.key.id), line.verdict.rawValue + (line.isAtTimes ? "?" : ""),
            ]
        }
        let widths = (0..<3).map { column in words.map { Columns.width($0[column]) }.max() ?? 0 }
        var all = old?.header ?? ExpectationsText.newHeader
        if let last = all.last, !last.isEmpty, !sorted.isEmpty { all.append("") }
        for (index, (line, words)) in zip(sorted, words).enumerated() {
            if index > 0, sorted[index - 1].key.subject != line.key.subject { all.append("") }
            all += line.above
            var text = zip(words, widths).map { Columns.padded($0, to: $1) }.joined(separator: "  ")
            if let comment = line.comment { text += "  # \(comment)" }
            while text.hasSuffix(" ") { text.removeLast() }
            all.append(text)
        }
        return ExpectationsText.joined(all + footer)
    }

    /// Returns the lines without the empty lines at the end, and with consecutive empty lines reduced to one.
    private static func joined(_ lines: [String]) -> String {
        var kept: [String] = []
        for line in lines where !(line.isEmpty && kept.last?.isEmpty ?? true) { kept.append(line) }
        while kept.last?.isEmpty == true { kept.removeLast() }
        return kept.map { $0 + "\n" }.joined()
    }
}
