package import ProbeEvents
package import ProbeWire

/// Statements judged on flows that are at their end: nothing more comes.
package struct CheckRun: Sendable {
    package struct Outcome: Sendable {
        /// `passed`, `failed` or `inconclusive`.
        package var verdict: Verdict
        package var check: WireCheck
        /// nil: there was no flow to judge it on.
        package var flow: FlowName?
        package var failure: WireFailure?
    }

    /// Which flow: a whole conversation for each outcome would hold much memory.
    package struct FlowName: Sendable, Hashable {
        package var number: Int
        package var client: SocketEndpoint
        package var server: SocketEndpoint
    }

    /// Of each flow, in order, each statement.
    package let outcomes: [Outcome]

    package init(_ checks: [WireCheck], on inspection: Inspection, filter: FlowFilter) {
        var outcomes: [Outcome] = []
        for conversation in inspection.analysis.table.conversations where filter.includes(conversation) {
            let flow = FlowName(
                number: conversation.number, client: conversation.client, server: conversation.server)
            for check in checks {
                let verdict = conversation.judge(check.assertion, names: .statement)
                outcomes.append(Self.outcome(check, flow, verdict, inspection))
            }
        }
        if outcomes.isEmpty {
            let what = filter.isOpen ? "there is no flow in this capture" : "there is no flow of \(filter.text)"
            outcomes = checks.map { check in
                inspection.problem == nil
                    ? Outcome(verdict: .failed, check: check, failure: WireFailure(what))
                    : Outcome(
                        verdict: .inconclusive, check: check,
                        failure: WireFailure("\(what), as far as it could be read")
                    )
            }
        }
        self.outcomes = outcomes
    }

    private static func outcome(
        _ check: WireCheck, _ flow: FlowName, _ verdict: WireVerdict, _ inspection: Inspection
    ) -> Outcome {
        var outcome = Outcome(verdict: .passed, check: check, flow: flow)
        if inspection.dropped > 0 {
            outcome.verdict = .inconclusive
            outcome.failure = WireFailure(
                "the capture dropped \(inspection.dropped) packets: what is judged from it may be wrong")
            return outcome
        }
        switch verdict {
        case .passed: break
        case .failed(let failure):
            outcome.verdict = .failed
            outcome.failure = failure
        case .inconclusive(let reason):
            outcome.verdict = .inconclusive
            outcome.failure = WireFailure(reason)
        case .waiting(let failure):
            outcome.verdict = inspection.problem == nil ? .failed : .inconclusive
            outcome.failure = failure
            if inspection.problem != nil {
                outcome.failure?.details.append("the file could not be read to its end: the rest of it may say so")
            }
        }
        return outcome
    }

    /// As of a run: 1 when a statement failed, 3 when one is inconclusive, else 0.
    package static func exitCode(of outcomes: [Outcome]) -> Int32 {
        if outcomes.contains(where: { $0.verdict == .failed }) { return 1 }
        return outcomes.contains { $0.verdict != .passed } ? 3 : 0
    }
}

extension SideNames {
    /// As the statements say it.
    fileprivate static let statement = SideNames(client: "client", server: "server")
}
