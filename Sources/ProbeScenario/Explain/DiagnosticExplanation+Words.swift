extension Dictionary<DiagnosticID, DiagnosticExplanation> {
    /// The diagnostics about characters, words and names.
    static let wordDiagnostics: Self = [
        .notUTF8: DiagnosticExplanation(
            meaning:
                "A script must be valid UTF-8, including inside strings. Use escapes such as `\\xe9` for arbitrary "
                + "bytes on the wire, so that an editor or a diff can't change them.",
            wrong: nil,
            right: #"S send "caf\xe9""#),
        .nulByte: DiagnosticExplanation(
            meaning: "A script is text, and text contains no NUL bytes. A NUL byte usually means that the file is "
                + "something else, such as UTF-16 text or a program. Write `\\0` to send a NUL byte.",
            wrong: nil,
            right: #"S send "a\0b""#),
        .tooLarge: DiagnosticExplanation(
            meaning: "A script can be at most 64 MiB. Move large data to a separate file, and read it with `file(…)`.",
            wrong: nil,
            right: #"S send file("payload.bin")"#),
        .unexpectedCharacter: DiagnosticExplanation(
            meaning: "The character has no meaning at this position. Common causes are text without quotes, "
                + "typographic quotes "
                + "inserted by a word processor, operators of other languages such as `&&`, and control characters.",
            wrong: "S send “hello”",
            right: #"S send "hello""#),
        .commentNeedsSpace: DiagnosticExplanation(
            meaning: "A `#` starts a comment only at the beginning of a line or after white space. In the middle of a "
                + "word it could also be meant as text, so it is rejected. Put a space before it, or quote the text.",
            wrong: ##"S send "a"# one byte"##,
            right: #"S send "a"  # one byte"#),
        .unterminatedString: DiagnosticExplanation(
            meaning: "A string must end on the line on which it starts. Write the line endings that go on the wire as "
                + "`\\r\\n`, so that they don't depend on the line endings of the script file.",
            wrong: #"S send "220 ready"#,
            right: #"S send "220 ready\r\n""#),
        .unterminatedRegex: DiagnosticExplanation(
            meaning: "A `/` starts a regex, which must end on the same line. To divide, put the expression in "
                + "parentheses.",
            wrong: "C expect line /^220",
            right: "C expect line /^220/"),
        .unterminatedHex: DiagnosticExplanation(
            meaning: "The digits of `hex(…)` and the closing parenthesis must be on one line.",
            wrong: "S send hex(de ad",
            right: "S send hex(de ad)"),
        .unknownEscape: DiagnosticExplanation(
            meaning: "In a `\"string\"`, a backslash must start one of the escapes `\\r`, `\\n`, `\\t`, `\\0`, `\\\\`, "
                + "`\\\"`, `\\$`, `\\xHH` and `\\u{H…}`. In a `'raw string'`, a backslash is an ordinary character.",
            wrong: #"S send "C:\dir""#,
            right: #"S send 'C:\dir'"#),
        .badInterpolation: DiagnosticExplanation(
            meaning: "`${…}` in a string must name a variable, or a property of an actor such as `${S.port}`. It can't "
                + "contain an expression. Compute the value with `let` first.",
            wrong: #"S send "${1 + 2}""#,
            right: #"""
                let sum = 1 + 2
                S send "${sum}"
                """#),
        .badHex: DiagnosticExplanation(
            meaning: "`hex(…)` expects two hexadecimal digits for each byte. Spaces are allowed between bytes.",
            wrong: "S send hex(d)",
            right: "S send hex(0d 0a)"),
        .regexSyntax: DiagnosticExplanation(
            meaning: "The regex is invalid. Backreferences and lookaround are not supported, because every regex is "
                + "matched in linear time.",
            wrong: "C expect line /(220/",
            right: #"C expect line /\(220/"#),
        .shellOperator: DiagnosticExplanation(
            meaning: "A `process` command is split into words as in a shell, but no shell runs. Operators such as `|`, "
                + "`>` and `&&` are passed to the program as arguments. Run `sh -c '…'` if you need a shell.",
            wrong: #"""
                scenario "example"
                process P = echo hi > out
                P start
                P expect exit 0
                """#,
            right: #"""
                scenario "example"
                process P = sh -c 'echo hi > out'
                P start
                P expect exit 0
                """#),
        .tooManyErrors: DiagnosticExplanation(
            meaning: "Only the first 500 errors are reported. Fix those first, because later errors are often "
                + "consequences of earlier ones.",
            wrong: nil,
            right: nil
        ),
        .expected: DiagnosticExplanation(
            meaning: "The parser expected something else at this position. The message states what was expected, and "
                + "the hint shows an example.",
            wrong: #"C expect "a" after"#,
            right: #"C expect "a" after 50ms"#),
        .unmatchedBrace: DiagnosticExplanation(
            meaning: "Each `{` needs a matching `}`. A block can span several lines.",
            wrong: #"""
                do {
                  S send "a"
                """#,
            right: #"""
                do {
                  S send "a"
                }
                """#),
        .unexpectedSlash: DiagnosticExplanation(
            meaning: "A `/` is not valid at this position. It starts a regex, except inside parentheses, where it "
                + "divides. A comment starts with `#`, not with `//` or `/*`.",
            wrong: #"C expect "a" /b/"#,
            right: "C expect line /a.*b/"),
        .badNumber: DiagnosticExplanation(
            meaning: "The number is invalid. Numbers are written `12`, `1_000` or `0x1f`, and can be at most "
                + "9223372036854775807. There are no negative literals, and durations and rates must not be zero.",
            wrong: #"S send "a" * -1"#,
            right: #"S send "a" * 3"#),
        .missingUnit: DiagnosticExplanation(
            meaning: "Durations and rates need a unit. Without a unit, `30` could mean milliseconds or seconds, and a "
                + "wrong guess would lead to wrong verdicts.",
            wrong: "wait 50",
            right: "wait 50ms"),
        .unknownUnit: DiagnosticExplanation(
            meaning: "The units are `us`, `ms`, `s` and `min` for durations, and `B`, `KiB`, `MiB`, `GiB`, `kB`, `MB` "
                + "and `GB` for sizes. A rate is a size followed by `/s`. Units are case-sensitive; 1 kB is 1000 "
                + "bytes, and 1 KiB is 1024 bytes.",
            wrong: "wait 5sec",
            right: "wait 5s"),
        .wrongQuantity: DiagnosticExplanation(
            meaning:
                "The number is of the wrong kind. For example, a size was given where a duration is required, or a "
                + "duration where a count is required.",
            wrong: "wait 4KiB",
            right: "wait 4ms"),
        .tooDeep: DiagnosticExplanation(
            meaning:
                "Blocks or parentheses are nested too deeply. The nesting is limited so that no script can exhaust "
                + "the checker. Move the inner part to a `let` or a `define`. For the same reason, a script can have "
                + "at most 1000000 steps after each `do` has been replaced by the steps of its `define`.",
            wrong:
                #"S send (((((((((((((((((((((((((((((((((((((((((((((((((((((((((((("a"))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))"#,
            right: #"S send ("a")"#),
        .regexMisplaced: DiagnosticExplanation(
            meaning:
                "A regex can match a line, a message or the output of a process, or follow `matches` in a `check`. "
                + "It is not a value, and it can't be matched against a stream of bytes, because a match could still "
                + "grow as more bytes arrive.",
            wrong: "C expect /220/",
            right: "C expect line /220/"),
        .unknownFunction: DiagnosticExplanation(
            meaning: "There is no function with this name.",
            wrong: #"S send repeat("a", 3)"#,
            right: #"S send "a" * 3"#),
        .propertyOutsideString: DiagnosticExplanation(
            meaning: "The port and the address of an actor can be used only inside a string, such as `\"${S.port}\"`. "
                + "Use `int(…)` to convert the text to a number.",
            wrong: "let p = S.port",
            right: #"let p = int("${S.port}")"#),
        .unknownWord: DiagnosticExplanation(
            meaning: "The word is not valid at this position. The hint lists the valid words.",
            wrong: "C framing clrf",
            right: "C framing crlf"),
        .unknownStatement: DiagnosticExplanation(
            meaning: "A line must start with the keyword of a statement, or with an actor and a verb.",
            wrong: "wiat 50ms",
            right: "wait 50ms"),
        .unknownVerb: DiagnosticExplanation(
            meaning: "This kind of actor doesn't have this verb. For example, servers accept, clients connect, and "
                + "subjects and processes start. The hint lists the verbs of the actor.",
            wrong: #"S sned "220""#,
            right: #"S send "220""#),
        .unknownExpectation: DiagnosticExplanation(
            meaning: "`expect` must be followed by a value, or by something that this kind of actor can observe. A "
                + "connection receives bytes, a subject delivers lines and messages, and a process prints output and "
                + "exits.",
            wrong: #"C expect lin "a""#,
            right: #"C expect line "a""#),
        .unknownWire: DiagnosticExplanation(
            meaning: "`wire` must be followed by something that can be observed in a capture, either in one direction "
                + "(`wire S -> C …`) or on a connection.",
            wrong: "wire S -> C segmnts 1",
            right: "wire S -> C segments 1"),
        .eachNeedsTable: DiagnosticExplanation(
            meaning: "Several names in one `each` get their values from the rows of a table.",
            wrong: #"""
                scenario "example"
                each a, b = 1, 2
                server S
                S accept
                """#,
            right: #"""
                scenario "example"
                table rows = "x" 1, "y" 2
                each a, b in rows
                server S
                S accept
                """#),
        .cutsMisplaced: DiagnosticExplanation(
            meaning: "`cuts(V)` stands for every way to cut a value once, and `cuts(V, 2)` for every way to cut it "
                + "twice. Each way is a separate case, so `cuts(…)` must be the only value of an `each`. A `send` "
                + "cuts the value only if the variable is its entire operand.",
            wrong: #"S send cuts("abc")"#,
            right: #"""
                scenario "example"
                each piece = cuts("abc")
                server S
                client C -> S
                C connect
                S accept
                S send piece
                C expect "abc"
                """#),
        .argumentCount: DiagnosticExplanation(
            meaning: "The function was called with the wrong number or kind of arguments.",
            wrong: "S send random(64)",
            right: "S send random(64, seed 7)"),
        .badAddress: DiagnosticExplanation(
            meaning: "The address is invalid. Addresses are written `127.0.0.1:6379`, `[::1]:8080` or `localhost:80`, "
                + "with a port from 1 to 65535.",
            wrong: #"""
                scenario "example"
                client C -> 127.0.0:80
                C connect
                C expect eof
                """#,
            right: #"""
                scenario "example"
                client C -> 127.0.0.1:80
                C connect
                C expect eof
                """#),
        .clauseTwice: DiagnosticExplanation(
            meaning: "Each clause can occur only once in a step.",
            wrong: #"C expect "a" within 1s within 2s"#,
            right: #"C expect "a" within 2s"#),
        .ifNeededNotHere: DiagnosticExplanation(
            meaning: "`if needed` allows a statement to have no effect; without this clause, a statement that has no "
                + "effect makes the case inconclusive. The clause is allowed after faults of links, changes to a "
                + "proxy, `name` statements, `vanish` and `whenever`. Any other statement either takes effect or fails.",
            wrong: #"S send "a" if needed"#,
            right: #"S send "a""#),
        .pipeAndCut: DiagnosticExplanation(
            meaning: "A `send` can be cut either with `|` or at offsets. If both were used, it would be unclear which "
                + "piece the offsets refer to.",
            wrong: #"S send "ab" | "c" cut at 1"#,
            right: #"S send "abc" cut at 1, 2"#),
        .timingNeverHolds: DiagnosticExplanation(
            meaning: "The step can never pass, because both `after` and `within` are measured from the end of the "
                + "previous step. For example, nothing can arrive both after 100 ms and within 50 ms.",
            wrong: #"C expect "a" after 100ms within 50ms"#,
            right: #"C expect "a" after 50ms within 100ms"#),
        .asNotHere: DiagnosticExplanation(
            meaning: "A step can either expect given bytes or bind unknown bytes to a name. It can't do both, because "
                + "the value of given bytes is already known.",
            wrong: #"C expect "abc" as x"#,
            right: "C expect 3 bytes as x"),
        .reservedName: DiagnosticExplanation(
            meaning:
                "A word that starts a statement can't be used as a name. A line that starts with such a name would "
                + "be read as that statement.",
            wrong: "C expect line as check",
            right: "C expect line as answer"),
        .duplicateName: DiagnosticExplanation(
            meaning: "The name is already in use. Each name in a scenario can refer to only one thing.",
            wrong: "C expect line as S",
            right: "C expect line as text"),
        .unknownActor: DiagnosticExplanation(
            meaning: "A step must start with an actor that was declared in the header, or with a connection that an "
                + "earlier `accept as` has named.",
            wrong: #"X send "a""#,
            right: #"S send "a""#),
        .unknownVariable: DiagnosticExplanation(
            meaning:
                "No statement binds a variable with this name. Text must be quoted. A `-` inside a word is part of "
                + "the word, so `n-1` is a single name. To subtract, put spaces around the `-`.",
            wrong: "S send hello",
            right: #"S send "hello""#),
        .unboundVariable: DiagnosticExplanation(
            meaning: "The variable might not have a value when this step runs. This happens if only one branch of an "
                + "`either` binds it, if another line of the same `together` binds it at the same time, or if it is "
                + "used in `finally`, which runs even if the case failed before the variable was bound.",
            wrong: #"""
                either { C expect line "a" as x } or { C expect line "b" }
                S send x
                """#,
            right: #"""
                either { C expect line "a" as x } or { C expect line "b" as x }
                S send x
                """#),
        .unknownDefinition: DiagnosticExplanation(
            meaning: "`do NAME` runs the steps of a `define` in the header, and there is no `define` with this name.",
            wrong: "do login",
            right: #"""
                scenario "example"
                define login { S send "a" }
                server S
                S accept
                do login
                """#),
        .unknownTable: DiagnosticExplanation(
            meaning: "`each` and `for` take rows from a table that is declared in the header, and there is no table "
                + "with this name.",
            wrong: "for a in rows { S send a }",
            right: #"""
                scenario "example"
                table rows = "x", "y"
                server S
                S accept
                for a in rows { S send a }
                """#),
        .unknownProperty: DiagnosticExplanation(
            meaning: "The actor doesn't have this property. Servers, clients and connections have a port and an "
                + "address; a process has ports.",
            wrong: #"S send "${S.prt}""#,
            right: #"S send "${S.port}""#),
        .notAnActor: DiagnosticExplanation(
            meaning: "The name doesn't refer to an actor, or it refers to an actor that this step can't use.",
            wrong: #"""
                let x = "a"
                x send "a"
                """#,
            right: #"""
                let x = "a"
                S send x
                """#),
        .notAVariable: DiagnosticExplanation(
            meaning:
                "The name refers to an actor. Actors have no value, only properties, such as a port and an address.",
            wrong: #"S send "${C}""#,
            right: #"S send "${C.port}""#),
        .unusedActor: DiagnosticExplanation(
            meaning: "The actor does nothing. A step was probably forgotten, because the scenario would pass without "
                + "the actor.",
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
                """#),
        .recursiveDefinition: DiagnosticExplanation(
            meaning:
                "A `define` must not run itself, directly or through another `define`, because it would never end.",
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
                """#),
    ]
}
