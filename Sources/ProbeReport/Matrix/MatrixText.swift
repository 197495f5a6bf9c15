import ProbeBase
import ProbeEvents
import ProbeScenario

/// Writes the matrix for a console. It has a row for each group, with the number of cases passed and the number judged,
/// followed by a row for each case that at least one subject did not pass. A case that some subjects do not support and
/// all others pass has no row, but it is included in the counts of its group, in the score and in a `--matrix` file.
///
/// If the cases of one script would take more than three rows, they share one row. If the subjects do not fit next to
/// each other, there are several tables.
struct MatrixText {
    /// The heading of the columns of fractions.
    private static let head = "passed/judged"
    /// The maximum number of rows for the cases of one script.
    private static let rowsOfScript = 3
    /// The maximum number of rows of one table.
    private static let rowLimit = 150
    /// The maximum width of a subject's name, in columns.
    private static let widestSubject = 18
    private static let narrowestSubject = 8
    private static let narrowestLabel = 12

    let matrix: ResultMatrix
    let paint: Paint
    /// The width of the terminal, in columns; `nil` if the length of lines is not limited.
    let width: Int?

    private struct Line {
        var label: String
        var isGroup: Bool
        var cells: [(role: Paint.Role?, text: String)]
    }

    /// The tables, each after an empty line; empty if the run has fewer than two subjects.
    var text: String {
        if matrix.subjectCount < 2 { return "" }
        let lines = lines
        let names = matrix.subjects.indices.map {
            Columns.cut(matrix.name(ofSubject: $0), to: MatrixText.widestSubject)
        }
        var column = MatrixText.narrowestSubject
        for name in names { column = max(column, Columns.width(name)) }
        for line in lines { for cell in line.cells { column = max(column, Columns.width(cell.text)) } }
        var label = MatrixText.head.count
        for line in lines where !line.cells.isEmpty { label = max(label, Columns.width(line.label)) }
        var perTable = names.count
        if let width {
            let usable = max(width - 1, MatrixText.narrowestLabel + 2 + column)
            let wanted = usable - names.count * (column + 2)
            label = min(label, max(MatrixText.narrowestLabel, wanted, usable / 2))
            perTable = min(names.count, max(1, (usable - label) / (column + 2)))
        }
        var text = ""
        for start in stride(from: 0, to: names.count, by: perTable) {
            let shown = start..<min(start + perTable, names.count)
            let head = Columns.padded(Columns.cut(MatrixText.head, to: label), to: label)
            text += "\n" + row(paint(.faint, head), names[shown].map { (nil, $0) }, column)
            for line in lines where !line.cells.isEmpty {
                let title = Columns.padded(Columns.cut(line.label, to: label), to: label)
                text += row(line.isGroup ? paint(.cause, title) : title, Array(line.cells[shown]), column)
            }
            for line in lines where line.cells.isEmpty { text += "\(line.label)\n" }
        }
        return text + "\n"
    }

    private func row(_ label: String, _ cells: [(role: Paint.Role?, text: String)], _ column: Int) -> String {
        var text = label
        for (index, cell) in cells.enumerated() {
            let padding = index + 1 < cells.count ? column - Columns.width(cell.text) : 0
            text += "  " + (cell.role.map { paint($0, cell.text) } ?? cell.text)
            text += String(repeating: " ", count: max(0, padding))
        }
        return text + "\n"
    }

    // MARK: Lines

    private var lines: [Line] {
        var lines: [Line] = []
        var left = 0
        for group in matrix.groups {
            lines.append(summary(of: group))
            for rows in scripts(group.rows) {
                let shown = rows.filter { isShown(matrix.rows[$0]) }
                let added =
                    shown.count > MatrixText.rowsOfScript ? [together(rows)] : shown.map { line(matrix.rows[$0]) }
                if lines.count + added.count > MatrixText.rowLimit { left += added.count } else { lines += added }
            }
        }
        if left > 0 {
            let text = "… and \(left) more; `--matrix FILE.html` lists all"
            lines.append(Line(label: text, isGroup: false, cells: []))
        }
        return lines
    }

    private func summary(of group: ResultMatrix.Group) -> Line {
        let name = group.name.isEmpty ? "" : "\(Escaped.text(group.name))  "
        let count = group.rows.count
        return Line(
            label: "\(name)\(count) \(count == 1 ? "case" : "cases")", isGroup: true,
            cells: matrix.subjects.indices.map { fraction(matrix.score(ofSubject: $0, rows: group.rows)) })
    }

    private func line(_ row: ResultMatrix.Row) -> Line {
        var label = "  \(Escaped.text(row.name))"
        if row.level != .must { label += "  (\(row.level.rawValue))" }
        return Line(label: label, isGroup: false, cells: row.cells.map(MatrixText.cell))
    }

    /// Returns the line that represents several cases of one script.
    private func together(_ rows: [Int]) -> Line {
        let first = matrix.rows[rows[0]]
        let name = first.name.firstIndex(of: "[").map { String(first.name[..<$0]) } ?? first.name
        return Line(
            label: "  \(Escaped.text(name))  \(rows.count) cases", isGroup: false,
            cells: matrix.subjects.indices.map { fraction(matrix.score(ofSubject: $0, rows: rows)) })
    }

    /// Returns the rows of a group, in order, divided into the rows of each script.
    private func scripts(_ rows: [Int]) -> [[Int]] {
        var scripts: [[Int]] = []
        for row in rows {
            if let last = scripts.last?.first, matrix.rows[last].path == matrix.rows[row].path {
                scripts[scripts.count - 1].append(row)
            } else {
                scripts.append([row])
            }
        }
        return scripts
    }

    /// Whether at least one subject failed the case, could not be judged on it, or passed it unexpectedly.
    private func isShown(_ row: ResultMatrix.Row) -> Bool {
        row.cells.contains { cell in
            guard let cell, let verdict = cell.verdict else { return false }
            if case .unexpectedPass = cell.disposition { return true }
            return verdict < .unsupported
        }
    }

    // MARK: Cells

    /// Returns a fraction such as `11/12`; if no case was judged, the number of cases that were not judged.
    private func fraction(_ score: Score) -> (role: Paint.Role?, text: String) {
        if score.allJudged > 0 {
            let isGood = score.allPassed == score.allJudged
            return (isGood ? .verdict(.passed) : nil, "\(score.allPassed)/\(score.allJudged)")
        }
        if score.unsupported > 0 { return (.verdict(.unsupported), "unsupp.") }
        if score.skipped > 0 { return (.verdict(.skipped), "skipped") }
        return (.faint, score.notRun > 0 ? "not run" : "")
    }

    /// Returns the text of a cell, in capitals if the result fails the run.
    private static func cell(_ cell: ResultMatrix.Cell?) -> (role: Paint.Role?, text: String) {
        guard let cell else { return (nil, "") }
        guard let verdict = cell.verdict else { return (.faint, "not run") }
        switch cell.disposition {
        case .expected: return (.faint, "expected")
        case .unexpectedPass: return (.unexpected, "UNEXPECTED")
        case .advisory: return (.verdict(.unsupported), "failed")
        case .fine, .bad: break
        }
        return switch verdict {
        case .passed: (.faint, "ok")
        case .failed: (.verdict(verdict), "FAILED")
        case .error: (.verdict(verdict), "ERROR")
        case .inconclusive: (.verdict(verdict), "INCONCL.")
        case .unsupported: (.verdict(verdict), "unsupp.")
        case .skipped: (.verdict(verdict), "skipped")
        }
    }
}
