import ProbeBase
import ProbeEvents
import ProbeScenario

/// Writes the matrix as Markdown that GitHub renders in a file, a comment or a job summary: first the scores, then a
/// table for each group, and then a line for each result that did not pass.
struct MatrixMarkdown {
    let matrix: ResultMatrix
    let summary: RunSummary
    /// The path components of the file's folder; see ``RelativePath``.
    let folder: [String]

    var text: String {
        var text = "# Results\n\n"
        if let signal = summary.interruptionText {
            text +=
                "**The run was interrupted by \(MarkdownText.escaped(signal)); results not run: \(summary.notRun).**\n\n"
        }
        text += scores
        for group in matrix.groups { text += "\n" + table(group) }
        return text + findings
    }

    private var scores: String {
        let scores = matrix.subjects.indices.map { matrix.score(ofSubject: $0) }
        let names = matrix.subjects.indices.map { "**\(MarkdownText.escaped(matrix.name(ofSubject: $0)))**" }
        var text = row([""] + names) + row(["---"] + names.map { _ in "---" })
        for level in Scenario.Level.allCases where scores.contains(where: { $0.judged[level] ?? 0 > 0 }) {
            text += row(
                ["**\(level.rawValue)**"]
                    + scores.map { score in
                        score.judged[level].map { "\(score.passed[level] ?? 0) of \($0)" } ?? ""
                    })
        }
        for (title, count) in [("unsupported", \Score.unsupported), ("skipped", \.skipped), ("not run", \.notRun)]
        where scores.contains(where: { $0[keyPath: count] > 0 }) {
            text += row([title] + scores.map { "\($0[keyPath: count])" })
        }
        return text
    }

    private func table(_ group: ResultMatrix.Group) -> String {
        let names = matrix.subjects.indices.map { MarkdownText.escaped(matrix.name(ofSubject: $0)) }
        var text = "## \(group.name.isEmpty ? "Cases" : MarkdownText.escaped(Escaped.text(group.name)))\n\n"
        text += row(["case"] + names) + row(["---"] + names.map { _ in "---" })
        for index in group.rows {
            let item = matrix.rows[index]
            var title = MarkdownText.escaped(Escaped.text(item.name))
            if item.level != .must { title += " *(\(item.level.rawValue))*" }
            text += row([title] + item.cells.map(cell))
        }
        return text
    }

    private func cell(_ cell: ResultMatrix.Cell?) -> String {
        guard let cell else { return "" }
        guard let verdict = cell.verdict else { return "not run" }
        switch cell.disposition {
        case .expected: return "☑️ \(verdict.rawValue), as expected"
        case .unexpectedPass: return "🆕 unexpected pass"
        case .advisory: return "⚠️ failed"
        case .fine, .bad: break
        }
        let mark =
            switch verdict {
            case .passed: "✅"
            case .failed: "❌ failed"
            case .error: "💥 error"
            case .inconclusive: "❔ inconclusive"
            case .unsupported: "➖ unsupported"
            case .skipped: "⏭️ skipped"
            }
        return cell.rounds > 1 && verdict != .passed ? "\(mark) (\(cell.roundsWithVerdict) of \(cell.rounds))" : mark
    }

    /// A line for each result that did not pass, with the reason and a link to the capture.
    private var findings: String {
        var text = ""
        for row in matrix.rows {
            for (subject, cell) in row.cells.enumerated() {
                guard let cell, let verdict = cell.verdict, verdict < .unsupported else { continue }
                let id = MarkdownText.escaped(Escaped.text(row.id))
                let name =
                    matrix.subjects[subject].map { " (\(MarkdownText.escaped(Escaped.text($0))))" } ?? ""
                let reason = cell.summary.isEmpty ? verdict.rawValue : cell.summary
                text += "- **\(id)**\(name): \(MarkdownText.escaped(Escaped.text(reason)))"
                if let path = cell.capturePath { text += " ([capture](\(RelativePath.link(from: folder, to: path))))" }
                text += "\n"
            }
        }
        return text.isEmpty ? "" : "\n## Results that did not pass\n\n" + text
    }

    private func row(_ cells: [String]) -> String { "| \(cells.joined(separator: " | ")) |\n" }
}

/// Escapes text so that Markdown renders it literally.
enum MarkdownText {
    /// Returns the text with escapes for all characters that have a meaning in Markdown, in a table or in HTML.
    /// Punctuation is escaped with a backslash (CommonMark, section 2.4), and `<`, `>` and `&` are written as entities.
    /// The text must not contain line breaks (``Escaped/text(_:)-(String)``).
    static func escaped(_ text: String) -> String {
        var result = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "&": result += "&amp;"
            case "<": result += "&lt;"
            case ">": result += "&gt;"
            // The pipe is written as an entity, because some renderers split a table row at pipes before they interpret
            // backslashes.
            case "|": result += "&#124;"
            case "\\", "`", "*", "_", "[", "]", "{", "}", "#", "~", "!", "$": result += "\\\(scalar)"
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result
    }
}
