import ProbeEvents
import Testing

/// Proxies between endpoints of the harness: each proxy step, and each way in which such a step can fail.
struct ProxyTests {
    /// Returns a script with a client C, a server S, and the proxy X between them; C connects after `before`.
    private static func proxied(_ steps: String, before: String = "") -> String {
        "timeout 20s\nserver S\nproxy X -> S\nclient C -> X\n\(before)\nC connect\nX accept\nS accept\n\(steps)"
    }

    @Test(arguments: [
        Scene(
            "both directions", .passed,
            proxied(
                "C send line \"a\"\nS expect line \"a\"\nS send line \"b\"\nC expect line \"b\"\nwire X -> C segments 1"
            )),
        Scene(
            "FIN in each direction", .passed,
            proxied(
                "C half-close\nS expect eof\nS send \"x\"\nC expect \"x\"\nS close\nC expect eof\nX expect eof from server"
            )),
        Scene("RST is forwarded", .passed, proxied("C reset\nS expect reset\nX expect reset from client")),
        Scene(
            "pieces", .passed,
            proxied("X forward to server in pieces of 1B\nC send \"abc\"\nS expect \"abc\"\nwire X -> S segments 3")),
        Scene(
            "cut before the first byte", .passed,
            proxied(
                "C send \"abcdef\"\nS expect \"abcdef\"\nwire X -> S segments 3",
                before: "X forward to server cut at 2, 4")),
        Scene(
            "every", .passed,
            proxied("X forward to server in pieces of 1B every 30ms\nC send \"abc\"\nS expect \"abc\" after 55ms")),
        Scene(
            "rate", .passed,
            proxied("X forward to client at 1kB/s\nS send \"x\" * 100\nC expect \"x\" * 100 after 80ms")),
        Scene(
            "delay applies to bytes and end", .passed,
            proxied("X forward to client delayed by 60ms\nS close\nC expect eof after 55ms")),
        Scene(
            "joined", .passed,
            proxied(
                "X forward to server joined\nC send \"a\" | \"b\" | \"c\"\nS expect \"abc\"\nwire X -> S segments 1")),
        Scene(
            "hold and release", .passed,
            proxied(
                "X hold to server\nC send \"abc\"\nX expect \"abc\" from client\nS expect nothing for 30ms\nX release\nS expect \"abc\""
            )),
        Scene(
            "given number of bytes", .passed,
            proxied(
                "X forward 2 bytes to server\nC send \"abc\"\nX expect \"abc\" from client\nS expect \"ab\"\nS expect nothing for 30ms\nX release to server\nS expect \"c\""
            )),
        Scene(
            "a held end is held", .passed,
            proxied(
                "X hold to server\nC close\nX expect eof from client\nS expect nothing for 30ms\nX release\nS expect eof"
            )),
        Scene(
            "discard", .passed,
            proxied("X discard to server\nC send \"abc\"\nC half-close\nS expect eof")),
        Scene(
            "replace across pieces", .passed,
            proxied("X replace \"ab\" with \"-\" to server\nC send \"xa\" | \"by\"\nS expect \"x-y\"")),
        Scene(
            "insert for future connections", .passed,
            proxied(
                "S expect \"P\"\nD connect\nS accept as T\nT expect \"P\"", before: "X insert \"P\" to server"
            ).replacing("client C -> X", with: "client C -> X\nclient D -> X")),
        Scene(
            "close to client", .passed,
            proxied("X close to client\nC expect eof\nS expect nothing for 30ms\nX close to server\nS expect eof")),
        Scene(
            "half-close to server drops what is held", .passed,
            proxied(
                "X hold to server\nC send \"abc\"\nX expect \"abc\" from client\nX half-close to server\nS expect eof\nS send \"x\"\nC expect \"x\""
            )),
        Scene(
            "reset one side", .passed,
            proxied("X reset client\nC expect reset\nS expect nothing for 30ms\nX reset server\nS expect reset")),
        Scene(
            "a step before accept applies to every connection", .passed,
            proxied(
                "S send \"a\"\nC expect nothing for 30ms\nX release\nC expect \"a\"\nD connect\nX accept as Y\nS accept as T\nT send \"b\"\nY expect \"b\" from server\nD expect nothing for 30ms\nY release\nD expect \"b\"",
                before: "X hold to client"
            ).replacing("client C -> X", with: "client C -> X\nclient D -> X")),
        Scene(
            "an end after unwatched bytes", .passed,
            proxied("C send \"abc\"\nC close\nS expect \"abc\"\nS expect eof\nX expect eof from client")),
        Scene(
            "a proxy in front of a proxy", .passed,
            "timeout 20s\nserver S\nproxy X -> S\nproxy Y -> X\nclient C -> Y\nC connect\nS accept\nC send \"a\"\nS expect \"a\"\nX accept\nY accept\nwire Y -> X bytes \"a\""
        ),
        Scene(
            "an unaccepted connection is not a failure", .passed,
            "server S\nproxy X -> S\nclient C -> X\nC connect\nS accept\nC send \"a\"\nS expect \"a\""),
        Scene(
            "bytes are watched on their own side only", .failed,
            says: ["X's connection to its server did not receive line \"a\" within 30ms"],
            proxied("C send line \"a\"\nS expect line \"a\"\nX expect line \"a\" from server within 30ms #!")),
        Scene(
            "unexpected line forwarded", .failed,
            says: ["X's connection to its client received \"a\"", "expected: b", "actual: a"],
            proxied("C send line \"a\"\nS expect line \"a\"\nX expect line \"b\" from client #!")),
        Scene(
            "no connection received", .failed, says: ["X (port", "received no connection within", "${X.port}"],
            "server S\nproxy X -> S\nclient C -> S\nC connect\nS accept\nX accept within 30ms #!"),
        Scene(
            "server not reached", .failed, says: ["X could not connect to 127.0.0.1", "refused"],
            "server S\nproxy X -> S\nclient C -> X\nS stop listening\nC connect\nX accept #!\nC expect reset"),
        Scene(
            "refused while held", .passed,
            "server S\nproxy X -> S\nclient C -> X\nS stop listening\nX hold to client if needed\nC connect\nC expect reset"
        ),
        Scene("reset of future connections", .passed, proxied("S expect reset", before: "X reset server")),
        Scene(
            "a fault without effect", .inconclusive, says: ["had no effect: X's connection", "had already ended"],
            proxied(
                "C close\nS expect eof\nS close\nX expect eof from server\nwait 50ms\nX insert \"x\" to client #!")),
        Scene(
            "replaced by the same bytes", .error,
            proxied("X replace \"ab\" with \"a\" + \"b\" to server\nC send \"ab\"\nS expect \"ab\"")),
        Scene(
            "partial match of a replacement at the end", .passed,
            proxied(
                "X replace \"ab\" with \"X\" to client if needed\nS send \"1a\"\nC expect \"1\"\nX half-close to client\nC expect \"a\"\nC expect eof"
            )),
        Scene(
            "either by forwarded bytes", .passed,
            proxied(
                "C send line \"b\"\nS expect line \"b\"\neither { X expect line \"a\" from client; check 1 == 2 } or { X expect line \"b\" from client; note \"b\" }"
            )),
    ])
    func proxiesHaveExpectedVerdicts(_ scene: Scene) async throws {
        try await scene.verify()
    }
}
