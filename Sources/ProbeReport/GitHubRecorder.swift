import ProbeBase
package import ProbeEvents
import ProbeScenario

/// Reports the run as GitHub Actions annotations, which are written to standard output after the console report.
///
/// The caller has already instructed the runner to ignore commands in all other output (`::stop-commands::`), so bytes
/// from the wire can't form a command. The annotations are written at the end of the run. `failed` and `error` are
/// annotated as errors; `inconclusive`, and a failure of a level that does not fail the run, as warnings; an expected
/// failure as a notice. A case that passed although it was expected to fail is annotated as a warning at the line of
/// its expectation.
package struct GitHubRecorder: Recorder {
    private let options: ReportOptions
    private let workspace: String?
    private var annotations = ""

    /// Creates a recorder.
    ///
    /// - Parameter workspace: the absolute path of the checkout (`GITHUB_WORKSPACE`). Paths below it are made relative.
    package init(options: ReportOptions, workspace: String?) {
        self.options = options
        self.workspace = workspace
    }

    package mutating func record(_ event: RunEvent, at time: Int64) -> [UInt8] {
        switch event {
        case .started, .caseStarted, .exploring: break
        case .message(let text): annotations += command("warning", [("title", "tcpprobe")], text)
        case .caseEnded(let result): annotate(result)
        case .ended(let summary):
            for note in summary.notes { annotations += command("notice", [("title", "tcpprobe")], note) }
            for error in summary.runErrors { annotations += command("error", [("title", "tcpprobe")], error) }
            if let signal = summary.interruptionText {
                let text = "the run was interrupted by \(signal); cases not run: \(summary.notRun)"
                annotations += command("error", [("title", "tcpprobe")], text)
            }
            defer { annotations = "" }
            return Array(annotations.utf8)
        }
        return []
    }

    private mutating func annotate(_ result: CaseResult) {
        let disposition = options.disposition(of: result)
        if case .unexpectedPass(let expected) = disposition { annotate(result, unexpected: expected) }
        guard result.verdict < .unsupported, let finding = result.findings.first else { return }
        var kind = result.verdict == .inconclusive || disposition == .advisory ? "warning" : "error"
        var properties: [(String, String)] = []
        if let span = finding.span {
            let start = result.sources.location(of: span)
            let end = result.sources.location(of: SourceSpan(file: span.file, start: span.end, end: span.end))
            properties = [("file", relative(start.path)), ("line", "\(start.line)")]
            if end.line > start.line { properties.append(("endLine", "\(end.line)")) }
            properties.append(("col", "\(start.column)"))
            // GitHub shows columns only for a range within one line. The last column of such a range is inclusive.
            if end.line == start.line { properties.append(("endColumn", "\(max(start.column, end.column - 1))")) }
        } else {
            properties = [("file", relative(result.path))]
        }
        var title = "\(options.name(id: result.id, subject: result.subject)): \(result.verdict.rawValue)"
        if disposition == .advisory { title += " (\(result.level.rawValue))" }
        if case .expected(let expected) = disposition {
            kind = "notice"
            title += expected.comment.map { ", as expected: \($0)" } ?? ", as expected"
        }
        properties.append(("title", Escaped.text(title)))
        let text =
            Escaped.text(finding.summary) + "\n" + body(finding)
            + (result.alone?.text.map { "fails \(Escaped.text($0))\n" } ?? "")
            + "run again: \(Escaped.text(result.rerun))"
        annotations += command(kind, properties, text, isSafe: true)
    }

    /// Adds a warning at the expectation that should be removed from its file.
    private mutating func annotate(_ result: CaseResult, unexpected expected: ExpectedVerdict) {
        let name = options.name(id: result.id, subject: result.subject)
        annotations += command(
            options.strict ? "error" : "warning",
            [
                ("file", relative(expected.path)), ("line", "\(expected.line)"),
                ("title", Escaped.text("\(name): passed")),
            ], "the case passed, but this line expects \(expected.verdict.rawValue); remove the line")
    }

    private func body(_ finding: Finding) -> String {
        ComparisonText.text(expected: finding.expected, actual: finding.actual)
            + (finding.details + finding.hints.map { "hint: \($0)" }).map { Escaped.text($0) + "\n" }.joined()
    }

    private func relative(_ path: String) -> String {
        let safe = Escaped.text(path)
        guard let workspace, !workspace.isEmpty, path.hasPrefix(workspace) else { return safe }
        let rest = path.dropFirst(workspace.count)
        if workspace.hasSuffix("/") { return Escaped.text(String(rest)) }
        return rest.hasPrefix("/") ? Escaped.text(String(rest.dropFirst())) : safe
    }

    /// Returns a command on one line, such as `::error file=a.scn,line=3::text`.
    private func command(_ name: String, _ properties: [(String, String)], _ text: String, isSafe: Bool = false)
        -> String
    {
        let text = isSafe ? text : Escaped.text(text)
        let list = properties.map { "\($0)=\(GitHubRecorder.escaped($1, isProperty: true))" }.joined(separator: ",")
        return "::\(name) \(list)::\(GitHubRecorder.escaped(text, isProperty: false))\n"
    }

    private static func escaped(_ text: String, isProperty: Bool) -> String {
        var result = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "%": result += "%25"
            case "\r": result += "%0D"
            case "\n": result += "%0A"
            case ":" where isProperty: result += "%3A"
            case "," where isProperty: result += "%2C"
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result
    }
}
