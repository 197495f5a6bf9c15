import ProbeBase
package import ProbeEvents
package import ProbeScenario

/// An expectations file: what is known to come of cases, a line each, with its comments.
///
///     # Known failures of the transports that are not ours.
///
///     asyncio  close/eof-mid-line  failed  # delivers the rest as a line
///
/// A line is a subject, a case's id and a verdict, with blanks between, and a comment if there is one. Any text is a file:
/// what is wrong with it is in ``problems``.
package struct ExpectationsFile: Sendable {
    /// A line that says something of a case.
    package struct Line: Sendable {
        package var expected: ExpectedVerdict
        /// Lines of comments, and empty ones, between the line before it and this one.
        package var above: [String]
    }

    /// Something is wrong with a line.
    package struct Problem: Sendable {
        package var span: SourceSpan
        /// One line: what is wrong.
        package var text: String
        package var hint: String?
    }

    /// Stands for the subject of a case that has none.
    static let noSubject = "-"
    /// More problems than these are of a file that is something else.
    private static let problemLimit = 20

    package let source: SourceFile
    /// Comments, and empty lines, above the first line.
    package private(set) var header: [String] = []
    package private(set) var lines: [Line] = []
    /// Comments, and empty lines, below the last line.
    package private(set) var footer: [String] = []
    package private(set) var problems: [Problem] = []
    /// Further ones, which are not told.
    private var problemsLeft = 0

    /// - Parameter path: as the user gave it.
    package init(path: String, bytes: [UInt8]) {
        source = SourceFile(path: path, bytes: bytes)
        if let offset = UTF8Check.firstInvalidOffset(in: bytes.span) {
            problems = [
                Problem(
                    span: SourceSpan(start: offset, end: offset + 1), text: "the file is not UTF-8 text",
                    hint: "a byte of a name that is no text is written \"\\xHH\"")
            ]
            return
        }
        var pending: [String] = []
        var seen: [CaseKey: ExpectedVerdict] = [:]
        for number in 1...max(1, source.lineCount) {
            let fields = ExpectationFields(source, line: number)
            guard !fields.isEmpty else {
                pending.append(text(ofLine: number))
                continue
            }
            guard let expected = expected(fields, number) else { continue }
            if let other = seen[expected.key], other.verdict != expected.verdict {
                report(
                    "this case is expected to be \(other.verdict.rawValue) already, in line \(other.line)",
                    at: fields.all[2].span, hint: "one of the two lines goes")
                continue
            }
            seen[expected.key] = expected
            if lines.isEmpty { (header, pending) = ExpectationsFile.split(pending) }
            lines.append(Line(expected: expected, above: pending))
            pending = []
        }
        if lines.isEmpty { header = pending } else { footer = pending }
    }

    /// The problems for people, as the diagnostics of scripts are drawn.
    package var diagnostics: String {
        problems.map { problem in
            let renderer = DiagnosticRenderer(sources: SourceMap([source]))
            let location = SourceMap([source]).location(of: problem.span)
            let place = "\(Escaped.text(location.path)):\(location.line):\(location.column)"
            return "\(place): error: \(problem.text)\n" + renderer.excerpt(problem.span)
                + (problem.hint.map { "  hint: \($0)\n" } ?? "")
        }.joined() + (problemsLeft > 0 ? "… and \(problemsLeft) more lines are wrong\n" : "")
    }

    /// Comments above the first line: what stands right above it, below an empty line, is about it; the rest is the header.
    private static func split(_ comments: [String]) -> (header: [String], above: [String]) {
        guard let gap = comments.lastIndex(of: "") else { return (comments, []) }
        return (Array(comments[...gap]), Array(comments[(gap + 1)...]))
    }

    // MARK: A line

    /// As it is, without blanks at its end.
    private func text(ofLine number: Int) -> String {
        var bytes = source.bytes[source.range(ofLine: number)]
        while let last = bytes.last, last == 0x20 || last == 0x09 || last == 0x0D { bytes.removeLast() }
        return String(decoding: bytes, as: UTF8.self)
    }

    private mutating func expected(_ fields: ExpectationFields, _ number: Int) -> ExpectedVerdict? {
        if let problem = fields.problem {
            report(problem.text, at: problem.span, hint: problem.hint)
            return nil
        }
        let all = fields.all
        if all.count < 3 {
            let missing = all.count == 1 ? "a case's id and a verdict are" : "a verdict is"
            report(
                "\(missing) missing in this line", at: all[all.count - 1].span,
                hint: "a line is: subject, case, verdict, and # a comment")
            return nil
        }
        if all.count > 3 {
            report(
                "this is a word too many: a line is a subject, a case's id and a verdict", at: all[3].span,
                hint: "a comment begins with #; an id with blanks in it stands in 'quotes'")
            return nil
        }
        guard let verdict = Verdict(rawValue: all[2].text) else {
            let near = Suggestion.nearest(to: all[2].text, among: Verdict.allCases.map(\.rawValue))
            report(
                "\(Escaped.text(all[2].text.utf8.prefix(60))) is no verdict", at: all[2].span,
                hint: near.map { "did you mean \($0)?" } ?? "the verdicts are \(ExpectationsFile.verdicts)")
            return nil
        }
        let subject = all[0].text == ExpectationsFile.noSubject && !all[0].isQuoted ? nil : all[0].text
        return ExpectedVerdict(
            key: CaseKey(id: all[1].text, subject: subject), verdict: verdict, comment: fields.comment,
            path: source.path, line: number)
    }

    private static let verdicts = Verdict.allCases.map(\.rawValue).joined(separator: ", ")

    private mutating func report(_ text: String, at span: SourceSpan, hint: String?) {
        if problems.count < ExpectationsFile.problemLimit {
            problems.append(Problem(span: span, text: text, hint: hint))
        } else {
            problemsLeft += 1
        }
    }
}
