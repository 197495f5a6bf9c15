import ProbeBase
import ProbeEvents
import Testing

/// An expectation at the start of a branch of an `either` has the same meaning as elsewhere.
struct EitherTests {
    private static func pair(_ steps: String, header: String = "") -> String {
        "\(header)\nserver S\nclient C -> S\nC connect\nS accept\n" + steps
    }

    private static func started(_ steps: String) -> String {
        "server S\nsubject T -> S\nT start\nS accept\n" + steps
    }

    /// The start of a script in which `C` sends more bytes than the kernel's buffers can hold.
    private static let blocked =
        "server S with receive-buffer 4KiB\nclient C -> S with send-buffer 4KiB\nC connect\nS accept\nS stop reading\n"
        + "C start sending \"x\" * 4MiB\n"

    @Test(arguments: [
        Scene(
            "a stop after a leftover does not match any stop", .passed,
            started(
                """
                S send "half"
                S close
                wait 100ms
                either { T expect stopped } or { T expect leftover "half"; T expect stopped eof }
                """)),
        Scene(
            "an accept breaks silence", .failed, says: ["branch 1: reported accept"],
            """
            subject L listens
            client C -> L
            L start
            C connect
            wait 100ms
            either { L expect nothing for 30ms } or { L expect stopped within 50ms }
            """),
        Scene(
            "a sent report does not break silence", .passed,
            started(
                """
                together {
                  either { T expect nothing for 200ms } or { T expect line "never" within 250ms }
                  do { wait 50ms; T send line "x" }
                }
                S expect line "x"
                """)),
        Scene(
            "silence after consumed input counts", .passed,
            started(
                """
                S send line "x"
                T expect line "x"
                either { T expect line "y" } or { T expect nothing for 30ms }
                """)),
    ])
    func subjectBranchesHaveExpectedVerdicts(_ scene: Scene) async throws { try await scene.verify() }

    @Test(arguments: [
        Scene(
            "different reason for a failed send", .passed,
            pair(
                """
                S reset
                C expect reset
                C start sending "x"
                either { C expect send failed timeout } or { C expect send failed }
                """)),
        Scene(
            "a send that stalls", .passed,
            blocked + "either { C expect sent } or { C expect stalled for 50ms }\nS reset\nC expect reset"),
        Scene(
            "a send that was never started", .error, says: ["C is not sending anything in the background"],
            pair(
                """
                either {
                  C expect sent #!
                } or {
                  C expect "x"
                }
                """)),
        Scene(
            "unread bytes in the kernel break silence", .failed,
            says: ["branch 1: left 1 byte unread in the kernel's buffer"],
            pair(
                """
                C stop reading
                S send "x"
                wait 50ms
                either { C expect nothing for 20ms } or { C expect nothing for 30ms }
                """)),
        Scene(
            "the bytes of one branch are not dropped by another", .passed,
            pair(
                """
                C ignore rest
                S send line "x"
                either { C expect eof } or { C expect line "x" }
                S close
                C expect eof
                """)),
        Scene(
            "a whenever yields to a raw-bytes branch", .passed,
            pair(
                """
                whenever C gets line /^PING$/ { C send line "PONG" }
                together {
                  either { C expect "PING\\r\\n" } or { C expect eof }
                  do { wait 20ms; S send line "PING" }
                }
                S send line "PING"
                S expect line "PONG"
                """)),
        Scene(
            "a server that does not listen", .error, says: ["S is not listening"],
            """
            server S
            server R
            client C -> R
            C connect
            R accept
            S stop listening
            either {
              S expect no connection for 20ms #!
            } or {
              C expect "x"
            }
            """),
    ])
    func connectionBranchesHaveExpectedVerdicts(_ scene: Scene) async throws { try await scene.verify() }

    private static let listener =
        "import socket,sys,time; s=socket.socket(); s.bind((\"127.0.0.1\",int(sys.argv[1]))); s.listen(); time.sleep(9)"

    /// Quotes a word of a command line.
    private static func quoted(_ word: String) -> String { "'\(word)'" }

    @Test(arguments: [
        Scene(
            "a program that listens", .passed,
            """
            require command python3
            process P = python3 -c \(quoted(listener)) ${P.port}
            P start
            either { P expect listening within 20s } or { P expect output /never/ within 25s }
            """),
        Scene(
            "no output", .passed,
            """
            process P = sh -c "echo ready; sleep 5"
            P start
            P expect output /ready/
            either { P expect no output /ready/ for 20ms } or { P expect no output /never/ for 20ms }
            """),
        Scene(
            "memory", .passed,
            """
            process P = sh -c "echo ready; sleep 5"
            P start
            P expect output /ready/
            either { P expect memory > 100GiB } or { P expect memory > 1KiB }
            """),
        Scene(
            "descriptors", .passed,
            """
            process P = sh -c "echo ready; sleep 5"
            P start
            P expect output /ready/
            either { P expect descriptors == 0 } or { P expect descriptors > 0 }
            """),
    ])
    func processBranchesHaveExpectedVerdicts(_ scene: Scene) async throws { try await scene.verify() }
}
