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
        Self.judge(checks, on: inspection, filter: filter) { outcomes.append($0) }
        self.outcomes = outcomes
    }

    /// Hands out each outcome as it comes, in order, and keeps none.
    package static func judge(
        _ checks: [WireCheck], on inspection: Inspection, filter: FlowFilter, _ body: (Outcome) -> Void
    ) {
        let conversations = inspection.analysis.table.conversations
        let dropped = inspection.dropped
        var isAny = false
        let isOpen = filter.isOpen
        for number in conversations.indices where isOpen || filter.includes(conversations[number]) {
            isAny = true
            let flow = FlowName(
                number: number, client: conversations[number].client, server: conversations[number].server)
            for check in checks {
                let verdict = conversations.judge(check.assertion, at: number, names: .statement)
                body(outcome(check, flow, verdict, dropped, isWhole: inspection.problem == nil))
            }
        }
        if isAny { return }
        let what = filter.isOpen ? "there is no flow in this capture" : "there is no flow of \(filter.text)"
        for check in checks {
            body(
                inspection.problem == nil
                    ? Outcome(verdict: .failed, check: check, failure: WireFailure(what))
                    : Outcome(
                        verdict: .inconclusive, check: check,
                        failure: WireFailure("\(what), as far as it could be read")))
        }
    }

    private static func outcome(
        _ check: WireCheck, _ flow: FlowName, _ verdict: WireVerdict, _ dropped: UInt64, isWhole: Bool
    ) -> Outcome {
        var outcome = Outcome(verdict: .passed, check: check, flow: flow)
        if dropped > 0 {
            outcome.verdict = .inconclusive
            outcome.failure = WireFailure(
                "the capture dropped \(dropped) packets: what is judged from it may be wrong")
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
            outcome.verdict = isWhole ? .failed : .inconclusive
            outcome.failure = failure
            if !isWhole {
                outcome.failure?.details.append("the file could not be read to its end: the rest of it may say so")
            }
        }
        return outcome
    }

    /// How many outcomes there were of each verdict.
    package struct Tally: Sendable {
        private var counts: [Verdict: Int] = [:]

        package init(_ outcomes: [Outcome] = []) {
            for outcome in outcomes { count(outcome) }
        }

        package mutating func count(_ outcome: Outcome) { counts[outcome.verdict, default: 0] += 1 }

        package subscript(verdict: Verdict) -> Int { counts[verdict] ?? 0 }

        /// As of a run: 1 when a statement failed, 3 when one is inconclusive, else 0.
        package var exitCode: Int32 {
            if self[.failed] > 0 { return 1 }
            return counts.keys.allSatisfy { $0 == .passed } ? 0 : 3
        }
    }
}

extension SideNames {
    /// As the statements say it.
    fileprivate static let statement = SideNames(client: "client", server: "server")
}
