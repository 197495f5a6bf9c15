import ProbeEvents
import ProbeScenario
import Testing

/// Tests the end of a case with TLS: received data that no step has expected, and faults that had no effect on the
/// wire.
struct TLSCaseEndTests {
    private static func scene(_ name: String, _ verdict: Verdict, says: [String] = [], _ steps: String) -> Scene {
        Scene(name, verdict, says: says, "server S tls\nclient C -> S tls\nC connect\nS accept\n\(steps)")
    }

    @Test(arguments: [
        scene(
            "data after close_notify", .failed, says: ["bytes after close_notify"],
            "C send notify\nS expect notify\nC send \"ghost\"\nC close without notify\nS expect eof"),
        scene(
            "data after close_notify breaks silence", .failed, says: ["bytes after close_notify"],
            "C send notify\nS expect notify\nC send \"ghost\"\nS expect nothing for 60s #!"),
        scene(
            "an alert", .failed, says: ["S received the alert internal-error (80), which no step expected"],
            "C send alert fatal internal-error\nwait 50ms"),
        scene(
            "an alert, and then the end of this side", .failed, says: ["internal-error"],
            "C send alert fatal internal-error\nwait 50ms\nS close"),
        scene(
            "input that is not TLS", .failed, says: ["received \"EVIL", "instead of a TLS record"],
            "C ignore rest\nC send plaintext \"EVIL EVIL EVIL\"\nwait 50ms"),
        scene(
            "an incomplete record", .failed, says: ["S received 4 bytes of an incomplete TLS record"],
            "C send plaintext hex(17 03 03 00)\nwait 50ms"),
        scene(
            "an incomplete record before the FIN", .failed,
            says: ["received 4 bytes of an incomplete TLS record"],
            "C send plaintext hex(17 03 03 00)\nC close without notify\nS expect truncated #!"),
        scene(
            "garbage and then a FIN is not truncation", .failed, says: ["TLS failed"],
            "C send plaintext \"EVIL EVIL EVIL\"\nC close without notify\nwait 50ms\nS expect truncated #!"),
        scene(
            "data after a fatal alert", .failed, says: ["bytes after a fatal alert"],
            "C send alert fatal internal-error\nC send record 23 \"ghost\"\nwait 50ms\nS expect alert internal-error"),
        scene(
            "data after a fatal alert breaks silence", .failed, says: ["bytes after a fatal alert"],
            "C send alert fatal internal-error\nS expect alert internal-error\nC send record 23 \"ghost\"\nS expect nothing for 60s #!"
        ),
        scene(
            "an incomplete record before any end", .failed,
            says: ["received 4 bytes of an incomplete TLS record"],
            "C send plaintext hex(17 03 03 00)\nC close without notify\nwait 50ms\nS expect closed #!"),
        scene(
            "an incomplete record before an RST", .failed, says: ["received 4 bytes of an incomplete TLS record"],
            "C send plaintext hex(17 03 03 00)\nwait 50ms\nC reset\nwait 50ms\nS expect reset #!"),
        scene(
            "eof expected, incomplete record received", .failed,
            says: ["received 4 bytes of an incomplete TLS record, expected eof"],
            "C send plaintext hex(17 03 03 00)\nC close without notify\nwait 50ms\nS expect eof #!"),
        scene(
            "an incomplete record is ignored by ignore rest", .passed,
            "S ignore rest\nC send plaintext hex(17 03 03 00)\nC close without notify\nS expect truncated"),
        scene(
            "unreadable input is ignored by ignore rest", .passed,
            "C ignore rest\nS ignore rest\nC send plaintext \"EVIL EVIL EVIL\"\nwait 50ms\nC reset\nS expect reset"),
        scene(
            "an either without the silence reports the input", .failed, says: ["the peer sent the alert user-canceled"],
            "C send alert warning user-canceled\nwait 50ms\neither { #!\nS expect nothing for 100ms\n} or {\nS expect \"x\" within 200ms\n}"
        ),
        scene("an ignored alert", .passed, "S ignore rest\nC send alert fatal internal-error\nwait 50ms"),
        scene(
            "the peer's answer to the end does not count", .passed,
            "C close without notify\nS expect truncated\nS close"),
        scene(
            "a number that is unknown to the checker", .error, says: ["an alert must be between 0 and 255, not 300"],
            "C send u8(4)\nS expect u8 as n\nS send alert fatal (n + 296) #!"),
    ])
    func leftoverInputIsJudged(scene: Scene) async throws { try await scene.verify(subject: nil) }

    @Test(arguments: TLSRecordFault.allCases)
    func faultWithoutARecordIsInconclusive(fault: TLSRecordFault) async throws {
        let scene = Self.scene(
            fault.rawValue, .inconclusive, says: ["no record was sent after this step"],
            "C send \"a\"\nS expect \"a\"\nC \(fault.rawValue)")
        try await scene.verify(subject: nil)
    }

    @Test(arguments: [
        Scene(
            "a peer that answers a stopped handshake with an alert", .passed,
            #"""
            server S
            client C -> S
            C connect
            S accept
            C start tls stop after 100 bytes
            S expect 100 bytes
            S send hex(15 03 03 00 02 02 28)
            C expect alert handshake-failure
            S close
            C expect eof
            """#),
        Scene(
            "an alert that no step expects", .failed, says: ["handshake-failure"],
            #"""
            server S
            client C -> S
            C connect
            S accept
            C start tls stop after 100 bytes
            S expect 100 bytes
            S send hex(15 03 03 00 02 02 28)
            C expect nothing for 60s #!
            """#),
        Scene(
            "a cut of a flight that is never sent", .inconclusive, says: ["sent no handshake flight"],
            #"""
            server S
            client C -> S
            C connect
            S accept
            C send "x"
            S expect "x"
            C reset
            S start tls failed cut at 3 #!
            """#),
        Scene(
            "a FIN before TLS begins", .passed,
            #"""
            server S
            client C -> S
            C connect
            S accept
            C close
            wait 50ms
            S start tls failed
            """#),
        Scene(
            "a negative length", .error, says: ["the number of bytes must be at least 0, not -10"],
            #"""
            server S
            client C -> S
            C connect
            S accept
            S send u8(5)
            C expect u8 as n
            C start tls stop after (n - 15) bytes #!
            """#),
        Scene(
            "plain connections after a loop of TLS connections", .passed,
            #"""
            server S tls
            client C -> S tls
            client D -> S tls
            for i in 1..3 {
              C connect
              S accept
              C close
              S expect eof
              S close
            }
            D connect without tls
            S accept without tls as B
            D send "x"
            B expect "x"
            """#),
        Scene(
            "alert expected on an earlier connection", .passed,
            #"""
            server S tls
            client C -> S tls
            C connect
            S accept as A
            A send alert fatal internal-error
            C expect alert internal-error
            C close
            C connect
            S accept as B
            B send "x"
            C expect "x"
            """#),
        Scene(
            "unexpected alert on an earlier connection", .failed, says: ["internal-error"],
            #"""
            server S tls
            client C -> S tls
            C connect
            S accept as A
            A send alert fatal internal-error
            wait 50ms
            C close
            C connect
            S accept as B
            B send alert fatal handshake-failure
            C expect alert handshake-failure
            """#),
        Scene(
            "a server without tickets resumes nothing", .passed,
            #"""
            server S tls version 1.2 tickets 0
            client C -> S tls
            C connect
            S accept as A
            C close
            A expect eof
            A close
            C connect
            S accept as B
            check "${C.tls.resumed}" == "no"
            """#),
        Scene(
            "a new handshake after an unfinished one", .passed,
            #"""
            server S tls version 1.2
            client C -> S tls
            C connect
            S accept
            for i in 1..5 {
              C send "abc" * 1000
              S send hello-request
              S send "def" * 1000
              C send "ghi"
              S expect "abc" * 1000 + "ghi"
              C expect "def" * 1000
            }
            """#),
        Scene(
            "a paced handshake takes its time", .passed,
            #"""
            timeout 1s
            server S
            client C -> S
            C connect
            S accept
            together {
              C start tls in pieces of 1B every 5ms
              S start tls within 60s
            }
            """#),
    ])
    func inputAtItsLimitIsJudged(scene: Scene) async throws { try await scene.verify(subject: nil) }
}
