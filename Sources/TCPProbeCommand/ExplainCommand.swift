import ProbeBase
import ArgumentParser
import ProbeEvents
import ProbeScenario

struct ExplainCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "explain",
        abstract: "Say what a diagnostic means, with a wrong and a right example.",
        discussion: """
            The id stands in brackets behind each diagnostic. Without one, all ids are listed.

            EXAMPLES:
              tcpprobe explain unknown-verb
              tcpprobe explain
            """)

    @Argument(
        help: ArgumentHelp("The diagnostic's id.", valueName: "id"),
        completion: .list(DiagnosticID.allCases.map(\.rawValue)))
    var id: String?

    func run() throws {
        guard let id else {
            for id in DiagnosticID.allCases { Console.standardOutput.write("\(id.rawValue)\n") }
            return
        }
        guard let known = DiagnosticID(rawValue: id) else {
            let near = Suggestion.nearest(to: id, among: DiagnosticID.allCases.map(\.rawValue))
            throw Failure.wrongUse(
                "there is no diagnostic \(EscapedBytes.safeText(id.utf8))"
                    + (near.map { "; did you mean \($0)?" } ?? "; `tcpprobe explain` lists them"))
        }
        let explanation = DiagnosticExplanation.of(known)
        var text = "\(known.rawValue)\n\n\(explanation.meaning)\n"
        let examples = [explanation.wrong, explanation.right].compactMap { $0 }
        if examples.contains(where: { !$0.hasPrefix("scenario") }) {
            text += "\nThe examples stand in a scenario in which S is a server, C its client, and both are connected.\n"
        }
        if let wrong = explanation.wrong { text += "\nWrong:\n\n\(indented(wrong))" }
        if let right = explanation.right { text += "\nRight:\n\n\(indented(right))" }
        Console.standardOutput.write(text)
    }

    private func indented(_ text: String) -> String {
        text.split(separator: "\n", omittingEmptySubsequences: false)
            .map { $0.isEmpty ? "\n" : "    \(EscapedBytes.safeText($0.utf8))\n" }.joined()
    }
}
