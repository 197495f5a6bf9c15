import ProbeEvents
import Testing

/// `together`, `either`, `retry`, `whenever`, `finally`, loops, definitions, parameters; verdicts and their order.
struct BlockTests {
    private static func pair(_ steps: String, header: String = "") -> String {
        "\(header)\nserver S\nclient C -> S\nC connect\nS accept\n" + steps
    }

    @Test(arguments: [
        Scene(
            "first failure ends the others at once", .failed, says: ["another line came"],
            pair(
                """
                C send line "y"
                together {
                  S expect line "x" #!
                  C expect line "never"
                }
                """)),
        Scene(
            "together passes when all have", .passed,
            pair(
                """
                together {
                  do { C send "a"; C expect "b" }
                  do { S expect "a"; S send "b" }
                }
                """)),
        Scene(
            "either, the second branch", .passed,
            pair(
                """
                S send line "550 no"
                either {
                  C expect line /^250/
                } or {
                  C expect line /^550 (?<why>.*)/
                  check why == "no"
                }
                """)),
        Scene(
            "either, none fits", .failed, says: ["no branch of the either fits", "branch 2"],
            pair(
                """
                S send line "999"
                either { C expect line /^250/ } or { C expect line /^550/ }
                """)),
        Scene(
            "either, nothing comes", .failed, says: ["no branch of the either began within 30ms"],
            pair(
                """
                either { C expect line /^250/ within 30ms } or { C expect line /^550/ within 20ms }
                """)),
        Scene(
            "either, taken for good", .failed, says: ["\"b\""],
            pair(
                """
                S send "a"
                either {
                  C expect "a"
                  C expect "b" within 20ms #!
                } or {
                  C expect "a"
                }
                """)),
        Scene(
            "either, a branch whose deadline is over", .failed, says: ["after the branch's deadline"],
            pair(
                """
                together {
                  either { C expect "a" within 20ms } or { C expect "b" within 5s }
                  do { wait 1s; S send "a" }
                }
                """)),
        Scene("either, an end or a line", .passed, pair("S close\neither { C expect line /./ } or { C expect eof }")),
        Scene("either, silence", .passed, pair("either { C expect \"x\" within 2s } or { C expect nothing for 30ms }")),
        Scene(
            "either, silence is seen when its time is over", .passed,
            "case-timeout 5s\ntimeout 1min\n"
                + pair("either { C expect \"x\" } or { C expect nothing for 30ms }\nS send \"x\"\nC expect \"x\"")),
        Scene(
            "either, silence is waited for once", .passed,
            pair(
                """
                S start sending "xy" in pieces of 1B every 2s
                C expect "x"
                either { C expect "y" } or { C expect nothing for 250ms }
                C expect "y"
                """)),
        Scene(
            "either, an accept", .passed,
            """
            server S
            server R
            client C -> R
            C connect
            either { S accept as A } or { R accept as B }
            """),
        Scene(
            "either, exit codes", .passed,
            """
            process P = sh -c "exit 3"
            P start
            either { P expect exit 0 } or { P expect exit 3 }
            """),
        Scene(
            "retry until it works", .passed,
            """
            server S
            client C -> S
            S stop listening
            together {
              do { wait 60ms; S listen; S accept }
              retry every 10ms within 2s { C connect }
            }
            wire no retransmission
            """),
        Scene(
            "retry gives up", .failed, says: ["could not connect", "this was attempt"],
            """
            server S
            client C -> S
            S stop listening
            retry every 10ms within 50ms {
              C connect #!
            }
            """),
        Scene(
            "retry ends within its limit", .failed, says: ["did not come within"],
            pair(
                """
                retry every 10ms within 60ms {
                  C expect line "x" within 5s #!
                }
                """)),
        Scene(
            "retry resets what it opened, and nothing else", .passed,
            """
            server S
            client C -> S
            client D -> S
            together {
              do {
                S accept as A
                A expect "d"
              }
              do { D connect; wait 60ms; D send "d" }
              do {
                wait 20ms
                retry every 10ms within 2s {
                  C connect
                  S accept as B
                  C send "c"
                  B expect "c"
                }
              }
            }
            """),
        Scene(
            "what a retry reset is not judged", .passed, needsCapture: true,
            """
            server S
            client C -> S
            together {
              retry every 10ms within 2s {
                C connect
                C expect "x" within 400ms
              }
              do {
                S accept as A
                S accept as B
                B send "x"
              }
            }
            wire no rst
            wire handshake complete
            """),
        Scene(
            "what a retry gave up is not accepted", .passed,
            """
            server S
            client C -> S
            client D -> S
            let n = 0
            retry every 1ms within 10s {
              C connect
              let n = (n + 1)
              check n == 4
            }
            D connect
            D send line "d"
            S accept as A
            C send line "c"
            A expect line "c"
            S accept as B
            B expect line "d"
            S expect no connection for 20ms
            S stop listening
            """),
        Scene(
            "what a retry gave up fills no queue", .passed,
            """
            server S backlog 1
            client C -> S
            let n = 0
            retry every 1ms within 10s {
              C connect within 500ms
              let n = (n + 1)
              check n == 6
            }
            S accept
            C send "x"
            S expect "x"
            """),
        Scene(
            "what waited before a retry is accepted first", .passed,
            """
            server S
            client D -> S
            client E -> S
            client C -> S
            let n = 0
            D connect
            D send "d"
            D close
            E connect
            E reset
            retry every 1ms within 10s {
              C connect
              C close
              let n = (n + 1)
              check n == 3
            }
            S accept as A
            A expect "d"
            A expect eof
            S accept as B
            B expect reset
            S accept as F
            F expect eof
            S expect no connection for 10ms
            """),
        Scene(
            "what a retry gave up and had accepted leaves nothing behind", .passed,
            """
            server S
            client C -> S
            let n = 0
            retry every 1ms within 10s {
              C connect
              S accept as A
              let n = (n + 1)
              check n == 3
            }
            C reset
            A expect reset
            either { S accept as B } or { A expect reset }
            """),
        Scene(
            "what nobody accepted is told, behind what a retry gave up", .failed, says: ["no step accepted"],
            """
            server S
            client C -> S
            client D -> S
            let n = 0
            retry every 1ms within 10s {
              C connect
              let n = (n + 1)
              check n == 2
            }
            S accept
            D connect
            C close
            S expect eof
            """),
        Scene(
            "a fault ends a retry", .failed, says: ["ended unexpectedly: exit status 7"],
            """
            server S
            client C -> S
            process P = sh -c "sleep 0.05; exit 7"
            P start
            S stop listening
            retry every 10ms within 20s { C connect }
            """),
    ])
    func choices(_ scene: Scene) async throws { try await scene.verify() }

    @Test(arguments: [
        Scene(
            "whenever answers beside the steps", .passed,
            pair(
                """
                whenever C gets line /^PING (?<t>.*)/ { C send line "PONG ${t}" }
                S send line "PING 1"
                S send line "hello"
                S expect line "PONG 1"
                C expect line "hello"
                S send line "PING 2"
                S expect line "PONG 2"
                """)),
        Scene(
            "whenever in mid-stream keeps the times of its neighbours", .failed, says: ["earlier than 30ms"],
            pair(
                """
                whenever C gets line /^PING$/ { C send line "PONG" }
                S send "early\\r\\nPING\\r\\n"
                S expect line "PONG"
                wait 60ms
                C expect line "early" after 30ms #!
                """)),
        Scene(
            "whenever that is never used", .inconclusive, says: ["never used"],
            pair(
                """
                whenever C gets line /^PING$/ { C send line "PONG" } #!
                S send line "x"
                C expect line "x"
                """)),
        Scene(
            "whenever that is never used, with bytes ignored", .inconclusive, says: ["never used"],
            pair(
                """
                C ignore rest
                whenever C gets line /^PING$/ { C send line "PONG" } #!
                S send line "x"
                """)),
        Scene(
            "whenever looks at no lines while raw bytes are expected", .passed,
            pair(
                """
                whenever C gets line /^PING$/ { C send line "PONG" }
                together {
                  C expect "PING\\r\\n"
                  do { wait 10ms; S send line "PING" }
                }
                S send line "PING"
                S expect line "PONG"
                """)),
        Scene(
            "whenever whose answer fails", .failed, says: ["1 == 2"],
            pair(
                """
                whenever C gets line /^PING$/ {
                  check 1 == 2 #!
                }
                S send line "PING"
                S expect line "x"
                """)),
        Scene(
            "whenever in a loop is one rule", .passed,
            pair(
                """
                for i in 1..3 {
                  whenever C gets line /^PING ${i}$/ { C send line "PONG" }
                  S send line "PING ${i}"
                  S expect line "PONG"
                }
                """)),
        Scene(
            "a whenever of a loop keeps the round's variable", .passed,
            pair(
                """
                for i in 1..3 {
                  whenever C gets line /^PING$/ { C send line "PONG ${i}" }
                  S send line "PING"
                  S expect line "PONG ${i}"
                }
                S send line "PING"
                S expect line "PONG 3"
                """)),
        Scene(
            "loops side by side have variables of their own", .passed,
            pair(
                """
                together {
                  for i in 1..5 { C send line "${i}" }
                  for i in 1..5 { wait 3ms; S expect line "${i}" }
                }
                together {
                  for i in 1..3 { for j in 1..2 { wait 2ms; C send line "${i}.${j}" } }
                  for i in 1..3 { for j in 1..2 { S expect line "${i}.${j}" } }
                }
                for i in 1..2 { let i = "x"; check i == "x" }
                """)),
        Scene(
            "an answer that is under way at the end still counts", .failed, says: ["S got"],
            pair(
                """
                whenever C gets line /^PING$/ { wait 30ms; C send line "PONG" }
                S send line "PING"
                wait 5ms
                """)),
    ])
    func whenevers(_ scene: Scene) async throws { try await scene.verify() }

    @Test(arguments: [
        Scene(
            "finally runs after a failure", .failed, says: ["another line came"],
            pair(
                """
                finally { S send line "bye"; C expect line "bye" }
                C send line "y"
                S expect line "x" #!
                """)),
        Scene(
            "finally after a failed together", .failed, says: ["another line came"],
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
            "finally that fails", .failed, says: ["another line came"],
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
            "for over nothing", .error, says: ["over nothing"],
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
            "a definition's line is blamed", .failed, says: ["at byte 1"],
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
            "stopped is expected beside a definition", .passed,
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
            "case-timeout is no end of finally", .failed, says: ["case-timeout of 400ms"],
            pair(
                """
                finally { C send "x"; S expect "x" }
                wait 5s #!
                """, header: "case-timeout 400ms")),
        Scene(
            "failed before error", .failed, says: ["at byte 1"],
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
    func blocks(_ scene: Scene) async throws { try await scene.verify() }

    @Test func parametersMakeCasesOfTheirOwn() async throws {
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
