package import ProbeEngine
import ProbeScenario

/// The replacements by which a case uses the known-good program instead of its own: the commands of its processes, the
/// values in its header, and the transport under test.
package struct KnownGoodScenario: Sendable {
    private let job: RunJob

    /// Creates the replacements from a case that uses the known-good program.
    ///
    /// - Parameter job: the case of the same script with another command, other values or another transport.
    package init(_ job: RunJob) { self.job = job }

    /// Returns a case with the known-good program. Steps of the case may have been removed.
    package func applied(to job: RunJob) -> RunJob {
        var job = job
        job.subject = self.job.subject
        job.casePlan = self.job.casePlan
        job.plan.scenario.constants = self.job.plan.scenario.constants
        for index in job.plan.scenario.actors.indices {
            let name = job.plan.scenario.actors[index].name.value
            let other = self.job.plan.scenario.actors.first { $0.name.value == name }
            if let kind = other?.kind, case .process = kind { job.plan.scenario.actors[index].kind = kind }
        }
        job.index = StepIndex(job.plan.scenario)
        return job
    }
}
