import ProbeEvents
import Testing

/// Tests the ways in which a connection with TLS can end, and TLS alerts. End-to-end tests check that other
/// implementations interoperate.
struct TLSEndTests {
    @Test(arguments: [
        Scene(
            "the answer to a close does not cause an RST", .passed, needsCapture: true,
            #"""
            server S tls
            client C -> S tls
            C connect
            S accept
            S close
            C expect eof
            C close
            wire fin from C
            wire no rst
            """#),
        Scene(
            "data after a close is answered with an RST", .passed, needsCapture: true,
            #"""
            server S tls
            client C -> S tls
            C connect
            S accept
            S close
            C expect eof
            C send "x"
            wire rst from S within 5s
            """#),
        Scene(
            "close is close_notify and FIN", .passed,
            #"""
            server S tls
            client C -> S tls
            C connect
            S accept
            C close
            S expect notify
            S expect eof
            """#),
        Scene(
            "a FIN without close_notify", .passed,
            #"""
            server S tls
            client C -> S tls
            C connect
            S accept
            C close without notify
            S expect truncated
            """#),
        Scene(
            "truncated is not eof", .failed,
            says: ["received a FIN without a close_notify: the stream may have been truncated", "expect truncated"],
            #"""
            server S tls
            client C -> S tls
            C connect
            S accept
            C close without notify
            S expect eof #!
            """#),
        Scene(
            "eof is not truncated", .failed, says: ["received close_notify"],
            #"""
            server S tls
            client C -> S tls
            C connect
            S accept
            C close
            S expect truncated #!
            """#),
        Scene(
            "close_notify alone is not eof", .failed, says: ["close_notify was received, but no FIN"],
            #"""
            server S tls
            client C -> S tls
            C connect
            S accept
            C send notify
            S expect eof within 100ms #!
            """#),
        Scene(
            "closed matches every end", .passed,
            #"""
            server S tls
            client C -> S tls
            C connect
            S accept
            C close without notify
            S expect closed
            """#),
        Scene(
            "half-close", .passed,
            #"""
            server S tls
            client C -> S tls
            C connect
            S accept
            C half-close
            S expect eof
            S send "late"
            C expect "late"
            S close
            C expect eof
            """#),
        Scene(
            "close_notify while the other side continues", .passed,
            #"""
            server S tls
            client C -> S tls
            C connect
            S accept
            C send notify
            S expect notify
            S send "late"
            C expect "late"
            C close
            S expect eof
            """#),
        Scene(
            "line expected, bytes and close_notify received", .failed, says: ["tw"],
            #"""
            server S tls
            client C -> S tls
            C connect
            S accept
            C send "tw"
            C close
            S expect line "two" #!
            """#),
        Scene(
            "bytes expected, close_notify received", .failed, says: ["the peer sent close_notify while"],
            #"""
            server S tls
            client C -> S tls
            C connect
            S accept
            C send notify
            S expect "x" #!
            """#),
        Scene(
            "close_notify breaks silence", .failed, says: ["close_notify"],
            #"""
            server S tls
            client C -> S tls
            C connect
            S accept
            C send notify
            S expect nothing for 50ms #!
            """#),
        Scene(
            "bytes before the end", .failed, says: ["received data, expected"],
            #"""
            server S tls
            client C -> S tls
            C connect
            S accept
            C send "abc"
            C close
            S expect eof #!
            """#),
        Scene(
            "ignored bytes before the end", .passed,
            #"""
            server S tls
            client C -> S tls
            C connect
            S accept
            S ignore rest
            C send "abc"
            C close
            S expect eof
            """#),
        Scene(
            "a reset", .passed,
            #"""
            server S tls
            client C -> S tls
            C connect
            S accept
            S send "x"
            C expect "x"
            C reset
            S expect reset
            """#),
        Scene(
            "an alert", .passed,
            #"""
            server S tls
            client C -> S tls
            C connect
            S accept
            C send alert fatal internal-error
            S expect alert internal-error
            """#),
        Scene(
            "the end after an alert", .passed,
            #"""
            server S tls
            client C -> S tls
            C connect
            S accept
            C send alert fatal internal-error
            C close without notify
            S expect alert internal-error
            S expect eof
            """#),
        Scene(
            "an alert by its number", .passed,
            #"""
            server S tls
            client C -> S tls
            C connect
            S accept
            C send alert fatal 80
            S expect alert 80
            """#),
        Scene(
            "unexpected alert", .failed, says: ["the alert handshake-failure (40)", "internal-error"],
            #"""
            server S tls
            client C -> S tls
            C connect
            S accept
            C send alert fatal 40
            S expect alert internal-error #!
            """#),
        Scene(
            "line expected, alert received", .failed, says: ["the peer sent the alert handshake-failure (40)"],
            #"""
            server S tls
            client C -> S tls
            C connect
            S accept
            C send alert fatal 40
            S expect line "x" #!
            """#),
    ])
    func endsAreDistinguished(scene: Scene) async throws { try await scene.verify(subject: nil) }
}
