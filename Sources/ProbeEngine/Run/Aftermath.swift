import ProbeBase
package import ProbeEvents
import ProbeSystem
package import ProbeTransport
import Synchronization

/// What a subject says of a case that has ended. An event behind its `stop` may come when the case has passed already: while the case's result is held back it fails the case, and afterwards it is an error of the run.
package final class Aftermath: LateListener {
    /// For so long a subject has to be silent about a case before the case's result is told.
    package static let silence: Duration = .milliseconds(50)

    private struct State {
        /// By the driver's numbers of connections.
        var names: [Int: String]
        var findings: [Finding] = []
        var isTold = false
        /// Alive until then, so that it can hear.
        var driver: (any SubjectDriver)?
    }

    private let id: String
    /// When the case ended.
    private let start = MonotonicTime.now
    private let reportRunError: @Sendable (String) -> Void
    private let state: Mutex<State>

    package init(
        id: String, names: [Int: String], driver: any SubjectDriver,
        reportRunError: @escaping @Sendable (String) -> Void
    ) {
        self.id = id
        self.reportRunError = reportRunError
        state = Mutex(State(names: names, driver: driver))
    }

    package func heard(_ report: SubjectReport) {
        let what = "reported \(SubjectText.describe(report.event)) after it had reported its stop"
        let isTooLate = state.withLock { state in
            if state.isTold { return true }
            let name = state.names[report.connection] ?? "the subject"
            state.findings.append(
                Finding(
                    .failed, "\(name) \(what)", actual: SubjectText.payload(report.event),
                    details: [
                        "it came \(DurationText.script(max(.zero, report.time - start))) after the case's last step"
                    ],
                    hints: ["a transport reports its stop exactly once, and nothing after it"]))
            return false
        }
        if isTooLate { reportRunError("\(id): the subject \(what), when the case's result had been told") }
    }

    /// From here on the case's result is told.
    ///
    /// - Returns: the result with what has come meanwhile.
    package func settle(_ result: CaseResult) -> CaseResult {
        let findings = state.withLock { state in
            state.isTold = true
            // A run of many cases keeps no more of each than its name.
            defer { (state.names, state.findings, state.driver) = ([:], [], nil) }
            return state.findings
        }
        guard let first = findings.first else { return result }
        var result = result
        result.findings.insert(first, at: 0)
        result.verdict = min(result.verdict, .failed)
        return result
    }
}
