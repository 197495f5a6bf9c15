import ProbeEvents
import Testing

/// Tests `finally`, loops, definitions and parameters, and the precedence of verdicts.
struct BlockTests {
    private static func pair(_ steps: String, header: String = "") -> String {
        "\(header)\nserver S\nclient C -> S\nC connect\nS accept\n" + steps
    }

    @Test(arguments: [
        Scene(
            "finally runs after a failure", .failed, says: ["S received \"y\", expected line \"x\""],
            pair(
                """
                finally { S send line "bye"; C expect line "bye" }
                C send line "y"
                S expect line "x" #!
                """)),
        Scene(
            "finally after a failed together", .failed, says: ["S received \"y\", expected line \"x\""],
            pair(
                """
                finally { S send line "bye"; C expect line "bye" }
                C send line "y"
                together {
                  S expect line "x" #!
                  C expect line "never"
                }
                """)),
        Scene(
            "failing finally", .failed, says: ["S received \"y\", expected line \"x\""],
            pair(
                """
                finally {
                  C send line "y"
                  S expect line "x" #!
                }
                """)),
        Scene(
            "finally stops the subject itself", .passed,
            """
            server S
            subject T -> S
            finally { T stop; T expect stopped stopped }
            T start
            S accept
            """),
        Scene(
            "for over a range and a table", .passed,
            pair(
                """
                for i in 1..3 { C send "${i}"; S expect "${i}" }
                for cmd, reply in replies { C send line cmd; S expect line reply }
                """, header: "table replies = \"NOOP\" /^NO/, \"RSET\" /^RS/")),
        Scene(
            "for over an empty range", .error, says: ["the loop has no rounds: 1..0 is empty"],
            pair(
                """
                C send u8(0)
                S expect u8 as n
                for i in 1..n { C send "x" } #!
                """)),
        Scene(
            "a loop without a wait ends with its case", .failed, says: ["case-timeout of 400ms"],
            """
            case-timeout 400ms
            let k = 1
            for i in 1..9223372036854775807 { check k == 1 }
            """),
        Scene(
            "definitions", .passed, pair("do hello\ndo hello", header: "define hello { C send \"h\"; S expect \"h\" }")),
        Scene(
            "failure names the definition's line", .failed, says: ["S received \"y\", expected \"h\""],
            """
            define hello {
              C send "y"
              S expect "h" #!
            }
            server S
            client C -> S
            C connect
            S accept
            do hello
            """),
        Scene(
            "stopped is expected alongside a definition", .passed,
            """
            define chat { C connect; S accept as A; wait 30ms; C close; A expect eof }
            server S
            server R
            client C -> S
            subject T -> R
            T start
            R accept
            together {
              do chat
              do { R close; T expect stopped eof }
            }
            """),
        Scene(
            "case-timeout", .failed, says: ["longer than the case-timeout of 400ms"],
            """
            case-timeout 400ms
            wait 5s #!
            """),
        Scene(
            "case-timeout does not skip finally", .failed, says: ["case-timeout of 400ms"],
            pair(
                """
                finally { C send "x"; S expect "x" }
                wait 5s #!
                """, header: "case-timeout 400ms")),
        Scene(
            "failed before error", .failed, says: ["S received \"y\", expected \"x\""],
            pair(
                """
                finally { S stop reading; C send "z"; wait 2ms; S close }
                C send "y"
                S expect "x" #!
                """)),
        Scene("require command", .skipped, says: ["not-a-command"], "require command not-a-command #!\nwait 1ms"),
        Scene(
            "require subject", .unsupported, says: ["reads"],
            """
            require subject reads #!
            server S
            subject T -> S
            T start
            S accept
            """),
    ])
    func blocksHaveExpectedVerdicts(_ scene: Scene) async throws { try await scene.verify() }

    @Test func parametersCreateSeparateCases() async throws {
        let results = try await Stage.run(
            """
            scenario "each"
            each n = 1..3
            each x = "a", "b"
            server S
            client C -> S
            C connect
            S accept
            C send "${n}${x}"
            S expect "2b"
            """)
        #expect(results.map(\.verdict) == [.failed, .failed, .failed, .passed, .failed, .failed])
        #expect(results.map(\.id).last == "test[n=3,x=b]")
    }

    @Test func interruptedCasesRunFinally() async throws {
        let results = try await Stage.run(
            """
            scenario "interrupted"
            server S
            client C -> S
            finally { C send "bye"; S expect "bye"; note "finally ran" }
            C connect
            S accept
            C expect "never"
            """, interruptAfter: .seconds(2))
        #expect(results.first?.verdict == .error)
        #expect(results.first?.findings.first?.summary == "the run was interrupted")
        #expect(
            results.first?.timeline.contains { if case .note("finally ran") = $0.kind { true } else { false } } == true)
    }
}
