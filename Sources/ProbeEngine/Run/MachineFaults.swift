import Glibc
import ProbeBase
import ProbeEvents
import ProbeScenario
import ProbeSystem

/// Faults of the machine. A case that one of them disturbed is an error, not a failure of what is tested.
struct MachineFaults {
    let context: CaseContext

    private var usesNetwork: Bool {
        context.scenario.actors.contains { if case .process = $0.kind { false } else { true } }
    }

    /// The finding that keeps the case from being run on a machine that can't carry a packet to itself.
    func unusableLoopback() -> Finding? {
        // The case may use addresses outside only.
        if !usesNetwork || !context.settings.allowedTargets.isEmpty || Loopback.isUp { return nil }
        return Finding(.error, "the loopback interface (lo) is down", hints: [Loopback.advice])
    }

    /// The findings, with failures turned into errors where the machine had a fault.
    ///
    /// To be called before the tear-down: sockets are looked at.
    func excused(_ findings: [Finding]) -> [Finding] {
        if let cause = lostLoopback() {
            let isFailed = findings.contains { $0.verdict == .failed || $0.verdict == .error }
            return isFailed ? findings.map { excused($0, cause) } : findings + [excused(nil, cause)]
        }
        guard findings.contains(where: { $0.verdict == .failed }) else { return findings }
        guard let cause = socketFault() ?? shortage() else { return findings }
        return findings.map { excused($0, cause) }
    }

    private struct Cause {
        var text: String
        var advice: String
    }

    private func excused(_ finding: Finding?, _ cause: Cause) -> Finding {
        guard var finding else {
            return Finding(.error, cause.text, hints: [cause.advice])
        }
        guard finding.verdict == .failed else { return finding }
        finding.verdict = .error
        finding.details.append("trouble of the machine, so this says nothing about what is tested: \(cause.text)")
        finding.hints = [cause.advice]
        return finding
    }

    /// A case that passed is an error too: it passed without the network.
    private func lostLoopback() -> Cause? {
        guard usesNetwork, context.settings.allowedTargets.isEmpty, Loopback.wasDown(since: context.time.start) else {
            return nil
        }
        return Cause(text: "the loopback interface (lo) was down while the case ran", advice: Loopback.advice)
    }

    private func socketFault() -> Cause? {
        for (owner, connection) in context.connections.entries {
            var failure: SystemError?
            if case .connectFailed(let error) = connection.phase { failure = error }
            if case .failed(let error, _)? = connection.readEnd { failure = error }
            // A case may test that an address outside can't be reached.
            guard let failure, connection.peer?.isLoopback != false,
                let advice = Surroundings.advice(on: failure.code)
            else { continue }
            return Cause(text: "\(owner.name)'s socket: \(failure)", advice: advice)
        }
        return nil
    }

    /// Subjects, other cases and the harness itself share the descriptors and the memory of this process.
    private func shortage() -> Cause? {
        guard let shortage = Surroundings.shortage(since: context.time.start) else { return nil }
        return Cause(
            text: "this process ran out meanwhile: \(shortage.error)",
            advice: Surroundings.advice(on: shortage.error.code) ?? "the machine is short of it")
    }
}
