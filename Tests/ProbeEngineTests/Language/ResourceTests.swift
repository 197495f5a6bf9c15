import ProbeEvents
import Testing

@testable import ProbeEngine

/// Expectations about the resources that programs use.
struct ResourceTests {
    @Test(arguments: [
        // The program starts one process in a separate session, and another whose parent then exits.
        Scene(
            "all descendant processes count", .passed,
            """
            process P = sh -c "setsid sleep 5 & sh -c 'setsid sleep 5 & true'; echo up; exec sleep 5"
            P start
            P expect output /up/
            P expect threads == 3
            P stop
            """),
        // The program's resource usage satisfies the step only a short time after the step has begun.
        Scene(
            "descriptors that are closed a moment later", .passed,
            """
            process P = sh -c 'exec 3<&0 4<&0 5<&0 6<&0 7<&0; echo up; read x; exec 3<&- 4<&- 5<&- 6<&- 7<&-; echo closed; read x'
            P start
            P expect output /up/
            P expect descriptors as open
            together {
                P expect descriptors <= open - 5
                do { wait 50ms; P send "\\n" }
            }
            P expect output /closed/
            P stop
            """),
        Scene(
            "processor time", .passed,
            """
            process P = sh -c 'i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done; echo done; read x; (i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done); echo again; read x'
            P start
            P expect output /done/ within 60s
            P expect cpu as used
            check used > 1000
            wait 50ms
            P expect cpu <= 10ms
            P send "\\n"
            P expect output /again/ within 60s
            P expect cpu > 10ms
            P expect cpu <= 10ms
            P stop
            """),
        Scene(
            "too much processor time", .failed, says: ["of processor time within", "expected at most 1ms"],
            """
            process P = sh -c 'i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done; echo done; read x'
            P start
            P expect output /done/ within 60s
            P expect cpu <= 1ms #!
            """),
        Scene(
            "a retry judges the usage of each attempt", .passed,
            """
            process P = sh -c 'i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done; echo done; read x'
            P start
            P expect output /done/ within 60s
            retry every 20ms within 5s { P expect cpu <= 10ms }
            P stop
            """),
    ])
    func programResourcesHaveExpectedVerdicts(_ scene: Scene) async throws { try await scene.verify() }

    /// Transports that run in the harness's own process, whose resource usage can't be measured separately.
    @Test(arguments: [
        Scene(
            "transport without its own process", .unsupported, says: ["does not run in its own process"],
            started("T expect descriptors <= 100 #!")),
        Scene(
            "another branch does not measure", .passed,
            started("either { T expect descriptors <= 100 } or { T expect nothing for 10ms }")),
        Scene(
            "every branch measures", .unsupported, says: ["does not run in its own process"],
            started("either { T expect descriptors <= 100 #!\n } or { T expect threads <= 100 }")),
    ])
    func subjectResourcesHaveExpectedVerdicts(_ scene: Scene) async throws { try await scene.verify() }

    private static func started(_ steps: String) -> String {
        "server S\nsubject T -> S\nT start\nS accept\n" + steps
    }
}
