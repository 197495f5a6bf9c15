import ProbeEvents
import Testing

@testable import ProbeEngine

/// For a subject that has stopped, a `start` step creates a new connection or a new listener under the same name.
struct SubjectRestartTests {
    @Test(arguments: [
        Scene(
            "restarted after its end", .passed,
            """
            server S
            subject T -> S
            for i in 1..3 {
                T start
                S accept
                T send line "${i}"
                S expect line "${i}"
                S close
                T expect stopped eof
            }
            T start
            T expect error already-started
            """),
        Scene(
            "restarted right after its stop", .passed,
            """
            server S
            subject T -> S
            for i in 1..3 {
                T start
                T expect started
                S accept
                T stop
                S expect eof
                S close
            }
            T start
            S accept
            T expect started
            T expect nothing for 10ms
            T reset
            S expect reset
            T start
            S accept
            S send line "the last"
            T expect line "the last"
            """),
        Scene(
            "restarted while it runs", .failed, says: ["already-started"],
            started("S close\nT expect stopped eof\nT start\nS accept\nT start #!\nwait 1ms")),
        Scene(
            "unexpected report of the previous connection", .failed, says: ["no step expected it"],
            started("S send lines(\"x\", \"y\")\nT expect line \"x\"\nT stop\nT start #!\nS ignore rest")),
        Scene(
            "unexpected stop of the previous connection", .failed, says: ["already-started"],
            started("S close\nwait 50ms\nT start #!\nT expect stopped eof")),
        Scene(
            "a listener that restarts", .passed,
            """
            subject T listens
            client C -> T
            for i in 1..3 {
                T start
                C connect
                T expect accept as A
                C send line "${i}"
                A expect line "${i}"
                C close
                A expect stopped eof
                T stop
                T expect stopped stopped
            }
            """),
        Scene(
            "wire names after a second start", .passed, needsCapture: true,
            """
            server S
            subject T -> S
            for i in 1..2 {
                T start
                S accept as A
                T send line "${i}"
                A expect line "${i}"
                wire T -> A bytes "${i}\\r\\n"
                A close
                T expect stopped eof
            }
            """),
        Scene(
            "wire names after a listener restarts", .passed, needsCapture: true,
            """
            subject T listens
            client C -> T
            for i in 1..2 {
                T start
                for j in 1..2 {
                    C connect
                    T expect accept as A
                    C send line "${i}${j}"
                    A expect line "${i}${j}"
                    wire C -> A bytes "${i}${j}\\r\\n"
                    C close
                    A expect stopped eof
                }
                T stop
            }
            """),
        Scene(
            "report of an accepted connection whose name is reused", .failed,
            says: ["no step expected it"],
            """
            subject T listens
            client C -> T
            client D -> T
            T start
            C connect
            T expect accept as A
            C send lines("x", "y")
            A expect line "x"
            D connect
            T expect accept as A
            A expect nothing for 10ms
            """),
    ])
    func restartsHaveExpectedVerdicts(_ scene: Scene) async throws { try await scene.verify() }

    private static func started(_ steps: String) -> String {
        "server S\nsubject T -> S\nT start\nS accept\n" + steps
    }
}
