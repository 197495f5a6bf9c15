import ProbeBase
import ProbeEngine
import ProbeScenario

/// The reason why a run that is not permitted to capture does not automatically enter a private network namespace: the
/// run may connect to an address outside the namespace.
struct IsolationObstacle {
    /// A script that contains an address.
    private struct Script {
        var path: String
        /// The location of the address, such as `redis.scn:3`.
        var place: String
    }

    /// The text of the obstacle, for the run's notes.
    let text: String

    /// Creates the obstacle for a run; `nil` if the run can enter a namespace.
    init?(_ jobs: [RunJob], allowedTargets: [String]) {
        if let target = allowedTargets.first {
            text =
                "this run is not isolated: --allow-target \(target) can't be reached from a private network namespace. "
                + "Wire steps are judged if capture is permitted, or in a run without --allow-target."
            return
        }
        var seen: Set<String> = []
        let plans = jobs.filter { seen.insert($0.path).inserted }
        let outside = plans.compactMap(Self.script)
        guard let first = outside.first else { return nil }
        let others = plans.count - outside.count
        let more = outside.count - 1
        var text =
            "this run is not isolated: \(first.place) connects to an address outside the run"
            + (more > 0 ? ", as \(more == 1 ? "does 1 other script" : "do \(more) other scripts")" : "")
            + ". A server that was started before the run can't be reached from a private network namespace. "
        if others > 0 {
            text +=
                "Run \(more > 0 ? "these scripts" : first.path) separately: the other "
                + "\(others == 1 ? "script is" : "\(others) scripts are") then isolated, and wire steps there are judged. "
        }
        text += "If no server outside the run is needed, --isolate isolates all scripts."
        self.text = text
    }

    private static func script(_ job: RunJob) -> Script? {
        guard let span = job.plan.scenario.addressOutside else { return nil }
        let location = job.plan.sources.location(of: span)
        return Script(path: job.path, place: "\(location.path):\(location.line)")
    }
}
