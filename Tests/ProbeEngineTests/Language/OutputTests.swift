import ProbeEvents
import Testing

/// Tests `expect output` and `expect no output` with programs that print more output than the harness keeps. The
/// verdict must be correct or inconclusive.
struct OutputTests {
    /// Returns the declaration of a program that prints 18 MiB of lines between `first` and `last`. The harness keeps
    /// only 16 MiB.
    private static func printing(_ first: String, _ last: String = "") -> String {
        "process P = python3 -c 'import sys; w = sys.stdout.write; w(\"\(first)\"); "
            + "[w((\"x\" * 1023 + \"\\n\") * 1024) for i in range(18)]; w(\"\(last)end\\n\")'\n"
    }

    private static let wait = "case-timeout 5min\ntimeout 2min\n"

    @Test(arguments: [
        Scene(
            "discarded output counts for `no output`", .failed, says: ["printed a line that matches", "a needle here"],
            wait + printing("a needle here\\n") + """
                P start
                P expect output /^end/
                P expect no output /needle/ #!
                P expect exit 0
                """),
        Scene(
            "discarded output without a match", .passed,
            wait + printing("a pin here\\n") + """
                P start
                P expect output /^end/
                P expect no output /needle/
                P expect exit 0
                """),
        Scene(
            "discarded output is found by a later `expect output`", .passed,
            wait + printing("needle 7\\nneedle 8\\n") + """
                P start
                P expect exit 0
                P expect output /needle (?<n>.*)/
                check n == "7"
                P expect output /needle (?<n>.*)/
                check n == "8"
                P expect output /^end/
                """),
        Scene(
            "text that was not printed is not found", .failed, says: ["without printing /needle/"],
            wait + printing("pin\\n") + """
                P start
                P expect exit 0
                P expect output /needle/ #!
                """),
        Scene(
            "output of a daemon whose parent has exited", .passed,
            """
            process P = sh -c "(sleep 0.2; echo needle; sleep 100) & echo first"
            P start
            P expect output /^first$/
            P expect output /needle/
            P expect exit 0
            """),
        Scene(
            "missing output while a child holds the stream open", .failed,
            says: ["without printing /needle/", "holds the output open"],
            """
            timeout 300ms
            process P = sh -c "sleep 100 & echo first"
            P start
            P expect output /^first$/
            P expect output /needle/ #!
            P expect exit 0
            """),
        Scene(
            "only output after the last match counts", .failed, says: ["without printing /needle/"],
            wait + printing("needle\\n") + """
                P start
                P expect output /^end/
                P expect exit 0
                P expect output /needle/ #!
                """),
        Scene(
            "a pattern whose variable is bound in time", .failed, says: ["needle"],
            wait + "let what = \"needle\"\n" + printing("needle\\n") + """
                P start
                P expect output /^end/
                P expect no output /${what}/ #!
                P expect exit 0
                """),
        Scene(
            "a pattern that was not known in time is inconclusive", .inconclusive, says: ["needle", "no longer keeps"],
            wait + printing("needle\\n") + """
                P start
                P expect output /^end/
                let what = "needle"
                P expect no output /${what}/ #!
                P expect exit 0
                """),
        Scene(
            "either searches discarded output", .passed,
            wait + printing("needle\\n") + """
                P start
                P expect exit 0
                either { P expect output /pin/ } or { P expect output /needle/ }
                """),
        Scene(
            "both streams", .failed, says: ["oops"],
            wait + """
                process P = sh -c "echo oops >&2; yes $(printf %01023d 0) | head -n 18432; echo end"
                P start
                P expect output /^end/
                P expect no output /oops/ #!
                P expect exit 0
                """),
    ])
    func discardedOutputIsStillJudged(_ scene: Scene) async throws { try await scene.verify() }

    private static func longLine(_ text: String) -> String {
        "process P = python3 -c 'import sys; sys.stdout.write(\(text))'\n"
    }

    @Test(arguments: [
        Scene(
            "a match across the point where a long line is broken", .failed,
            says: ["printed a line that matches /needle/"],
            wait + longLine("\"x\" * (1048576 - 3) + \"needle\" + \"x\" * 3000000 + \"\\n\"") + """
                P start
                P expect exit 0
                P expect no output /needle/ #!
                """),
        Scene(
            "the part after the break does not begin a line", .passed,
            wait + longLine("\"x\" * 1048576 + \"needle\\nend\\n\"") + """
                P start
                P expect exit 0
                P expect no output /^needle/
                P expect output /xneedle$/
                P expect output /^end$/
                """),
        Scene(
            "the part before the break does not end a line", .passed,
            wait + longLine("\"x\" * (1048576 - 6) + \"needle!\\n\"") + """
                P start
                P expect exit 0
                P expect no output /needle$/
                P expect output /needle!$/
                """),
        Scene(
            "a match that may exceed the kept part of a line is inconclusive", .inconclusive,
            says: ["searched in parts"],
            wait + longLine("\"a\" + \"x\" * 3000000 + \"b\\n\"") + """
                P start
                P expect exit 0
                P expect no output /a.*b/ #!
                """),
        Scene(
            "a line that never ends", .passed,
            wait + longLine("\"x\" * 40000000 + \"needle\"") + """
                P start
                P expect output /needle/
                P expect no output /pin/
                P expect exit 0
                """),
    ])
    func longLinesHaveExpectedVerdicts(_ scene: Scene) async throws { try await scene.verify() }
}
