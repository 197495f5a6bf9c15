import ProbeEvents
import Testing

/// Servers, clients, sending, reading slowly, closing.
struct ConnectionTests {
    private static func pair(_ steps: String, header: String = "") -> String {
        "\(header)\nserver S\nclient C -> S\nC connect\nS accept\n" + steps
    }

    @Test(arguments: [
        Scene(
            "two connections", .passed,
            """
            server S
            client C -> S
            client D -> S
            C connect
            S accept as A
            D connect
            S accept as B
            D send "d"
            B expect "d"
            C send "c"
            A expect "c"
            """),
        Scene(
            "accept within", .failed, says: ["no connection came to S within 30ms"],
            """
            server S
            client C -> S
            S accept within 30ms #!
            C connect
            """),
        Scene(
            "accept after", .failed, says: ["earlier than 3s"],
            """
            server S
            client C -> S
            C connect
            S accept after 3s #!
            """),
        Scene(
            "another server got the connection", .failed,
            says: ["another server got the connection", "one waits at R"],
            """
            server S
            server R
            client C -> R
            C connect
            S accept within 20ms #!
            R accept
            """),
        Scene(
            "nobody accepts", .failed, says: ["that no step accepted"],
            """
            server S
            client C -> S
            C connect
            """),
        Scene(
            "two accepts at once", .passed,
            """
            server S
            client C -> S
            client D -> S
            together {
              S accept as A
              S accept as B
              do { wait 10ms; C connect }
              do { wait 30ms; D connect }
            }
            """),
        Scene(
            "refused", .passed,
            """
            server S
            client C -> S
            S stop listening
            C connect refused
            """),
        Scene(
            "refused on IPv6", .passed,
            """
            require ipv6
            server S on [::1]
            client C -> S
            S stop listening
            C connect refused
            """),
        Scene(
            "refused where it succeeds", .failed, says: ["where it was expected to refuse"],
            """
            server S
            client C -> S
            C connect refused #!
            S accept
            """),
        Scene(
            "succeeds where it is refused", .failed, says: ["could not connect", "nothing listens"],
            """
            server S
            client C -> S
            S stop listening
            C connect #!
            """),
        Scene(
            "connect timeout", .passed,
            """
            server S backlog 0
            client C -> S
            client D -> S
            C connect
            D connect timeout within 50ms
            S accept
            """),
        Scene(
            "timeout where it is refused", .failed, says: ["where no answer was expected"],
            """
            server S
            client C -> S
            S stop listening
            C connect timeout within 50ms #!
            """),
        Scene(
            "timeout where it succeeds", .failed, says: ["not to answer"],
            """
            server S
            client C -> S
            C connect timeout within 50ms #!
            S accept
            """),
        Scene(
            "full backlog where it has to succeed", .failed, says: ["did not answer D's SYN within 50ms"],
            """
            server S backlog 0
            client C -> S
            client D -> S
            C connect
            D connect within 50ms #!
            S accept
            """),
        Scene(
            "listen again on the same port", .passed,
            """
            server S
            client C -> S
            note "${S.port}"
            let before = "${S.port}"
            S stop listening
            C connect refused
            S listen
            check "${S.port}" == before
            C connect
            S accept
            """),
        Scene(
            "stop listening with a connection waiting", .failed, says: ["that no step accepted"],
            """
            server S
            client C -> S
            C connect
            S stop listening #!
            C reset
            """),
        Scene(
            "no connection", .passed,
            """
            server S
            client C -> S
            S expect no connection for 20ms
            C connect
            S accept
            """),
        Scene(
            "no connection, but one waits", .failed, says: ["a connection came to S"],
            """
            server S
            client C -> S
            C connect
            S expect no connection for 20ms #!
            S accept
            """),
        Scene(
            "reset before accept", .passed,
            """
            server S
            client C -> S
            C connect
            C reset
            S accept
            S expect reset
            """),
        Scene(
            "data and reset before accept", .passed,
            """
            server S
            client C -> S
            C connect
            C send "x"
            C reset
            S accept
            S expect "x"
            S expect reset
            """),
        Scene(
            "connect again", .passed,
            """
            server S
            client C -> S
            for i in 1..3 {
              C connect
              S accept as A
              C send "x"
              A expect "x"
              C close
              A expect eof
            }
            """),
        Scene(
            "address at the step", .passed,
            """
            server S
            client D
            let port = "${S.port}"
            D connect to 127.0.0.1:(int(port))
            S accept
            """),
        Scene(
            "a host that is not local", .error, says: ["--allow-target"],
            """
            client C -> 192.0.2.1:80 #!
            C connect
            """),
    ])
    func connecting(_ scene: Scene) async throws { try await scene.verify() }

    @Test(arguments: [
        Scene(
            "every, never less", .passed,
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
            "cut at random, twice the same", .passed, needsCapture: true,
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
            "peer closed while it sends", .failed, says: ["send failed", "answers data with RST"],
            pair(
                """
                S close
                C expect eof
                C send "x"
                wait 10ms
                C send "y" #!
                """)),
        Scene(
            "send after the peer's reset tells reset afterwards", .passed,
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
            "stalled, sent, and read on", .passed,
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
            "not stalled", .failed, says: ["did not stall"],
            pair(
                """
                S ignore rest
                C start sending "abc"
                C expect stalled for 30ms #!
                """)),
        Scene(
            "a pace is no stall", .failed, says: ["did not stall"],
            pair(
                """
                S ignore rest
                C start sending "a" | "b" every 60ms
                C expect stalled for 30ms #!
                """)),
        Scene(
            "sent that is not done", .failed, says: ["was not done in time"],
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
            "send that does not fail", .failed, says: ["the send succeeded"],
            pair(
                """
                S ignore rest
                C start sending "x"
                C expect send failed reset #!
                """)),
        Scene(
            "close with bytes that never left", .error, says: ["have not been taken by the kernel"],
            pair(
                """
                S stop reading
                S ignore rest
                C start sending "x" * 20000000
                C close #!
                """)),
        Scene(
            "send makes no progress", .failed, says: ["made no progress", "window is shut"],
            pair(
                """
                S stop reading
                S ignore rest
                C send "x" * 20000000 #!
                """, header: "timeout 100ms")),
        Scene(
            "a queued send waits as long as the one before moves", .passed,
            pair(
                """
                whenever C gets line /^PING$/ { C send line "PONG" }
                together {
                  do { C send "a" | "b" | "c" | "d" every 60ms; C send line "" }
                  do { S send line "PING"; S expect line "abcdPONG" within 5s; S expect line "" within 5s }
                }
                """, header: "timeout 150ms")),
    ])
    func sending(_ scene: Scene) async throws { try await scene.verify() }

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
            "bytes at the end that nobody took", .failed, says: ["S got 3 bytes that no step took", "actual: abc"],
            pair(
                """
                C send "abc"
                """)),
        Scene(
            "bytes that came with a close", .failed, says: ["S got 1 bytes that no step took"],
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
            "bytes in the kernel forbid close", .error, says: ["closing would send RST"],
            pair(
                """
                S stop reading
                C send "abc"
                wait 2ms
                S close #!
                """)),
        Scene(
            "reset discards them", .passed,
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
            "resume wakes who waits", .passed,
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
            "an expect while little is read", .failed, says: ["reads slowly, 1 bytes every 10ms"],
            pair(
                """
                S read 1B every 10ms
                C send "abcdefghij"
                S expect "abcdefghij" within 30ms #!
                S reset
                """)),
        Scene(
            "all that came is shown beside what is expected", .failed,
            says: [
                "expected: " + String(repeating: "x", count: 6000), "actual: " + String(repeating: "x", count: 5000),
            ],
            pair("C send \"x\" * 5000\nS expect \"x\" * 6000 within 30ms #!\nS ignore rest")),
        Scene(
            "all that came before the end is shown beside what is expected", .failed,
            says: ["after 5000 bytes", "actual: " + String(repeating: "x", count: 5000)],
            pair("C send \"x\" * 5000\nC close\nS expect \"x\" * 6000 #!")),
        Scene(
            "an expect while nothing is read", .failed, says: ["does not read"],
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
            "64 MiB and no more", .error, says: ["64 MiB of unread bytes"],
            pair(
                """
                C send "x" * 70000000
                wait 5s
                """)),
    ])
    func readingAndClosing(_ scene: Scene) async throws { try await scene.verify() }
}
