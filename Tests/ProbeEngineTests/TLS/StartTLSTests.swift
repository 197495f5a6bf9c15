import ProbeEvents
import Testing

/// Tests TLS that starts on an established connection. End-to-end tests check that other implementations interoperate.
struct StartTLSTests {
    @Test(arguments: [
        Scene(
            "in mid-stream", .passed,
            #"""
            server S
            client C -> S
            C connect
            S accept
            C send line "STARTTLS"
            S expect line "STARTTLS"
            S send line "220 go"
            C expect line "220 go"
            together {
              C start tls ca run name "localhost"
              S start tls
            }
            C send line "secret"
            S expect line "secret"
            C close
            S expect eof
            """#),
        Scene(
            "a ClientHello in the segment of the line before", .passed,
            #"""
            server S
            client C -> S
            C connect
            S accept
            together {
              do {
                C send line "STARTTLS"
                C start tls
              }
              do {
                wait 100ms
                S expect line "STARTTLS"
                S start tls
              }
            }
            C send "x"
            S expect "x"
            """#),
        Scene(
            "plaintext that no step consumed", .failed, says: ["4 bytes of plaintext that no step consumed"],
            #"""
            server S
            client C -> S
            C connect
            S accept
            C send "garbage"
            S expect "gar"
            S start tls #!
            """#),
        Scene(
            "a flight in pieces", .passed, needsCapture: true,
            #"""
            server S
            client C -> S
            C connect
            S accept
            together {
              C start tls in pieces of 50B every 1ms
              S start tls cut at 3, 7
            }
            C send "x"
            S expect "x"
            """#),
        Scene(
            "a withheld flight", .failed, says: ["did not complete its TLS handshake within"],
            #"""
            server S
            client C -> S tls
            C connect without tls
            S accept
            together {
              C start tls within 300ms
              S start tls stop after 100 bytes
            }
            """#),
        Scene(
            "nothing is withheld", .error, says: ["withholds nothing"],
            #"""
            server S
            client C -> S tls
            C connect without tls
            S accept
            together {
              C start tls
              S start tls stop after 100000 bytes
            }
            """#),
        Scene(
            "options after start tls", .passed,
            #"""
            server S
            client C -> S
            C connect
            S accept
            together {
              C start tls ca run name "localhost" failed certificate-expired
              S start tls cert expired failed
            }
            """#),
    ])
    func tlsStartsInMidStream(scene: Scene) async throws { try await scene.verify(subject: nil) }
}
