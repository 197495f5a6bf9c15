import ProbeEvents
import Testing

/// Tests the blocks `together` and `either`.
struct ChoiceTests {
    private static func pair(_ steps: String, header: String = "") -> String {
        "\(header)\nserver S\nclient C -> S\nC connect\nS accept\n" + steps
    }

    @Test(arguments: [
        Scene(
            "first failure cancels the other lines at once", .failed, says: ["S received \"y\", expected line \"x\""],
            pair(
                """
                C send line "y"
                together {
                  S expect line "x" #!
                  C expect line "never"
                }
                """)),
        Scene(
            "together passes when all lines have passed", .passed,
            pair(
                """
                together {
                  do { C send "a"; C expect "b" }
                  do { S expect "a"; S send "b" }
                }
                """)),
        Scene(
            "either, the second branch", .passed,
            pair(
                """
                S send line "550 no"
                either {
                  C expect line /^250/
                } or {
                  C expect line /^550 (?<why>.*)/
                  check why == "no"
                }
                """)),
        Scene(
            "either, no branch matches", .failed, says: ["no branch of the `either` matches", "branch 2"],
            pair(
                """
                S send line "999"
                either { C expect line /^250/ } or { C expect line /^550/ }
                """)),
        Scene(
            "either, nothing is received", .failed, says: ["no branch of the `either` started within 30ms"],
            pair(
                """
                either { C expect line /^250/ within 30ms } or { C expect line /^550/ within 20ms }
                """)),
        Scene(
            "either, the chosen branch is final", .failed, says: ["\"b\""],
            pair(
                """
                S send "a"
                either {
                  C expect "a"
                  C expect "b" within 20ms #!
                } or {
                  C expect "a"
                }
                """)),
        Scene(
            "either, a branch whose deadline has expired", .failed, says: ["it missed the branch's deadline by "],
            pair(
                """
                together {
                  either { C expect "a" within 20ms } or { C expect "b" within 5s }
                  do { wait 1s; S send "a" }
                }
                """)),
        Scene("either, an end or a line", .passed, pair("S close\neither { C expect line /./ } or { C expect eof }")),
        Scene("either, silence", .passed, pair("either { C expect \"x\" within 2s } or { C expect nothing for 30ms }")),
        Scene(
            "either, silence is recognized when its time has passed", .passed,
            "case-timeout 5s\ntimeout 1min\n"
                + pair("either { C expect \"x\" } or { C expect nothing for 30ms }\nS send \"x\"\nC expect \"x\"")),
        Scene(
            "either, silence is awaited once", .passed,
            pair(
                """
                S start sending "xy" in pieces of 1B every 2s
                C expect "x"
                either { C expect "y" } or { C expect nothing for 250ms }
                C expect "y"
                """)),
        Scene(
            "either, an accept", .passed,
            """
            server S
            server R
            client C -> R
            C connect
            either { S accept as A } or { R accept as B }
            """),
        Scene(
            "either, exit codes", .passed,
            """
            process P = sh -c "exit 3"
            P start
            either { P expect exit 0 } or { P expect exit 3 }
            """),
    ])
    func choicesHaveExpectedVerdicts(_ scene: Scene) async throws { try await scene.verify() }
}
