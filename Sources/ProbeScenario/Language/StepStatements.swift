/// The steps that do not begin with an actor.
enum StepStatement {
    static let phrases: [Phrase<StepParser, Step.Kind>] = [
        Phrase(
            LanguageEntry(
                "wait", "the clock of the harness; never shortened or stretched", example: "wait 50ms", timing: nil)
        ) { parser throws(Abandoned) in .wait(try parser.values.parseDuration("wait 50ms")) },
        Phrase(
            LanguageEntry(
                "note", ["note \"text\""], "stands in the timeline and, as a comment, in the capture",
                example: "note \"now the slow part\"", timing: nil)
        ) { parser throws(Abandoned) in .note(try parser.values.parseExpression("a text", "note \"now the slow part\""))
        },
        Phrase(
            LanguageEntry(
                "let", ["let x = VALUE"], "binds a variable", example: "let x = \"value\"", timing: nil)
        ) { parser throws(Abandoned) in
            let (name, value) = try parser.parseLet()
            return .assign(name, value)
        },
        Phrase(
            LanguageEntry(
                "check", ["check x == VALUE"],
                "`==` `!=` for bytes and integers, `<` `<=` `>` `>=` for integers only; a number compared with bytes is an error",
                more: [
                    (["check x contains V", "lacks V"], "bytes inside bytes"),
                    (["check x matches /re/"], "binds the regex's groups"),
                ], example: "check x == \"value\"", after: "let x = \"value\"", timing: nil)
        ) { parser throws(Abandoned) in try parser.parseCheck() },
        Phrase(
            LanguageEntry(
                "do", ["do NAME"], "runs a `define`. What it binds is visible afterwards",
                more: [(["do { … }"], "several steps as one: a line of a `together`")],
                example: "do { C send line \"hello\"; S expect line \"hello\" }", timing: nil)
        ) { parser throws(Abandoned) in
            parser.cursor.kind == .leftBrace
                ? .sequence(try parser.parseBlock())
                : .invoke(try parser.cursor.parseName("the name of a `define`, or a block", "do login"))
        },
        Phrase(
            LanguageEntry(
                "together", ["together { … }"],
                "its lines run at once; all must end, the first failure ends the others and fails the step",
                example: "together { C send \"a\"; S expect \"a\" }", timing: nil)
        ) { parser throws(Abandoned) in .together(try parser.parseBlock()) },
        Phrase(
            LanguageEntry(
                "either", ["either { … } or { … }"],
                "each branch starts with an `expect` or an `accept`; the first branch whose start matches is taken, and the report names it. `or` follows the `}`. The step waits for the longest deadline of the starts. A start has the same meaning as the step alone: `nothing for 30ms` matches when 30 ms have passed and nothing was received",
                example: "either { C expect line \"yes\" } or { C expect line \"no\" }", timing: nil)
        ) { parser throws(Abandoned) in try parser.parseEither() },
        Phrase(
            LanguageEntry(
                "for", ["for i in 1..100 { … }", "for cmd, reply in replies { … }"],
                "once for each; over nothing is an error", example: "for i in 1..3 { C send line \"${i}\" }",
                timing: nil)
        ) { parser throws(Abandoned) in try parser.parseLoop() },
        Phrase(
            LanguageEntry(
                "retry", ["retry every 250ms within 20s { … }"],
                "runs its block again after a failure. Attempts begin 250 ms apart (later, where an attempt takes longer); an attempt that would begin after the 20 s does not. Connections that the attempt opened are reset in between, and no `accept` takes them; crowds that it started are ended. The last failure is reported, with the number of attempts",
                example: "retry every 250ms within 20s { C expect line \"ready\" }", timing: nil)
        ) { parser throws(Abandoned) in try parser.parseRetry() },
        Phrase(
            LanguageEntry(
                "whenever", ["whenever C gets line /re/ { … }"],
                "from here on such lines are answered, in their order, and reach no `expect`. It looks only while no `expect` of raw bytes waits on C. The regex's groups are variables in the block. In a loop, each different regex is a separate rule. A rule that is never used makes the case *inconclusive*",
                example: "whenever C gets line /^PING (?<t>.*)/ { C send line \"PONG ${t}\" }", timing: nil
            ).ifNeeded()
        ) { parser throws(Abandoned) in try parser.parseWhenever() },
        Phrase(
            LanguageEntry(
                "finally", ["finally { … }"],
                "runs at the end of the case, whatever happened (also after Ctrl-C), several in the order of the script. What fails in one is reported, and the others run all the same. Of the timeline's variables only those that the block itself binds can be used",
                example: "finally { C ignore rest }", timing: nil)
        ) { parser throws(Abandoned) in .finally(try parser.parseBlock()) },
        Phrase(wireEntry) { parser throws(Abandoned) in
            let statement = try parser.wire.parseWire()
            return .wire(statement, try parser.parseTiming())
        },
        Phrase(
            LanguageEntry(
                "link", ["link S -> T …", "link S <-> T …"],
                "what becomes of the packets that go from S to T, or of both directions; see [links](#links)",
                example: "link S -> C drop data 1", timing: nil
            ).ifNeeded(),
            when: { LinkParser.isStep($0) && !LinkParser.isDeclaration($0) }
        ) { parser throws(Abandoned) in .link(try LinkParser(cursor: parser.cursor).parseStep()) },
        Phrase(
            LanguageEntry(
                "name", ["name \"dual.test\" …"],
                "what the name stands for from here on, in place of what it stood for",
                example: "name \"dual.test\" fails", timing: nil
            ).ifNeeded(),
            when: NameParser.isStatement
        ) { parser throws(Abandoned) in .name(try NameParser(cursor: parser.cursor).parseStatement()) },
    ]
    static let phraseIndex = PhraseIndex(phrases)

    private static let wireEntry: LanguageEntry = {
        var entry = LanguageEntry(
            "wire", ["wire S -> T …"], "what the capture shows of a connection; the statements are listed one by one",
            example: "wire S -> C segments 0", timing: .wire)
        entry.pointsAtOperand = true
        return entry
    }()
}
