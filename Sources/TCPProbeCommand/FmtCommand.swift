import ProbeBase
import ArgumentParser
import ProbeEngine
import ProbeEvents
import ProbeScenario
import ProbeSystem

struct FmtCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "fmt",
        abstract: "Format scenarios in the standard style, preserving comments and the blank lines between groups.",
        discussion: """
            Rewrites files in place; with -, formats standard input and writes the result to standard output. With --check or
            --diff, exits with 1 if a file is not formatted.

            EXAMPLES:
              tcpprobe fmt Scenarios
              tcpprobe fmt --check Scenarios
              tcpprobe fmt --diff login.scn
              tcpprobe fmt - < login.scn
            """)

    @Argument(
        help: ArgumentHelp("Scenario files or folders; - reads standard input.", valueName: "path"),
        completion: .file(extensions: ["scn"]))
    var paths: [String]

    @Flag(help: "List the files that would change, without writing them.")
    var check = false

    @Flag(help: "Show the changes, without writing any file.")
    var diff = false

    func run() throws {
        let files = try ScenarioFiles.namedOrInput(paths)
        var differing = 0
        var isUnreadable = false
        for file in files {
            do throws(ScenarioFiles.PathError) {
                let old = try ScenarioFiles.content(of: file)
                switch ScenarioFormatter.format(path: file.path, bytes: old) {
                case .unreadable(let diagnostics, let sources):
                    Console.standardError.write(
                        diagnostics: DiagnosticRenderer(sources: sources).render(diagnostics))
                    isUnreadable = true
                case .formatted(let new) where new != old:
                    differing += 1
                    try apply(new, instead: old, to: file)
                case .formatted(let text):
                    if file.path == "-", !check, !diff { Console.standardOutput.write(text) }
                }
            } catch {
                Console.standardError.write("error: \(error.text)\n")
                isUnreadable = true
            }
        }
        if isUnreadable { throw ExitCode(2) }
        if differing > 0 && (check || diff) { throw ExitCode(1) }
    }

    private func apply(
        _ new: [UInt8], instead old: [UInt8], to file: ScenarioFiles.File
    ) throws(ScenarioFiles.PathError) {
        let path = Escaped.text(file.path.utf8)
        if diff { Console.standardOutput.write(LineDifference.unified(old: old, new: new, path: path)) }
        if check && !diff { Console.standardOutput.write("\(path)\n") }
        if check || diff { return }
        if file.path == "-" { return Console.standardOutput.write(new) }
        do throws(SystemError) {
            try SmallFile.rewrite(file.path, with: new)
        } catch {
            throw ScenarioFiles.PathError(text: "can't write \(path): \(error.reason)")
        }
        Console.standardOutput.write("formatted \(path)\n")
    }
}
