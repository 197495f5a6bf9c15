import ProbeBase
import ArgumentParser
import ProbeEngine
import ProbeReport
import ProbeScenario

struct CheckCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check",
        abstract: "Parse and check scenarios without running them.",
        discussion: """
            EXAMPLES:
              tcpprobe check Scenarios
              tcpprobe check login.scn logout.scn
              generate | tcpprobe check -
            """)

    @Argument(
        help: ArgumentHelp("Scenario files or folders; - reads standard input.", valueName: "path"),
        completion: .file(extensions: ["scn"]))
    var paths: [String]

    @OptionGroup var targets: TargetOptions

    @Flag(help: "Write diagnostics to standard output, one JSON object per line.")
    var json = false

    func run() throws {
        let files = try ScenarioFiles.namedOrInput(paths)
        let allowed = try targets.targets()
        var errors = 0
        var warnings = 0
        for file in files {
            do throws(ScenarioFiles.PathError) {
                let result = ScenarioCompiler.compile(
                    path: file.path, bytes: try ScenarioFiles.content(of: file), allowing: allowed,
                    loader: FileAccess.load)
                if json {
                    for diagnostic in result.diagnostics {
                        Console.standardOutput.write(DiagnosticJSON.line(diagnostic, result.sources))
                    }
                } else {
                    Console.standardError.write(
                        diagnostics: DiagnosticRenderer(sources: result.sources).render(result.diagnostics))
                }
                errors += result.diagnostics.count { $0.severity == .error }
                warnings += result.diagnostics.count { $0.severity != .error }
            } catch {
                Console.standardError.write("error: \(error.text)\n")
                errors += 1
            }
        }
        if json {
            if errors > 0 { throw ExitCode(2) }
            return
        }
        let count = files.count
        let summary = "\(count) \(count == 1 ? "file" : "files"), \(errors) \(errors == 1 ? "error" : "errors")"
        Console.standardOutput.write(
            summary + (warnings > 0 ? ", \(warnings) \(warnings == 1 ? "warning" : "warnings")" : "") + "\n")
        if errors > 0 { throw ExitCode(2) }
    }
}

/// Formats a diagnostic as one line of JSON.
enum DiagnosticJSON {
    static func line(_ diagnostic: Diagnostic, _ sources: SourceMap) -> [UInt8] {
        let start = sources.location(of: diagnostic.span)
        let end = sources.location(
            of: SourceSpan(file: diagnostic.span.file, start: diagnostic.span.end, end: diagnostic.span.end))
        var members: [JSONValue.Member] = [
            ("version", .integer(1)), ("severity", .string(diagnostic.severity.rawValue)),
            ("id", .string(diagnostic.id.rawValue)), ("path", .string(start.path)),
            ("line", .integer(start.line)),
            ("column", .integer(start.column)), ("endLine", .integer(end.line)),
            ("endColumn", .integer(end.column)), ("message", .string(diagnostic.text)),
        ]
        if let hint = diagnostic.hint { members.append(("hint", .string(hint))) }
        if !diagnostic.notes.isEmpty {
            members.append(
                (
                    "notes",
                    .array(
                        diagnostic.notes.map { note in
                            let place = sources.location(of: note.span)
                            return .object([
                                ("path", .string(place.path)), ("line", .integer(place.line)),
                                ("column", .integer(place.column)), ("message", .string(note.text)),
                            ])
                        })
                ))
        }
        return JSONValue.object(members).encoded() + [10]
    }
}
