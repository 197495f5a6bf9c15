/// The steps that do not begin with an actor.
enum StepStatement {
    static let phrases: [Phrase<StepParser, Step.Kind>] = [
        Phrase(
            LanguageEntry(
                "wait",
                "waits for exactly the given time by the harness's clock; no option shortens or extends this time",
                example: "wait 50ms", timing: nil)
        ) { parser throws(Abandoned) in .wait(try parser.values.parseDuration("wait 50ms")) },
        Phrase(
            LanguageEntry(
                "note", ["note \"text\""], "adds a note to the timeline and, as a comment, to the capture",
                example: "note \"now the slow part\"", timing: nil)
        ) { parser throws(Abandoned) in .note(try parser.values.parseExpression("a text", "note \"now the slow part\""))
        },
        Phrase(
            LanguageEntry(
                "let", ["let x = VALUE"], "binds a variable to a value", example: "let x = \"value\"", timing: nil)
        ) { parser throws(Abandoned) in
            let (name, value) = try parser.parseLet()
            return .assign(name, value)
        },
        Phrase(
            LanguageEntry(
                "check", ["check x == VALUE"],
                "compares values: `==` and `!=` work with bytes and integers, `<` `<=` `>` `>=` with integers only; comparing a number with bytes is an error",
                more: [
                    (
                        ["check x contains V", "lacks V"],
                        "checks that the bytes V occur in x or, with `lacks`, that they do not"
                    ),
                    (
                        ["check x matches /re/"],
                        "checks that the regex matches x, and binds the named groups of the regex"
                    ),
                ], example: "check x == \"value\"", after: "let x = \"value\"", timing: nil)
        ) { parser throws(Abandoned) in try parser.parseCheck() },
        Phrase(
            LanguageEntry(
                "do", ["do NAME"],
                "runs a block that was defined with `define`. The variables that the block binds are visible afterwards",
                more: [
                    (
                        ["do { … }"],
                        "groups several steps so that they count as one, for example as one line of a `together`"
                    )
                ],
                example: "do { C send line \"hello\"; S expect line \"hello\" }", timing: nil)
        ) { parser throws(Abandoned) in
            parser.cursor.kind == .leftBrace
                ? .sequence(try parser.parseBlock())
                : .invoke(try parser.cursor.parseName("the name of a `define`, or a block", "do login"))
        },
        Phrase(
            LanguageEntry(
                "together", ["together { … }"],
                "runs its lines concurrently and waits until all lines have ended; the first failure ends the other lines and fails the step",
                example: "together { C send \"a\"; S expect \"a\" }", timing: nil)
        ) { parser throws(Abandoned) in .together(try parser.parseBlock()) },
        Phrase(
            LanguageEntry(
                "either", ["either { … } or { … }"],
                "runs the first branch whose first step, an `expect` or an `accept`, matches; the report names this branch. `or` must be on the line of the preceding `}`. The deadline of the step is the longest deadline of the branches' first steps. A first step has the same meaning as outside an `either`: for example, `nothing for 30ms` matches if nothing is received for 30 ms",
                example: "either { C expect line \"yes\" } or { C expect line \"no\" }", timing: nil)
        ) { parser throws(Abandoned) in try parser.parseEither() },
        Phrase(
            LanguageEntry(
                "for", ["for i in 1..100 { … }", "for cmd, reply in replies { … }"],
                "runs the block once for each number or row; an empty range or table is an error",
                example: "for i in 1..3 { C send line \"${i}\" }",
                timing: nil)
        ) { parser throws(Abandoned) in try parser.parseLoop() },
        Phrase(
            LanguageEntry(
                "retry", ["retry every 250ms within 20s { … }"],
                "runs its block again after a failure. Attempts begin 250 ms apart, or later if an attempt takes longer; no attempt begins after 20 s. Between attempts, the connections that the failed attempt opened are reset, so that no later `accept` accepts one of them, and the crowds that the attempt started are ended. The last failure is reported, with the number of attempts",
                example: "retry every 250ms within 20s { C expect line \"ready\" }", timing: nil)
        ) { parser throws(Abandoned) in try parser.parseRetry() },
        Phrase(
            LanguageEntry(
                "whenever", ["whenever C gets line /re/ { … }"],
                "from this step on, runs the block for each line that C receives and that matches, in order; these lines are not delivered to any `expect`. The rule is inactive while an `expect` of raw bytes waits on C. The named groups of the regex are variables in the block. In a loop, each different regex is a separate rule. A rule that is never used makes the case inconclusive",
                example: "whenever C gets line /^PING (?<t>.*)/ { C send line \"PONG ${t}\" }", timing: nil
            ).ifNeeded()
        ) { parser throws(Abandoned) in try parser.parseWhenever() },
        Phrase(
            LanguageEntry(
                "finally", ["finally { … }"],
                "runs at the end of the case, regardless of its outcome (even after Ctrl-C); several blocks run in the order of the script. A failure in one block is reported, and the other blocks still run. Of the variables that steps bind, the block can use only those that are bound in the block",
                example: "finally { C ignore rest }", timing: nil)
        ) { parser throws(Abandoned) in .finally(try parser.parseBlock()) },
        Phrase(wireEntry) { parser throws(Abandoned) in
            let statement = try parser.wire.parseWire()
            return .wire(statement, try parser.parseTiming())
        },
        Phrase(
            LanguageEntry(
                "link", ["link S -> T …", "link S <-> T …"],
                "applies a fault or a state to the packets from S to T or, with `<->`, to those in both directions",
                example: "link S -> C drop data 1", timing: nil
            ).ifNeeded(),
            when: { LinkParser.isStep($0) && !LinkParser.isDeclaration($0) }
        ) { parser throws(Abandoned) in .link(try LinkParser(cursor: parser.cursor).parseStep()) },
        Phrase(
            LanguageEntry(
                "name", ["name \"dual.test\" …"],
                "from this step on, changes what the host name resolves to",
                example: "name \"dual.test\" fails", timing: nil
            ).ifNeeded(),
            when: NameParser.isStatement
        ) { parser throws(Abandoned) in .name(try NameParser(cursor: parser.cursor).parseStatement()) },
    ]
    static let phraseIndex = PhraseIndex(phrases)

    private static let wireEntry: LanguageEntry = {
        var entry = LanguageEntry(
            "wire", ["wire S -> T …"],
            "checks what the capture shows about a connection; each wire statement has its own explanation",
            example: "wire S -> C segments 0", timing: .wire)
        entry.pointsAtOperand = true
        return entry
    }()
}
