import CShims
import ProbeScenario

/// The number of cases that may run at a time, given the number of descriptors that the process may open.
package struct DescriptorBudget {
    /// The descriptors reserved for the run itself: reports, the capture, the guardian, and descriptors that libraries
    /// open briefly.
    private static let own = 16

    private let limit: Int

    /// Raises the soft limit of open files to the hard limit. Programs started by the run get the old soft limit.
    init() { limit = Int(probe_raise_descriptor_limit()) }

    /// Limits the number of parallel jobs.
    ///
    /// - Returns: the requested number of jobs, or a smaller one with a note that explains why.
    package func jobs(_ asked: Int, for jobs: [RunJob], subjectCount: Int) -> (count: Int, note: String?) {
        if asked == 1 { return (asked, nil) }
        // The cases that need the most descriptors may run at the same time.
        let needs = jobs.map { Self.need(of: $0.plan.scenario) + 6 * subjectCount }.sorted(by: >).prefix(asked)
        let wanted = needs.reduce(0, +) + max(0, asked - needs.count) * (needs.first ?? 0)
        // The limit is usually so high that no further check is needed.
        if limit > 4096 + wanted { return (asked, nil) }
        var free = limit - Int(probe_open_descriptors(Int32(limit))) - Self.own
        let missing = wanted - free
        if missing <= 0 { return (asked, nil) }
        var possible = 0
        for need in needs where free >= need {
            free -= need
            possible += 1
        }
        possible = max(1, possible)
        return (
            possible,
            "-j \(asked) is reduced to -j \(possible): that many cases may need \(wanted) open files at a time, but `ulimit -n` allows "
                + "\(limit); raise it with `ulimit -n \(limit + missing)`"
        )
    }

    /// Returns the number of descriptors for a case: a reactor, the sockets of both ends, and the pipes of programs. A
    /// script that opens more in a loop gets an error when the descriptors run out.
    private static func need(of scenario: Scenario) -> Int {
        let actors = scenario.actors.reduce(0) { sum, actor in
            switch actor.kind {
            case .server: sum + 1
            case .client: sum + 2
            case .subject: sum + 5
            case .process: sum + 12
            case .proxy: sum + 9
            // The pipes of a worker, and those of a second one next to the server that it connects to.
            case .crowd: sum + 12
            }
        }
        return 3 + 8 + actors + 10 * scenario.links.count
    }
}
