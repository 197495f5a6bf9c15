import ProbeEvents
import Testing

/// Tests how sent bytes are divided into records and segments, and records that OpenSSL never sends. End-to-end tests
/// check that other implementations interoperate.
struct TLSRecordTests {
    @Test(arguments: [
        Scene(
            "a cut inside the header of a record", .passed, needsCapture: true,
            #"""
            server S tls
            client C -> S tls
            C connect
            S accept
            S send "abcdef" cut at 3
            C expect "abcdef"
            wire S -> C segments >= 2
            """#),
        Scene(
            "single bytes", .passed, needsCapture: true,
            #"""
            server S tls
            client C -> S tls
            C connect
            S accept
            S send "abc" in pieces of 1B
            C expect "abc"
            """#),
        Scene(
            "random cuts", .passed, needsCapture: true,
            #"""
            server S tls
            client C -> S tls
            C connect
            S accept
            S send "abcdef" cut at random seed 7
            C expect "abcdef"
            """#),
        Scene(
            "records of one byte", .passed,
            #"""
            server S tls
            client C -> S tls
            C connect
            S accept
            S send "abcdef" in records of 1B
            C expect "abcdef"
            """#),
        Scene(
            "records of two bytes, cut", .passed, needsCapture: true,
            #"""
            server S tls
            client C -> S tls
            C connect
            S accept
            S send "abcdef" in records of 2B cut at 3, 30
            C expect "abcdef"
            """#),
        Scene(
            "a cut beyond the end on the wire", .error, says: ["4000"],
            #"""
            server S tls
            client C -> S tls
            C connect
            S accept
            S send "ab" cut at 3, 4000 #!
            """#),
        Scene(
            "a MiB", .passed,
            #"""
            server S tls
            client C -> S tls
            C connect
            S accept
            S start sending "x" * 1MiB
            C expect "x" * 1MiB
            S expect sent
            """#),
        Scene(
            "paced", .passed, needsCapture: true,
            #"""
            server S tls
            client C -> S tls
            C connect
            S accept
            S send "abc" in pieces of 8B every 5ms
            C expect "abc"
            """#),
        Scene(
            "plaintext that bypasses TLS", .passed,
            #"""
            server S tls
            client C -> S tls
            C connect
            S accept
            S ignore rest
            C send plaintext "GET / HTTP/1.0\r\n"
            C expect alert protocol-version
            """#),
        Scene(
            "empty records, and one of a different type", .passed,
            #"""
            server S tls
            client C -> S tls
            C connect
            S accept
            S send record 23 ""
            S send record 23 "abc"
            C expect "abc"
            C ignore rest
            S send record 99 "x"
            S expect alert unexpected-message
            """#),
        Scene(
            "data after close_notify is ignored", .passed,
            #"""
            server S tls
            client C -> S tls
            C connect
            S accept
            C ignore rest
            S send notify
            S send "ghost"
            C expect notify
            S close
            C expect eof
            """#),
        Scene(
            "a flipped bit", .passed,
            #"""
            server S tls
            client C -> S tls
            C connect
            S accept
            C ignore rest
            S corrupt next record
            S send "abc"
            S expect alert bad-record-mac
            """#),
        Scene(
            "a flipped bit of TLS 1.2", .passed,
            #"""
            server S tls version 1.2
            client C -> S tls
            C connect
            S accept
            C ignore rest
            S corrupt next record
            S send "abc"
            S expect alert bad-record-mac
            """#),
        Scene(
            "keys are updated", .passed,
            #"""
            server S tls
            client C -> S tls
            C connect
            S accept
            S send key-update
            S send "a"
            C expect "a"
            C send key-update requested
            C send "b"
            S expect "b"
            S send "c"
            C expect "c"
            """#),
        Scene(
            "forged record after a key update", .passed,
            #"""
            server S tls
            client C -> S tls
            C connect
            S accept
            S send key-update
            S send "a"
            C expect "a"
            S send record 23 "b"
            C expect "b"
            """#),
        Scene(
            "tickets", .passed,
            #"""
            server S tls
            client C -> S tls
            C connect
            S accept
            S send ticket
            S send "a"
            C expect "a"
            """#),
        Scene(
            "a HelloRequest", .passed,
            #"""
            server S tls version 1.2
            client C -> S tls
            C connect
            S accept
            S send hello-request
            S send "a"
            C expect "a"
            C close
            S expect eof
            """#),
        Scene(
            "a send after the start of a second handshake", .passed,
            #"""
            server S tls version 1.2
            client C -> S tls
            C connect
            S accept
            S send hello-request
            C send "a"
            S expect "a"
            S send "b"
            C expect "b"
            S send "c"
            C expect "c"
            """#),
        Scene(
            "a HelloRequest of TLS 1.3", .error, says: ["TLS 1.2"],
            #"""
            server S tls
            client C -> S tls
            C connect
            S accept
            S send hello-request #!
            """#),
    ])
    func recordsFollowTheScript(scene: Scene) async throws { try await scene.verify(subject: nil) }
}
