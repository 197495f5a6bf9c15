import ProbeBase
import ProbeEvents
import ProbeProxy
import ProbeScenario
import ProbeSystem
import ProbeWire

/// Runs `wire` steps: waits until the capture has caught up and has the packets that the statement needs, then judges
/// the statement.
struct WireExecutor {
    let context: CaseContext

    func judge(
        _ statement: WireStatement<Parsed>, _ timing: Timing, _ step: Step, from time: MonotonicTime
    ) async throws(Finding) {
        let named = statement.names.map(\.value)
        // A statement without names applies to all actors.
        guard context.seesPackets(of: named.isEmpty ? context.actors.order : named), context.seesPackets else {
            let problem = context.settings.captureProblem ?? "there is no capture"
            context.note(Finding(.inconclusive, at: step.span, "the statement could not be judged: \(problem)"))
            return
        }
        if let name = context.unixSocket(in: statement) {
            context.note(
                Finding(
                    .inconclusive, at: step.span,
                    "the statement could not be judged: \(name) is connected over a Unix socket, which has no packets"))
            return
        }
        let statement = try resolve(statement)
        let deadline = context.deadline(timing, from: time)
        context.actors.waits["wire"] = statement.description
        defer { context.actors.waits["wire"] = nil }
        var interval: Int64 = 1_000_000
        while true {
            try context.checkFault()
            guard await WireCatchUp(context: context).run(at: step.span) else { return }
            let names = context.wireNames()
            let verdict = try WireJudge(names: names).judge(statement)
            if case .waiting = verdict, MonotonicTime.now < deadline {
                await context.pause(until: min(deadline, .now + .nanoseconds(interval)))
                interval = min(interval * 2, 20_000_000)
                continue
            }
            let lossReason = context.capture.lossReason
            let target =
                lossReason.map { .inconclusive($0) } ?? WireJudge(names: names).target(of: statement, verdict)
            context.judged.add(step, named, target, context)
            if let reason = lossReason {
                context.note(Finding(.inconclusive, at: step.span, reason))
                return
            }
            switch verdict {
            case .passed: return
            case .inconclusive(let reason):
                context.note(Finding(.inconclusive, at: step.span, reason))
                return
            case .failed(let failure): throw Finding(failure)
            case .waiting(let failure):
                var finding = Finding(failure)
                finding.hints.append(
                    "allow more time with `within` if needed: the step waited "
                        + "\(DurationText.script(MonotonicTime.now - time))")
                throw finding
            }
        }
    }

    private func resolve(_ statement: WireStatement<Parsed>) throws(Finding) -> WireStatement<Resolved> {
        do throws(EvaluationError) {
            return try statement.resolved(by: context.evaluator(), deadline: { context.scaled($0) })
        } catch {
            throw Finding(error)
        }
    }
}

extension Finding {
    fileprivate init(_ failure: WireFailure) {
        self.init(
            .failed, failure.summary, expected: failure.expected, actual: failure.actual, details: failure.details)
    }
}

extension CaseContext {
    /// Returns the first actor on a Unix socket to which a statement applies; `nil` if there is none. A statement
    /// without names applies to all actors.
    fileprivate func unixSocket(in statement: WireStatement<Parsed>) -> String? {
        let named = statement.names.map(\.value)
        return (named.isEmpty ? actors.order : named).first { isOnUnixSocket($0) }
    }

    private func isOnUnixSocket(_ name: String) -> Bool {
        switch actors[name] {
        case .server(let server): server.address?.isUnix ?? false
        case .connection(let actor): actor.connection?.isUnix ?? false
        case .subject(let subject): isOnUnixSocket(subject)
        case .proxied(let actor): actor.connection.server.isUnix
        case .proxy, .process, .crowd, nil: false
        }
    }

    private func isOnUnixSocket(_ subject: SubjectActor) -> Bool {
        switch subject.target {
        case .address(let address): address.unix != nil
        case .actor(let name): isOnUnixSocket(name.value)
        case nil: (subject.acceptedBy.map(isOnUnixSocket) ?? false) || subject.listeningSocket != nil
        }
    }
}
