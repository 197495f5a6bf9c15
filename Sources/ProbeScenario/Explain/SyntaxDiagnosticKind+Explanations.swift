extension SyntaxDiagnosticKind {
    /// What the kinds mean, by their names.
    static let explanations: [DiagnosticID: DiagnosticExplanation] = [
        .expected: DiagnosticExplanation(
            meaning: "Something else must stand at this place. The message says what, and the hint shows it in an "
                + "example.",
            wrong: #"C expect "a" after"#,
            right: #"C expect "a" after 50ms"#
        ),
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
                """#
        ),
        .unexpectedSlash: DiagnosticExplanation(
            meaning: "A / opens a regex, except inside parentheses, where it divides.",
            wrong: #"C expect "a" /b/"#,
            right: "C expect line /a.*b/"
        ),
        .badNumber: DiagnosticExplanation(
            meaning: "Numbers are 12, 1_000 and 0x1f, up to 9223372036854775807. There are no negative literals, and a "
                + "duration or rate of zero would mean nothing.",
            wrong: #"S send "a" * -1"#,
            right: #"S send "a" * 3"#
        ),
        .missingUnit: DiagnosticExplanation(
            meaning: "Durations and rates always say their unit: 30 could be milliseconds or seconds, and guessing "
                + "would make verdicts wrong.",
            wrong: "wait 50",
            right: "wait 50ms"
        ),
        .unknownUnit: DiagnosticExplanation(
            meaning: "The units are us ms s min, and B KiB MiB GiB kB MB GB, each also with /s behind it for a rate. "
                + "They are written exactly so: a kB is 1000 bytes, a KiB 1024.",
            wrong: "wait 5sec",
            right: "wait 5s"
        ),
        .wrongQuantity: DiagnosticExplanation(
            meaning: "A number of one kind stands where another is meant: a size for a duration, or a duration for a "
                + "count.",
            wrong: "wait 4KiB",
            right: "wait 4ms"
        ),
        .tooDeep: DiagnosticExplanation(
            meaning: "Blocks and parentheses in each other have a limit, so that no script can exhaust the checker. "
                + "Give the inner part a name with let or define. So have steps: at most 1000000 with each do replaced by "
                + "the steps of its define.",
            wrong:
                #"S send (((((((((((((((((((((((((((((((((((((((((((((((((((((((((((("a"))))))))))))))))))))))))))))))))))))))))))))))))))))))))))))"#,
            right: #"S send ("a")"#
        ),
        .regexMisplaced: DiagnosticExplanation(
            meaning: "A regex is matched with a line, a message, the output of a process, or by check … matches. It is "
                + "no value: bytes without an end can't be searched for a match that may still grow.",
            wrong: "C expect /220/",
            right: "C expect line /220/"
        ),
        .unknownFunction: DiagnosticExplanation(
            meaning: "There is no function of this name.",
            wrong: #"S send repeat("a", 3)"#,
            right: #"S send "a" * 3"#
        ),
        .propertyOutsideString: DiagnosticExplanation(
            meaning: "The port and address of an actor are text in a string: \"${S.port}\". Where a number is meant, "
                + "int(…) reads it.",
            wrong: "let p = S.port",
            right: #"let p = int("${S.port}")"#
        ),
        .unknownWord: DiagnosticExplanation(
            meaning: "The word is not one of those that can stand here; the hint names them.",
            wrong: "C framing clrf",
            right: "C framing crlf"
        ),
        .unknownStatement: DiagnosticExplanation(
            meaning: "A line starts with a statement, or with an actor and what it does.",
            wrong: "wiat 50ms",
            right: "wait 50ms"
        ),
        .unknownVerb: DiagnosticExplanation(
            meaning: "This kind of actor can't do that: servers accept, clients connect, subjects and processes start, "
                + "and each has its own list, which the hint shows.",
            wrong: #"S sned "220""#,
            right: #"S send "220""#
        ),
        .unknownExpectation: DiagnosticExplanation(
            meaning: "Behind expect comes a value, or a word for what this kind of actor can see. A subject delivers "
                + "lines and messages, a connection bytes, a process its output and its end.",
            wrong: #"C expect lin "a""#,
            right: #"C expect line "a""#
        ),
        .unknownWire: DiagnosticExplanation(
            meaning: "Behind wire comes what can be seen in a capture, about one direction (wire S -> C …) or about a "
                + "connection.",
            wrong: "wire S -> C segmnts 1",
            right: "wire S -> C segments 1"
        ),
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
                """#
        ),
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
                """#
        ),
        .argumentCount: DiagnosticExplanation(
            meaning: "A function is called with the wrong number or kind of arguments.",
            wrong: "S send random(64)",
            right: "S send random(64, seed 7)"
        ),
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
                """#
        ),
        .clauseTwice: DiagnosticExplanation(
            meaning: "A clause can be said once in a step.",
            wrong: #"C expect "a" within 1s within 2s"#,
            right: #"C expect "a" within 2s"#
        ),
        .ifNeededNotHere: DiagnosticExplanation(
            meaning: "`if needed` says that a fault, a state, a name or an answer may be left without effect: without "
                + "it the case is inconclusive then. It follows faults of links, changes of a proxy, names, `vanish` and "
                + "`whenever`. Other steps do what they say, or fail.",
            wrong: #"S send "a" if needed"#,
            right: #"S send "a""#
        ),
        .pipeAndCut: DiagnosticExplanation(
            meaning: "A send is cut at its bars or at offsets. Both at once would leave open what the offsets count "
                + "from.",
            wrong: #"S send "ab" | "c" cut at 1"#,
            right: #"S send "abc" cut at 1, 2"#
        ),
        .timingNeverHolds: DiagnosticExplanation(
            meaning: "Both `after` and `within` count from the end of the step before. What must come after 100 ms "
                + "can't come within 50 ms.",
            wrong: #"C expect "a" after 100ms within 50ms"#,
            right: #"C expect "a" after 50ms within 100ms"#
        ),
        .asNotHere: DiagnosticExplanation(
            meaning: "Bytes that are given can be expected, and bytes that are not known can be bound to a name, but "
                + "not both.",
            wrong: #"C expect "abc" as x"#,
            right: "C expect 3 bytes as x"
        ),
    ]
}
