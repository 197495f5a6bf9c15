package import ProbeEngine
import ProbeScenario

/// What is exchanged in a case so that it runs with a program that is known to be right: the commands of its processes, the values of its
/// header, and the transport under test.
package struct GoodTwin: Sendable {
    private let job: RunJob

    /// - Parameter job: the case of the same script with another command, with other values, or with another transport.
    package init(_ job: RunJob) { self.job = job }

    /// The case of the script with what is right, whatever was left out of its steps.
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
