import ProbeBase
import ProbeEvents
import ProbeScenario
import ProbeSystem
import ProbeTransport

extension CaseRun {
    /// Gets the transport under test ready, where the scenario has to do with one.
    ///
    /// - Throws: why there is none, or what it can't do of that which the scenario needs.
    func prepareSubject() async throws(Finding) {
        let isRequired = scenario.requirements.contains { if case .subject = $0.kind { true } else { false } }
        guard hasSubject || isRequired, let source = context.job.subject else { return }
        source.makeDriver(
            handler: { [weak self] report in
                guard let self else { return }
                self.reactor.post { self.assumeIsolated { $0.receive(report) } }
            },
            ready: { [weak self] result in
                // A driver that nobody takes closes itself.
                guard let self else { return }
                self.reactor.post { self.assumeIsolated { $0.take(result) } }
            })
        // Whether it comes is up to the source, which has deadlines of its own; this one is for a source that has none.
        let begun = MonotonicTime.now
        let made = try await wait(until: begun + .seconds(60), from: begun) {
            () throws(Finding) -> (any SubjectDriver)? in
            if let driverFailure { throw finding(driverFailure) }
            return driver
        }
        guard let driver = made else { throw Finding(.error, "\(source.name) did not become ready") }
        for requirement in scenario.requirements {
            guard case .subject(let word) = requirement.kind else { continue }
            if !driver.capabilities.contains(where: { $0.rawValue == word }) {
                throw Finding(.unsupported, at: requirement.span, "\(source.name) can't: \(word)")
            }
        }
        if !hasSubject { return }
        let scan = CapabilityScan(scenario)
        for (capability, span) in scan.needed where !driver.capabilities.contains(capability) {
            throw Finding(.unsupported, at: span, "\(source.name) can't: \(capability.rawValue)")
        }
        if let span = scan.unheard(by: driver.capabilities) {
            throw Finding(
                .unsupported, at: span,
                "\(source.name) reads only when it is asked to, and no step of this case asks it")
        }
    }

    /// What the subject has said is heard before the case is judged: an event right behind its stop, say.
    func settleSubject() async throws(Finding) {
        guard let driver, driver.afterglow > .zero else { return }
        var end: MonotonicTime?
        for case .subject(let subject) in actors.values {
            if let stopped = subject.stopped { end = max(stopped.time + driver.afterglow, end ?? stopped.time) }
        }
        if let end { _ = try await wait(until: end) { () throws(Finding) -> Bool? in nil } }
    }

    private func take(_ result: Result<any SubjectDriver, SubjectFailure>) {
        switch result {
        case .success(let made):
            if isTearingDown { made.close(isReusable: true, late: nil) } else { driver = made }
        case .failure(let failure): driverFailure = failure
        }
        changes.notifyAll()
    }

    /// A subject's program that does not do its part makes the case an error.
    func finding(_ failure: SubjectFailure) -> Finding {
        Finding(.error, failure.summary, details: failure.details)
    }

    /// Lines of a subject's stderr that the timeline keeps.
    private static let keptOutputLines = 2000

    func recordOutput(_ line: [UInt8], at time: MonotonicTime) {
        subjectOutputLines += 1
        if subjectOutputLines > CaseRun.keptOutputLines { return }
        record(.output(actor: context.job.subject?.name ?? "subject", isError: true, line), at: time)
    }
}
