import ArgumentParser
import ProbeBase
import ProbeDiagnose
import ProbeEvents
import ProbeScenario

struct ExplainCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "explain",
        abstract: "Explain a diagnostic, a finding of diagnose, a verb, a statement or a function.",
        discussion: """
            The id of a diagnostic is shown in brackets after its message, and the id of a finding in parentheses after its evidence. Without arguments, lists all ids, one per line.

            EXAMPLES:
              tcpprobe explain unknown-verb
              tcpprobe explain stop reading
              tcpprobe explain expect line
              tcpprobe explain wire gap
              tcpprobe explain zero-window
              tcpprobe explain
            """)

    @Argument(
        help: ArgumentHelp("Id of a diagnostic or a finding, or words of the language.", valueName: "id-or-words"),
        completion: .list(Self.firstWords))
    var words: [String] = []

    func run() throws {
        guard !words.isEmpty else {
            Console.standardOutput.write(Self.list(width: Console.standardOutput.width))
            return
        }
        let wanted = words.joined(separator: " ")
        var pages: [String] = []
        if let id = DiagnosticID(rawValue: wanted) {
            pages.append(DiagnosticExplanation.page(of: id))
        } else {
            let found = LanguageTable.find(wanted)
            pages += found.map(EntryExplanation.text)
            if let word = LanguageWord.explanation(of: wanted, hasEntry: !found.isEmpty) { pages.append(word) }
        }
        // Some ids of findings, such as `loss`, are also words of the language.
        if let id = FindingID(rawValue: wanted) { pages.append(FindingExplanation.page(of: id)) }
        guard !pages.isEmpty else {
            let near = Suggestion.nearest(to: wanted, among: Self.ids + LanguageTable.names)
            throw Failure.invalidUsage(
                "\(Escaped.text(wanted.utf8)) is neither a diagnostic, nor a finding, nor part of the language"
                    + (near.map { "; did you mean \($0)?" } ?? "; `tcpprobe explain` lists diagnostics and findings"))
        }
        Console.standardOutput.write(pages.joined(separator: "\n"))
    }

    private static let ids = DiagnosticID.allCases.map(\.rawValue) + FindingID.allCases.map(\.rawValue)

    private static let firstWords = {
        let words = Set(LanguageTable.names.map { String($0.prefix { $0 != " " }) })
        return ids + words.subtracting(ids).sorted()
    }()

    /// Returns a list of the ids of all diagnostics and of all findings, each with a sentence.
    private static func list(width: Int?) -> String {
        let diagnostics = DiagnosticID.allCases.map {
            (id: $0.rawValue, text: firstSentence(of: DiagnosticExplanation.of($0).meaning))
        }
        let findings = FindingID.allCases.map {
            (id: $0.rawValue, text: FindingExplanation.of($0).meaning + ".")
        }
        let column = (diagnostics + findings).map(\.id.count).max() ?? 0
        func lines(_ rows: [(id: String, text: String)]) -> String {
            rows.map { row in
                let line = "\(Columns.padded(row.id, to: column))  \(row.text)"
                return (width.map { Columns.cut(line, to: $0) } ?? line) + "\n"
            }.joined()
        }
        return "Diagnostics of scripts:\n\n" + lines(diagnostics) + "\nFindings of `tcpprobe diagnose`:\n\n"
            + lines(findings)
    }

    private static func firstSentence(of text: String) -> String {
        let line = text.split(whereSeparator: \.isNewline).joined(separator: " ")
        var sentence = ""
        for character in line {
            if character == " ", sentence.hasSuffix(".") || sentence.hasSuffix(":") { break }
            sentence.append(character)
        }
        return sentence.hasSuffix(":") ? String(sentence.dropLast()) + "." : sentence
    }
}
