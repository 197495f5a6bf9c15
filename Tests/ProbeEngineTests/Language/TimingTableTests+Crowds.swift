import ProbeBase
import ProbeCrowd

@testable import ProbeScenario

extension TimingTableTests {
    /// Rows about crowds. In the first script, the expected state is reached at once. In the second, with a rate, it is
    /// reached only after more questions to the worker than the harness can ask within 20 ms, however busy or idle the
    /// machine is.
    static let crowds =
        ["connected 5", "alive 5", "done 5", "latency p50 <= 1s of connect"].map { step in
            Row(
                kind: .crowd, word: "expect \(step.prefix { $0 != " " })",
                early: crowd + "W start { connect }\nW expect \(step) {}",
                late: crowd + "W start at 1/s { connect }\nW expect \(step) {}", refuses: ["after"])
        } + [
            Row(
                kind: .crowd, word: "expect failed", early: crowd + "W start { connect }\nW expect failed 0 {}",
                refuses: ["after"])
        ]

    private static let crowd = "server S\ncrowd W = 5 clients -> S\n"

    /// A worker program that has no members, but reports the states that the rows require.
    static let crowdProgram: [String] = {
        let early = String(decoding: CrowdSnapshot().json.encoded(.ascii), as: UTF8.self)
        var snapshot = CrowdSnapshot()
        (snapshot.started, snapshot.connected, snapshot.alive, snapshot.done) = (5, 5, 5, 5)
        var record = LatencyRecord()
        record.add(nanoseconds: 1_000_000, count: 5)
        snapshot.latencies[.connect] = record
        let late = String(decoding: snapshot.json.encoded(.ascii), as: UTF8.self)
        return [
            "/bin/sh", "-c",
            """
            read -r order; n=0; case "$order" in *'"rate"'*) n=60 ;; esac; echo '{"ready":true,"port":0}'
            while read -r line; do case "$line" in
            *snapshot*) if [ $n -gt 0 ]; then n=$((n - 1)); echo '\(early)'; else echo '\(late)'; fi ;;
            *stop*) echo '{"stopped":true}' ;;
            esac; done
            """,
        ]
    }()
}
