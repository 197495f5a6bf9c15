extension Dictionary<DiagnosticID, DiagnosticExplanation> {
    /// The diagnostics about words: characters, words and names.
    static let ofWords: Self = [
        .notUTF8: DiagnosticExplanation(
            meaning: "A script is UTF-8 text. Bytes that are none have no place in it, not even in a string: what goes "
                + "on the wire is written with escapes, so that an editor or a diff can't change it.",
            wrong: nil,
            right: #"S send "caf\xe9""#),
        .nulByte: DiagnosticExplanation(
            meaning: "A script is text, and a NUL byte is none. It is a sign that the file is something else, such as "
                + "UTF-16 or a program.",
            wrong: nil,
            right: #"S send "a\0b""#),
        .tooLarge: DiagnosticExplanation(
            meaning: "A script of more than 64 MiB is not read. What is so long is data, and belongs into a file of "
                + "its own.",
            wrong: nil,
            right: #"S send file("payload.bin")"#),
        .unexpectedCharacter: DiagnosticExplanation(
            meaning: "A character stands where none such has a meaning: often text without quotes, typographic quotes "
                + "that a text processor made, or a control character.",
            wrong: "S send “hello”",
            right: #"S send "hello""#),
        .commentNeedsSpace: DiagnosticExplanation(
            meaning: "A # starts a comment at the start of a line and behind white space. In the middle of a word it "
                + "might be meant as text, so it is asked for.",
            wrong: ##"S send "a"# one byte"##,
            right: #"S send "a"  # one byte"#),
        .unterminatedString: DiagnosticExplanation(
            meaning: "A string ends on the line where it starts. Line ends that go on the wire are written \\r\\n, so "
                + "that those of the script never matter.",
            wrong: #"S send "220 ready"#,
            right: #"S send "220 ready\r\n""#),
        .unterminatedRegex: DiagnosticExplanation(
            meaning: "A / opens a regex, and it ends on its line. Division is written inside parentheses.",
            wrong: "C expect line /^220",
            right: "C expect line /^220/"),
        .unterminatedHex: DiagnosticExplanation(
            meaning: "The digits of hex(…) end on their line.",
            wrong: "S send hex(de ad",
            right: "S send hex(de ad)"),
        .unknownEscape: DiagnosticExplanation(
            meaning:
                "In a \"string\" a backslash starts one of \\r \\n \\t \\0 \\\\ \\\" \\$ \\xHH \\u{H…}. In a 'raw string' it "
                + "is itself.",
            wrong: #"S send "C:\dir""#,
            right: #"S send 'C:\dir'"#),
        .badInterpolation: DiagnosticExplanation(
            meaning: "${…} in a string names a variable, or the port or address of an actor. It holds no expression: "
                + "compute with let first.",
            wrong: #"S send "${1 + 2}""#,
            right: #"""
                let sum = 1 + 2
                S send "${sum}"
                """#),
        .badHex: DiagnosticExplanation(
            meaning: "hex(…) takes two hexadecimal digits for each byte, with spaces between bytes where you like.",
            wrong: "S send hex(d)",
            right: "S send hex(0d 0a)"),
        .regexSyntax: DiagnosticExplanation(
            meaning: "The pattern is no regex of this language. It has no backreferences and no lookaround, as every "
                + "pattern is matched in linear time.",
            wrong: "C expect line /(220/",
            right: #"C expect line /\(220/"#),
        .shellOperator: DiagnosticExplanation(
            meaning: "A process line is cut into words as a shell does, but no shell runs: |, > and && are handed to "
                + "the program as they are.",
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
            meaning: "Beyond five hundred errors the rest is not told. Mend the first ones; the others often follow "
                + "from them.",
            wrong: nil,
            right: nil
        ),
        .expected: DiagnosticExplanation(
            meaning: "Something else must stand at this place. The message says what, and the hint shows it in an "
                + "example.",
            wrong: #"C expect "a" after"#,
            right: #"C expect "a" after 50ms"#),
        .unmatchedBrace: DiagnosticExplanation(
            meaning: "Each { has its }. A block may stand on one line or on several.",
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
            meaning: "A / opens a regex, except inside parentheses, where it divides.",
            wrong: #"C expect "a" /b/"#,
            right: "C expect line /a.*b/"),
        .badNumber: DiagnosticExplanation(
            meaning: "Numbers are 12, 1_000 and 0x1f, up to 9223372036854775807. There are no negative literals, and a "
                + "duration or rate of zero would mean nothing.",
            wrong: #"S send "a" * -1"#,
            right: #"S send "a" * 3"#),
        .missingUnit: DiagnosticExplanation(
            meaning: "Durations and rates always say their unit: 30 could be milliseconds or seconds, and guessing "
                + "would make verdicts wrong.",
            wrong: "wait 50",
            right: "wait 50ms"),
        .unknownUnit: DiagnosticExplanation(
            meaning: "The units are us ms s min, and B KiB MiB GiB kB MB GB, each also with /s behind it for a rate. "
                + "They are written exactly so: a kB is 1000 bytes, a KiB 1024.",
            wrong: "wait 5sec",
            right: "wait 5s"),
        .wrongQuantity: DiagnosticExplanation(
            meaning: "A number of one kind stands where another is meant: a size for a duration, or a duration for a "
                + "count.",
            wrong: "wait 4KiB",
            right: "wait 4ms"),
        .tooDeep: DiagnosticExplanation(
            meaning: "Blocks and parentheses in each other have a limit, so that no script can exhaust the checker. "
                + "Give the inner part a name with let or define. So have steps: at most 1000000 with each do replaced by "
                + "the steps of its define.",
            wrong:
                #"S send (((((((((((((((((((((((((((((((((((((((((((((((((((((((((((("a"))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))"#,
            right: #"S send ("a")"#),
        .regexMisplaced: DiagnosticExplanation(
            meaning: "A regex is matched with a line, a message, the output of a process, or by check … matches. It is "
                + "no value: bytes without an end can't be searched for a match that may still grow.",
            wrong: "C expect /220/",
            right: "C expect line /220/"),
        .unknownFunction: DiagnosticExplanation(
            meaning: "There is no function of this name.",
            wrong: #"S send repeat("a", 3)"#,
            right: #"S send "a" * 3"#),
        .propertyOutsideString: DiagnosticExplanation(
            meaning: "The port and address of an actor are text in a string: \"${S.port}\". Where a number is meant, "
                + "int(…) reads it.",
            wrong: "let p = S.port",
            right: #"let p = int("${S.port}")"#),
        .unknownWord: DiagnosticExplanation(
            meaning: "The word is not one of those that can stand here; the hint names them.",
            wrong: "C framing clrf",
            right: "C framing crlf"),
        .unknownStatement: DiagnosticExplanation(
            meaning: "A line starts with a statement, or with an actor and what it does.",
            wrong: "wiat 50ms",
            right: "wait 50ms"),
        .unknownVerb: DiagnosticExplanation(
            meaning: "This kind of actor can't do that: servers accept, clients connect, subjects and processes start, "
                + "and each has its own list, which the hint shows.",
            wrong: #"S sned "220""#,
            right: #"S send "220""#),
        .unknownExpectation: DiagnosticExplanation(
            meaning: "Behind expect comes a value, or a word for what this kind of actor can see. A subject delivers "
                + "lines and messages, a connection bytes, a process its output and its end.",
            wrong: #"C expect lin "a""#,
            right: #"C expect line "a""#),
        .unknownWire: DiagnosticExplanation(
            meaning: "Behind wire comes what can be seen in a capture, about one direction (wire S -> C …) or about a "
                + "connection.",
            wrong: "wire S -> C segmnts 1",
            right: "wire S -> C segments 1"),
        .eachNeedsTable: DiagnosticExplanation(
            meaning: "Several names at once take the cells of a table's rows.",
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
            meaning: "cuts(V) is every way to cut a value once, and cuts(V, 2) twice: it makes cases, so it stands "
                + "alone behind each. The value of a case is cut where it is the whole operand of send.",
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
            meaning: "A function is called with the wrong number or kind of arguments.",
            wrong: "S send random(64)",
            right: "S send random(64, seed 7)"),
        .badAddress: DiagnosticExplanation(
            meaning: "An address is 127.0.0.1:6379, [::1]:8080 or localhost:80. Ports go from 1 to 65535.",
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
            meaning: "A clause can be said once in a step.",
            wrong: #"C expect "a" within 1s within 2s"#,
            right: #"C expect "a" within 2s"#),
        .ifNeededNotHere: DiagnosticExplanation(
            meaning: "`if needed` says that a fault, a state, a name or an answer may be left without effect: without "
                + "it the case is inconclusive then. It follows faults of links, changes of a proxy, names, `vanish` and "
                + "`whenever`. Other steps do what they say, or fail.",
            wrong: #"S send "a" if needed"#,
            right: #"S send "a""#),
        .pipeAndCut: DiagnosticExplanation(
            meaning: "A send is cut at its bars or at offsets. Both at once would leave open what the offsets count "
                + "from.",
            wrong: #"S send "ab" | "c" cut at 1"#,
            right: #"S send "abc" cut at 1, 2"#),
        .timingNeverHolds: DiagnosticExplanation(
            meaning: "Both `after` and `within` count from the end of the step before. What must come after 100 ms "
                + "can't come within 50 ms.",
            wrong: #"C expect "a" after 100ms within 50ms"#,
            right: #"C expect "a" after 50ms within 100ms"#),
        .asNotHere: DiagnosticExplanation(
            meaning: "Bytes that are given can be expected, and bytes that are not known can be bound to a name, but "
                + "not both.",
            wrong: #"C expect "abc" as x"#,
            right: "C expect 3 bytes as x"),
        .reservedName: DiagnosticExplanation(
            meaning: "A word that starts a statement can't be a name: a line that starts with it would be read as the "
                + "statement.",
            wrong: "C expect line as check",
            right: "C expect line as answer"),
        .duplicateName: DiagnosticExplanation(
            meaning: "Each name means one thing in a scenario.",
            wrong: "C expect line as S",
            right: "C expect line as text"),
        .unknownActor: DiagnosticExplanation(
            meaning: "A step starts with an actor that the header declares, or that accept as has bound before.",
            wrong: #"X send "a""#,
            right: #"S send "a""#),
        .unknownVariable: DiagnosticExplanation(
            meaning: "No statement binds a variable of this name. Text stands in quotes. A - inside a word belongs to "
                + "the word, so n-1 is one name: put spaces around it.",
            wrong: "S send hello",
            right: #"S send "hello""#),
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
                """#),
        .unknownDefinition: DiagnosticExplanation(
            meaning: "do NAME runs the steps of a define of the header.",
            wrong: "do login",
            right: #"""
                scenario "example"
                define login { S send "a" }
                server S
                S accept
                do login
                """#),
        .unknownTable: DiagnosticExplanation(
            meaning: "each and for take the rows of a table that the header gives.",
            wrong: "for a in rows { S send a }",
            right: #"""
                scenario "example"
                table rows = "x", "y"
                server S
                S accept
                for a in rows { S send a }
                """#),
        .unknownProperty: DiagnosticExplanation(
            meaning: "A server, client or connection has a port and an address; a process has ports.",
            wrong: #"S send "${S.prt}""#,
            right: #"S send "${S.port}""#),
        .notAnActor: DiagnosticExplanation(
            meaning: "The name is not that of an actor that can do this.",
            wrong: #"""
                let x = "a"
                x send "a"
                """#,
            right: #"""
                let x = "a"
                S send x
                """#),
        .notAVariable: DiagnosticExplanation(
            meaning: "The name is that of an actor. An actor has no value, but a port and an address.",
            wrong: #"S send "${C}""#,
            right: #"S send "${C.port}""#),
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
                """#),
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
                """#),
    ]
}
