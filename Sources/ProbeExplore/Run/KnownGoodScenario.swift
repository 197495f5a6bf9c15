package import ProbeEngine
import ProbeScenario

/// The replacements that make a case run with a program that is known to be correct: the commands of its processes, the
/// values of its header, and the transport under test.
package struct KnownGoodScenario: Sendable {
    private let job: RunJob

    /// Creates the replacements.
    ///
    /// - Parameter job: the case of the same script with another command, other values, or another transport.
    package init(_ job: RunJob) { self.job = job }

    /// Returns the case with the correct program, whatever has been left out of its steps.
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
