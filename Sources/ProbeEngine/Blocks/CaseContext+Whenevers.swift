import ProbeBase
import ProbeEvents
import ProbeScenario
import ProbeSystem

/// `whenever`: answers to lines, beside the steps.
extension CaseContext {
    /// Answers the lines that have come and that a `whenever` is for; they reach no `expect`.
    func serveWhenevers(of owner: ConnectionActor) {
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

    /// Answers run one after the other, beside the steps.
    private func answer(_ rule: WheneverRule, _ groups: [(String, Value)], _ owner: ConnectionActor) {
        owner.answers.append((rule, groups))
        if owner.isAnswering { return }
        owner.isAnswering = true
        startAnswering(owner.name)
    }

    /// Answers that are under way belong to the case: it ends when they have.
    func finishAnswers() async throws(Finding) {
        let begun = MonotonicTime.now
        let end = begun + scaled(scenario.timeout)
        let _: Void? = try await wait(until: end, from: begun) { () throws(Finding) -> Void? in
            connections.entries.contains { $0.owner.isAnswering } ? nil : ()
        }
    }
}
