package import ProbeScenario

/// The steps of a scenario that say how a stream was cut, or how a window was used. They do not hold of a variation, so they are left out.
package enum CutStatements {
    /// The steps, in the order of the script.
    package static func steps(of scenario: Scenario) -> [Step] {
        scenario.allSteps.filter(isOne)
    }

    private static func isOne(_ step: Step) -> Bool {
        guard case .wire(let statement, _) = step.kind else { return false }
        switch statement {
        case .halfConnection(_, _, let statement):
            switch statement {
            case .segmentCount, .segments, .gap, .largestSegment, .firstByte, .records, .retransmissions, .zeroWindow,
                .window:
                return true
            case .bytes, .longestLine, .lines, .messages, .frames, .tls, .lacks, .urgent: return false
            }
        case .packets, .noRetransmission: return true
        case .fin, .rst, .noReset, .closedFirst, .handshakeComplete: return false
        }
    }

    /// Whether any step needs the run's capture.
    package static func needsCapture(_ scenario: Scenario) -> Bool {
        let steps = scenario.allSteps.filter { !isOne($0) }
        if scenario.requirements.contains(where: { $0.kind == .capture }) { return true }
        return steps.contains { if case .wire = $0.kind { true } else { false } }
    }
}
