package import ProbeScenario
package import ProbeTransport

/// One case to be run: a plan, which of its cases, and where it came from.
package struct RunJob: Sendable {
    package var plan: Plan
    package var casePlan: CasePlan
    package var index: StepIndex
    /// Path below the root with the label.
    package var id: String
    /// As the user gave it.
    package var path: String
    /// Of the script, absolute.
    package var folder: String
    /// The transport under test.
    package var subject: (any SubjectSource)?

    package init(plan: Plan, casePlan: CasePlan, index: StepIndex, id: String, path: String, folder: String) {
        self.plan = plan
        self.casePlan = casePlan
        self.index = index
        self.id = id
        self.path = path
        self.folder = folder
    }
}
