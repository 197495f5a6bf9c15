import ProbeBase
package import ProbeEvents
import ProbeSystem
package import ProbeTransport
import Synchronization

/// Receives a subject's reports about a case that has ended. The case may already have passed when the subject reports
/// another event after `stopped`. While the case's result is held back, such an event fails the case. A later event is
/// reported as an error of the run.
package final class LateReportCollector: LateReportHandler {
    /// The time for which a subject must report nothing about a case before the case's result is emitted.
    package static let silence: Duration = .milliseconds(50)

    private struct State {
        /// The subjects' names, by the driver's connection numbers.
        var names: [Int: String]
        var findings: [Finding] = []
        var isEmitted = false
        /// The driver. It is kept alive until the result is emitted, so that it can deliver reports.
        var driver: (any SubjectDriver)?
    }

    private let id: String
    /// The time at which the case ended.
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

    package func handleLateReport(_ report: SubjectReport) {
        let what = "reported \(SubjectText.describe(report.event)) after it had reported its stop"
        let isTooLate = state.withLock { state in
            if state.isEmitted { return true }
            let name = state.names[report.connection] ?? "the subject"
            state.findings.append(
                Finding(
                    .failed, "\(name) \(what)", actual: SubjectText.payload(report.event),
                    details: [
                        "the report arrived \(DurationText.script(max(.zero, report.time - start))) after the case's "
                            + "last step"
                    ],
                    hints: ["report `stopped` exactly once, and nothing after it"]))
            return false
        }
        if isTooLate { reportRunError("\(id): the subject \(what), but the case's result had already been reported") }
    }

    /// Stops collecting reports for the case, whose result is about to be emitted.
    ///
    /// - Returns: the result, including the first finding that was collected.
    package func settle(_ result: CaseResult) -> CaseResult {
        let findings = state.withLock { state in
            state.isEmitted = true
            // A run may have many cases, so the collector releases everything that it no longer needs.
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

extension LateReportCollector {
    /// Creates a collector; `nil` if the subject can't report anything after the case, or if there is no receiver for
    /// such reports.
    convenience init?(of context: CaseContext, driver: (any SubjectDriver)?) {
        guard let driver, driver.drainInterval > .zero || context.settings.receivesLateReports,
            let report = context.settings.reportRunError
        else { return nil }
        self.init(id: context.job.id, names: context.actors.subjectNames, driver: driver, reportRunError: report)
    }
}
