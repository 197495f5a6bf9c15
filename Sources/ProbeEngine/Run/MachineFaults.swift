import Glibc
import ProbeBase
import ProbeEvents
import ProbeScenario
import ProbeSystem
import ProbeTransport

/// Detects faults of the machine. A case that was affected by such a fault ends in an error rather than a failure,
/// because the fault is unrelated to what is being tested.
struct MachineFaults {
    let context: CaseContext

    private var usesNetwork: Bool {
        context.scenario.actors.contains { if case .process = $0.kind { false } else { true } }
    }

    /// Returns the finding that prevents the case from running because the loopback interface is down; `nil` if it is
    /// up or is not needed.
    func unusableLoopback() -> Finding? {
        // If external addresses are allowed, the case may work without the loopback interface.
        if !usesNetwork || !context.settings.allowedTargets.isEmpty || Loopback.isUp { return nil }
        return Finding(.error, "the loopback interface (lo) is down", hints: [Loopback.advice])
    }

    /// Returns the findings. If the machine had a fault, failures are turned into errors.
    ///
    /// This method must be called before the tear-down, because it examines sockets.
    ///
    /// - Parameter subject: the subject's report that the machine ran out of a resource; `nil` if there is none.
    func excused(_ findings: [Finding], _ subject: SubjectFailure?) -> [Finding] {
        if let cause = lostLoopback() {
            let isFailed = findings.contains { $0.verdict == .failed || $0.verdict == .error }
            return isFailed ? findings.map { excused($0, cause) } : findings + [excused(nil, cause)]
        }
        guard findings.contains(where: { $0.verdict == .failed }) else { return findings }
        guard let cause = subject.map(Cause.init) ?? socketFault() ?? shortage() else { return findings }
        return findings.map { excused($0, cause) }
    }

    private struct Cause {
        var text: String
        var details: [String] = []
        var hints: [String]

        init(_ text: String, _ error: SystemError) {
            (self.text, details, hints) = (text, error.resourcesLeft, error.advice)
        }

        init(_ failure: SubjectFailure) {
            (text, details, hints) = (
                failure.summary, failure.details + failure.resourcesLeft, failure.machine.map { [$0.advice] } ?? []
            )
        }

        init(_ text: String, advice: String) { (self.text, hints) = (text, [advice]) }
    }

    private func excused(_ finding: Finding?, _ cause: Cause) -> Finding {
        guard var finding else {
            return Finding(.error, cause.text, hints: cause.hints)
        }
        guard finding.verdict == .failed else { return finding }
        finding.verdict = .error
        finding.details.append(
            "a machine error occurred, so the failure proves nothing about the program or transport under test: "
                + "\(cause.text)")
        finding.details += cause.details
        finding.hints = cause.hints
        return finding
    }

    /// Returns the cause of an error if the loopback interface was down during the case; `nil` otherwise. Even a case
    /// that passed while the interface was down ends in an error, because it passed without the network.
    private func lostLoopback() -> Cause? {
        guard usesNetwork, context.settings.allowedTargets.isEmpty, Loopback.wasDown(since: context.time.start) else {
            return nil
        }
        return Cause("the loopback interface (lo) was down while the case ran", advice: Loopback.advice)
    }

    private func socketFault() -> Cause? {
        for (owner, connection) in context.connections.entries {
            var failure: SystemError?
            if case .connectFailed(let error) = connection.phase { failure = error }
            if case .failed(let error, _)? = connection.readEnd { failure = error }
            guard let failure, Self.isCause(failure, of: connection) else { continue }
            return Cause("\(owner.name)'s socket: \(failure)", failure)
        }
        return nil
    }

    /// Whether a connection failed because of a machine error that the case can't have provoked.
    static func isCause(_ error: SystemError, of connection: Connection) -> Bool {
        guard let fault = MachineError(code: error.code) else { return false }
        let provocable = MachineError.provocable(staysHere: connection.peer?.isLoopback != false, isFromHere: true)
        return !provocable.contains(fault)
    }

    /// Returns the cause of an error if this process ran out of a resource; `nil` otherwise. Subjects, other cases and
    /// the harness share the process's descriptors and memory.
    private func shortage() -> Cause? {
        guard let shortage = Surroundings.shortage(since: context.time.start) else { return nil }
        return Cause("this process ran out of a resource during the case: \(shortage.error)", shortage.error)
    }
}
