import ProbeEvents
import Testing

/// The steps `connect`, `accept` and `listen` of servers and clients, and connections that are never accepted.
struct ConnectingTests {
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
            "accept within", .failed, says: ["S received no connection within 30ms"],
            """
            server S
            client C -> S
            process P = true
            P start
            P expect exit 0
            S accept within 30ms #!
            C connect
            """),
        Scene(
            "accept after", .failed, says: ["was too early", "expected 3s or more"],
            """
            server S
            client C -> S
            C connect
            S accept after 3s #!
            """),
        Scene(
            "another server got the connection", .failed,
            says: ["a connection is waiting on another server: R"],
            """
            server S
            server R
            client C -> R
            C connect
            S accept within 20ms #!
            R accept
            """),
        Scene(
            "connection that is never accepted", .failed, says: ["that no step accepted"],
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
            "refusal expected, connect succeeds", .failed, says: ["was expected to refuse"],
            """
            server S
            client C -> S
            C connect refused #!
            S accept
            """),
        Scene(
            "success expected, connect refused", .failed, says: ["could not connect", "nothing listens"],
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
            "timeout expected, connect refused", .failed, says: ["was expected not to answer"],
            """
            server S
            client C -> S
            S stop listening
            C connect timeout within 50ms #!
            """),
        Scene(
            "timeout expected, connect succeeds", .failed,
            says: ["accepted the connection, but was expected not to answer"],
            """
            server S
            client C -> S
            C connect timeout within 50ms #!
            S accept
            """),
        Scene(
            "success expected, backlog full", .failed, says: ["did not answer D's SYN within 50ms"],
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
            "stop listening with a pending connection", .failed, says: ["that no step accepted"],
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
            "no connection expected, one is pending", .failed, says: ["S received a connection"],
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
            "address given at the step", .passed,
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
    func connectingHasExpectedVerdicts(_ scene: Scene) async throws { try await scene.verify() }
}
