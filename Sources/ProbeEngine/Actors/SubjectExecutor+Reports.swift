import ProbeBase
import ProbeEvents
import ProbeScenario
import ProbeSystem
import ProbeTransport

extension SubjectExecutor {
    /// Waits until what a program has said by now has come: it may say that the machine is why the case has failed.
    func hearRest() async {
        guard let driver, driver.drainInterval > .zero else { return }
        let end = MonotonicTime.now + driver.drainInterval
        while machineFailure == nil, MonotonicTime.now < end { await context.pause(until: end) }
    }

    /// Something that the subject said; also what it must not say fails the case here.
    func receive(_ report: SubjectReport) {
        switch report.event {
        case .broken(let failure):
            if failure.machine != nil { machineFailure = machineFailure ?? failure }
            context.raise(Finding(failure))
            return
        case .output(let line):
            recordOutput(line, at: report.time)
            return
        case .started, .secured, .accepted, .line, .message, .ping, .pong, .data, .leftover, .sent, .halfClosed,
            .discarded, .full, .drained, .lost, .attemptFailed, .stopped:
            break
        }
        guard let subject = context.actors.subject(number: report.connection) else {
            strayReports[report.connection, default: []].append(report)
            context.changes.notifyAll()
            return
        }
        take(report, subject)
        context.changes.notifyAll()
    }

    func take(_ report: SubjectReport, _ subject: SubjectActor) {
        context.record(.event(actor: subject.name, SubjectText.describe(report.event)), at: report.time)
        if let stopped = subject.stopped {
            context.raise(
                Finding(
                    .failed,
                    "\(subject.name) reported \(SubjectText.describe(report.event)) after it had reported "
                        + "stopped \(SubjectText.word(stopped.reason))",
                    hints: ["a transport reports its stop exactly once, and nothing after it"]))
            return
        }
        let violation = subject.reports.protocolViolation(report.event) { strayReports[$0]?.isEmpty ?? true }
        if let what = violation {
            context.raise(
                Finding(
                    .failed, "\(subject.name) reported \(SubjectText.describe(report.event)) \(what)",
                    actual: SubjectText.payload(report.event),
                    hints: [subject.reports.lifeInWords])
            )
            return
        }
        subject.reports.add(report)
        subject.reports.lastReport = report.time
        switch report.event {
        case .line, .message, .data: subject.delivered()
        case .started: context.noteSettled(subject, at: report.time, isConnected: true, hasEnded: false)
        case .lost, .attemptFailed:
            subject.beginAgain()
            context.starts.beginAgain(subject, at: context.capture.captureTime(of: report.time))
        case .stopped(let reason, let detail):
            context.noteSettled(subject, at: report.time, isConnected: false, hasEnded: true)
            if subject.reports.isStopping && reason == .stopped {
                subject.reports.stopIsTaken = true
            } else if !context.index.expectsStop(of: subject.name, from: context.progress.position) {
                context.raise(subject.unexpectedStop(reason, detail))
            }
        case .secured, .ping, .pong, .sent, .accepted, .leftover, .halfClosed, .discarded, .full, .drained, .output,
            .broken:
            break
        }
    }

    /// Lines of a subject's stderr that the timeline keeps.
    private static let keptOutputLines = 2000

    private func recordOutput(_ line: [UInt8], at time: MonotonicTime) {
        outputLines += 1
        if outputLines > Self.keptOutputLines { return }
        context.record(.output(actor: context.job.subject?.name ?? "subject", isError: true, line), at: time)
    }

    // MARK: The end of the case

    /// Tells subjects that have not stopped to stop; what they say until they have answered still counts.
    func conclude() async throws(Finding) {
        try await hear(context.actors.subjects)
        try await stopSubjects()
        try await settleSubject()
        for subject in context.actors.subjects {
            try judgeEnd(of: subject)
            if let finding = TLSCaseEnd(context: context).contradiction(of: subject) { throw finding }
        }
        if let (number, reports) = strayReports.min(by: { $0.key < $1.key }), let first = reports.first {
            throw Finding(
                .failed,
                "the subject reported \(SubjectText.describe(first.event)) for a connection (\(number)) that it never announced"
            )
        }
        if driver != nil {
            // A second `stopped` comes on the heels of the first: a moment for it to arrive.
            try await context.wait(until: .now + .milliseconds(2))
        }
    }

    /// What a subject that is told nothing more has reported must have been expected.
    private func judgeEnd(of subject: SubjectActor) throws(Finding) {
        if subject.stopped != nil && !subject.reports.stopIsTaken, let stopped = subject.stopped {
            throw subject.unexpectedStop(stopped.reason, stopped.detail)
        }
        if let excess = subject.reports.excess { throw Finding(.failed, "\(subject.name) \(excess)") }
        // A leftover before any other stop than `eof` is free: what lay half received when it was told to stop.
        if let stopped = subject.stopped, stopped.reason != .eof, case .leftover? = subject.pending.last?.event {
            subject.reports.pending.removeLast()
        }
        if let first = subject.pending.first {
            throw Finding(
                .failed, "\(subject.name) reported \(SubjectText.describe(first.event)), and no step expected it",
                actual: SubjectText.payload(first.event),
                details: subject.pending.count > 1 ? ["and \(subject.pending.count - 1) more after it"] : [])
        }
        if !subject.reports.accepted.isEmpty {
            throw Finding(
                .failed, "\(subject.name) accepted a connection that no step took",
                hints: ["`\(subject.name) expect accept as A` takes it"])
        }
    }

    /// The subject itself; or, where it has stopped as the script expects, a new connection under its name.
    ///
    /// Where the next step expects an error, it is the same connection that is to start again.
    func renewed(_ subject: SubjectActor, _ step: Step) async throws(Finding) -> SubjectActor {
        guard subject.wasStarted, subject.acceptedBy == nil, !context.index.expectsRefusal(after: step.id) else {
            return subject
        }
        if subject.reports.isStopping { try await awaitStop(of: subject) }
        guard subject.stopped != nil, subject.reports.stopIsTaken else { return subject }
        try judgeEnd(of: subject)
        return context.actors.renew(subject)
    }

    private func stopSubjects() async throws(Finding) {
        for subject in context.actors.subjects {
            if let refusal = subject.reports.refusal { throw subject.refused(refusal.code, at: refusal.step) }
            if subject.wasStarted && !subject.isListener && subject.stopped == nil {
                subject.reports.isStopping = true
                try await operate(.stop, subject, nil)
                try await awaitStop(of: subject)
            }
        }
    }

    /// How long a subject has to report what the script has just done to it.
    private static let reportTime = Duration.milliseconds(100)

    /// Waits until subjects have had the time to report what the last steps did to them. Without this wait, the machine's speed would decide
    /// whether an unexpected line or stop fails the case, or comes too late to count.
    func hear(_ subjects: [SubjectActor]) async throws(Finding) {
        let connections = context.connections.entries.map(\.connection)
        let ended = connections.lazy.filter { !$0.hasVanished }.compactMap(\.endedAt).max()
        let sent = (connections.map(\.lastSent) + [context.links.lastStep]).compactMap { $0 }.max()
        let begun = MonotonicTime.now
        let ends = subjects.map { subject in
            let moment = subject.reports.lastStimulus(sent: sent, ended: ended)
            return moment.map { $0 + context.scaled(Self.reportTime) }
        }
        guard let last = ends.compactMap({ $0 }).max(), last > begun else { return }
        let _: Void? = try await context.wait(until: last, from: begun) { () throws(Finding) -> Void? in
            let now = MonotonicTime.now
            let isHeard = zip(subjects, ends).allSatisfy { subject, end in
                subject.stopped != nil || end.map { $0 <= now } ?? true
            }
            return isHeard ? () : nil
        }
    }

    /// It was told to stop.
    private func awaitStop(of subject: SubjectActor) async throws(Finding) {
        context.actors.waits[subject.name] = "stopped"
        defer { context.actors.waits[subject.name] = nil }
        let (begun, patience) = (MonotonicTime.now, context.scaled(context.scenario.timeout))
        let known: Bool? = try await context.wait(until: begun + patience, from: begun) {
            () throws(Finding) -> Bool? in
            subject.stopped != nil ? true : nil
        }
        if known == nil {
            throw Finding(
                .failed,
                "\(subject.name) did not report stopped within \(DurationText.script(patience)) of being told to stop")
        }
    }

    /// What the subject has said is heard before the case is judged: an event right behind its stop, say.
    private func settleSubject() async throws(Finding) {
        guard let driver, driver.drainInterval > .zero else { return }
        var end: MonotonicTime?
        for subject in context.actors.subjects {
            if let stopped = subject.stopped { end = max(stopped.time + driver.drainInterval, end ?? stopped.time) }
        }
        if let end { try await context.wait(until: end) }
    }
}
