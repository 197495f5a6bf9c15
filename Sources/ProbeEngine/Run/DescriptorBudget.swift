import CShims
import ProbeScenario

/// Determines how many cases may run in parallel, given the number of descriptors that the process may open.
package struct DescriptorBudget {
    /// The number of descriptors reserved for the run itself: for reports, for the capture, for the guardian process,
    /// and for libraries, which may open descriptors briefly.
    private static let own = 16

    private let limit: Int

    /// Raises the soft limit on open files to the hard limit. Programs started by the run inherit the original soft
    /// limit.
    init() { limit = Int(probe_raise_descriptor_limit()) }

    /// Returns how many jobs may run in parallel.
    ///
    /// - Returns: the requested number of jobs, or a smaller number and a note with the reason.
    package func jobs(_ asked: Int, for jobs: [RunJob], subjectCount: Int) -> (count: Int, note: String?) {
        if asked == 1 { return (asked, nil) }
        // In the worst case, the cases that need the most descriptors run at the same time.
        let needs = jobs.map { Self.need(of: $0.plan.scenario) + 6 * subjectCount }.sorted(by: >).prefix(asked)
        let wanted = needs.reduce(0, +) + max(0, asked - needs.count) * (needs.first ?? 0)
        // The descriptor limit is usually so high that open descriptors needn't be counted.
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
            "-j \(asked) was reduced to -j \(possible): \(asked) cases may need \(wanted) open files at a time, but "
                + "`ulimit -n` allows \(limit); raise the limit with `ulimit -n \(limit + missing)`"
        )
    }

    /// Returns the number of descriptors that a case needs: for a reactor, for the sockets of both ends, and for the
    /// pipes of programs. A script that opens further descriptors in a loop gets an error when none are left.
    private static func need(of scenario: Scenario) -> Int {
        let actors = scenario.actors.reduce(0) { sum, actor in
            switch actor.kind {
            case .server: sum + 1
            case .client: sum + 2
            case .subject: sum + 5
            case .process: sum + 12
            case .proxy: sum + 9
            // A crowd needs the pipes of one worker, and the pipes of a second worker for the server that the crowd
            // connects to.
            case .crowd: sum + 12
            }
        }
        return 3 + 8 + actors + 10 * scenario.links.count
    }
}
