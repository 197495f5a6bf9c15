import ProbeBase
import ProbeCapture
import ProbeEvents
import ProbeScenario
import ProbeSystem
import ProbeWire

extension CaseRun {
    /// A `wire` step: waits until the capture has caught up, and for what the statement needs, then judges.
    func judge(
        _ statement: WireStatement, _ timing: Timing, _ step: Step, from time: MonotonicTime
    ) async throws(Finding) {
        guard settings.capture != nil else {
            note(
                Finding(
                    .inconclusive, at: step.span,
                    "this could not be judged: \(settings.captureProblem ?? "there is no capture")"))
            return
        }
        let claim = try claim(of: statement)
        let deadline = deadline(timing, from: time)
        waits["wire"] = claim.description
        defer { waits["wire"] = nil }
        var interval: Int64 = 1_000_000
        while true {
            try checkFault()
            guard await catchUp(step) else { return }
            let verdict = try judge(claim)
            if verdict != .passed, MonotonicTime.now < deadline, case .waiting = verdict {
                await pause(until: min(deadline, .now + .nanoseconds(interval)))
                interval = min(interval * 2, 20_000_000)
                continue
            }
            if let reason = wire.lossReason {
                note(Finding(.inconclusive, at: step.span, reason))
                return
            }
            switch verdict {
            case .passed: return
            case .inconclusive(let reason):
                note(Finding(.inconclusive, at: step.span, reason))
                return
            case .failed(let failure): throw finding(failure)
            case .waiting(let failure):
                var finding = finding(failure)
                finding.hints.append("waited \(DurationText.script(MonotonicTime.now - time)) for it")
                throw finding
            }
        }
    }

    private func finding(_ failure: WireFailure) -> Finding {
        Finding(
            .failed, failure.summary, expected: failure.expected, actual: failure.actual, details: failure.details)
    }

    /// Waits until the capture has delivered everything that was sent so far.
    ///
    /// - Returns: false when it could not; that is noted.
    func catchUp(_ step: Step?) async -> Bool {
        guard let capture = settings.capture else { return false }
        let outcome = await withCheckedContinuation { continuation in
            capture.fence(timeout: .seconds(2)) { continuation.resume(returning: $0) }
        }
        switch outcome {
        case .caughtUp(let dropped):
            wire.pull(dropped: dropped)
            return true
        case .timedOut:
            note(
                Finding(
                    .inconclusive, at: step?.span, "the capture did not catch up within 2s: the machine is overloaded"))
        case .failed(let error):
            note(Finding(.inconclusive, at: step?.span, "the capture ended: \(error.message(executable: "tcpprobe"))"))
        }
        return false
    }

    // MARK: Statements with their values

    /// A statement whose values are computed, still about names.
    enum WireClaim {
        case flow(HalfConnectionAssertion, from: Name, to: Name)
        case endpoint(EndpointClaim, Name, peer: Name?)
        case everywhere(WireAssertion)

        enum EndpointClaim { case fin, rst, closedFirst }

        var description: String {
            switch self {
            case .flow(_, let from, let to): "what goes from \(from.value) to \(to.value)"
            case .endpoint(.fin, let name, _): "a FIN from \(name.value)"
            case .endpoint(.rst, let name, _): "an RST from \(name.value)"
            case .endpoint(.closedFirst, let name, _): "\(name.value) to close first"
            case .everywhere: "the wire"
            }
        }
    }

    private func claim(of statement: WireStatement) throws(Finding) -> WireClaim {
        switch statement {
        case .flow(let from, let to, let flow): .flow(try assertion(flow), from: from, to: to)
        case .fin(let from, let to): .endpoint(.fin, from, peer: to)
        case .rst(let from, let to): .endpoint(.rst, from, peer: to)
        case .closedFirst(let name): .endpoint(.closedFirst, name, peer: nil)
        case .noReset: .everywhere(.noReset)
        case .handshakeComplete: .everywhere(.handshakeComplete)
        case .noRetransmission: .everywhere(.noRetransmission)
        case .packets(let comparison, let count):
            .everywhere(.packets(comparison, try integer(of: count)))
        }
    }

    private func assertion(_ statement: WireStatement.FlowStatement) throws(Finding) -> HalfConnectionAssertion {
        do throws(EvaluationError) {
            return try HalfConnectionAssertion(
                statement, evaluator: evaluator(), framing: scenario.framing, deadline: { self.scaled($0) })
        } catch {
            throw finding(error)
        }
    }
}
