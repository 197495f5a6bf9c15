import ProbeEvents
import Testing

/// Tests the step `send`: pieces, pacing, stalled sends, and sends that fail.
struct SendingTests {
    private static func pair(_ steps: String, header: String = "") -> String {
        "\(header)\nserver S\nclient C -> S\nC connect\nS accept\n" + steps
    }

    @Test(arguments: [
        Scene(
            "every, never shorter", .passed,
            pair(
                """
                together {
                  C send "a" | "b" | "c" every 30ms
                  S expect "abc" after 60ms
                }
                """)),
        Scene("at a rate", .passed, pair("together {\nC send \"abcde\" at 100B/s\nS expect \"abcde\" after 35ms\n}")),
        Scene(
            "cut at", .passed, needsCapture: true,
            pair(
                """
                C send "abcdef" cut at 1, 3
                S expect "abcdef"
                wire C -> S segments "a", "bc", "def"
                """)),
        Scene(
            "in pieces", .passed, needsCapture: true,
            pair(
                """
                C send "abcde" in pieces of 2B
                S expect "abcde"
                wire C -> S segments "ab", "cd", "e"
                """)),
        Scene(
            "cut at random, reproducibly", .passed, needsCapture: true,
            pair(
                """
                C send "abcdefghij" cut at random seed 7
                S expect "abcdefghij"
                wire C -> S segments >= 2
                """)),
        Scene(
            "a sent line that is cut", .passed, needsCapture: true,
            pair(
                """
                C send line "ab" | "c"
                S expect line "abc"
                wire C -> S segments "ab", "c\\r\\n"
                """)),
        Scene(
            "peer closed during a send", .failed, says: ["send failed", "answers data with an RST"],
            pair(
                """
                S close
                C expect eof
                C send "x"
                wait 10ms
                C send "y" #!
                """)),
        Scene(
            "send after the peer's reset reports reset later", .passed,
            pair(
                """
                C stop reading
                S reset
                wait 200ms
                C start sending "y"
                C expect send failed reset
                C resume reading
                C expect reset
                """)),
        Scene(
            "stalled, then sent after reading resumes", .passed,
            """
            server S with receive-buffer 256KiB
            client C -> S
            C connect
            S accept
            S stop reading
            C start sending "x" * 8000000
            C expect stalled for 30ms
            S resume reading
            S ignore rest
            C expect sent
            """),
        Scene(
            "stall expected, none observed", .failed, says: ["did not stall"],
            pair(
                """
                S ignore rest
                C start sending "abc"
                C expect stalled for 30ms #!
                """)),
        Scene(
            "a paced send is not a stall", .failed, says: ["did not stall"],
            pair(
                """
                S ignore rest
                C start sending "a" | "b" every 60ms
                C expect stalled for 30ms #!
                """)),
        Scene(
            "sent expected, send not finished", .failed, says: ["did not complete in time"],
            pair(
                """
                S stop reading
                C start sending "x" * 20000000
                C expect sent within 50ms #!
                S reset
                """)),
        Scene(
            "sends that queue stall too", .passed,
            pair(
                """
                S stop reading
                S ignore rest
                C start sending "x" * 20000000
                C start sending "y"
                C expect stalled for 200ms
                S reset
                C expect reset
                """)),
        Scene(
            "send that fails", .passed,
            pair(
                """
                S stop reading
                C start sending "x" * 20000000
                C expect stalled for 200ms
                S reset
                C expect send failed reset
                C expect reset
                """)),
        Scene(
            "send that does not fail", .failed, says: ["C's send succeeded"],
            pair(
                """
                S ignore rest
                C start sending "x"
                C expect send failed reset #!
                """)),
        Scene(
            "close with unsent bytes", .error, says: ["that the kernel has not accepted"],
            pair(
                """
                S stop reading
                S ignore rest
                C start sending "x" * 20000000
                C close #!
                """)),
        Scene(
            "send makes no progress", .failed, says: ["made no progress", "window is closed"],
            pair(
                """
                S stop reading
                S ignore rest
                C send "x" * 20000000 #!
                """, header: "timeout 100ms")),
        Scene(
            "a queued send waits while the previous one progresses", .passed,
            pair(
                """
                whenever C gets line /^PING$/ { C send line "PONG" }
                together {
                  do { C send "a" | "b" | "c" | "d" every 60ms; C send line "" }
                  do { S send line "PING"; S expect line "abcdPONG" within 5s; S expect line "" within 5s }
                }
                """, header: "timeout 150ms")),
    ])
    func sendsHaveExpectedVerdicts(_ scene: Scene) async throws { try await scene.verify() }
}
