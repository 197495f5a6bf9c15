import ArgumentParser
import ProbeBase
import ProbeEvents
import ProbeScenario

struct ExplainCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "explain",
        abstract: "Explain a diagnostic, verb, statement or function, with examples.",
        discussion: """
            The id of a diagnostic is shown in brackets after its message. Without arguments, lists all ids, one per line.

            EXAMPLES:
              tcpprobe explain unknown-verb
              tcpprobe explain stop reading
              tcpprobe explain expect line
              tcpprobe explain wire gap
              tcpprobe explain
            """)

    @Argument(
        help: ArgumentHelp("Id of a diagnostic, or words of the language.", valueName: "id-or-words"),
        completion: .list(Self.firstWords))
    var words: [String] = []

    func run() throws {
        guard !words.isEmpty else {
            Console.standardOutput.write(Self.list(width: Console.standardOutput.width))
            return
        }
        let wanted = words.joined(separator: " ")
        if let id = DiagnosticID(rawValue: wanted) {
            Console.standardOutput.write(DiagnosticExplanation.page(of: id))
            return
        }
        let found = LanguageTable.find(wanted)
        let word = LanguageWord.explanation(of: wanted, hasEntry: !found.isEmpty)
        guard !found.isEmpty || word != nil else {
            let near = Suggestion.nearest(
                to: wanted, among: DiagnosticID.allCases.map(\.rawValue) + LanguageTable.names)
            throw Failure.invalidUsage(
                "\(Escaped.text(wanted.utf8)) is neither a diagnostic nor part of the language"
                    + (near.map { "; did you mean \($0)?" } ?? "; `tcpprobe explain` lists the diagnostics"))
        }
        let pages = found.map(EntryExplanation.text) + (word.map { [$0] } ?? [])
        Console.standardOutput.write(pages.joined(separator: "\n"))
    }

    private static let firstWords =
        DiagnosticID.allCases.map(\.rawValue)
        + Set(LanguageTable.names.map { String($0.prefix { $0 != " " }) }).sorted()

    /// Returns a list of all diagnostic ids, each with the first sentence of its explanation.
    private static func list(width: Int?) -> String {
        let column = DiagnosticID.allCases.map(\.rawValue.count).max() ?? 0
        return DiagnosticID.allCases.map { id in
            let line =
                "\(Columns.padded(id.rawValue, to: column))  \(firstSentence(of: DiagnosticExplanation.of(id).meaning))"
            return (width.map { Columns.cut(line, to: $0) } ?? line) + "\n"
        }.joined()
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
