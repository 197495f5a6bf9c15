import ProbeEvents
import ProbeSystem
import Testing

/// Tests `wire` steps that concern one connection or several.
struct WireTests {
    private static func pair(_ steps: String, header: String = "") -> String {
        "\(header)\nserver S\nclient C -> S\nC connect\nS accept\n" + steps
    }

    private static func scene(
        _ name: String, _ verdict: Verdict, says: [String] = [], _ script: String
    ) -> Scene {
        Scene(name, verdict, says: says, needsCapture: true, script)
    }

    private static let twoSegments = "C send \"ab\" | \"cd\" every 30ms\nS expect \"abcd\"\n"

    @Test(arguments: [
        scene("bytes", .passed, pair(twoSegments + "wire C -> S bytes \"abcd\"")),
        scene("unexpected bytes", .failed, says: ["offset 1"], pair(twoSegments + "wire C -> S bytes \"axcd\" #!")),
        scene(
            "more bytes than expected", .failed, says: ["2 bytes more"],
            pair(twoSegments + "wire C -> S bytes \"ab\" #!")),
        scene(
            "fewer bytes", .failed, says: ["only the first 4 of 5 expected bytes"],
            pair(twoSegments + "wire C -> S bytes \"abcde\" within 30ms #!")),
        scene(
            "segments", .passed,
            pair(twoSegments + "wire C -> S segments 2\nwire C -> S segments \"ab\", \"cd\"\nwire C -> S segments >= 1")
        ),
        scene("unexpected segments", .failed, pair(twoSegments + "wire C -> S segments \"abc\", \"d\" #!")),
        scene("too few segments", .failed, pair(twoSegments + "wire C -> S segments 3 within 30ms #!")),
        scene("gap", .passed, pair(twoSegments + "wire C -> S gap >= 25ms\nwire C -> S gap 1 >= 25ms")),
        scene("gap too short", .failed, pair(twoSegments + "wire C -> S gap >= 1s #!")),
        scene(
            "gap without segments", .failed, pair("C send \"a\"\nS expect \"a\"\nwire C -> S gap >= 1ms within 30ms #!")
        ),
        scene("largest segment", .passed, pair(twoSegments + "wire C -> S largest segment <= 2B")),
        scene("largest segment without segments", .failed, pair("wire C -> S largest segment <= 2B within 30ms #!")),
        scene(
            "lines", .passed,
            pair("C send line \"a\"\nS expect line \"a\"\nwire C -> S lines crlf\nwire C -> S longest line <= 10")),
        scene("bare LF", .failed, pair("C send \"a\\n\"\nS expect \"a\\n\"\nwire C -> S lines crlf #!")),
        scene("no lines at all", .failed, pair("wire C -> S lines crlf within 30ms #!")),
        scene("messages", .passed, pair("C send line \"a\"\nS expect line \"a\"\nwire C -> S messages 1")),
        scene("first byte", .passed, pair("C send \"a\"\nS expect \"a\"\nwire C -> S first byte within 2s")),
        scene(
            "first byte late", .failed,
            pair("wait 60ms\nC send \"a\"\nS expect \"a\"\nwire C -> S first byte within 10ms #!")),
        scene("urgent", .passed, pair("C send urgent \"!\"\nS expect urgent \"!\"\nwire C -> S urgent")),
        scene("no urgent", .failed, pair("C send \"a\"\nS expect \"a\"\nwire C -> S urgent within 30ms #!")),
        scene(
            "fin, closed by first", .passed,
            pair("S close\nC expect eof\nC close\nwire fin from S\nwire closed by S first\nwire no rst")),
        scene(
            "closed first by the other side", .failed, says: ["closed first"],
            pair("S close\nC expect eof\nC close\nwire closed by C first #!")),
        scene(
            "expected FIN is missing", .failed, says: ["the capture contains no FIN from C"],
            pair("wire fin from C within 30ms #!")
        ),
        scene(
            "rst instead of fin", .failed, says: ["C sent an RST, expected a FIN"],
            pair("C reset\nS expect reset\nwire fin from C #!")
        ),
        scene(
            "vanished", .passed,
            pair(
                """
                C send "unread"
                S vanish
                C expect nothing for 50ms
                C send "y"
                C expect reset
                wire rst from S
                """)),
        scene(
            "vanished silently", .passed,
            pair(
                """
                C send "unread"
                S send "sent"
                C expect "sent"
                S vanish silently
                C send "y"
                C expect nothing for 400ms
                wire no rst
                """)),
        scene(
            "vanished silently, with unread bytes", .error,
            says: ["can't vanish silently", "has not acknowledged"],
            "timeout 300ms\nserver S\nclient C -> S\nC stop reading\nC connect\nS accept\nS start sending \"x\" * 6000000\nS vanish silently #!\n"
        ),
        scene("vanished without a FIN", .failed, pair("S vanish\nC expect eof within 100ms")),
        scene("rst", .passed, pair("C reset\nS expect reset\nwire rst from C")),
        scene(
            "no RST expected, one sent", .failed, says: ["C sent an RST"],
            pair("C reset\nS expect reset\nwire no rst #!")),
        scene(
            "handshake, retransmission, packets", .passed,
            pair("wire handshake complete\nwire no retransmission\nwire packets <= 20\nwire C -> S retransmissions 0")),
        scene("too many packets", .failed, says: ["the connection has"], pair(twoSegments + "wire packets <= 2 #!")),
        scene(
            "zero window", .passed,
            """
            server S with receive-buffer 4KiB
            client C -> S
            C connect
            S accept
            S stop reading
            C start sending "x" * 6000000
            C expect stalled for 50ms
            wire S -> C zero window
            S reset
            """),
        scene(
            "no zero window", .failed, says: ["never closed its window"],
            pair("C send \"a\"\nS expect \"a\"\nwire S -> C zero window within 30ms #!")),
    ])
    func statementsHaveExpectedVerdicts(_ scene: Scene) async throws { try await scene.verify() }

    @Test(arguments: [
        scene(
            "two connections of one server, named", .passed,
            """
            server S
            client C -> S
            client D -> S
            C connect
            S accept as A
            D connect
            S accept as B
            C send "c"
            A expect "c"
            D send "d"
            B expect "d"
            D reset
            B expect reset
            wire C -> A bytes "c"
            wire D -> B bytes "d"
            wire C -> S bytes "c"
            wire rst from D
            """),
        scene(
            "every connection so far", .failed, says: ["D sent an RST"],
            """
            server S
            client C -> S
            client D -> S
            C connect
            S accept as A
            D connect
            S accept as B
            D reset
            B expect reset
            wire no rst #!
            """),
        scene(
            "the subject alongside a client of the harness", .passed,
            """
            server S
            client C -> S
            subject T -> S
            C connect
            S accept as A
            T start
            S accept as B
            T send line "t"
            B expect line "t"
            C send "c"
            A expect "c"
            wire T -> S bytes "t\\r\\n"
            wire T -> B bytes "t\\r\\n"
            wire C -> A bytes "c"
            """),
        scene(
            "a connection that was reset before it was accepted", .passed,
            """
            server S
            client C -> S
            C connect
            C send "x"
            C reset
            S accept
            S expect "x"
            S expect reset
            wire C -> S bytes "x"
            wire rst from C
            wire closed by C first
            """),
        scene(
            "on IPv6", .passed,
            """
            require ipv6
            server S on [::1]
            client C -> S
            C connect
            S accept
            C send "a" | "b"
            S expect "ab"
            wire C -> S segments "a", "b"
            """),
    ])
    func statementsAboutSeveralConnectionsAreJudged(_ scene: Scene) async throws { try await scene.verify() }

    @Test(arguments: [
        scene(
            "stop reading whose window never closed", .inconclusive, says: ["its window never closed"],
            """
            server S with receive-buffer 1MiB
            client C -> S
            C connect
            S accept
            S stop reading
            C start sending "x" * 1000
            wait 20ms
            C expect sent
            S reset
            """),
        scene(
            "a cut send that is reset later", .passed,
            pair("C send \"a\" | \"b\" every 5ms\nS expect \"ab\"\nC reset\nS expect reset")),
        scene(
            "an unconsumed byte outweighs inconclusive", .failed, says: ["that no step consumed"],
            pair("whenever C gets line /^x$/ { C send \"y\" }\nC send \"a\" | \"b\"")),
    ])
    func stepsAreProvedOnTheWire(_ scene: Scene) async throws { try await scene.verify() }

    @Test(arguments: [
        ("C send \"ab\"\nS expect \"ab\"\nwire no rst\n", Verdict.inconclusive),
        ("C send \"a\" | \"b\"\nS expect \"ab\"\n", .inconclusive),
        ("C send \"ab\"\nS expect \"ab\"\n", .passed),
        ("C send \"ab\"\nwire no rst\nS expect \"xy\"\n", .failed),
    ])
    func wireStepsNeedACapture(_ steps: String, _ verdict: Verdict) async throws {
        let results = try await Stage.run("scenario \"x\"" + Self.pair(steps), usesCapture: false)
        #expect(results.first?.verdict == verdict)
        let required = try await Stage.run(
            "scenario \"x\"" + Self.pair(steps, header: "\nrequire capture"), usesCapture: false)
        #expect(required.first?.verdict == .skipped)
    }

    /// Without a capture, a link's packets are visible, but packets on loopback are not. Missing loopback packets must
    /// not be taken as evidence.
    @Test(arguments: [
        ("wire S -> C bytes \"a\"\n", Verdict.passed),
        ("wire S -> C bytes \"b\"\n", .failed),
        ("wire R -> D bytes \"r\"\n", .inconclusive),
        ("wire no rst\n", .inconclusive),
        ("wire rst from R\n", .inconclusive),
    ])
    func linkPacketsAreJudgedWithoutACapture(_ steps: String, _ verdict: Verdict) async throws {
        if let obstacle = NetworkNamespace.obstacle { try Test.cancel("there can be no link here: \(obstacle)") }
        let script = """
            scenario "x"
            server S
            client C -> S
            server R
            client D -> R
            link S <-> C
            C connect
            S accept
            D connect
            R accept
            S send "a"
            C expect "a"
            R send "r"
            D expect "r"

            """
        let results = try await Stage.run(script + steps, usesCapture: false)
        #expect(results.first?.verdict == verdict)
    }
}
