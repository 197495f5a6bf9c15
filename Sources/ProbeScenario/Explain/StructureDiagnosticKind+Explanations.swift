extension StructureDiagnosticKind {
    /// What the kinds mean, by their names.
    static let explanations: [DiagnosticID: DiagnosticExplanation] = [
        .noScenario: DiagnosticExplanation(
            meaning:
                "The file is something else: a program, a picture, a text of another kind. A scenario is UTF-8 "
                + "text, and its lines are statements of this language. An example in a README or another text has "
                + "to be copied into a file of its own that ends in .scn.",
            wrong: "root:x:0:0:root:/root:/bin/bash",
            right: #"""
                scenario "example"
                server S
                client C -> S
                C connect
                S accept
                """#
        ),
        .emptyScript: DiagnosticExplanation(
            meaning: "There is nothing to run.",
            wrong: "# later",
            right: #"""
                scenario "example"
                server S
                client C -> S
                C connect
                S accept
                """#
        ),
        .missingScenario: DiagnosticExplanation(
            meaning: "A script starts with its title, which reports show.",
            wrong: #"""
                server S
                S accept
                """#,
            right: #"""
                scenario "example"
                server S
                S accept
                """#
        ),
        .scenarioNotFirst: DiagnosticExplanation(
            meaning: "The title is the first statement.",
            wrong: #"""
                server S
                scenario "example"
                S accept
                """#,
            right: #"""
                scenario "example"
                server S
                S accept
                """#
        ),
        .givenTwice: DiagnosticExplanation(
            meaning: "The statement says one thing for the whole scenario.",
            wrong: #"""
                scenario "example"
                timeout 1s
                timeout 2s
                server S
                S accept
                """#,
            right: #"""
                scenario "example"
                timeout 2s
                server S
                S accept
                """#
        ),
        .headerAfterStep: DiagnosticExplanation(
            meaning: "Statements of the header come before the first step, so that a reader finds them.",
            wrong: "timeout 2s",
            right: "C expect eof within 2s"
        ),
        .headerInBlock: DiagnosticExplanation(
            meaning: "A block holds steps. Statements of the header stand at the top of the script.",
            wrong: "do { timeout 2s }",
            right: "do { C expect eof within 2s }"
        ),
        .emptyBlock: DiagnosticExplanation(
            meaning: "A block without steps would pass by doing nothing.",
            wrong: "do { }",
            right: #"do { S send "a" }"#
        ),
        .unevenTable: DiagnosticExplanation(
            meaning: "The rows of a table have the same number of cells, and so have the names that take them. Rows "
                + "are separated by commas, cells by spaces.",
            wrong: #"""
                scenario "example"
                table rows = "a" 1, "b"
                each x, n in rows
                server S
                S accept
                """#,
            right: #"""
                scenario "example"
                table rows = "a" 1, "b" 2
                each x, n in rows
                server S
                S accept
                """#
        ),
        .stepInInclude: DiagnosticExplanation(
            meaning: "An included file gives its header statements and definitions. Steps belong into a define, which "
                + "the script runs with do.",
            wrong: #"S send "a""#,
            right: #"define greet { S send "a" }"#
        ),
        .scenarioInInclude: DiagnosticExplanation(
            meaning: "The title is that of the script, not of what it includes.",
            wrong: #"scenario "common""#,
            right: #"let greeting = "hello""#
        ),
        .includeMissing: DiagnosticExplanation(
            meaning: "The file can't be read. Its path counts from the folder of the script that includes it.",
            wrong: #"""
                scenario "example"
                include "comon.scn"
                server S
                S accept
                """#,
            right: #"""
                scenario "example"
                include "common.scn"
                server S
                S accept
                """#
        ),
        .includeCycle: DiagnosticExplanation(
            meaning: "A file includes itself, perhaps by way of another.",
            wrong: #"include "common.scn""#,
            right: #"let greeting = "hello""#
        ),
        .unknownSetting: DiagnosticExplanation(
            meaning: "--set name=value replaces a let of the header, and the script has none of this name.",
            wrong: nil,
            right: #"""
                scenario "example"
                let size = 1024
                server S
                S accept
                S send "a" * size
                """#
        ),
    ]
}
