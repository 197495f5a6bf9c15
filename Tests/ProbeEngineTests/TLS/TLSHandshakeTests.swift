import ProbeEvents
import Testing

/// Tests handshakes in which both ends belong to the harness: certificates, versions, ALPN and resumption. End-to-end
/// tests check that other implementations interoperate.
struct TLSHandshakeTests {
    @Test(arguments: [
        Scene(
            "an either by how the handshake ended: it failed", .passed,
            #"""
            server S tls cert expired
            client C -> S tls ca run name "localhost"
            together {
              C connect tls failed
              either {
                S accept
                S expect "a"
              } or {
                S accept tls failed unknown-ca
                check 1 == 2
              } or {
                S accept tls failed certificate-expired
              }
            }
            """#),
        Scene(
            "an either by how the handshake ended: it succeeded", .passed,
            #"""
            server S tls
            client C -> S tls
            C connect
            either {
              S accept tls failed
            } or {
              S accept
              C send "a"
              S expect "a"
            }
            """#),
        Scene(
            "an either that no handshake matches", .failed, says: ["without the alert unknown-ca"],
            #"""
            server S tls cert expired
            client C -> S tls ca run name "localhost"
            C connect tls failed
            either { #!
              S accept
            } or {
              S accept tls failed unknown-ca
            }
            """#),
        Scene(
            "both ends verify the certificates", .passed,
            #"""
            server S tls
            client C -> S tls ca run name "localhost"
            C connect
            S accept
            C send line "hello"
            S expect line "hello"
            S send line "220 ready"
            C expect line "220 ready"
            check "${S.tls.sni}" == "localhost"
            C close
            S expect eof
            """#),
        Scene(
            "an expired certificate", .passed,
            #"""
            server S tls cert expired
            client C -> S tls ca run name "localhost"
            C connect tls failed certificate-expired
            S accept tls failed certificate-expired
            """#),
        Scene(
            "a certificate that is not yet valid", .passed,
            #"""
            server S tls cert not-yet-valid
            client C -> S tls ca run name "localhost"
            C connect tls failed
            S accept tls failed
            """#),
        Scene(
            "a different name", .passed,
            #"""
            server S tls cert for "other.test"
            client C -> S tls ca run name "localhost"
            C connect tls failed bad-certificate
            S accept tls failed bad-certificate
            """#),
        Scene(
            "without a name the address is verified", .passed,
            #"""
            server S tls cert for "127.0.0.9"
            client C -> S tls ca run
            C connect tls failed
            S accept tls failed
            """#),
        Scene(
            "self-signed, and an unknown authority", .passed,
            #"""
            server R tls cert self-signed
            server S tls cert unknown-ca
            client B -> R tls ca run name "localhost"
            client C -> S tls ca run name "localhost"
            B connect tls failed unknown-ca
            R accept tls failed unknown-ca
            C connect tls failed unknown-ca
            S accept tls failed unknown-ca
            """#),
        Scene(
            "failure expected, handshake succeeds", .failed, says: ["succeeded, but was expected to fail"],
            #"""
            server S tls
            client C -> S tls ca run name "localhost"
            C connect tls failed #!
            """#),
        Scene(
            "unexpected alert", .failed,
            says: ["without the alert unknown-ca", "it sent the alert certificate-expired (45)"],
            #"""
            server S tls cert expired
            client C -> S tls ca run name "localhost"
            C connect tls failed unknown-ca #!
            """#),
        Scene(
            "success expected, certificate refused", .failed,
            says: ["C's TLS handshake failed", "certificate has expired"],
            #"""
            server S tls cert expired
            client C -> S tls ca run name "localhost"
            C connect #!
            """#),
        Scene(
            "a client certificate", .passed,
            #"""
            server S tls client-cert required
            client C -> S tls
            client D -> S tls cert run
            C connect tls failed certificate-required
            S accept tls failed certificate-required
            D connect
            S accept as B
            D send "x"
            B expect "x"
            """#),
        Scene(
            "plain text on a port with TLS", .failed, says: ["not TLS", "GET /"],
            #"""
            server S tls
            client C -> S
            C connect
            C send "GET / HTTP/1.0\r\n\r\n"
            S accept #!
            """#),
        Scene(
            "versions", .passed,
            #"""
            server S tls version 1.2
            client C -> S tls
            C connect
            S accept
            check "${C.tls.version}" == "1.2"
            check "${S.tls.version}" == "1.2"
            C send "a"
            S expect "a"
            """#),
        Scene(
            "no version in common", .passed,
            #"""
            server S tls version 1.2
            client C -> S tls version 1.3
            C connect tls failed protocol-version
            S accept tls failed protocol-version
            """#),
        Scene(
            "ALPN", .passed,
            #"""
            server S tls alpn "imap" "smtp"
            client C -> S tls alpn "smtp"
            client D -> S tls alpn "http"
            C connect
            S accept
            check "${C.tls.alpn}" == "smtp"
            check "${S.tls.alpn}" == "smtp"
            D connect tls failed no-application-protocol
            S accept as B tls failed no-application-protocol
            """#),
        Scene(
            "without tls", .passed,
            #"""
            server S tls
            client C -> S tls
            C connect without tls
            S accept without tls
            C send "a"
            S expect "a"
            """#),
        Scene(
            "a session is resumed", .passed,
            #"""
            server S tls
            client C -> S tls
            C connect
            S accept as A
            check "${C.tls.resumed}" == "no"
            A send "a"
            C expect "a"
            C close
            A expect eof
            C connect
            S accept as B
            check "${C.tls.resumed}" == "yes"
            """#),
        Scene(
            "no resumption without tickets", .passed,
            #"""
            server S tls tickets 0
            client C -> S tls
            C connect
            S accept as A
            A send "a"
            C expect "a"
            C close
            A expect eof
            C connect
            S accept as B
            check "${C.tls.resumed}" == "no"
            """#),
        Scene(
            "two connections in the order of their accepts", .passed,
            #"""
            server S tls
            client C -> S tls
            client D -> S tls
            C connect without tls
            D connect
            S accept as A without tls
            S accept as B
            C send "a"
            A expect "a"
            D send "b"
            B expect "b"
            """#),
    ])
    func handshakesEndAsExpected(scene: Scene) async throws { try await scene.verify(subject: nil) }
}
