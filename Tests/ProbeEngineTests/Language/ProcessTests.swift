import ProbeEvents
import Testing

/// The steps of a `process`, with programs that are run by `sh` and python3.
struct ProcessTests {
    @Test(arguments: [
        Scene(
            "output and exit", .passed,
            """
            process P = sh -c "echo ready; echo done >&2; exit 3"
            P start
            P expect output /ready/
            P expect exit 3
            """),
        Scene(
            "output, last line without newline", .passed,
            """
            process P = sh -c "printf 'a\\npro'; sleep 0.05; printf 'mpt> '; read x; echo got $x"
            P start
            P expect output /prompt> /
            P send "hello\\n"
            P expect output /got (?<x>.*)/
            check x == "hello"
            P expect exit 0
            """),
        Scene(
            "output is searched from the last match on", .failed, says: ["without printing /a/"],
            """
            process P = sh -c "echo ab"
            P start
            P expect output /b/
            P expect output /a/ #!
            P expect exit 0
            """),
        Scene(
            "a line continues after the other stream's line", .passed,
            """
            process P = sh -c "printf 'one'; echo err >&2; read x; echo ' two'"
            P start
            P expect output /err/
            P send "\\n"
            P expect output /two/
            P expect exit 0
            """),
        Scene(
            "output that is not printed", .failed, says: ["did not print /x/ within 30ms", "hello"],
            """
            process P = sh -c "echo hello; sleep 5"
            P start
            P expect output /hello/
            P expect output /x/ within 30ms #!
            """),
        Scene(
            "output too early", .failed, says: ["was too early", "expected 3s or more"],
            """
            process P = sh -c "echo x; sleep 5"
            P start
            wait 100ms
            P expect output /x/ after 3s #!
            """),
        Scene(
            "output is timed by the matching bytes", .passed,
            """
            process P = sh -c "printf 'loading'; read x; echo ' done'; sleep 5"
            P start
            P expect output /loading/ within 2s
            together {
              P expect output /done/ after 40ms
              do { wait 50ms; P send "\\n" }
            }
            """),
        Scene(
            "no output", .passed,
            """
            process P = sh -c "echo fine; sleep 5"
            P start
            P expect output /fine/
            P expect no output /error/
            P expect no output /error/ for 20ms
            """),
        Scene(
            "no output expected, some printed", .failed, says: ["printed a line that matches /error/"],
            """
            process P = sh -c "echo error; echo fine; sleep 5"
            P start
            P expect output /fine/
            P expect no output /error/ #!
            """),
        Scene(
            "no output since its last start", .passed,
            """
            process P = sh -c "test -e old || echo error; touch old; echo up; sleep 5"
            P start
            P expect output /up/
            P stop
            P start
            P expect output /up/
            P expect no output /error/
            """),
        Scene(
            "unexpected exit code", .failed, says: ["exited with status 4, expected status 0"],
            """
            process P = sh -c "exit 4"
            P start
            P expect exit 0 #!
            """),
        Scene(
            "exit by signal", .passed,
            """
            process P = sleep 5
            P start
            P signal KILL
            P expect exit signal KILL
            """),
        Scene(
            "signal without an expected exit", .failed,
            says: ["was killed by SIGKILL, but no later step expects it to exit"],
            """
            process P = sleep 5
            P start
            P signal KILL
            wait 2s #!
            """),
        Scene(
            "expected exit does not happen", .failed, says: ["did not exit within 30ms"],
            """
            process P = sleep 5
            P start
            P expect exit within 30ms #!
            """),
        Scene(
            "exit between steps is reported at the next step", .failed,
            says: ["exited with status 7, but no later step expects it to exit", "bye"],
            """
            process P = sh -c "echo bye; exit 7"
            server S
            P start
            S accept within 2s #!
            """),
        Scene(
            "exit after the last step", .failed, says: ["but no later step expects it to exit"],
            """
            process P = sh -c "read x; exit 7"
            P start
            P send "go\\n"
            wait 5s
            """),
        Scene(
            "exit that only another branch expects", .failed, says: ["but no later step expects it to exit"],
            """
            process P = sh -c "echo up; read x; exit 7"
            P start
            either {
              P expect output /up/
              P send "\\n"
              wait 1s
            } or {
              P expect exit 3
            }
            """),
        Scene(
            "restarted after its exit", .passed,
            """
            process P = sh -c "exit 0"
            P start
            P expect exit 0
            P start
            P expect exit 0
            """),
        Scene(
            "the second run ends unexpectedly", .failed, says: ["but no later step expects it to exit"],
            """
            process P = sh -c "exit 0"
            P start
            P expect exit 0
            P start
            wait 2s #!
            """),
        Scene(
            "the second run ends unexpectedly, in a block", .failed, says: ["but no later step expects it to exit"],
            """
            process P = sh -c "exit 0"
            do {
              P start
              P expect exit 0
              P start
              wait 2s #!
            }
            """),
        Scene(
            "stop does not judge the exit", .passed,
            """
            process P = sh -c "trap 'exit 9' TERM; echo up; while :; do sleep 0.01; done"
            P start
            P expect output /up/
            P stop
            P start
            P expect output /up/
            """),
        Scene(
            "stop of a program that ignores TERM", .passed,
            """
            process P = sh -c "trap '' TERM; echo up; while :; do sleep 0.01; done"
            P start
            P expect output /up/
            P stop
            """),
        Scene(
            "descriptors", .passed,
            """
            process P = sh -c "echo up; sleep 5"
            P start
            P expect output /up/
            P expect descriptors <= 30
            P expect memory <= 200MiB
            P expect descriptors as before
            check before >= 3
            P expect descriptors <= before + 20
            P expect memory as bytes
            check bytes > 1000
            """),
        Scene(
            "too many descriptors", .failed,
            says: ["descriptors open, expected at most 1 within 50ms", "open now: ", " pipe"],
            """
            process P = sh -c "echo up; sleep 5"
            P start
            P expect output /up/
            P expect descriptors <= 1 within 50ms #!
            """),
        Scene(
            "too much memory", .failed, says: ["bytes of memory, expected at most 1"],
            """
            process P = sh -c "echo up; sleep 5"
            P start
            P expect output /up/
            P expect memory <= 1KiB within 50ms #!
            """),
        Scene(
            "command not found", .error, says: ["not-a-command was not found"],
            """
            process P = not-a-command #!
            P start
            P expect exit
            """),
        Scene(
            "program that never listens", .failed, says: ["did not listen on port"],
            """
            process P = sh -c "echo no ${P.port}; sleep 5"
            P start
            P expect listening within 50ms #!
            """),
        Scene(
            "program that exits before it listens", .failed,
            says: ["exited with status 1", "taken"],
            """
            process P = sh -c "echo taken ${P.port}; exit 1"
            P start
            P expect listening #!
            """),
        Scene(
            "program has its own folder", .passed,
            """
            process P = sh -c 'test "$1" = /tmp && touch x && echo ok' sh ${dir}
            P start
            P expect output /ok/
            P expect exit 0
            """),
        Scene(
            "no child process survives", .passed,
            """
            process P = sh -c "setsid sleep 30 & echo up; sleep 30"
            P start
            P expect output /up/
            """),
    ])
    func programsHaveExpectedVerdicts(_ scene: Scene) async throws { try await scene.verify() }

    /// A program that exits at once is not mistaken for an orphan, even while concurrent cases search for orphans of
    /// their programs.
    @Test func concurrentShortProgramsAreNotOrphans() async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<24 {
                group.addTask {
                    try await Scene(
                        "short \(number)", .passed,
                        "process P = sh -c \"exit 3\"\nfor i in 1..8 {\nP start\nP expect exit 3\n}"
                    ).verify()
                }
            }
            try await group.waitForAll()
        }
    }
}
