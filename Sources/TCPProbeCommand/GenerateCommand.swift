import ArgumentParser
import ProbeScenario
import ProbeSystem

/// Writes the files that are generated from the language's table; used by `make editors`.
struct GenerateCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "generate-language",
        abstract: "Write the editors' grammars and the reference's tables anew.", shouldDisplay: false)

    @Argument(help: ArgumentHelp("The repository.", valueName: "folder"), completion: .directory)
    var folder: String

    func run() throws {
        for file in GeneratedFile.allCases {
            do throws(SystemError) {
                let source = try SmallFile.contents(of: "\(folder)/\(file.source)", limit: .max)
                guard let text = file.text(from: String(decoding: source, as: UTF8.self)) else {
                    throw SystemError("\(file.source) has a marker that is not closed, or that names no table", code: 0)
                }
                try SmallFile.rewrite("\(folder)/\(file.path)", with: Array(text.utf8))
            } catch {
                throw Failure.wrongUse("\(file.path) can't be made: \(error)")
            }
        }
    }
}
