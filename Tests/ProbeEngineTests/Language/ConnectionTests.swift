import ProbeEvents
import Testing

/// The verbs of a connection other than `send`, which concern reading, ending the connection, and socket options.
struct ConnectionTests {
    private static func pair(_ steps: String, header: String = "") -> String {
        "\(header)\nserver S\nclient C -> S\nC connect\nS accept\n" + steps
    }

    @Test(arguments: [
        Scene(
            "half-close and a reply", .passed,
            pair(
                """
                C send "q"
                C half-close
                S expect "q"
                S expect eof
                S send "r"
                S close
                C expect "r"
                C expect eof
                """)),
        Scene(
            "the last piece of a send carries the FIN", .passed,
            pair(
                """
                C send "q" | "uit" with fin
                S expect "quit"
                S expect eof
                S send "bye" with fin
                S close
                C expect "bye"
                C expect eof
                C close
                """)),
        Scene(
            "unconsumed bytes at the end", .failed,
            says: ["S received 3 bytes that no step consumed", "actual: abc"],
            pair(
                """
                C send "abc"
                """)),
        Scene(
            "bytes received with a close", .failed, says: ["S received 1 byte that no step consumed"],
            pair(
                """
                C send "a"
                C close
                wait 2ms
                S close
                """)),
        Scene(
            "bytes unread in the kernel", .failed, says: ["unread in the kernel"],
            pair(
                """
                S stop reading
                C send "abc"
                """)),
        Scene(
            "unread bytes in the kernel forbid close", .error, says: ["closing would send an RST"],
            pair(
                """
                S stop reading
                C send "abc"
                wait 2ms
                S close #!
                """)),
        Scene(
            "reset discards unread bytes", .passed,
            pair(
                """
                S stop reading
                C send "abc"
                S reset
                C expect reset
                """)),
        Scene("ignore rest", .passed, pair("S ignore rest\nC send \"abc\"")),
        Scene(
            "slow reading", .passed,
            pair(
                """
                S read 1B every 50ms
                C send "abc"
                C close
                S expect "abc" after 60ms
                S expect eof
                """)),
        Scene(
            "resume wakes a waiting step", .passed,
            pair(
                """
                S stop reading
                C send "abc"
                together {
                  S expect "abc"
                  do { wait 20ms; S resume reading }
                }
                """)),
        Scene(
            "an expect during slow reading", .failed, says: ["reads only 1 byte every 1s"],
            pair(
                """
                S read 1B every 1s
                C send "abcdefghij"
                S expect "abcdefghij" within 1500ms #!
                S reset
                """)),
        Scene(
            "all received bytes are shown with the expected ones", .failed,
            says: [
                "expected: " + String(repeating: "x", count: 6000), "actual: " + String(repeating: "x", count: 5000),
            ],
            pair("C send \"x\" * 5000\nS expect \"x\" * 6000 within 30ms #!\nS ignore rest")),
        Scene(
            "all bytes received before the end are shown with the expected ones", .failed,
            says: ["after 5000 bytes", "actual: " + String(repeating: "x", count: 5000)],
            pair("C send \"x\" * 5000\nC close\nS expect \"x\" * 6000 #!")),
        Scene(
            "an expect while reading is stopped", .failed, says: ["S is not reading"],
            pair(
                """
                S stop reading
                C send "abc"
                S expect "abc" within 30ms #!
                S reset
                """)),
        Scene(
            "socket options", .passed,
            """
            server S with receive-buffer 4KiB
            client C -> S
            C set send-buffer 8KiB
            C connect
            S accept
            C set nodelay off
            C set keepalive 5s
            S stop reading
            C start sending "x" * 200000
            C expect stalled for 200ms
            S reset
            """),
        Scene(
            "framing in mid-stream", .passed,
            pair(
                """
                C send line "a"
                S expect line "a"
                C framing lf
                S framing lf
                C send line "b"
                S expect "b\\n"
                """)),
        Scene(
            "64 MiB of unread bytes at most", .error, says: ["64 MiB of unread bytes"],
            pair(
                """
                C send "x" * 70000000
                wait 5s
                """)),
    ])
    func readingAndClosingHaveExpectedVerdicts(_ scene: Scene) async throws { try await scene.verify() }
}
