import ProbeEvents
import Testing

/// Tests `stop reading` and `read … every` before a connection exists. These steps apply to future connections.
struct ReadingToComeTests {
    private static let full = "\"x\" * 256KiB"

    @Test(arguments: [
        Scene(
            "a server that never reads", .passed, needsCapture: true,
            """
            server S with receive-buffer 4KiB
            client C -> S with send-buffer 4KiB
            S stop reading
            C connect
            C start sending \(full)
            S accept
            wire S -> C zero window
            C expect stalled for 20ms
            S resume reading
            S expect \(full)
            C expect sent
            """),
        Scene(
            "a client that never reads", .passed, needsCapture: true,
            """
            server S with send-buffer 4KiB
            client C -> S with receive-buffer 4KiB
            C stop reading
            C connect
            S accept
            S start sending \(full)
            wire C -> S zero window
            C resume reading
            C expect \(full)
            S expect sent
            """),
        Scene(
            "each accepted connection", .passed, needsCapture: true,
            """
            server S with receive-buffer 4KiB
            client C -> S with send-buffer 4KiB
            client D -> S with send-buffer 4KiB
            S stop reading
            C connect
            S accept as A
            D connect
            S accept as B
            C start sending \(full)
            D start sending \(full)
            wire A -> C zero window
            wire B -> D zero window
            A reset
            B reset
            C expect send failed reset
            D expect send failed reset
            C ignore rest
            D ignore rest
            """),
        Scene(
            "not an existing connection of the server", .passed,
            """
            server S
            client C -> S
            client D -> S
            C connect
            S accept as A
            S stop reading
            C send "a"
            A expect "a"
            D connect
            S accept as B
            D send "b"
            wait 20ms
            B resume reading
            B expect "b"
            """),
        Scene(
            "resumed before the connection", .passed,
            """
            server S
            client C -> S
            S stop reading
            C stop reading
            S resume reading
            C resume reading
            C connect
            S accept
            C send "a"
            S expect "a"
            S send "b"
            C expect "b"
            """),
        Scene(
            "no bytes of the connection are read", .failed, says: ["C is not reading"],
            """
            server S
            client C -> S
            C stop reading
            C connect
            S accept
            S send "b"
            C expect "b" within 30ms #!
            """),
        Scene(
            "a slow server from its first byte", .failed, says: ["reads only 1 byte every 10s"],
            """
            server S
            client C -> S
            S read 1B every 10s
            C connect
            C send "abc"
            S accept
            S expect "abc" within 30ms #!
            """),
        Scene(
            "a slow client from its first byte", .failed, says: ["reads only 1 byte every 10s"],
            """
            server S
            client C -> S
            C read 1B every 10s
            C connect
            S accept
            S send "abc"
            C expect "abc" within 30ms #!
            """),
        Scene(
            "slow reading reads", .passed,
            """
            server S
            client C -> S
            C read 1B every 20ms
            S read 2B every 1ms
            C connect
            S accept
            S send "abcdefgh"
            C send "abcdefgh"
            C expect "abcdefgh" after 80ms
            S expect "abcdefgh"
            """),
        Scene(
            "each attempt of a retry", .passed, needsCapture: true,
            """
            server S with send-buffer 4KiB
            client C -> S with receive-buffer 4KiB
            C stop reading
            let round = 0
            retry every 1ms within 5s {
              C connect
              S accept as A
              let round = round + 1
              check round == 2
            }
            A start sending \(full)
            wire C -> A zero window
            C resume reading
            C expect \(full)
            """),
        Scene(
            "a connection after a refused one", .failed, says: ["C is not reading"],
            """
            server S
            client C -> S
            S stop listening
            C connect refused
            S listen
            C stop reading
            C connect
            S accept
            S send "b"
            C expect "b" within 30ms #!
            """),
        Scene(
            "the next connection after a close", .failed, says: ["C is not reading"],
            """
            server S
            client C -> S
            C connect
            S accept as A
            C close
            A expect eof
            C stop reading
            C connect
            S accept as B
            B send "b"
            C expect "b" within 30ms #!
            """),
        Scene(
            "a window that never shut is inconclusive", .inconclusive, says: ["its window never closed"],
            needsCapture: true,
            """
            server S
            client C -> S
            S stop reading #!
            C connect
            S accept
            C start sending "abc"
            C expect sent
            S resume reading
            S expect "abc"
            """),
    ])
    func readingSettingsApplyToFutureConnections(_ scene: Scene) async throws { try await scene.verify() }
}
