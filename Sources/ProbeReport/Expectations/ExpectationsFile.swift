import ProbeBase
package import ProbeEvents
package import ProbeScenario

/// An expectations file: the expected verdicts of cases, one per line, and comments.
///
///     # Known failures of the transports that are not ours.
///
///     asyncio  close/eof-mid-line  failed  # delivers the rest as a line
///
/// A line consists of a subject, the id of a case and a verdict, separated by blanks, and optionally a comment. The
/// verdict `failed?` means that the case fails occasionally and may also pass. Any text can be read; ``problems``
/// contains its errors.
package struct ExpectationsFile: Sendable {
    /// A line that contains an expectation.
    package struct Line: Sendable {
        package var expected: ExpectedVerdict
        /// The comment lines and empty lines between the previous expectation and this line.
        package var above: [String]
    }

    /// An error in a line.
    package struct Problem: Sendable {
        package var span: SourceSpan
        /// A description of the error, on one line.
        package var text: String
        package var hint: String?
    }

    /// The word that takes the place of the subject if a case has no subject.
    static let noSubject = "-"
    /// The maximum number of problems that are listed. A file with more problems is probably not an expectations file.
    private static let problemLimit = 20

    package let source: SourceFile
    /// The comment lines and empty lines at the top that belong to the file, not to the first expectation.
    package private(set) var header: [String] = []
    package private(set) var lines: [Line] = []
    /// The comment lines and empty lines below the last expectation.
    package private(set) var footer: [String] = []
    package private(set) var problems: [Problem] = []
    /// The number of problems that are not listed.
    private var problemsLeft = 0

    /// Reads a file.
    ///
    /// - Parameter path: the path as given by the user.
    package init(path: String, bytes: [UInt8]) {
        source = SourceFile(path: path, bytes: bytes)
        if let offset = UTF8Check.firstInvalidOffset(in: bytes.span) {
            problems = [
                Problem(
                    span: SourceSpan(start: offset, end: offset + 1), text: "the file is not UTF-8 text",
                    hint: "write a byte that is not valid UTF-8 as \"\\xHH\"")
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
            if let other = seen[expected.key], other.word != expected.word {
                report(
                    "line \(other.line) already expects \(other.word) for this case",
                    at: fields.all[2].span, hint: "remove one of the two lines")
                continue
            }
            seen[expected.key] = expected
            if lines.isEmpty { (header, pending) = ExpectationsFile.split(pending) }
            lines.append(Line(expected: expected, above: pending))
            pending = []
        }
        if lines.isEmpty { header = pending } else { footer = pending }
    }

    /// The problems in the file as text, in the layout of a script's diagnostics.
    package var diagnostics: String {
        problems.map { problem in
            let renderer = DiagnosticRenderer(sources: SourceMap([source]))
            let location = SourceMap([source]).location(of: problem.span)
            let place = "\(Escaped.text(location.path)):\(location.line):\(location.column)"
            return "\(place): error: \(problem.text)\n" + renderer.excerpt(problem.span)
                + (problem.hint.map { "  hint: \($0)\n" } ?? "")
        }.joined() + (problemsLeft > 0 ? "… and \(problemsLeft) more invalid lines\n" : "")
    }

    /// Splits the comments above the first expectation. The comments below the last empty line belong to the
    /// expectation; all other comments form the file's header.
    private static func split(_ comments: [String]) -> (header: [String], above: [String]) {
        guard let gap = comments.lastIndex(of: "") else { return (comments, []) }
        return (Array(comments[...gap]), Array(comments[(gap + 1)...]))
    }

    // MARK: Parsing of a line

    /// Returns the line without trailing blanks.
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
            let missing = all.count == 1 ? "case id and verdict" : "verdict"
            report(
                "missing \(missing) on this line", at: all[all.count - 1].span,
                hint: "write a subject, a case's id, a verdict, and optionally # a comment")
            return nil
        }
        if all.count > 3 {
            report(
                "unexpected word: a line has a subject, a case's id and a verdict", at: all[3].span,
                hint: "begin a comment with #; put an id that contains blanks in 'quotes'")
            return nil
        }
        let isAtTimes = all[2].text.hasSuffix("?")
        let word = isAtTimes ? String(all[2].text.dropLast()) : all[2].text
        guard let verdict = Verdict(rawValue: word) else {
            let near = Suggestion.nearest(to: word, among: Verdict.allCases.map(\.rawValue))
            report(
                "\(Escaped.text(all[2].text.utf8.prefix(60))) is not a verdict", at: all[2].span,
                hint: near.map { "did you mean \($0)?" } ?? "the verdicts are \(ExpectationsFile.verdicts)")
            return nil
        }
        if isAtTimes, verdict == .passed || verdict >= .unsupported {
            report(
                "`\(word)?` is meaningless: `?` marks a verdict that a case occasionally has instead of `passed`",
                at: all[2].span,
                hint: "use failed?, error? or inconclusive?")
            return nil
        }
        let subject = all[0].text == ExpectationsFile.noSubject && !all[0].isQuoted ? nil : all[0].text
        return ExpectedVerdict(
            key: CaseKey(id: all[1].text, subject: subject), verdict: verdict, isAtTimes: isAtTimes,
            comment: fields.comment, path: source.path, line: number)
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
