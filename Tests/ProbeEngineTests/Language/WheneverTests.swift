import ProbeEvents
import Testing

/// Tests `whenever`, which answers received lines automatically while the steps run.
struct WheneverTests {
    private static func pair(_ steps: String, header: String = "") -> String {
        "\(header)\nserver S\nclient C -> S\nC connect\nS accept\n" + steps
    }

    @Test(arguments: [
        Scene(
            "whenever answers alongside the steps", .passed,
            pair(
                """
                whenever C gets line /^PING (?<t>.*)/ { C send line "PONG ${t}" }
                S send line "PING 1"
                S send line "hello"
                S expect line "PONG 1"
                C expect line "hello"
                S send line "PING 2"
                S expect line "PONG 2"
                """)),
        Scene(
            "whenever in mid-stream keeps the times of adjacent lines", .failed, says: ["expected 30ms or more"],
            pair(
                """
                whenever C gets line /^PING$/ { C send line "PONG" }
                S send "early\\r\\nPING\\r\\n"
                S expect line "PONG"
                wait 60ms
                C expect line "early" after 30ms #!
                """)),
        Scene(
            "a second whenever sees lines that the first one ignored", .passed,
            pair(
                """
                C send line "one"
                C send line "two"
                C close
                wait 50ms
                whenever S gets line /one/ { note "one" }
                whenever S gets line /two/ { note "two" }
                S expect eof
                """)),
        Scene(
            "whenever that is never used", .inconclusive, says: ["never used"],
            pair(
                """
                whenever C gets line /^PING$/ { C send line "PONG" } #!
                S send line "x"
                C expect line "x"
                """)),
        Scene(
            "whenever that is never used, with bytes ignored", .inconclusive, says: ["never used"],
            pair(
                """
                C ignore rest
                whenever C gets line /^PING$/ { C send line "PONG" } #!
                S send line "x"
                """)),
        Scene(
            "whenever of a loop answers the lines of each iteration", .passed,
            pair(
                """
                for n in 1..2 { whenever C gets line /^PING${n}$/ { C send line "PONG" } }
                S send line "PING2"
                S expect line "PONG"
                S send line "PING1"
                S expect line "PONG"
                """)),
        Scene(
            "whenever of a loop that is unused in one iteration", .inconclusive, says: ["no line that matches"],
            pair(
                """
                for n in 1..2 { whenever C gets line /^PING${n}$/ { C send line "PONG" } } #!
                S send line "PING2"
                S expect line "PONG"
                """)),
        Scene(
            "whenever ignores lines while raw bytes are expected", .passed,
            pair(
                """
                whenever C gets line /^PING$/ { C send line "PONG" }
                together {
                  C expect "PING\\r\\n"
                  do { wait 10ms; S send line "PING" }
                }
                S send line "PING"
                S expect line "PONG"
                """)),
        Scene(
            "whenever with a failing answer", .failed, says: ["1 == 2"],
            pair(
                """
                whenever C gets line /^PING$/ {
                  check 1 == 2 #!
                }
                S send line "PING"
                S expect line "x"
                """)),
        Scene(
            "whenever in a loop is one rule", .passed,
            pair(
                """
                for i in 1..3 {
                  whenever C gets line /^PING ${i}$/ { C send line "PONG" }
                  S send line "PING ${i}"
                  S expect line "PONG"
                }
                """)),
        Scene(
            "a whenever of a loop keeps the iteration's variable", .passed,
            pair(
                """
                for i in 1..3 {
                  whenever C gets line /^PING$/ { C send line "PONG ${i}" }
                  S send line "PING"
                  S expect line "PONG ${i}"
                }
                S send line "PING"
                S expect line "PONG 3"
                """)),
        Scene(
            "concurrent loops have separate variables", .passed,
            pair(
                """
                together {
                  for i in 1..5 { C send line "${i}" }
                  for i in 1..5 { wait 3ms; S expect line "${i}" }
                }
                together {
                  for i in 1..3 { for j in 1..2 { wait 2ms; C send line "${i}.${j}" } }
                  for i in 1..3 { for j in 1..2 { S expect line "${i}.${j}" } }
                }
                for i in 1..2 { let i = "x"; check i == "x" }
                """)),
        Scene(
            "a running answer at the end still counts", .failed, says: ["S received 6 bytes that no step consumed"],
            pair(
                """
                whenever C gets line /^PING$/ { wait 30ms; C send line "PONG" }
                S send line "PING"
                wait 5ms
                """)),
    ])
    func wheneverBlocksHaveExpectedVerdicts(_ scene: Scene) async throws { try await scene.verify() }
}
