import ProbeBase
import ProbeEvents
import ProbeScenario
import ProbeSystem
import ProbeTransport

/// What was found out about the first step of an `either`'s branch: its values are computed once, and what came is looked at once.
struct BranchProgress {
    var expected: ExpectedInput?
    var input = InputProgress()
    var output: OutputWait?
    /// The branch's time is over.
    var isLast = false

    /// There is more to look at than what was looked at.
    var isBusy: Bool { input.isBusy || output?.isBehind == true }
}

extension CaseRun {
    /// Whether the first step of an `either`'s branch is met by what is there; takes nothing.
    func look(
        at step: Step, from time: MonotonicTime, _ progress: inout BranchProgress
    ) throws(Finding) -> BranchState {
        guard case .act(let name, let action, _) = step.kind else { return .dead("it begins with no expect") }
        switch (actors[name.value], action) {
        case (.server(let server), .server(.accept)): return try isPending(server) ? .matches(.now) : .open
        case (.server(let server), .server(.expect(.noConnection(let duration)))):
            if try isPending(server) { return .dead("a connection came") }
            return quiet(since: time, for: duration)
        case (.server(let server), .connection(.expect(let expectation))):
            guard let actor = server.plain else { return .open }
            return try look(for: expectation, actor, from: time, &progress)
        case (.connection(let actor), .connection(.expect(let expectation))):
            return try look(for: expectation, actor, from: time, &progress)
        case (.subject(let subject), .subject(.expect(let expectation))):
            return try look(for: expectation, subject, from: time)
        case (.process(let process), .process(.expect(let expectation))):
            return try look(for: expectation, process, &progress)
        default: return .open
        }
    }

    /// Silence has to last: a branch that waits for it is met at its end.
    private func quiet(since time: MonotonicTime, for duration: Duration) -> BranchState {
        isOver(time + duration, from: time) ? .matches(time + duration) : .open
    }

    private func look(
        for expectation: ConnectionExpectation, _ actor: ConnectionActor, from time: MonotonicTime,
        _ progress: inout BranchProgress
    ) throws(Finding) -> BranchState {
        guard let connection = actor.connection else { return .open }
        switch expectation {
        case .nothing(let duration):
            if !connection.inbox.isEmpty || !connection.urgent.isEmpty { return .dead("bytes came") }
            if actor.hasUntakenEnd { return .dead("the connection ended") }
            return quiet(since: time, for: duration)
        case .urgent(let expression):
            let bytes = try bytes(of: expression)
            let unread = connection.urgent.unread
            if !bytes.starts(with: unread.prefix(bytes.count)) { return .dead("other urgent bytes came") }
            return unread.count >= bytes.count
                ? .matches(connection.urgent.arrival(of: bytes.count - 1) ?? .now) : .open
        case .sent, .stalled, .sendFailed:
            switch (expectation, actor.background?.state) {
            case (.sent, .done(let moment)), (.sendFailed, .failed(_, let moment)): return .matches(moment)
            case (_, .done): return .dead("the send was done")
            case (_, .failed(let error, _)): return .dead("the send failed: \(error.reason)")
            default: return .open
            }
        case .bytes, .line, .linesInAnyOrder, .untilLine, .count, .until, .anyBytes, .integer, .message, .eof, .reset,
            .closed:
            break
        }
        let expected: ExpectedInput
        if let known = progress.expected { expected = known } else { expected = try expectedInput(expectation) }
        progress.expected = expected
        switch try look(for: expected, actor, connection, &progress.input) {
        case .matched(_, let completed, _): return .matches(completed ?? .now)
        case .mismatch(let mismatch): return .dead(mismatch.summary)
        case nil: return .open
        }
    }

    private func look(
        for expectation: SubjectExpectation, _ subject: SubjectActor, from time: MonotonicTime
    ) throws(Finding) -> BranchState {
        let pattern: Pattern
        switch expectation {
        case .started:
            if let startedAt = subject.startedAt { return .matches(startedAt) }
            return subject.stopped.map { .dead("stopped \($0.reason.rawValue)") } ?? .open
        case .stopped(let reason):
            if let first = subject.pending.first {
                // Before any other stop than `eof` a transport is free to report a leftover or not.
                guard case .leftover = first.event, subject.pending.count == 1, reason != "eof" else {
                    return .dead("reported \(SubjectText.describe(first.event))")
                }
            }
            guard let stopped = subject.stopped else { return .open }
            return reason == nil || stopped.reason.rawValue == reason
                ? .matches(stopped.time) : .dead("stopped \(stopped.reason.rawValue)")
        case .accept: return subject.accepted.first.map { .matches($0.time) } ?? .open
        case .sent:
            return subject.toldToSend > 0 && subject.reportedSent == subject.toldToSend
                ? .matches(subject.lastSentReport ?? .now) : .open
        case .error(let code):
            guard let refusal = subject.refusal else { return .dead("the last op was taken") }
            return refusal.code == code ? .matches(.now) : .dead("the last op answered \(refusal.code)")
        case .nothing(let duration):
            if let first = subject.pending.first { return .dead("reported \(SubjectText.describe(first.event))") }
            if subject.stopped != nil && !subject.stopIsTaken { return .dead("stopped") }
            return quiet(since: time, for: duration)
        case .line(let wanted, _), .message(let wanted, _), .leftover(let wanted, _), .data(let wanted, _):
            pattern = wanted
        case .bytes(let expression): return try look(forData: try bytes(of: expression), subject)
        }
        guard let first = subject.pending.first else {
            return subject.stopped.map { .dead("stopped \($0.reason.rawValue)") } ?? .open
        }
        let described = "reported \(SubjectText.describe(first.event))"
        guard expectation.accepts(first.event) else { return .dead(described) }
        let payload = SubjectText.payload(first.event) ?? []
        return try text(of: pattern).match(payload) != nil ? .matches(first.time) : .dead(described)
    }

    /// Data as it came, in however many events.
    private func look(forData bytes: [UInt8], _ subject: SubjectActor) throws(Finding) -> BranchState {
        var got: [UInt8] = []
        for (event, time) in subject.pending {
            guard case .data(let data) = event else { return .dead("reported \(SubjectText.describe(event))") }
            got += data
            let common = min(got.count, bytes.count)
            if got[..<common] != bytes[..<common] { return .dead("reported \(SubjectText.describe(event))") }
            if got.count >= bytes.count { return .matches(time) }
        }
        return subject.stopped.map { .dead("stopped \($0.reason.rawValue)") } ?? .open
    }

    private func look(
        for expectation: ProcessExpectation, _ process: ProcessActor, _ progress: inout BranchProgress
    ) throws(Finding) -> BranchState {
        guard let child = process.child else { return .open }
        switch expectation {
        case .output(let literal):
            if progress.output?.child !== child {
                progress.output = OutputWait(for: try regex(literal), of: process, child)
            }
            if let found = try look(&progress.output, process, isLast: progress.isLast) { return .matches(found.time) }
            return child.exit != nil ? .dead("ended: \(ExitText.describe(child.exit))") : .open
        case .exit(let expected):
            guard let exit = child.exit else { return .open }
            return try isMet(expected, by: exit)
                ? .matches(child.exitedAt ?? .now) : .dead("ended: \(ExitText.describe(exit))")
        case .listening:
            if child.exit != nil { return .dead("ended: \(ExitText.describe(child.exit))") }
            return try isListening(process, child) ? .matches(.now) : .open
        case .noOutput, .memory, .descriptors: return .open
        }
    }
}

extension SubjectExpectation {
    /// Whether an event of the subject is of the kind that is expected.
    fileprivate func accepts(_ event: SubjectReport.Event) -> Bool {
        switch (self, event) {
        case (.line, .line), (.message, .message), (.message, .line), (.leftover, .leftover), (.data, .data): true
        default: false
        }
    }
}
