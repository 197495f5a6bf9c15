import ProbeBase
import Testing

@Suite struct AllowedTargetsTests {
    private func refusal(
        _ host: String, _ port: UInt16? = 80, allowed: [String] = [], for purpose: AllowedTargets.Purpose = .connecting
    ) throws -> AllowedTargets.Refusal? {
        try AllowedTargets(allowed).refusal(of: host, port: port, for: purpose)
    }

    @Test(arguments: [
        "127.0.0.1", "127.8.9.10", "::1", "localhost", "LocalHost", "::ffff:127.0.0.1", "0:0:0:0:0:0:0:1",
    ])
    func loopbackIsAllowed(_ host: String) throws {
        #expect(try refusal(host) == nil)
        #expect(try refusal(host, nil, for: .listening) == nil)
    }

    @Test(arguments: [
        "192.0.2.1", "128.0.0.1", "2001:db8::1", "fe80::1%2", "db.test", "localhost.test", "0.0.0.0", "::",
        "::ffff:0.0.0.0", "::ffff:192.0.2.1", "127.0.0.01",
    ])
    func otherHostsAreRefusedWithAHint(_ host: String) throws {
        for purpose in [AllowedTargets.Purpose.connecting, .listening] {
            let refusal = try #require(try refusal(host, for: purpose))
            #expect(refusal.text.contains(host))
            #expect(refusal.hint.contains("--allow-target "))
        }
    }

    @Test func wildcardRefusalExplainsItsMeaning() throws {
        #expect(try refusal("0.0.0.0", 0, for: .listening)?.text.contains("every address of this machine") == true)
        #expect(try refusal("::", 0)?.hint.contains("127.0.0.1") == true)
    }

    @Test(arguments: [
        ("192.0.2.1", "192.0.2.1"), ("::ffff:192.0.2.1", "192.0.2.1"), ("192.0.2.1", "::ffff:192.0.2.1"),
        ("2001:db8::1", "2001:DB8:0::1"), ("2001:db8::1", "[2001:db8::1]"), ("2001:db8::1", "[2001:db8::1]:80"),
        ("192.0.2.1", "192.0.2.1:80"), ("db.test", "DB.test"), ("DB.Test", "db.test:80"), ("0.0.0.0", "0.0.0.0"),
        ("::", "[::]"), ("fe80::1%2", "fe80::1%2"),
    ])
    func spellingsOfAnAllowedHostAreEquivalent(_ host: String, _ allowed: String) throws {
        #expect(try refusal(host, allowed: [allowed]) == nil)
    }

    @Test func singlePortCanBeAllowed() throws {
        let allowed = ["192.0.2.1:80", "[2001:db8::1]:80"]
        #expect(try refusal("192.0.2.1", 81, allowed: allowed)?.hint.contains("--allow-target 192.0.2.1:81") == true)
        #expect(try refusal("2001:db8::1", 81, allowed: allowed)?.hint.contains("[2001:db8::1]:81") == true)
        let anyPort = try refusal("192.0.2.1", 0, allowed: allowed, for: .listening)
        #expect(anyPort?.text.contains("the kernel would choose any free port") == true)
        // An address without a port is accepted for now if one of its ports is allowed, and is checked again once its
        // port is known.
        #expect(try refusal("192.0.2.1", nil, allowed: allowed) == nil)
        #expect(try refusal("192.0.2.2", nil, allowed: allowed) != nil)
    }

    @Test(arguments: [
        "", ":80", "db.test:", "db.test:0", "db.test:65536", "db.test:http", "[::1", "[]:80", "[::1]80", "a b",
    ])
    func malformedTargetsAreRefused(_ text: String) {
        #expect(throws: AllowedTargets.Malformed.self) { try AllowedTargets([text]) }
    }
}
