import ProbeBase
import ProbeEngine
import ProbeReport
import ProbeScenario

/// The cases that `--over-tls` runs.
struct OverTLSCases {
    private(set) var jobs: [RunJob] = []
    /// A one-line note about the cases that are not run.
    private(set) var note = ""

    init(_ all: [RunJob]) throws {
        var made: [String: OverTLS] = [:]
        var leftOut: [String: Int] = [:]
        for job in all {
            let changed = made[job.path] ?? OverTLS(job.plan.scenario)
            made[job.path] = changed
            if let obstacle = changed.obstacle {
                leftOut[Self.kind(of: obstacle), default: 0] += 1
                continue
            }
            var job = job
            job.plan.scenario = changed.scenario
            if let span = changed.lostJudgement {
                job.obstacle = (
                    "over TLS, no statement judges this case: its statements about bytes and segments are left out",
                    span
                )
            }
            jobs.append(job)
        }
        let statements = made.values.reduce(0) { $0 + $1.leftOut }
        note =
            "over TLS: \(ByteText.count(jobs.count, "case")); left out: "
            + (leftOut.sorted { $0.key < $1.key }.map { "\(ByteText.count($0.value, "case")) (\($0.key))" }
            + ["\(ByteText.count(statements, "wire statement")) about bytes and segments"])
            .joined(separator: ", ")
        if jobs.isEmpty { throw Failure.invalidUsage("no case can be run over TLS; \(note)") }
    }

    /// Returns the reason why a case can't run over TLS, without names from the script, so that cases with the same
    /// kind of reason can be grouped.
    private static func kind(of obstacle: String) -> String {
        obstacle.hasPrefix("`") ? "the subject connects to no server of the script" : obstacle
    }
}
