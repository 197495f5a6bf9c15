import ProbeBase

/// What can be wrong with a script as a whole.
package enum StructureDiagnosticKind: Sendable {
    case emptyScript
    /// Why.
    case noScenario(String)
    /// A text of another kind, in which scenarios may stand.
    case markdown
    /// The line of the title.
    case scenarioInText(line: Int)
    case noSteps
    case noWireStatement
    case missingScenario
    case scenarioNotFirst
    case givenTwice(String)
    case headerAfterStep(String)
    case headerInBlock(String)
    case emptyBlock
    case unevenTable(row: Int, has: Int, first: Int)
    case stepInInclude
    case scenarioInInclude
    case includeMissing(String, LoadError)
    case includeCycle(String)
    case includeTooDeep(Int)
    case unknownSetting(String, [String])
    case tooManySteps(Int)

    var message: Diagnostic.Message {
        switch self {
        case .emptyScript:
            .init(.emptyScript, "the script is empty", hint: "a script starts with: scenario \"what it shows\"")
        case .noScenario(let reason): .init(.noScenario, "this is no scenario: \(reason)")
        case .markdown:
            .init(
                .noScenario, "this is no scenario file but Markdown: a block of code begins here",
                hint: "copy the example, without the lines ```, into a file that ends in .scn")
        case .scenarioInText(let line):
            .init(
                .noScenario, "this is no scenario file but a text with a scenario in it, which begins at line \(line)",
                hint: "copy the scenario into a file that ends in .scn")
        case .noSteps:
            .init(
                .emptyScript, "the scenario has no steps: nothing would be tested",
                hint: "behind the actors comes what they do: S accept")
        case .noWireStatement:
            .init(
                .emptyScript, "there is no statement: nothing would be checked",
                hint: "such as: wire client -> server lines crlf")
        case .missingScenario:
            .init(
                .missingScenario, "the scenario has no title",
                hint: "the first statement is: scenario \"what it shows\"")
        case .scenarioNotFirst:
            .init(
                .scenarioNotFirst, "a script starts with its title", hint: "put scenario \"what it shows\" before this")
        case .givenTwice(let word):
            .init(.givenTwice, "`\(word)` stands here a second time", hint: "keep one of the two")
        case .headerAfterStep(let word):
            .init(
                .headerAfterStep, "`\(word)` comes after the first step",
                hint: "statements of the header come before all steps: move it up")
        case .headerInBlock(let word):
            .init(
                .headerInBlock, "`\(word)` is a statement of the header, not a step",
                hint: "move it out of the block, to the top of the script")
        case .emptyBlock:
            .init(
                .emptyBlock, "this block is empty: it would pass by doing nothing",
                hint: "put steps into it, or remove it")
        case .unevenTable(let row, let has, let first):
            .init(
                .unevenTable, "row \(row) of this table has \(counted(has, "cell")), the first row \(first)",
                hint: "rows are separated by commas, the cells of a row by spaces")
        case .stepInInclude:
            .init(
                .stepInInclude, "an included file holds no steps",
                hint: "put them into a define, and write do NAME where they are to run")
        case .scenarioInInclude:
            .init(
                .scenarioInInclude, "an included file has no title",
                hint: "remove it: the title is the including script's")
        case .includeMissing(let path, let error):
            .init(
                .includeMissing, "\(Escaped.quoted(path)) can't be read: \(error.reason)",
                hint: "the path counts from the folder of this script")
        case .includeCycle(let path):
            .init(
                .includeCycle, "\(Escaped.quoted(path)) is being read already: it includes itself",
                hint: "remove one include of the circle")
        case .includeTooDeep(let limit):
            .init(.includeCycle, "includes go at most \(limit) deep", hint: "include the file from the script itself")
        case .unknownSetting(let name, let names):
            .init(
                .unknownSetting, "this scenario has no `let \(name)` that could be set",
                hint: names.isEmpty
                    ? "write let \(name) = … before the first step" : didYouMean(name, names, "there are"))
        case .tooManySteps(let limit):
            .init(
                .tooDeep,
                "the steps come to more than \(limit) here, each `do` counted with the steps that it stands for",
                hint: "a define that does another one twice doubles its steps: write for i in 1..2 { do NAME }")
        }
    }
}
