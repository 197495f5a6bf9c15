import ProbeEvents
import Testing

/// Tests what a `retry` waits for, and what its failed attempts leave behind.
struct RetryTests {
    private static func pair(_ steps: String, header: String = "") -> String {
        "\(header)\nserver S\nclient C -> S\nC connect\nS accept\n" + steps
    }

    @Test(arguments: [
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
            "retry ends within its limit", .failed, says: ["did not receive line \"x\" within"],
            pair(
                """
                retry every 10ms within 60ms {
                  C expect line "x" within 5s #!
                }
                """)),
        Scene(
            "retry resets only the connections it opened", .passed,
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
            "connections reset by a retry are not judged", .passed, needsCapture: true,
            """
            server S
            client C -> S
            together {
              retry every 10ms within 60s {
                C connect
                C expect "x" within 60s
              }
              do {
                S accept as A
                A send "y"
                S accept as B
                B send "x"
              }
            }
            wire no rst
            wire handshake complete
            """),
        Scene(
            "abandoned connections of a retry are not accepted", .passed,
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
            "abandoned connections of a retry do not fill the backlog", .passed,
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
            "connections from before a retry are accepted first", .passed,
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
            "abandoned accepted connections leave nothing behind", .passed,
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
            "unaccepted connections after abandoned ones are reported", .failed, says: ["no step accepted"],
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
            "a fault ends a retry", .failed, says: ["exited with status 7, but no later step expects it to exit"],
            """
            server S
            client C -> S
            process P = sh -c "sleep 0.05; exit 7"
            P start
            S stop listening
            retry every 10ms within 20s { C connect }
            """),
    ])
    func retriesHaveExpectedVerdicts(_ scene: Scene) async throws { try await scene.verify() }
}
