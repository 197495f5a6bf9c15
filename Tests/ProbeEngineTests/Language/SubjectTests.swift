import ProbeEvents
import Testing

/// Scripts with a `subject`, which is one of this repository's transports and obeys the rules for transports. The
/// scripts either pass, or fail because they expect something that the transport does not do.
struct SubjectTests {
    private static func started(_ steps: String, header: String = "") -> String {
        "\(header)\nserver S\nsubject T -> S\nT start\nS accept\n" + steps
    }

    @Test(arguments: [
        Scene(
            "a line in each direction", .passed,
            started(
                """
                T expect started
                S send line "hello"
                T expect line "hello"
                T send line "x"
                S expect line "x"
                T expect sent
                """)),
        Scene(
            "the first example", .passed, needsCapture: true,
            started(
                """
                S send "220 rea" | "dy\\r" | "\\n"  every 30ms
                T expect line "220 ready"
                T send line "QUIT"
                S expect "QUIT\\r\\n"
                S close
                T expect stopped eof
                wire S -> T segments "220 rea", "dy\\r", "\\n"
                wire S -> T gap >= 25ms
                wire T -> S bytes "QUIT\\r\\n"
                wire no rst
                """)),
        Scene(
            "unexpected line", .failed, says: ["T delivered \"b\", expected line \"a\"", "expected: a", "actual: b"],
            started(
                """
                S send line "b"
                T expect line "a" #!
                """)),
        Scene(
            "no line", .failed, says: ["did not report line \"a\" within 30ms"],
            started("T expect line \"a\" within 30ms #!")),
        Scene(
            "late line", .failed, says: ["within 20ms"],
            started(
                """
                together {
                  T expect line "a" within 20ms #!
                  do { wait 300ms; S send line "a" }
                }
                """)),
        Scene(
            "line too early", .failed, says: ["was too early", "expected 3s or more"],
            started(
                """
                S send line "a"
                wait 60ms
                T expect line "a" after 3s #!
                """)),
        Scene(
            "line that no step expects", .failed, says: ["no step expected it", "actual: a"],
            started(
                """
                T expect started
                S send line "a"
                T send line "x"
                S expect line "x"
                """)),
        Scene(
            "leftover and eof", .passed,
            started(
                """
                S send "tw"
                S close
                T expect leftover "tw"
                T expect stopped eof
                """)),
        Scene(
            "leftover that no step expects", .failed, says: ["leftover \"tw\", expected stopped"],
            started(
                """
                S send "tw"
                S close
                T expect stopped eof #!
                """)),
        Scene(
            "stop that no step expects", .failed, says: ["stopped (eof)", "no later step"],
            started(
                """
                S close
                wait 60s #!
                """)),
        Scene(
            "stop with a different reason", .failed, says: ["reported `stopped eof`, expected `stopped reset`"],
            started(
                """
                S close
                T expect stopped reset #!
                """)),
        Scene("reset", .passed, started("S reset\nT expect stopped reset")),
        Scene(
            "messages after a framing switch are counted by the new framing", .passed,
            started(
                """
                T framing u32 behind 1 line
                T send "old"
                S send "go\\r\\n\\0\\0\\0\\x02\\r\\n"
                T expect line "go"
                T expect message "\\r\\n"
                T send "new"
                T expect sent
                S expect "old\\r\\n\\0\\0\\0\\x03new"
                T framing lf
                T send "last"
                T expect sent
                S expect "last\\n"
                """)),
        Scene(
            "a refused framing switch changes nothing", .passed,
            """
            server S
            subject T -> S
            T framing u16
            T expect error not-started
            T start
            S accept
            T send "a"
            T expect sent
            S expect "a\\r\\n"
            """),
        Scene(
            "a refused framing switch that no step expects", .failed, says: ["not-started"],
            """
            server S
            subject T -> S
            T framing u16 #!
            T start
            S accept
            """),
        Scene(
            "an invalid message count", .error, says: ["the number of messages"],
            started("let n = 0\nT framing u16 behind n lines #!")),
        Scene(
            "refused", .passed,
            """
            server S
            subject T -> S
            S stop listening
            T start
            T expect stopped refused
            """),
        Scene(
            "too long", .passed,
            started("S send \"12345\"\nT expect stopped too-long\nS expect closed", header: "max-line 4")),
        Scene(
            "half-close", .passed,
            started(
                """
                T send line "q"
                T half-close
                S expect line "q"
                S expect eof
                S send line "r"
                T expect line "r"
                S close
                T expect stopped eof
                """)),
        Scene("stop needs no expect", .passed, started("T stop\nS expect eof")),
        Scene("stop that is expected", .passed, started("T stop\nT expect stopped stopped\nS expect eof")),
        Scene("started twice", .passed, started("T start\nT expect error already-started")),
        Scene("an error that no step expects", .failed, says: ["already-started"], started("T start #!\nwait 1ms")),
        Scene(
            "an expected error that is not reported", .failed,
            says: ["accepted the last op, expected the error stopped"],
            started("T send line \"x\"\nT expect error stopped #!\nS ignore rest")),
        Scene(
            "unexpected error", .failed, says: ["already-started, expected stopped"],
            started("T start\nT expect error stopped #!")),
        Scene(
            "send before start", .passed,
            """
            server S
            subject T -> S
            T send line "x"
            T expect error not-started
            T start
            S accept
            """),
        Scene("nothing", .passed, started("T expect nothing for 30ms")),
        Scene(
            "nothing expected, line reported", .failed, says: ["line \"a\", expected silence"],
            started(
                """
                S send line "a"
                T expect nothing for 2s #!
                """)),
        Scene(
            "nothing expected, stop reported", .failed, says: ["stopped eof, expected silence"],
            started(
                """
                S close
                T expect nothing for 2s #!
                T expect stopped eof
                """)),
        Scene(
            "nothing after a consumed stop", .passed,
            started("S close\nT expect stopped eof\nT expect nothing for 20ms\nT expect stopped eof")),
        Scene(
            "nothing after a requested stop", .passed,
            started("T stop\nT expect nothing for 50ms\nS expect eof\nT expect stopped stopped")),
        Scene(
            "stop reading and resume", .passed,
            started(
                """
                T stop reading
                S send line "a"
                T expect nothing for 30ms
                T resume reading
                T expect line "a"
                """)),
        Scene(
            "framing none", .passed,
            started(
                """
                S send "abc" | "def"
                T expect "abcdef"
                """, header: "framing none\nrequire capture")),
        Scene(
            "framing none, unexpected bytes", .failed, says: ["T delivered \"abd\", expected \"abc\""],
            started(
                """
                S send "abd"
                T expect "abc" #!
                """, header: "framing none")),
        Scene(
            "messages", .passed,
            started(
                """
                S send sized(u16, "abc")
                T expect message "abc"
                T send "xy"
                S expect sized(u16, "xy")
                T expect sent
                """, header: "framing u16")),
        Scene(
            "lower bound of an idle timeout is scaled with it", .passed, timeScale: 0.2,
            """
            timeout 300s
            server S
            subject T -> S with idle-timeout 5s
            T start
            S accept
            T expect stopped timeout after 2s within 300s
            S expect closed
            """),
        Scene(
            "lower bound of a connect timeout is scaled with it", .passed, timeScale: 0.2,
            """
            timeout 300s
            server S backlog 0
            client F -> S
            subject T -> S with connect-timeout 4s
            F connect
            T start
            T expect stopped timeout after 2s within 300s
            S accept
            """),
        Scene(
            "other lower bounds are not scaled", .failed, says: ["was too early", "expected 50s or more"],
            timeScale: 0.2,
            """
            timeout 600s
            server S
            subject T -> S
            T start
            S accept
            together {
              T expect stopped eof after 50s #!
              do { wait 50ms; S close }
            }
            """),
        Scene(
            "bytes of the subject that no step expects", .failed, says: ["S received 3 bytes"],
            started("T send line \"x\"")),
        Scene(
            "connection of the subject that is never accepted", .failed, says: ["no step accepted"],
            """
            server S
            subject T -> S
            T start
            T expect started
            """),
        Scene(
            "listening", .passed, needsCapture: true,
            """
            subject T listens
            client C -> T
            client D -> T
            T start
            C connect
            T expect accept as A
            D connect
            T expect accept as B
            C send line "c"
            A expect line "c"
            B send line "d"
            D expect line "d"
            wire C -> A bytes "c\\r\\n"
            wire B -> D bytes "d\\r\\n"
            C close
            A expect stopped eof
            B stop
            D expect eof
            D close
            """),
        Scene(
            "an accepted connection that no step consumes", .failed,
            says: ["accepted a connection that no step expected"],
            """
            subject T listens
            client C -> T
            T start
            C connect
            wait 500ms
            """),
        Scene(
            "listening twice", .failed, says: ["already-started"],
            """
            subject T listens
            client C -> T
            T start
            T start #!
            C connect
            """),
        Scene(
            "either a delivery or a stop", .passed,
            started(
                """
                S close
                either { T expect line /./ } or { T expect stopped eof }
                """)),
    ])
    func subjectsHaveExpectedVerdicts(_ scene: Scene) async throws { try await scene.verify() }
}
