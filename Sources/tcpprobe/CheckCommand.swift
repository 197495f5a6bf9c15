import ArgumentParser
import ProbeScenario

struct CheckCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check",
        abstract: "Parse and check scenarios; open no socket.",
        discussion: """
            EXAMPLES:
              tcpprobe check Scenarios
              tcpprobe check login.scn logout.scn
            """)

    @Argument(help: ArgumentHelp("Scenario files, or folders of them.", valueName: "path"))
    var paths: [String]

    func run() throws {
        let files: ScenarioFiles
        do {
            files = try ScenarioFiles(paths)
        } catch {
            throw Failure.wrongUse(error.text)
        }
        var errors = 0
        var warnings = 0
        for file in files.files {
            do throws(ScenarioFiles.PathError) {
                let compiled = try ScenarioFiles.compile(file)
                Console.standardError.write(
                    DiagnosticRenderer(sources: compiled.result.sources).render(compiled.result.diagnostics))
                errors += compiled.result.diagnostics.count { $0.severity == .error }
                warnings += compiled.result.diagnostics.count { $0.severity != .error }
            } catch {
                Console.standardError.write("error: \(error.text)\n")
                errors += 1
            }
        }
        let count = files.files.count
        let summary = "\(count) \(count == 1 ? "file" : "files"), \(errors) \(errors == 1 ? "error" : "errors")"
        Console.standardOutput.write(summary + (warnings > 0 ? ", \(warnings) \(warnings == 1 ? "warning" : "warnings")" : "") + "\n")
        if errors > 0 { throw ExitCode(2) }
    }
}

/// The ways in which a command ends badly.
enum Failure {
    /// Says what is wrong and gives the exit code of wrong use.
    static func wrongUse(_ text: String) -> ExitCode {
        Console.standardError.write("error: \(text)\n")
        return ExitCode(2)
    }
}
