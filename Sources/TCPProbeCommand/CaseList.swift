import ProbeBase
import ProbeEngine
import ProbeEvents
import ProbeScenario
import ProbeSystem

/// Formats the output of `run --dry-run`.
enum CaseList {
    static func write(_ jobs: [RunJob], timeScale: Double) {
        var longest: Int64 = 0
        for job in jobs {
            let scenario = job.plan.scenario
            let limit = Int64(Double(scenario.caseTimeout.nanoseconds) * timeScale)
            longest += limit
            var line = "\(Escaped.text(job.id.utf8))  at most \(DurationText.script(nanoseconds: limit))"
            let requirements = requirements(of: scenario)
            if !requirements.isEmpty { line += "  requires \(requirements.joined(separator: ", "))" }
            Console.standardOutput.write(line + "\n")
        }
        Console.standardOutput.write(
            "\(jobs.count) \(jobs.count == 1 ? "case" : "cases"), at most \(DurationText.script(nanoseconds: longest)) if run sequentially\n"
        )
    }

    static func requirements(of scenario: Scenario) -> [String] {
        scenario.requirements.map { requirement in
            switch requirement.kind {
            case .capture: "capture"
            case .ipv6: "ipv6"
            case .localhostIPv6: "localhost ipv6"
            case .link: "link"
            case .tls: "tls"
            case .root: "root"
            case .command(let name): "command \(Escaped.text(name.utf8))"
            case .subject(let capability): "subject \(capability.rawValue)"
            }
        }
    }
}
