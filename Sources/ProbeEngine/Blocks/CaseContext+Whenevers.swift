import ProbeBase
import ProbeEvents
import ProbeScenario
import ProbeSystem

/// The `whenever` rules, which answer received lines concurrently with the steps.
extension CaseContext {
    /// Answers the received lines that match a `whenever`. These lines are not available to any `expect`.
    func runWheneverBlocks(of owner: ConnectionActor) {
        guard !owner.whenevers.isEmpty, !owner.waitsForRawBytes, let connection = owner.connection else { return }
        let rules = owner.whenevers
        let answers = WheneverEvaluation(buffer: connection.receiveBuffer, framing: owner.framing)
            .evaluate(rules.map { .regex($0.regex) }, &owner.wheneverProgress)
        if !answers.isEmpty { connection.receiveBuffer.remove(answers.map(\.line)) }
        for found in answers {
            rules[found.rule].uses += 1
            answer(rules[found.rule], found.groups, owner)
        }
    }

    /// Queues the answer of a `whenever` to a line. Such answers run one after the other, concurrently with the steps
    /// of the case.
    private func answer(_ rule: WheneverRule, _ groups: [(String, Value)], _ owner: ConnectionActor) {
        owner.answers.append((rule, groups))
        if owner.isAnswering { return }
        owner.isAnswering = true
        startAnswering(owner.name)
    }

    /// Waits until all running `whenever` answers have ended, because they belong to the case.
    func finishAnswers() async throws(Finding) {
        let begun = MonotonicTime.now
        let end = begun + scaled(scenario.timeout)
        let _: Void? = try await wait(until: end, from: begun) { () throws(Finding) -> Void? in
            connections.entries.contains { $0.owner.isAnswering } ? nil : ()
        }
    }
}
