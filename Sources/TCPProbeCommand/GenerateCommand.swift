import ArgumentParser
import ProbeScenario
import ProbeSystem

/// Writes the files that are generated from the definition of the scenario language. Used by `make editors`.
struct GenerateCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "generate-language",
        abstract: "Regenerate the editors' grammars and the reference's tables.", shouldDisplay: false)

    @Argument(help: ArgumentHelp("Folder of the repository.", valueName: "folder"), completion: .directory)
    var folder: String

    func run() throws {
        for file in GeneratedFile.allCases {
            do throws(SystemError) {
                let source = try SmallFile.contents(of: "\(folder)/\(file.source)", limit: .max)
                guard let text = file.text(from: String(decoding: source, as: UTF8.self)) else {
                    throw SystemError("\(file.source) has an unclosed marker, or a marker that names no table", code: 0)
                }
                try SmallFile.rewrite("\(folder)/\(file.path)", with: Array(text.utf8))
            } catch {
                throw Failure.invalidUsage("can't generate \(file.path): \(error)")
            }
        }
    }
}
