extension NameDiagnosticKind {
    /// What the kinds mean, by their names.
    static let explanations: [DiagnosticID: DiagnosticExplanation] = [
        .reservedName: DiagnosticExplanation(
            meaning: "A word that starts a statement can't be a name: a line that starts with it would be read as the "
                + "statement.",
            wrong: "C expect line as check",
            right: "C expect line as answer"
        ),
        .duplicateName: DiagnosticExplanation(
            meaning: "Each name means one thing in a scenario.",
            wrong: "C expect line as S",
            right: "C expect line as text"
        ),
        .unknownActor: DiagnosticExplanation(
            meaning: "A step starts with an actor that the header declares, or that accept as has bound before.",
            wrong: #"X send "a""#,
            right: #"S send "a""#
        ),
        .unknownVariable: DiagnosticExplanation(
            meaning: "No statement binds a variable of this name. Text stands in quotes. A - inside a word belongs to "
                + "the word, so n-1 is one name: put spaces around it.",
            wrong: "S send hello",
            right: #"S send "hello""#
        ),
        .unboundVariable: DiagnosticExplanation(
            meaning: "There is a way through the scenario on which the variable has no value here: a branch of either "
                + "that does not bind it, a line of together that runs at the same time, or a finally that runs "
                + "after an early failure.",
            wrong: #"""
                either { C expect line "a" as x } or { C expect line "b" }
                S send x
                """#,
            right: #"""
                either { C expect line "a" as x } or { C expect line "b" as x }
                S send x
                """#
        ),
        .unknownDefinition: DiagnosticExplanation(
            meaning: "do NAME runs the steps of a define of the header.",
            wrong: "do login",
            right: #"""
                scenario "example"
                define login { S send "a" }
                server S
                S accept
                do login
                """#
        ),
        .unknownTable: DiagnosticExplanation(
            meaning: "each and for take the rows of a table that the header gives.",
            wrong: "for a in rows { S send a }",
            right: #"""
                scenario "example"
                table rows = "x", "y"
                server S
                S accept
                for a in rows { S send a }
                """#
        ),
        .unknownProperty: DiagnosticExplanation(
            meaning: "A server, client or connection has a port and an address; a process has ports.",
            wrong: #"S send "${S.prt}""#,
            right: #"S send "${S.port}""#
        ),
        .notAnActor: DiagnosticExplanation(
            meaning: "The name is not that of an actor that can do this.",
            wrong: #"""
                let x = "a"
                x send "a"
                """#,
            right: #"""
                let x = "a"
                S send x
                """#
        ),
        .notAVariable: DiagnosticExplanation(
            meaning: "The name is that of an actor. An actor has no value, but a port and an address.",
            wrong: #"S send "${C}""#,
            right: #"S send "${C.port}""#
        ),
        .unusedActor: DiagnosticExplanation(
            meaning: "An actor that does nothing is a sign of a step that was forgotten: the scenario would pass "
                + "without it.",
            wrong: #"""
                scenario "example"
                server S
                client C -> S
                client D -> S
                C connect
                S accept
                """#,
            right: #"""
                scenario "example"
                server S
                client C -> S
                C connect
                S accept
                """#
        ),
        .recursiveDefinition: DiagnosticExplanation(
            meaning: "A define that does itself would never end.",
            wrong: #"""
                scenario "example"
                define again { S send "a"; do again }
                server S
                S accept
                do again
                """#,
            right: #"""
                scenario "example"
                server S
                S accept
                for i in 1..3 { S send "a" }
                """#
        ),
    ]
}
